"""Sets of states: polyhedra in both descriptions, hulls, support functions."""

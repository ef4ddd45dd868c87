"""Predicate abstraction and compositional refinement."""

"""Template invariants: directions, the least inductive offsets, and where to cut locations."""

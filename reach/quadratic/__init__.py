"""Quadratic invariants, found by semidefinite programming."""

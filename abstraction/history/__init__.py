"""Inductive polyhedra for each way into a location."""

"""Predicate abstraction: cells, their search, slices, and refinement by counterexamples."""

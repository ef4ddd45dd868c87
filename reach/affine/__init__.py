"""Flowpipes of affine hybrid automata, and runs that they suggest."""

"""Flowpipes of nonlinear hybrid automata, by Taylor models."""

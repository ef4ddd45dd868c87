"""Falsification: the search for a run that violates a claim, and its confirmation."""

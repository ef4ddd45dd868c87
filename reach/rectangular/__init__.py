"""Piecewise-constant and rectangular systems, exactly."""

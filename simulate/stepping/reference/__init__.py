"""The stepping core in plain Python: the reference for `simulate/core` and its fallback."""

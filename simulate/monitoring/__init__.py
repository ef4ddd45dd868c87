"""What a trace says: margins and robustness, temporal logic, and whether it is a run."""

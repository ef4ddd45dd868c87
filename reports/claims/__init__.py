"""What engines claim: sets of states that contain every run."""

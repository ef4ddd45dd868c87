"""Signals that a run feeds into a model's inputs."""

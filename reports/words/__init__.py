"""Models and inequalities in words."""

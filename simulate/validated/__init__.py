"""Rigorous enclosures: a simulated run followed in ball arithmetic."""

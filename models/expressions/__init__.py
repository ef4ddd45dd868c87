"""Expressions: exact, immutable; their text, algebra, derivatives and values."""

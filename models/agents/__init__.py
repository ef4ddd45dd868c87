"""Agents and modes: the hierarchy, its meaning, and its way to the shared automaton."""

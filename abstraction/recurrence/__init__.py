"""Stays that return to where stays begin: entry sets, closed under what follows."""

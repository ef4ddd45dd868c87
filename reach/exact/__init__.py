"""Exact reachability of systems whose flow is a polynomial in time."""

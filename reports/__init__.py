"""Evidence for people: cross-checks and HTML verification reports."""

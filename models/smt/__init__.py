"""The door to z3: satisfiability of conditions and of linear rows."""

"""From Coq's extraction to Python and JavaScript, for who changes the theory."""

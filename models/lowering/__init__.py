"""From an automaton and a property to the normal form that the kernel's theorem is about."""

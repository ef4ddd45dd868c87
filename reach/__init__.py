"""Sets and flows: sound over-approximations of what a hybrid automaton can do."""

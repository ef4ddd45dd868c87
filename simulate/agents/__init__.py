"""Many agents, each group of coupled components on a clock of its own."""

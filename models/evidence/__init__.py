"""Evidence for the kernel: how it is stated, what it has to show, how the kernel is told."""

"""From a model's linear view and its certificate to what the kernel takes."""

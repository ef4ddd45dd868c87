"""The checker of what the kernel does not know yet, written by hand: flowpipes, Taylor models,
simulation relations."""

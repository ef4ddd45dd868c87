"""What executes a location: tapes, programs, methods, and the door to the compiled core."""

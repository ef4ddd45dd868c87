"""The validated simulator, an oracle independent of `reach`."""

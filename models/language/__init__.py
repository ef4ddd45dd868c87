"""The CHARON language: text to hierarchy, with diagnostics, formatting and editor services."""

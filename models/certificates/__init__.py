"""Certificates that stand alone: files of them, their check, their schema, their words."""

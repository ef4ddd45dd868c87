"""Transients: runs followed stretch by stretch until an inductive set holds them."""

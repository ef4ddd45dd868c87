"""Results as notebooks show them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_COLOURS = {
    "verified": "#1a7f4b",
    "refines": "#1a7f4b",
    "falsified": "#b42318",
    "refuted": "#b42318",
    "unknown": "#8a6d1a",
    "not proved": "#8a6d1a",
}


def card(outcome: str, title: str, lines: Sequence[str]) -> str:
    """A result for a notebook: the outcome in colour, and what there is to say."""
    colour = _COLOURS[outcome]
    said = "".join(f"<div style='white-space:pre-wrap'>{escape(line)}</div>" for line in lines)
    return (
        f"<div style='border-left:4px solid {colour};padding:.3em .8em;margin:.4em 0'>"
        f"<strong style='color:{colour}'>{outcome.upper()}</strong> "
        f"<strong>{escape(title)}</strong>{said}</div>"
    )

"""What makes results at home in notebooks: cards, pages in frames, and the libraries there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from importlib import import_module
from typing import Any

MARGIN, SIDES = 64, 32
"""Pixels above and below a picture in a frame, and beside it."""

_SIZE = re.compile(r'<svg [^>]*width="([0-9.]+)" height="([0-9.]+)"')

_COLOURS = {
    "verified": "#1a7f4b",
    "refines": "#1a7f4b",
    "falsified": "#b42318",
    "refuted": "#b42318",
    "unknown": "#8a6d1a",
    "not proved": "#8a6d1a",
    "accepted": "#1a7f4b",
    "accepted in part": "#8a6d1a",
    "not covered": "#8a6d1a",
    "rejected": "#b42318",
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


def block(text: str) -> str:
    """A text in lines for a notebook."""
    return f"<pre style='white-space:pre-wrap;margin:.4em 0'>{escape(text)}</pre>"


def framed(page: str) -> str:
    """A page with one picture as a part of another page, with its scripts but apart from it; the
    picture is never drawn larger than it is, so that it fits."""
    found = _SIZE.search(page)
    width, height = map(float, found.groups()) if found else (0.0, 0.0)
    style = f"border:0;max-width:{width + SIDES:.0f}px"
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{escape(page)}" width="100%"'
        f' height="{height + MARGIN:.0f}" style="{style}"></iframe>'
    )


def needed(module: str, package: str = "") -> Any:
    """A library that is not installed with the workbench. Raises ImportError, which says how to
    install it."""
    try:
        return import_module(module)
    except ImportError as error:
        name = package or module
        raise ImportError(f"this needs {name}: pip install {name}") from error

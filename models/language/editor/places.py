"""Places in a text, and edits of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from workbench.models.source import Edit, Span

Place: TypeAlias = tuple[int, int]
"""A line and a column, both counted from 1."""


def starts(span: Span) -> Place:
    """Where a region begins."""
    return span.line, span.column


def ends(span: Span) -> Place:
    """Where a region ends: just behind it."""
    return span.end_line, span.end_column


def holds(span: Span, place: Place) -> bool:
    """Whether a place lies in a region or at one of its ends."""
    return starts(span) <= place <= ends(span)


def moved(span: Span, lines: int, file: str | None = None) -> Span:
    """The region some lines further down, and in another file where one is named."""
    return Span(
        span.file if file is None else file,
        span.line + lines,
        span.column,
        span.end_line + lines,
        span.end_column,
    )


def line_starts(text: str) -> list[int]:
    """The offset at which each line begins."""
    found = [0]
    at = text.find("\n")
    while at >= 0:
        found.append(at + 1)
        at = text.find("\n", at + 1)
    return found


def offset_at(text: str, place: Place) -> int:
    """The offset of a place; one that the text does not have is moved into it."""
    line, column = place
    if line < 1:
        return 0
    start = 0
    for _ in range(line - 1):
        found = text.find("\n", start)
        if found < 0:
            return len(text)
        start = found + 1
    end = text.find("\n", start)
    return min(start + max(column, 1) - 1, len(text) if end < 0 else end)


def place_at(text: str, offset: int) -> Place:
    """The place of an offset."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits, whose regions are those of the text before and do not overlap."""
    begins = line_starts(text)
    ordered = sorted(edits, key=lambda e: starts(e.span), reverse=True)
    for edit in ordered:
        first = begins[edit.span.line - 1] + edit.span.column - 1
        last = begins[edit.span.end_line - 1] + edit.span.end_column - 1
        text = text[:first] + edit.text + text[last:]
    return text

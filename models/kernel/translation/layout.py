"""Expressions of a program, laid out in lines that are not too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

WIDTH = 96
STEP = 4

OPEN, OR, AND, COMPARE, ADD, MULTIPLY, UNARY, ATOM = range(8)
"""How tightly expressions hold together; `OPEN` ones extend as far as they can."""


@dataclass(frozen=True)
class Text:
    """Words that stay on one line."""

    words: str
    level: int = ATOM


@dataclass(frozen=True)
class Group:
    """Parts between brackets, each on its own line if they do not fit on one."""

    head: str
    parts: tuple[Doc, ...]
    tail: str
    level: int = ATOM


@dataclass(frozen=True)
class Chain:
    """Parts with an operator between them; in brackets where they take several lines."""

    operator: str
    parts: tuple[Doc, ...]
    level: int


@dataclass(frozen=True)
class Row:
    """One after the other; the last is broken first."""

    parts: tuple[Doc, ...]
    level: int = ATOM


Doc: TypeAlias = Text | Group | Chain | Row


def flat(doc: Doc) -> str:
    """On one line."""
    if isinstance(doc, Text):
        return doc.words
    if isinstance(doc, Group):
        return doc.head + ", ".join(map(flat, doc.parts)) + doc.tail
    if isinstance(doc, Chain):
        return f" {doc.operator} ".join(map(flat, doc.parts))
    return "".join(map(flat, doc.parts))


def held(doc: Doc, level: int) -> Doc:
    """In brackets unless it holds together that tightly."""
    return doc if doc.level >= level else Group("(", (doc,), ")")


def lines(before: str, doc: Doc, after: str, indent: int) -> list[str]:
    """A statement that begins and ends with these words."""
    whole = " " * indent + before + flat(doc) + after
    if len(whole) <= WIDTH or isinstance(doc, Text):
        return [whole]
    if isinstance(doc, Row):
        at = max((i for i, p in enumerate(doc.parts) if not isinstance(p, Text)), default=0)
        before += "".join(map(flat, doc.parts[:at]))
        after = "".join(map(flat, doc.parts[at + 1 :])) + after
        return lines(before, doc.parts[at], after, indent)
    bracketed = isinstance(doc, Group) and doc.head == "(" and len(doc.parts) == 1
    if isinstance(doc, Group) and bracketed and isinstance(doc.parts[0], Chain):
        return lines(before, doc.parts[0], after, indent)
    if isinstance(doc, Group):
        inside = _each(doc.parts, "", "," if len(doc.parts) > 1 else "", indent + STEP)
        return [" " * indent + before + doc.head, *inside, " " * indent + doc.tail + after]
    inside = _each(doc.parts, f"{doc.operator} ", "", indent + STEP)
    return [" " * indent + before + "(", *inside, " " * indent + ")" + after]


def _each(parts: Sequence[Doc], between: str, after: str, indent: int) -> list[str]:
    found = []
    for number, part in enumerate(parts):
        found += lines(between if number else "", part, after, indent)
    return found

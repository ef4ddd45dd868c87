"""Places as the protocol counts them: lines and columns from 0, columns in the units that client
and server have agreed on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from lsprotocol import types

from workbench import Span

Place: TypeAlias = tuple[int, int]
"""A line and a column, both counted from 1, columns in characters."""

_ENCODINGS = {"utf-8": "utf-8", "utf-16": "utf-16-le"}


class Positions:
    """How columns are counted: in `utf-8`, `utf-16` or `utf-32` units."""

    def __init__(self, encoding: str = "utf-16"):
        self._codec = _ENCODINGS.get(encoding)
        self._width = 2 if self._codec == "utf-16-le" else 1

    def units(self, text: str) -> int:
        """How many units a text has."""
        if self._codec is None or text.isascii():
            return len(text)
        return len(text.encode(self._codec, "surrogatepass")) // self._width

    def characters(self, line: str, units: int) -> int:
        """How many characters of a line so many units are; within the line."""
        if self._codec is None or line.isascii():
            return min(units, len(line))
        data = line.encode(self._codec, "surrogatepass")[: units * self._width]
        return len(data.decode(self._codec, "ignore"))

    def place(self, lines: Sequence[str], position: types.Position) -> Place:
        """The place of a position; one that the text does not have is moved into it."""
        if position.line >= len(lines):
            return len(lines), len(lines[-1]) + 1
        line = lines[position.line]
        return position.line + 1, self.characters(line, position.character) + 1

    def position(self, lines: Sequence[str], place: Place) -> types.Position:
        """The position of a place."""
        line, column = place
        if line > len(lines):
            return types.Position(len(lines) - 1, self.units(lines[-1]))
        return types.Position(line - 1, self.units(lines[line - 1][: column - 1]))

    def range(self, lines: Sequence[str], span: Span) -> types.Range:
        """The range of a region."""
        return types.Range(
            self.position(lines, (span.line, span.column)),
            self.position(lines, (span.end_line, span.end_column)),
        )


def changed(
    text: str,
    changes: Sequence[types.TextDocumentContentChangeEvent],
    positions: Positions,
) -> str:
    """A text after changes, which are made one after the other."""
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            plain = with_plain_lines(text)
            first = _offset(plain, change.range.start, positions)
            last = max(first, _offset(plain, change.range.end, positions))
            text = text[:first] + change.text + text[last:]
        else:
            text = change.text
    return text


def with_plain_lines(text: str) -> str:
    """The text with a line feed for each lone carriage return, which ends a line for editors, too;
    every sign stays where it is."""
    return re.sub(r"\r(?!\n)", "\n", text) if "\r" in text else text


def _offset(text: str, position: types.Position, positions: Positions) -> int:
    start = 0
    for _ in range(position.line):
        found = text.find("\n", start)
        if found < 0:
            return len(text)
        start = found + 1
    end = text.find("\n", start)
    line = text[start : end if end >= 0 else len(text)].removesuffix("\r")
    return start + positions.characters(line, position.character)

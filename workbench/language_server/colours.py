"""Semantic tokens: the names of a text by what they mean, as the protocol packs them."""

from __future__ import annotations

from itertools import count

from lsprotocol import types

from workbench import Document
from workbench.language_server.documents import Documents, name_of

_TYPES = {
    "agent": "class",
    "mode": "struct",
    "variable": "variable",
    "parameter": "parameter",
    "constant": "variable",
    "function": "function",
    "part": "property",
    "point": "event",
    "value": "enumMember",
    "local": "parameter",
}
_NAMES = list(dict.fromkeys(_TYPES.values()))
_DECLARATION, _READONLY, _MODIFICATION = 1, 2, 4
LEGEND = types.SemanticTokensLegend(_NAMES, ["declaration", "readonly", "modification"])
"""What the numbers of the tokens stand for."""


class Colours:
    """The tokens of the documents, as they were told last."""

    def __init__(self, documents: Documents):
        self._documents = documents
        self._told: dict[str, tuple[str, list[int]]] = {}
        self._numbers = count(1)

    def some(self, uri: str, first: int, last: int) -> types.SemanticTokens | None:
        """The tokens of some lines."""
        document = self._documents.at(uri)
        if document is None:
            return None
        return types.SemanticTokens(self._packed(document, first, last))

    def whole(self, uri: str) -> types.SemanticTokens | None:
        """All tokens."""
        document = self._documents.at(uri)
        if document is None:
            return None
        data = self._packed(document, 1, None)
        return types.SemanticTokens(data, self._remember(uri, data))

    def changes(
        self, uri: str, before: str
    ) -> types.SemanticTokens | types.SemanticTokensDelta | None:
        """What is different from what was told before."""
        known = self._told.get(name_of(uri))
        if known is None or known[0] != before:
            return self.whole(uri)
        document = self._documents.at(uri)
        if document is None:
            return None
        old, new = known[1], self._packed(document, 1, None)
        top = _agreement(old, new, min(len(old), len(new)))
        rest = min(len(old), len(new)) - top
        bottom = _agreement(old[::-1], new[::-1], rest)
        edits = []
        if top < len(old) or top < len(new):
            inserted = new[top : len(new) - bottom]
            edits.append(types.SemanticTokensEdit(top, len(old) - bottom - top, inserted))
        return types.SemanticTokensDelta(edits, self._remember(uri, new))

    def _remember(self, uri: str, data: list[int]) -> str:
        number = str(next(self._numbers))
        self._told[name_of(uri)] = number, data
        return number

    def _packed(self, document: Document, first: int, last: int | None) -> list[int]:
        """Five numbers for each token: how many lines and columns behind the one before, its
        length, type and manner."""
        lines, positions = document.lines, self._documents.positions
        found: list[int] = []
        line_before, column_before = 1, 0
        for line, column, length, sort, introduced, written in document.colours(first, last):
            text = lines[line - 1]
            if not text.isascii():
                end = column - 1 + length
                length = positions.units(text[column - 1 : end])
                column = positions.units(text[: column - 1]) + 1
            manner = _DECLARATION * introduced | _MODIFICATION * written
            if sort in ("constant", "parameter"):
                manner |= _READONLY
            same = line == line_before
            found += (
                line - line_before,
                column - 1 - (column_before if same else 0),
                length,
                _NUMBERS[sort],
                manner,
            )
            line_before, column_before = line, column - 1
        return found


_BLOCK = 4096
_NUMBERS = {sort: _NAMES.index(kind) for sort, kind in _TYPES.items()}


def _agreement(old: list[int], new: list[int], most: int) -> int:
    """How many numbers, at most so many, two lists have in common from the start."""
    at = 0
    while at < most and old[at : min(at + _BLOCK, most)] == new[at : min(at + _BLOCK, most)]:
        at = min(at + _BLOCK, most)
    while at < most and old[at] == new[at]:
        at += 1
    return at

"""What is known of the text of one file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from workbench.models.language import syntax
from workbench.models.language.editor.names import Names, names_of
from workbench.models.language.editor.pieces import Piece, pieces
from workbench.models.language.editor.places import Place, moved
from workbench.models.language.parse import MAX_ERRORS, parse_leniently
from workbench.models.language.reading import check_size
from workbench.models.record import record
from workbench.models.source import Diagnostic, Edit, ModelError

_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""A mark that some editors put before a text; it means nothing."""


class Placed(NamedTuple):
    """A piece, the line before its first one, and its number in the text."""

    piece: Piece
    above: int
    number: int

    @property
    def names(self) -> Names:
        """The names of the piece, at places of it."""
        return self.piece.known(names_of)

    def inside(self, place: Place) -> Place:
        """A place of the text as one of the piece."""
        return place[0] - self.above, place[1]


@record
class Text:
    """The text of a file, in pieces that stay while others are edited. A text beyond all limits
    is known to be that, and nothing else."""

    name: str
    text: str
    pieces: tuple[Piece, ...]
    refused: tuple[Diagnostic, ...] = ()

    def edited(self, text: str) -> Text:
        """The file with another text."""
        return self if text == self.text else read_text(self.name, text, self)

    @cached_property
    def placed(self) -> tuple[Placed, ...]:
        """The pieces in order, with where they stand."""
        found, above = [], 0
        for number, piece in enumerate(self.pieces):
            found.append(Placed(piece, above, number))
            above += piece.lines
        return tuple(found)

    @cached_property
    def _first_lines(self) -> list[int]:
        return [p.above + 1 for p in self.placed]

    def at(self, place: Place) -> Placed | None:
        """The piece that a place is in; pieces begin with a line."""
        i = bisect_right(self._first_lines, place[0]) - 1
        return self.placed[i] if i >= 0 else None

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, without their ends."""
        return self.text.split("\n")

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the syntax."""
        if self.refused:
            return self.refused
        found: list[Diagnostic] = []
        for placed in self.placed:
            for d in placed.piece.diagnostics:
                found.append(_placed(d, placed.above, self.name))
                if len(found) == MAX_ERRORS:
                    return tuple(found)
        return tuple(found)

    @cached_property
    def fingerprint(self) -> int:
        """A number that is another one where something else is declared."""
        return hash(tuple(placed.names.fingerprint for placed in self.placed))

    def names(self) -> Iterator[tuple[Placed, Names]]:
        """The names of each piece, at places of that piece."""
        for placed in self.placed:
            yield placed, placed.names

    @cached_property
    def source(self) -> syntax.SourceFile:
        """The syntax tree of what can be understood, at places of the text."""
        try:
            return parse_leniently(self.text, self.name).source
        except ModelError:
            return syntax.SourceFile(self.name, ())


def read_text(name: str, text: str, before: Text | None = None) -> Text:
    """What is known of a text; what did not change since `before` is not read again."""
    plain = " " + text[1:] if text.startswith(_MARK) else text
    try:
        check_size(len(text), name)
    except ModelError as problem:
        return Text(name, text, (), problem.diagnostics)
    known = {piece.cut: piece for piece in before.pieces} if before is not None else {}
    return Text(name, text, pieces(plain, known))


def _placed(diagnostic: Diagnostic, lines: int, file: str) -> Diagnostic:
    """A finding of a piece, where it stands in the file."""
    span, fix = diagnostic.span, diagnostic.fix
    return replace(
        diagnostic,
        span=moved(span, lines, file) if span else None,
        fix=Edit(moved(fix.span, lines, file), fix.text) if fix else None,
    )

"""What sort of thing each name is, for editors that colour names by their meaning."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from workbench.models.automaton import TIME
from workbench.models.expressions.dialect import FUNCTIONS
from workbench.models.language.editor.names import Mention, Symbol, names_of
from workbench.models.language.editor.pieces import Piece
from workbench.models.language.editor.project import Project

_SORT_OF = {
    "table": "function",
    "agent instance": "part",
    "mode instance": "part",
    "interaction": "part",
    "entry": "point",
    "exit": "point",
    "index": "local",
    "let": "local",
    "partner": "part",
}

Colour: TypeAlias = tuple[int, int, int, str, bool, bool]
"""Line and column (from 1), length, sort, whether the name is introduced there, and whether it is
given a value. Sorts are `agent`, `mode`, `variable`, `parameter`, `constant`, `function`, `part`,
`point` (an entry or exit), `value` (of an enumeration) and `local` (known in one statement)."""


class _Around(NamedTuple):
    """What the colours of a piece depend on beside the piece: all that is declared."""

    fingerprints: tuple[int, ...]
    project: Project

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Around) and self.fingerprints == other.fingerprints

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.fingerprints)


def colours(project: Project, first_line: int = 1, last_line: int | None = None) -> list[Colour]:
    """The names of the text, or of some of its lines, in order."""
    around = _Around(tuple(text.fingerprint for text in project.texts), project)
    found: list[Colour] = []
    for placed in project.text.placed:
        above, below = placed.above, placed.above + placed.piece.lines + 1
        if below < first_line or (last_line is not None and above >= last_line):
            continue
        coloured = placed.piece.known_with(_of_piece, around)
        if first_line <= above + 1 and (last_line is None or below <= last_line):
            found += [(c[0] + above, *c[1:]) for c in coloured]
            continue
        for colour in coloured:
            line = colour[0] + above
            if first_line <= line and (last_line is None or line <= last_line):
                found.append((line, *colour[1:]))
    return found


def _of_piece(piece: Piece, around: _Around) -> list[Colour]:
    """The names of a piece, at places of it."""
    found: list[Colour] = []
    end = (0, 0)
    for mention in piece.known(names_of).mentions:
        span = mention.span
        if (span.line, span.column) < end:
            continue
        sort = _looked_up(around.project, mention)
        if sort is not None:
            end = (span.line, span.end_column)
            length, is_set = span.end_column - span.column, bool(mention.writes)
            found.append((span.line, span.column, length, sort, mention.introduces, is_set))
    return found


def _looked_up(project: Project, mention: Mention) -> str | None:
    symbol = project.symbol(mention)
    if symbol is None:
        if mention.name == TIME and not mention.chain:
            return "constant"
        return "function" if mention.name in FUNCTIONS and not mention.chain else None
    sort = _sort_of(project, symbol)
    return _SORT_OF.get(sort, sort)


def _sort_of(project: Project, symbol: Symbol) -> str:
    found = project.find(symbol)
    return found.declaration.sort if found is not None else "value"

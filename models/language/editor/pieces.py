"""A text in pieces that are parsed on their own, so that an edit costs the piece it is in.

A piece is a definition with the comments around it, or, of a long definition, a run of its items. A
sequence of pieces without errors is what the whole text is, since a file is a list of definitions
and a definition a list of items; and where one has an error, the others are not disturbed.
Lines are counted within the piece.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

from workbench.models.language import syntax
from workbench.models.language.editor.noting import Noted, NotingBuilder
from workbench.models.language.editor.places import Place
from workbench.models.language.lexical import Token
from workbench.models.language.parse import Reading, read_closely
from workbench.models.record import record
from workbench.models.source import Diagnostic, Span

T = TypeVar("T")
Context = TypeVar("Context")

LONG = 300
"""A definition of more lines than this is parsed in pieces."""
FEW = 20
"""How many lines such a piece has at least."""

_DEFINITION = re.compile(
    r"^[ \t]*(?:(?P<keyword>agent|mode)[ \t]+(?P<name>[A-Za-z_][A-Za-z_0-9]*)[ \t]*\("
    r"|(?:const|extern|table|import|system)\b)",
    re.MULTILINE,
)
_ITEM = re.compile(
    r"^[ \t]*(?:"
    r"(?:(?:urgent|unilateral|bilateral|crossing|sliding)[ \t]+)*(?:trans|interaction)\b"
    r"|(?:agent|mode)[ \t]+[A-Za-z_][A-Za-z_0-9]*[ \t]*[=\[]"
    r"|(?:read|write|readwrite|private|local|input|output)[ \t]+"
    r"(?:analog|discrete|real|int|bool|enum)\b"
    r"|(?:diff|alge|inv|init|predicate|assume)[ \t]*\{"
    r'|(?:assert|forbid)[ \t]*["{]'
    r"|(?:entry|exit|hide)[ \t]"
    r")",
    re.MULTILINE,
)
_COMMENT = re.compile(r'//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|"[^"\n]*"')


class Cut(NamedTuple):
    """A stretch of text, which definition it is in the middle of (`mode Track`, or empty), and
    whether that goes on behind it."""

    text: str
    inside: str = ""
    goes_on: bool = False


@record
class Piece:
    """A stretch of text and what was read of it."""

    cut: Cut
    reading: Reading
    noted: Noted

    def known(self, question: Callable[[Piece], T]) -> T:
        """The answer to a question about the piece alone, which is asked once."""
        if question not in self._answers:
            self._answers[question] = question(self)
        answer: T = self._answers[question]
        return answer

    def known_with(self, question: Callable[[Piece, Context], T], context: Context) -> T:
        """The answer to a question about the piece and something more, kept until the next one
        that is about something else."""
        last = self._answers.get(question)
        if last is None or last[0] != context:
            last = self._answers[question] = context, question(self, context)
        answer: T = last[1]
        return answer

    @cached_property
    def _answers(self) -> dict[Any, Any]:
        return {}

    @property
    def text(self) -> str:
        """The text."""
        return self.cut.text

    @cached_property
    def lines(self) -> int:
        """How many line ends the text has."""
        return self.cut.text.count("\n")

    @cached_property
    def owner(self) -> str:
        """The definition that the piece begins in or begins: `mode Track`; empty where neither."""
        if self.cut.inside:
            return self.cut.inside
        head = _DEFINITION.search(self.cut.text)
        return f"{head['keyword']} {head['name']}" if head and head["name"] else ""

    @cached_property
    def definitions(self) -> tuple[syntax.TopLevel, ...]:
        """The definitions; of a piece of a longer one, a definition with its items."""
        return self.reading.definitions

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of the text itself."""
        if not (self.cut.inside or self.cut.goes_on):
            return self.reading.tokens
        last = self.lines + 1
        found = (t for t in self.reading.tokens if 1 <= t.line <= last)
        return tuple(found)

    def terminal(self, token: Token) -> str | None:
        """As what a token was read; None for one that was passed over after an error."""
        return self.reading.terminals.get(token.start)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the syntax, at places of the piece."""
        return tuple(self._within(d) for d in self.reading.diagnostics)

    def _within(self, diagnostic: Diagnostic) -> Diagnostic:
        span = diagnostic.span
        if span is None or (span.line >= 1 and span.end_line <= self.lines + 1):
            return diagnostic
        place = self.end if span.line > 1 else (1, 1)
        return replace(diagnostic, span=Span(span.file, *place, *place), fix=None)

    @property
    def end(self) -> Place:
        """The place behind the last sign."""
        return self.lines + 1, len(self.text) - self.text.rfind("\n")


def parsed(cut: Cut) -> Piece:
    """A stretch of text, parsed."""
    before, behind = around(cut)
    builder = NotingBuilder("")
    reading = read_closely(before + cut.text + behind, builder, 0 if before else 1)
    return Piece(cut, reading, builder.noted)


def around(cut: Cut) -> tuple[str, str]:
    """What makes a piece of a definition a whole one: a head on a line before it, and an end."""
    return f"{cut.inside}() {{\n" if cut.inside else "", "\n}" if cut.goes_on else ""


def pieces(text: str, known: Mapping[Cut, Piece]) -> tuple[Piece, ...]:
    """The pieces of a text; those that are known already are taken as they are."""
    cuts = (cut for stretch in _definitions(text) for cut in _cuts(stretch))
    return tuple(known.get(cut) or parsed(cut) for cut in cuts)


def _definitions(text: str) -> Iterator[str]:
    """The text cut where definitions begin."""
    hidden = _block_comments(text)
    begins = [m.start() for m in _DEFINITION.finditer(text) if not hidden.cover(m.start())]
    edges = sorted({0, *begins, len(text)})
    yield from (text[a:b] for a, b in pairwise(edges))


class _Regions:
    """Regions of a text in order, as offsets."""

    def __init__(self, regions: list[tuple[int, int]]):
        self.begins = [first for first, _ in regions]
        self.ends = [last for _, last in regions]

    def cover(self, offset: int) -> bool:
        """Whether an offset lies in one of them."""
        i = bisect_right(self.begins, offset) - 1
        return i >= 0 and offset < self.ends[i]


def _block_comments(text: str) -> _Regions:
    """The comments that may go over several lines; one that is not closed goes to the end."""
    if "/*" not in text:
        return _Regions([])
    return _Regions([m.span() for m in _COMMENT.finditer(text) if m.group().startswith("/*")])


def _cuts(stretch: str) -> Iterator[Cut]:
    """A definition, in one piece or, if it is long, in several."""
    head = _DEFINITION.search(stretch)
    if head is None or not head["name"] or stretch.count("\n") <= LONG:
        yield Cut(stretch)
        return
    inside = f"{head['keyword']} {head['name']}"
    edges, lines, counted = [0], 0, 0
    for item in _ITEM.finditer(stretch):
        lines += stretch.count("\n", counted, item.start())
        counted = item.start()
        if (lines >= FEW and _marks(stretch, item.start())) or lines >= LONG:
            edges.append(item.start())
            lines = 0
    edges.append(len(stretch))
    for a, b in pairwise(edges):
        yield Cut(stretch[a:b], inside if a else "", b < len(stretch))


def _marks(text: str, start: int) -> bool:
    """Whether a line is one of those at which long definitions are cut: one in sixteen, told from
    the line itself, so that the cuts behind an edit stay where they are."""
    end = text.find("\n", start)
    return crc32(text[start : end if end >= 0 else len(text)].encode()) % 16 == 0

"""A token that does not fit, and what surrounds it: what the rules of `hints.py` look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.models.language.expected import readable
from workbench.models.language.grammar import grammar
from workbench.models.language.lexical import NAME, SIGNS, STRING, Token
from workbench.models.language.vocabulary import ITEM_WORDS
from workbench.models.record import record
from workbench.models.source import Span

OPENERS = {"LPAR": ")", "LSQB": "]", "LBRACE": "}"}
"""The opening brackets and what closes them."""
_CLOSERS = frozenset({"RPAR", "RSQB", "RBRACE"})


@record
class Opener:
    """An open bracket, the keyword it belongs to, and that in words: `mode Track`."""

    bracket: Token
    keyword: str
    owner: str

    @property
    def closing(self) -> str:
        """The bracket that closes it."""
        return OPENERS[self.bracket.kind]


@record
class Misfit:
    """A token that does not fit: the next ones, the one before, what could have come, and
    what the parser has open."""

    token: Token
    following: Sequence[Token]
    previous: Token
    expected: frozenset[str]
    before: Sequence[int]
    values: Sequence[Any]
    file: str

    @property
    def next_text(self) -> str:
        """The text of the token after the wrong one."""
        return self.following[0].text if self.following else ""

    @property
    def opener(self) -> Opener | None:
        """The innermost bracket that is still open."""
        return next(self.open_brackets(), None)

    @property
    def block(self) -> Opener | None:
        """The innermost open block in braces."""
        return next((o for o in self.open_brackets() if o.bracket.text == "{"), None)

    @property
    def keyword(self) -> str:
        """The keyword of the innermost open block: `diff`, `init`, `do`, `mode`, ..."""
        block = self.block
        return block.keyword if block else ""

    def open_brackets(self) -> Iterator[Opener]:
        """The open brackets, innermost first; those already closed are passed over."""
        closed = 0
        for i in range(len(self.values) - 1, -1, -1):
            value = self.values[i]
            if type(value) is not Token:
                continue
            if value.kind in _CLOSERS:
                closed += 1
            elif value.kind in OPENERS:
                if closed:
                    closed -= 1
                else:
                    yield _opener(self.values, i)

    def definition_inside(self) -> list[Token] | None:
        """The tokens `mode Name (` of a definition begun inside another one."""
        last = self.values[-2:]
        if (
            self.token.text == "("
            and self.block
            and len(last) == 2
            and all(type(v) is Token for v in last)
            and last[0].text in ("agent", "mode")
        ):
            return [*last, self.token]
        return None

    def begins_definition(self) -> bool:
        """Whether the token is the first of `agent Name (` or `mode Name (`."""
        return len(self.following) > 1 and self.following[1].text == "("

    def item_inside(self) -> list[Token] | None:
        """The tokens of an item begun inside a block of statements that is still open, where
        its keyword was read as a name."""
        last = self.values[-1] if self.values else None
        if (
            type(last) is Token
            and last is self.previous
            and last.text in ITEM_WORDS
            and self.token.kind in (NAME, "LBRACE", STRING)
            and self.keyword not in ("", "agent", "mode")
        ):
            return [last, self.token]
        return None

    def fits_after(self, text: str) -> bool:
        """Whether the token could be read if `text` stood before it."""
        table = grammar()
        states = readable(table, self.before, SIGNS.get(text, NAME), text)
        token = self.token
        return states is not None and readable(table, states, token.kind, token.text) is not None

    def put(self, *texts: str, keep: bool = False) -> list[Token]:
        """Tokens to be read in place of the wrong one, or, with `keep`, before it."""
        t = self.token
        made = [Token(SIGNS.get(x, NAME), x, t.start, t.line, t.column) for x in texts]
        return [*made, t] if keep else made


def _opener(values: Sequence[Any], i: int) -> Opener:
    """The bracket on the stack at `i` with what stands before it."""
    before = [v.text if type(v) is Token else "" for v in values[max(0, i - 3) : i]]
    while before and (before[-1] == "" or before[-1].startswith('"')):
        before.pop()
    if len(before) >= 2 and before[-2] in ("agent", "mode"):
        return Opener(values[i], before[-2], f"{before[-2]} {before[-1]}")
    keyword = before[-1] if before else ""
    return Opener(values[i], keyword, keyword or values[i].text)


@record
class Explanation:
    """What is wrong, and what to read instead (`repair`), if that is clear enough."""

    code: str
    message: str
    hint: str | None = None
    span: Span | None = None
    repair: Sequence[Token] = ()

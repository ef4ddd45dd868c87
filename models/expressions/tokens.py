"""The tokens of flat expressions, read one at a time with their places."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from typing import NoReturn

from workbench.models.enumeration import plain_members
from workbench.models.expressions.dialect import FLAT_NAME, MAX_DIGITS, PLAIN_NAME, Dialect
from workbench.models.source import Diagnostic, ModelError, Span

MAX_TEXT = 20_000_000
"""How many characters a text may have unless the caller says otherwise."""


@plain_members
class TokenKind(Enum):
    """What a token is."""

    NUMBER = auto()
    NAME = auto()
    QUOTED = auto()
    STRING = auto()
    MEMBER = auto()
    SIGN = auto()
    END = auto()


@dataclass(slots=True)
class FlatToken:
    """A piece of the text, by its kind and its place."""

    kind: TokenKind
    text: str
    start: int
    end: int
    number: Fraction = Fraction(0)

    @property
    def described(self) -> str:
        """The token as a message names it."""
        if self.kind is TokenKind.END:
            return "the end of the expression"
        return repr(self.text if len(self.text) <= 40 else self.text[:37] + "...")


_PATTERN = re.compile(
    rf"""[ \t\r\n]*(?:(?P<NUMBER>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<NAME>{FLAT_NAME})
    |(?P<QUOTED>`(?:[^`\\\n]|\\.)*`)
    |(?P<STRING>"(?:[^"\\\n]|\\.)*")
    |(?P<MEMBER>\.\s*{PLAIN_NAME})
    |(?P<SIGN>&&|\|\||==|!=|<=|>=|:=|\.\.|[-+*/^()\[\],:?!<>=&|'])
    |(?P<END>\Z))""",
    re.ASCII | re.VERBOSE,
)
_BLANK = re.compile(r"[ \t\r\n]*", re.ASCII)
_KINDS = dict(TokenKind.__members__)

_HINTS = {
    "=": "equality is written ==",
    ":=": "equality is written ==",
    "&": "'and' is written &&",
    "|": "'or' is written ||",
    "and": "'and' is written &&",
    "or": "'or' is written ||",
    "not": "'not' is written !",
    "**": "a power is written x^2",
    "*": "a power is written x^2",
}


def unquoted(text: str) -> str:
    """What stands between the quotes of a string or quoted name."""
    return str(json.loads('"' + text[1:-1].replace("\t", "\\t") + '"', strict=False))


class Tokens:
    """A text read token by token; `current` is the next token, `end` the end of the last."""

    def __init__(
        self, text: str, dialect: Dialect, file: str, line: int, column: int, max_length: int
    ) -> None:
        self.text = text
        self.file = file
        self.line = line
        self.column = column
        self.dialect = dialect
        self.end = 0
        self._breaks: list[int] | None = None
        if len(text) > max_length:
            message = f"the expression has {len(text)} characters (the limit is {max_length})"
            raise ModelError(
                Diagnostic("text-too-long", message, Span(file, line, column, line, column + 1))
            )
        self.current = self._read(0)

    def take(self) -> FlatToken:
        """The current token; the one after it becomes current."""
        token = self.current
        self.end = token.end
        if token.kind is not TokenKind.END:
            self.current = self._read(token.end)
        return token

    def _read(self, position: int) -> FlatToken:
        found = _PATTERN.match(self.text, position)
        if found is None:
            blank = _BLANK.match(self.text, position)
            self._illegible(blank.end() if blank else position)
        group = found.lastgroup or "END"
        kind = _KINDS[group]
        token = FlatToken(kind, found[group], *found.span(group))
        if kind is TokenKind.NUMBER:
            token.number = self._number(token)
        elif kind in (TokenKind.STRING, TokenKind.QUOTED):
            self._check_quotes(token)
        return token

    def _number(self, token: FlatToken) -> Fraction:
        """The exact value of a decimal number."""
        mantissa, _, exponent = token.text.lower().partition("e")
        whole, _, fraction = mantissa.partition(".")
        if len(whole) + len(fraction) > MAX_DIGITS:
            self._fail("number-too-large", f"a number of more than {MAX_DIGITS} digits", token)
        if len(exponent.lstrip("+-0")) > 4 or abs(int(exponent or 0)) > MAX_DIGITS:
            message = f"an exponent beyond {MAX_DIGITS}"
            self._fail("number-too-large", message, token)
        scale = int(exponent or 0) - len(fraction)
        digits = int(whole + fraction)
        return Fraction(digits * 10**scale) if scale >= 0 else Fraction(digits, 10**-scale)

    def _check_quotes(self, token: FlatToken) -> None:
        try:
            unquoted(token.text)
        except ValueError:
            self._fail("syntax", "this text in quotes has a wrong escape", token)

    def _illegible(self, start: int) -> NoReturn:
        character = self.text[start]
        token = FlatToken(TokenKind.SIGN, character, start, start + 1)
        hint = None
        message = f"the character {character!r} has no place in an expression"
        if character in '"`':
            message, hint = (
                f"a {character} that is never closed",
                f"close it with another {character}",
            )
        self._fail("syntax", message, token, hint)

    def hint_for(self, token: FlatToken) -> str | None:
        """What the author may have meant by a token in the wrong place."""
        before = self.text[: token.start].rstrip()[-1:]
        if token.text == "*" and before != "*":
            return None
        if token.kind is TokenKind.NAME and before.isdigit() and token.text not in _HINTS:
            return f"a product needs a sign: {before}*{token.text[:40]}"
        if (
            token.kind is TokenKind.SIGN
            and token.text == "("
            and (before.isalnum() or before == ")")
        ):
            return "a product needs a sign: a*(b)"
        return _HINTS.get(token.text)

    def span(self, start: int, end: int) -> Span:
        """The place of a part of the text in its file."""
        line, column = self._place(start)
        end_line, end_column = self._place(max(end, start + 1))
        return Span(self.file, line, column, end_line, end_column)

    def _place(self, offset: int) -> tuple[int, int]:
        if self._breaks is None:
            self._breaks = [m.end() for m in re.finditer("\n", self.text)]
        number = bisect_right(self._breaks, offset)
        if number == 0:
            return self.line, self.column + offset
        return self.line + number, offset - self._breaks[number - 1] + 1

    def _fail(self, code: str, message: str, token: FlatToken, hint: str | None = None) -> NoReturn:
        span = self.span(token.start, token.end)
        raise ModelError(Diagnostic(code, message, span, hint), sources={self.file: self.text})

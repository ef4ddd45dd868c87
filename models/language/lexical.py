"""Words, numbers and signs: the first step from a model's text to its syntax tree.

`tokens` splits a text in one pass. Keywords are not told apart from names here: which of
the two a word is depends on where it stands, and that is the parser's to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from workbench.models.source import Span

END: Final = "$END"
NAME: Final = "NAME"
NUMBER: Final = "NUMBER"
STRING: Final = "STRING"
LABEL: Final = "LABEL"
COMMENT: Final = "COMMENT"
STRANGE: Final = "STRANGE"
UNCLOSED: Final = "UNCLOSED"

SIGNS: Final = {
    "&&": "AND",
    "=": "ASSIGN",
    ":=": "BECOMES",
    ":": "COLON",
    ",": "COMMA",
    ".": "DOT",
    "..": "DOTDOT",
    "==": "EQUAL",
    ">": "GREATER",
    ">=": "GREATER_EQUAL",
    "{": "LBRACE",
    "<": "LESS",
    "<=": "LESS_EQUAL",
    "(": "LPAR",
    "[": "LSQB",
    "-": "MINUS",
    "!": "NOT",
    "!=": "NOT_EQUAL",
    "||": "OR",
    "+": "PLUS",
    "^": "POWER",
    "?": "QUESTION",
    "}": "RBRACE",
    ")": "RPAR",
    "]": "RSQB",
    ";": "SEMICOLON",
    "/": "SLASH",
    "*": "TIMES",
}

_PATTERN = re.compile(
    r"""(?P<blank>[ \t\r\f]+)
      | (?P<newline>\n)
      | (?P<word>[A-Za-z_][A-Za-z_0-9]*)
      | (?P<sign>&&|\|\||[=!<>:]=|\.\.|[-=:,>{<(\[!+^?})\];*]|\.(?!\d)|/(?![/*]))
      | (?P<number>(?:[0-9]+(?:\.(?!\.)[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<comment>//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/)
      | (?P<string>"[^"\n]*")
      | (?P<label>\#[A-Za-z_][A-Za-z_0-9]*)
      | (?P<open_comment>/\*.*)
      | (?P<open_string>"[^"\n]*)
      | (?P<strange>[^\x00-\x7f]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_GROUPS = {
    "number": NUMBER,
    "string": STRING,
    "label": LABEL,
    "open_comment": UNCLOSED,
    "open_string": UNCLOSED,
    "strange": STRANGE,
}


class Token:
    """A piece of text: its kind (a terminal of the grammar), the text itself, where it
    starts as an offset, and its line and column."""

    __slots__ = ("column", "kind", "line", "start", "text")

    def __init__(self, kind: str, text: str, start: int, line: int, column: int):
        self.kind = kind
        self.text = text
        self.start = start
        self.line = line
        self.column = column

    @property
    def end(self) -> int:
        """The offset just behind the token."""
        return self.start + len(self.text)

    def span(self, file: str) -> Span:
        """The region the token covers; only comments may reach over several lines."""
        newlines = self.text.count("\n")
        if newlines:
            last = len(self.text) - self.text.rfind("\n")
            return Span(file, self.line, self.column, self.line + newlines, last)
        return Span(file, self.line, self.column, self.line, self.column + len(self.text))

    def __repr__(self) -> str:
        return f"{self.kind}({self.text!r} at {self.line}:{self.column})"


def tokens(text: str, comments: list[Token] | None = None, first_line: int = 1) -> Iterator[Token]:
    """The tokens of a text one by one, ended by one of kind `END`; its comments are added
    to `comments`, and its lines are counted from `first_line`. What has no meaning is a token of
    kind `STRANGE`; a text in quotes or a comment that is not closed is one of kind `UNCLOSED`."""
    signs, groups = SIGNS, _GROUPS
    line, line_start = first_line, 0
    for match in _PATTERN.finditer(text):
        group = match.lastgroup
        if group == "blank":
            continue
        start = match.start()
        if group == "newline":
            line += 1
            line_start = start + 1
            continue
        word = match.group()
        if group == "word":
            yield Token(NAME, word, start, line, start - line_start + 1)
        elif group == "sign":
            yield Token(signs[word], word, start, line, start - line_start + 1)
        elif group == "comment":
            if comments is not None:
                comments.append(Token(COMMENT, word, start, line, start - line_start + 1))
            if "\n" in word:
                line += word.count("\n")
                line_start = start + word.rfind("\n") + 1
        else:
            yield Token(groups[group or ""], word, start, line, start - line_start + 1)
            if group == "open_comment":
                line += word.count("\n")
                line_start = start + word.rfind("\n") + 1
    yield Token(END, "", len(text), line, len(text) - line_start + 1)

"""Words, numbers and signs: the first step from a model's text to its syntax tree.

`tokenize` splits a text in one pass. Keywords are not told apart from names here: which of
the two a word is depends on where it stands, and that is the parser's to say.
"""

from __future__ import annotations

import re
from typing import Final

from models.source import Diagnostic, ModelError, Span

END: Final = "$END"
NAME: Final = "NAME"
NUMBER: Final = "NUMBER"
STRING: Final = "STRING"
LABEL: Final = "LABEL"

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
      | (?P<strange>.)
    """,
    re.VERBOSE | re.DOTALL,
)


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


class Lexed:
    """All tokens of a text, ended by one of kind `END`, and apart from them its comments
    and what could not be read."""

    __slots__ = ("comments", "problems", "tokens")

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.comments: list[Token] = []
        self.problems: list[Diagnostic] = []


def tokenize(text: str, file: str) -> Lexed:
    """The tokens of a text in linear time."""
    found = Lexed()
    tokens = found.tokens
    signs = SIGNS
    line, line_start = 1, 0
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
        column = start - line_start + 1
        if group == "word":
            tokens.append(Token(NAME, word, start, line, column))
        elif group == "sign":
            tokens.append(Token(signs[word], word, start, line, column))
        elif group == "number":
            tokens.append(Token(NUMBER, word, start, line, column))
        elif group == "comment":
            found.comments.append(Token("COMMENT", word, start, line, column))
            if "\n" in word:
                line += word.count("\n")
                line_start = start + word.rfind("\n") + 1
        elif group == "string":
            tokens.append(Token(STRING, word, start, line, column))
        elif group == "label":
            tokens.append(Token(LABEL, word, start, line, column))
        else:
            raise ModelError(
                Diagnostic(
                    "strange-character",
                    f"the character {word!r} has no meaning here",
                    Span(file, line, column, line, column + 1),
                ),
                sources={file: text},
            )
    tokens.append(Token(END, "", len(text), line, len(text) - line_start + 1))
    return found

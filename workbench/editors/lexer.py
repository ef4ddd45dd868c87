"""The lexer of Pygments: colours in documents, notebooks and terminals (`pygmentize`)."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Token,
    Whitespace,
)

from workbench.api.texts import words_of_the_language


def _rules() -> list[tuple[Any, ...]]:
    table = words_of_the_language()
    patterns = table.patterns
    return [
        (r"\s+", Whitespace),
        (r"//[^\n]*", Comment.Single),
        (r"/\*(?:.|\n)*?\*/", Comment.Multiline),
        (patterns["STRING"], String),
        (patterns["LABEL"], Name.Label),
        (words(table.functions, r"\b", r"\b(?=\s*\()"), Name.Builtin),
        (words(table.before_brace, r"\b", r"\b(?=\s*\{)"), Keyword),
        (words(table.definitions, r"\b", r"\b"), Keyword.Declaration),
        (words(table.manners, r"\b", r"\b"), Keyword.Reserved),
        (words(table.types, r"\b", r"\b"), Keyword.Type),
        (words(table.constants, r"\b", r"\b"), Keyword.Constant),
        (words(table.blocks, r"\b", r"\b"), Keyword),
        (patterns["NAME"], Name),
        (patterns["NUMBER"], Number),
        (words(table.signs), Operator),
        (r"[(){}\[\],;.]", Punctuation),
        (r".", Token.Error),
    ]


class CharonLexer(RegexLexer):  # type: ignore[misc]
    """Colours for `.charon` files."""

    name = "CHARON"
    aliases: ClassVar[list[str]] = ["charon"]
    filenames: ClassVar[list[str]] = ["*.charon"]
    mimetypes: ClassVar[list[str]] = ["text/x-charon"]
    flags = re.MULTILINE
    tokens: ClassVar[dict[str, list[tuple[Any, ...]]]] = {"root": _rules()}

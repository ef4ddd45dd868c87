"""Parsing of flat expressions: those of JSON files, command-line options and SpaceEx.

The grammar, from loose to tight:

    expression  =  or [ "?" expression ":" expression ]
                |  ("forall" | "sum") name "in" sum ".." sum ":" expression
    or          =  and { "||" and }
    and         =  not { "&&" not }
    not         =  "!" not  |  comparison
    comparison  =  sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
    sum         =  product { ("+" | "-") product }
    product     =  unary { ("*" | "/") unary }
    unary       =  "-" unary  |  power
    power       =  atom [ "^" unary ]
    atom        =  number | "true" | "false" | name | name "(" arguments ")"
                |  "at" "(" string "," string ")" | "(" expression ")" | string

A string on its own is a value of an enumeration. A name is flat (`follower.acc`,
`car[3].x`, `x'`), or anything at all in back quotes; indices that are no integers make a
selection. In a dialect with chained comparisons `a <= x <= b` means `a <= x && x <= b`.

The parser keeps open operators on an explicit stack (operator precedence), gathers the
operands of a sum before it builds it, and so takes time linear in the text at any depth.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from workbench.models.expressions.dialect import CHARON, SPACEEX, Dialect
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.parser import MAX_NESTING, Parser
from workbench.models.expressions.table import Table
from workbench.models.expressions.tokens import MAX_TEXT, Tokens

__all__ = ["CHARON", "MAX_NESTING", "SPACEEX", "Dialect", "parse_expression"]


def parse_expression(
    text: str,
    *,
    symbols: Set[str] = frozenset(),
    tables: Mapping[str, Table] | None = None,
    externals: Set[str] = frozenset(),
    file: str = "<expression>",
    dialect: Dialect = CHARON,
    line: int = 1,
    column: int = 1,
    max_length: int = MAX_TEXT,
) -> Expression:
    """The expression that a text denotes; every node carries its span.

    `symbols` are the values of enumerations; `tables` and `externals` the functions that
    may be called besides the built-in ones. `line` and `column` say where in `file` the
    text begins. Anything wrong raises `ModelError`.

    >>> str(parse_expression("-x^2 + 0.5*(y - x')"))
    "-x^2 + (y - x')/2"
    """
    tokens = Tokens(text, dialect, file, line, column, max_length)
    return Parser(tokens, dialect, symbols, tables or {}, externals).parse()

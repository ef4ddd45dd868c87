"""A builder that notes where names of values stand, which the syntax tree alone does not tell:
arithmetic that is done while reading may leave a name out."""

# ruff: noqa: D102 -- the methods are the rules of the grammar and are described there

from __future__ import annotations

from dataclasses import field
from typing import Any

from workbench.models.expressions.expression import Expression
from workbench.models.language import syntax
from workbench.models.language.build import Builder
from workbench.models.language.lexical import Token
from workbench.models.record import record
from workbench.models.source import Span


@record
class Noted:
    """Names of values in a text: `places` are variables with the members asked of them
    (`car[1].x` as `car`, `x`), `calls` functions, `members` values of enumerations, and `indices`
    those of `forall` and `sum` with the expression that knows them."""

    places: list[tuple[Token, ...]] = field(default_factory=list)
    calls: list[Token] = field(default_factory=list)
    members: list[syntax.Identifier] = field(default_factory=list)
    indices: list[tuple[syntax.IndexRange, Span]] = field(default_factory=list)


class NotingBuilder(Builder):
    """The maker of syntax nodes that keeps the names of values."""

    def __init__(self, file: str):
        super().__init__(file)
        self.noted = Noted()

    def place(self, c: list[Any]) -> Expression:
        if len(c) == 1:
            self.noted.places.append((c[0],))
        else:
            after_dot = (c[k + 1] for k in range(1, len(c) - 1) if _is_dot(c[k]))
            self.noted.places.append((c[0], *after_dot))
        return super().place(c)

    def call(self, c: list[Any]) -> Expression:
        self.noted.calls.append(c[0])
        return super().call(c)

    def quantified(self, c: list[Any]) -> Expression:
        self.noted.indices.append((c[1], self._span(c[0])))
        return super().quantified(c)

    def type(self, c: list[Any]) -> syntax.TypeName:
        if len(c) > 1:
            self.noted.members.extend(c[2])
        return super().type(c)


def _is_dot(value: Any) -> bool:
    return type(value) is Token and value.text == "."

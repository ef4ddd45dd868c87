"""From reduced grammar rules to expressions; the part of `build.py` below statements.

Sums and products of any length are made flat in one step, so that their depth does not
grow with their length; everything else is as deep as the author nested it, up to a limit.
"""

# ruff: noqa: D102 -- the methods are the rules of the grammar and are described there

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from workbench.models.expressions.dialect import FUNCTIONS, MAX_DIGITS
from workbench.models.expressions.expression import (
    ZERO,
    Expression,
    add,
    boolean,
    compare,
    conditional,
    conjunction,
    constant,
    disjunction,
    divide,
    external,
    function,
    maximum,
    minimum,
    multiply,
    negation,
    power,
    variable,
)
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.operators import Op
from workbench.models.language import syntax
from workbench.models.language.lexical import Token
from workbench.models.source import Diagnostic, Span

MAX_DEPTH = 400
"""How deep expressions may be nested."""
MAX_WORK = 3_000_000
"""How many arguments are gathered in one file; only a long sum that is wrapped in many
layers of parentheses, and so copied for each, needs more."""

_EXTREMA = {Op.MINIMUM: minimum, Op.MAXIMUM: maximum}


class Arguments:
    """What stands between the parentheses of a call or an instance."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Expression, ...]):
        self.values = values


class ExpressionBuilder:
    """The maker of expressions for one file; `last` is the last token read."""

    def __init__(self, file: str):
        self.file = file
        self.last = Token("", "", 0, 1, 1)
        self.problems: list[Diagnostic] = []
        self.work = 0  # how many arguments have been gathered

    # Places

    def _span(self, first: Any) -> Span:
        """From a token or node to the last token read."""
        start = first if type(first) is Token else first.span
        last = self.last
        return Span(self.file, start.line, start.column, last.line, last.column + len(last.text))

    def _identifier(self, token: Token) -> syntax.Identifier:
        return syntax.Identifier(token.text, token.span(self.file))

    def report(self, code: str, message: str, span: Span | None, hint: str | None = None) -> None:
        """Note something wrong that does not stop the parser."""
        self.problems.append(Diagnostic(code, message, span, hint))

    # Rules

    def _made(self, value: Expression, span: Span) -> Expression:
        """The value, known to stand at `span` if it has no place yet, within the limits."""
        self.work += len(value.args)
        if value.depth > MAX_DEPTH:
            return self._beyond(f"this expression is nested more than {MAX_DEPTH} deep", span)
        if self.work > MAX_WORK:
            return self._beyond("long expressions are nested too often here", span)
        return value if value.span is not None else value.at(span)

    def _beyond(self, message: str, span: Span) -> Expression:
        """A stand-in for an expression beyond the limits; said once is enough."""
        if not any(d.code == "nested-too-deeply" for d in self.problems):
            self.report("nested-too-deeply", message, span, "give parts of it a name of their own")
        return ZERO.at(span)

    def _too_large(self, span: Span) -> Expression:
        self.report(
            "number-too-large", "this arithmetic leads to an unreasonably long number", span
        )
        return ZERO.at(span)

    def conditional(self, c: list[Any]) -> Expression:
        span = self._span(c[0])
        return self._made(conditional(c[0], c[2], c[4], span), span)

    def quantified(self, c: list[Any]) -> Expression:
        over: syntax.IndexRange = c[1]
        op = Op.FORALL if c[0].text == "forall" else Op.SUM
        span = self._span(c[0])
        return self._made(Expression(op, (over.low, over.high, c[3]), over.index, span), span)

    def disjunction(self, c: list[Any]) -> Expression:
        if len(c) == 1:
            only: Expression = c[0]
            return only
        span = self._span(c[0])
        return self._made(disjunction(*c[::2], span=span), span)

    def conjunction(self, c: list[Any]) -> Expression:
        if len(c) == 1:
            only: Expression = c[0]
            return only
        span = self._span(c[0])
        return self._made(conjunction(*c[::2], span=span), span)

    open_disjunction = disjunction
    open_conjunction = conjunction

    def not_(self, c: list[Any]) -> Expression:
        span = self._span(c[0])
        return self._made(negation(c[1], span), span)

    def compare(self, c: list[Any]) -> Expression:
        span = self._span(c[0])
        return self._made(compare(Op(c[1].text), c[0], c[2], span), span)

    def arithmetic(self, c: list[Any]) -> Expression:
        terms = [c[0]]
        span = self._span(c[0])
        try:
            for k in range(2, len(c), 2):
                term = c[k]
                if c[k - 1].text == "+":
                    terms.append(term)
                else:
                    terms.append(multiply(-1, term, span=term.span))
            return self._made(add(*terms, span=span), span)
        except ExpressionTooLargeError:
            return self._too_large(span)

    def term(self, c: list[Any]) -> Expression:
        span = self._span(c[0])
        factors = [c[0]]
        try:
            for k in range(2, len(c), 2):
                if c[k - 1].text == "*":
                    factors.append(c[k])
                else:
                    product = factors[0] if len(factors) == 1 else multiply(*factors, span=span)
                    quotient = divide(product, c[k], span)
                    if quotient.depth > MAX_DEPTH:
                        return self._made(quotient, span)
                    factors = [quotient]
            if len(factors) == 1:
                return self._made(factors[0], span)
            return self._made(multiply(*factors, span=span), span)
        except ExpressionTooLargeError:
            return self._too_large(span)

    def minus(self, c: list[Any]) -> Expression:
        span = self._span(c[0])
        return self._made(multiply(-1, c[1], span=span), span)

    def raised(self, c: list[Any]) -> Expression:
        span = self._span(c[0])
        try:
            return self._made(power(c[0], c[2], span), span)
        except ExpressionTooLargeError:
            return self._too_large(span)

    def number(self, c: list[Any]) -> Expression:
        token = c[0]
        span = token.span(self.file)
        value = _number(token.text)
        if value is None:
            self.report(
                "number-too-large",
                f"a number may have {MAX_DIGITS} digits and an exponent up to {MAX_DIGITS}",
                span,
            )
            return ZERO.at(span)
        return constant(value, span)

    def true(self, c: list[Any]) -> Expression:
        return boolean(True, c[0].span(self.file))

    def false(self, c: list[Any]) -> Expression:
        return boolean(False, c[0].span(self.file))

    def group(self, c: list[Any]) -> Expression:
        inner: Expression = c[1]
        span = self._span(c[0])
        return self._made(inner.at(span), span)

    def place(self, c: list[Any]) -> Expression:
        if len(c) == 1:
            token: Token = c[0]
            return variable(token.text, token.span(self.file))
        span = self._span(c[0])
        steps: list[tuple[str, bool]] = [(c[0].text, False)]
        indices: list[Expression] = []
        k = 1
        while k < len(c):
            if c[k].text == ".":
                steps.append((c[k + 1].text, False))
                k += 2
                continue
            name, indexed = steps[-1]
            if indexed:
                self.report("two-indices", f"`{name}` takes one index in brackets", span)
            else:
                steps[-1] = (name, True)
                indices.append(c[k + 1])
            k += 3
        return self._made(Expression(Op.SELECT, tuple(indices), tuple(steps), span), span)

    def call(self, c: list[Any]) -> Expression:
        name: str = c[0].text
        arguments = c[1].values
        span = self._span(c[0])
        op = FUNCTIONS.get(name)
        if op is None:
            if name == "not":
                self.report("word-operator", "`not` is written `!`", span, "write `!(a > b)`")
            return self._made(external(name, *arguments, span=span), span)
        if op in _EXTREMA:
            if arguments:
                return self._made(_EXTREMA[op](*arguments, span=span), span)
            wanted = "at least one argument"
        else:
            if len(arguments) == (2 if op is Op.ATAN2 else 1):
                return self._made(function(op, *arguments, span=span), span)
            wanted = "two arguments" if op is Op.ATAN2 else "one argument"
        self.report(
            "wrong-number-of-arguments",
            f"`{name}` takes {wanted}, not {len(arguments)}",
            span,
        )
        return ZERO.at(span)

    def arguments(self, c: list[Any]) -> Arguments:
        return Arguments(tuple(c[1:-1:2]))


@lru_cache(maxsize=4096)
def _number(text: str) -> Fraction | None:
    """The exact value of a decimal number: 0.1 is 1/10; None beyond the limits."""
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or len(exponent) > 8 or abs(int(exponent or 0)) > MAX_DIGITS:
        return None
    whole, _, decimals = mantissa.partition(".")
    scale = int(exponent or 0) - len(decimals)
    digits = int(whole + decimals)
    return Fraction(digits * 10**scale) if scale >= 0 else Fraction(digits, 10**-scale)

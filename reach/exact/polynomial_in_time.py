"""Polynomials in one variable whose coefficients are polynomials in others, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from workbench.models.expressions.expression import ZERO, Expression, add, multiply
from workbench.models.expressions.polynomial import Polynomial, from_polynomial, polynomial_form

InTime: TypeAlias = tuple[Expression, ...]
"""Coefficients, the constant first, each multiplied out; the last is not zero."""


class NotPolynomialError(ValueError):
    """An expression is no polynomial; the message names it."""


def expanded(expression: Expression) -> Expression:
    """The expression multiplied out."""
    return from_polynomial(form_of(expression))


def form_of(expression: Expression) -> Polynomial:
    """The coefficients of the expression; `NotPolynomialError` if it has none."""
    form = polynomial_form(expression)
    if form is None:
        raise NotPolynomialError(f"{expression!r} is not a polynomial")
    return form


def trimmed(coefficients: Sequence[Expression]) -> InTime:
    """The coefficients multiplied out, without zeros at the end."""
    found = [expanded(c) for c in coefficients]
    while found and found[-1] == ZERO:
        found.pop()
    return tuple(found)


def collected(expression: Expression, name: str) -> InTime:
    """The expression as a polynomial in one of its names."""
    parts: dict[int, Polynomial] = {}
    for monomial, a in form_of(expression).items():
        exponent = dict(monomial).get(name, 0)
        rest = tuple((n, e) for n, e in monomial if n != name)
        parts.setdefault(exponent, {})[rest] = a
    return tuple(from_polynomial(parts.get(k, {})) for k in range(max(parts, default=-1) + 1))


def derivative(given: InTime) -> InTime:
    """The derivative."""
    return trimmed([multiply(Fraction(k), c) for k, c in enumerate(given)][1:])


def spread(given: InTime, name: Expression) -> Expression:
    """The polynomial as one expression in the variable `name`."""
    total: Expression = ZERO
    for coefficient in reversed(given):
        total = add(multiply(total, name), coefficient)
    return expanded(total)

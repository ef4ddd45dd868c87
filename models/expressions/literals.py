"""Exact arithmetic on the literals of an expression, of bounded size.

Numbers written in a model may be multiplied and raised to powers when expressions are built;
what would grow without measure is refused as soon as it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from workbench.models.expressions.operators import Op

MAX_CONSTANT_BITS = 16_384
"""Constants are folded only while numerator and denominator stay below this size."""


class ExpressionTooLargeError(ValueError):
    """A constant grew beyond `MAX_CONSTANT_BITS`; the language reports it at its place."""


def bit_size(value: Fraction) -> int:
    """The bits of the longer of numerator and denominator."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def bounded(value: Fraction) -> Fraction:
    """The value itself; refused if it is too large."""
    size = bit_size(value)
    if size > MAX_CONSTANT_BITS:
        raise ExpressionTooLargeError(
            f"a constant of {size} bits (the limit is {MAX_CONSTANT_BITS})"
        )
    return value


def total(numbers: Iterable[Fraction]) -> Fraction:
    """The sum of literals; refused as soon as it becomes too large."""
    result = Fraction(0)
    for number in numbers:
        result = bounded(result + number)
    return result


def product(numbers: Iterable[Fraction]) -> Fraction:
    """The product of literals; refused as soon as it becomes too large."""
    result = Fraction(1)
    for number in numbers:
        result = bounded(result * number)
    return result


COMPARE: Mapping[Op, Callable[[Fraction, Fraction], bool]] = {
    Op.LESS: lambda a, b: a < b,
    Op.LESS_EQUAL: lambda a, b: a <= b,
    Op.GREATER: lambda a, b: a > b,
    Op.GREATER_EQUAL: lambda a, b: a >= b,
    Op.EQUAL: lambda a, b: a == b,
    Op.NOT_EQUAL: lambda a, b: a != b,
}
"""What each comparison means on exact numbers."""

EXACT_FUNCTIONS: Mapping[Op, Callable[[Fraction], Fraction]] = {
    Op.ABSOLUTE: abs,
    Op.SIGN: lambda a: Fraction((a > 0) - (a < 0)),
    Op.FLOOR: lambda a: Fraction(a.numerator // a.denominator),
}
"""The functions of one number whose value at a rational is a rational."""

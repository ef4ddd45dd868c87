"""Exponentials of rational matrices in fixed point, with bounds of their errors.

Norms are weighted: for weights w_j = 2^e_j, |x| = max |x_j| / w_j, and ||M|| is the matrix norm
that belongs to it: the largest row sum of |M_ij| w_j / w_i, which is the plain row sum norm of
the balanced matrix diag(1/w) M diag(w). Matrices are kept balanced, as integers over 2^bits.

`exponential` is a Taylor polynomial where ||A t|| <= 1/64, then squared again and again: if
||E - F|| <= e then ||E^2 - round(F^2)|| <= 2 ||F|| e + e^2 + n units.

`growth` is P with ||exp(A t)|| <= P for all t in [0, S]: P = 2 serves while ||A t|| <= 1/64;
and if P serves for [0, t] then P max(1, ||exp(A t)||) serves for [0, 2t].
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from operator import mul

GROWTH_DEGREE = 6

IntegerMatrix = list[list[int]]


@dataclass(frozen=True)
class Balanced:
    """A balanced square matrix: rows of rationals, and its norm."""

    rows: list[list[Fraction]]

    @property
    def norm(self) -> Fraction:
        """The largest sum of absolute values in a row."""
        return max((sum(map(abs, row), Fraction(0)) for row in self.rows), default=Fraction(0))


@dataclass(frozen=True)
class FixedPoint:
    """A matrix in units of 2^-bits that differs from the one meant by at most `error`, in
    the norm."""

    rows: IntegerMatrix
    bits: int
    error: Fraction

    @property
    def norm(self) -> Fraction:
        """At least the norm of the matrix that is meant."""
        own = max((sum(map(abs, row)) for row in self.rows), default=0)
        return Fraction(own, 1 << self.bits) + self.error

    def squared(self) -> FixedPoint:
        """The square, with its error."""
        size = len(self.rows)
        norm = self.norm
        error = 2 * norm * self.error + self.error**2 + Fraction(size, 1 << self.bits)
        return FixedPoint(
            _product(self.rows, self.rows, self.bits), self.bits, _upwards(error, 2 * self.bits)
        )


def exponential(matrix: Balanced, time: Fraction, bits: int) -> FixedPoint:
    """exp(matrix * time)."""
    halvings = _halvings(matrix, time)
    found = _short(matrix, time / 2**halvings, bits, _degree(bits))
    for _ in range(halvings):
        found = found.squared()
    return found


def growth(matrix: Balanced, time: Fraction, bits: int) -> Fraction:
    """P with ||exp(matrix * t)|| <= P for all t in [0, time]."""
    doublings = _halvings(matrix, time)
    bound = Fraction(2)
    if doublings:
        power = _short(matrix, time / 2**doublings, bits, GROWTH_DEGREE)
        for k in range(doublings):
            power = power.squared() if k else power
            bound = _upwards(bound * max(Fraction(1), power.norm), bits)
    return bound


def _halvings(matrix: Balanced, time: Fraction) -> int:
    """How often the time must be halved until ||A t|| <= 1/64."""
    size = 64 * matrix.norm * time
    return (size.numerator // size.denominator).bit_length()


def _degree(bits: int) -> int:
    """The least degree that leaves a tail below 2^-bits where ||A t|| <= 1/64."""
    degree = 1
    while 64 ** (degree + 1) * factorial(degree + 1) < 1 << bits:
        degree += 1
    return degree


def _short(matrix: Balanced, time: Fraction, bits: int, degree: int) -> FixedPoint:
    """exp(A t) for ||A t|| <= 1/64 by Horner's rule, I + H (I + H/2 (... (I + H/degree))).

    A stage errs by at most n/2 units for the rounding of H, n for the product, n for the
    division, and 1/64 of the error before: with norms below 2, less than 4n units in all.
    The tail of the series is below twice its first term.
    """
    unit, size = 1 << bits, len(matrix.rows)
    step = [[round(a * time * unit) for a in row] for row in matrix.rows]
    power = [[unit if i == j else 0 for j in range(size)] for i in range(size)]
    for k in range(degree, 0, -1):
        power = [[entry // k for entry in row] for row in _product(step, power, bits)]
        for i in range(size):
            power[i][i] += unit
    tail = 2 * (matrix.norm * time) ** (degree + 1) / factorial(degree + 1)
    return FixedPoint(power, bits, _upwards(tail, 2 * bits) + Fraction(4 * size, unit))


def _product(left: IntegerMatrix, right: IntegerMatrix, bits: int) -> IntegerMatrix:
    """The product in fixed point, rounded down."""
    columns = list(zip(*right, strict=True))
    return [[sum(map(mul, row, column)) >> bits for column in columns] for row in left]


def _upwards(value: Fraction, bits: int) -> Fraction:
    """The least multiple of 2^-bits that is at least the value."""
    return Fraction(-((-value.numerator << bits) // value.denominator), 1 << bits)

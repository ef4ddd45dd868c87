"""Exponentials of rational matrices in fixed point, with bounds of their errors.

Norms are weighted: for weights w_j = 2^e_j, |x| = max |x_j| / w_j, and ||M|| is the matrix norm
that belongs to it: the largest row sum of |M_ij| w_j / w_i, which is the plain row sum norm of
the balanced matrix diag(1/w) M diag(w). Matrices are kept balanced, as integers over 2^bits.

`exponential` is a Taylor polynomial where ||A t|| <= 1/64, then squared again and again. For
||E - E'|| <= e and ||F - F'|| <= f, ||E F - round(E' F')|| <= ||E'|| f + ||F'|| e + e f + n units.

`growth` is P with ||exp(A t)|| <= P for all t in [0, S], by one of two ways:

- P = exp(m S), where m = max over i of M_ii + sum over j /= i of |M_ij|, or 1 if m <= 0 (m is
  the logarithmic norm: ||I + h M|| <= 1 + h m for small h, so |x| grows at most at that rate);
- P = 2 serves while ||A t|| <= 1/64; and if P serves for [0, t], then for [0, 4t] the product
  of P and the largest of 1, ||exp(A t)||, ||exp(2 A t)|| and ||exp(3 A t)|| does.

P larger than `MOST` is of no use, and might have more digits than there is time to compute: then
there is none, `TooMuchGrowthError`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import factorial

from workbench.models.checker.packed_rows import PackedRows
from workbench.models.interruption import go_on

GROWTH_BITS, GROWTH_DEGREE = 128, 6
MILD, MILD_FROM, MILD_IF_LARGE = 4, 48, 40
"""Up to this exponent m S the logarithmic norm is good enough, the second one for matrices
from that size on."""
MAX_SQUARED = 256
"""Larger matrices are not multiplied with each other."""

MAX_EXPONENT = 600
MOST = Fraction(3) ** MAX_EXPONENT
"""The largest growth that is bounded."""

KEPT = 16
"""Results that are kept in case the same is asked again."""

IntegerMatrix = list[list[int]]


class TooMuchGrowthError(Exception):
    """The state may grow too much to be bounded."""


@dataclass(frozen=True)
class Balanced:
    """A balanced square matrix: in each row (column, entry) where it is not zero."""

    rows: tuple[tuple[tuple[int, Fraction], ...], ...]

    @cached_property
    def _sizes(self) -> list[Fraction]:
        """The sums of absolute values of the rows."""
        return [sum((abs(a) for _, a in row), Fraction(0)) for row in self.rows]

    @cached_property
    def norm(self) -> Fraction:
        """The largest sum of absolute values in a row."""
        return max(self._sizes, default=Fraction(0))

    @cached_property
    def rate(self) -> Fraction:
        """The logarithmic norm."""
        own = (dict(row).get(i, Fraction(0)) for i, row in enumerate(self.rows))
        rates = (size - abs(a) + a for a, size in zip(own, self._sizes, strict=True))
        return max(rates, default=Fraction(0))


@dataclass(frozen=True)
class FixedPoint:
    """A matrix in units of 2^-bits that differs from the one meant by at most `error`, in
    the norm."""

    rows: IntegerMatrix
    bits: int
    error: Fraction

    @cached_property
    def norm(self) -> Fraction:
        """At least the norm of the matrix that is meant."""
        own = max((sum(map(abs, row)) for row in self.rows), default=0)
        return Fraction(own, 1 << self.bits) + self.error

    def times(self, other: FixedPoint) -> FixedPoint:
        """The product, with its error."""
        error = self.norm * other.error + other.norm * self.error + self.error * other.error
        error += Fraction(len(self.rows), 1 << self.bits)
        rows = _product(self.rows, other.rows, self.bits)
        return FixedPoint(rows, self.bits, _upwards(error, 2 * self.bits))


@lru_cache(maxsize=KEPT)
def exponential(matrix: Balanced, time: Fraction, bits: int) -> FixedPoint:
    """exp(matrix * time)."""
    halvings = _halvings(matrix, time)
    found = _short(matrix, time / 2**halvings, bits, _degree(bits))
    for _ in range(halvings):
        found = found.times(found)
    return found


@lru_cache(maxsize=KEPT)
def growth(matrix: Balanced, time: Fraction) -> Fraction:
    """P with ||exp(matrix * t)|| <= P for all t in [0, time]; not larger than `MOST`."""
    exponent = max(Fraction(0), matrix.rate * time)
    size = len(matrix.rows)
    mild = MILD if size < MILD_FROM else MILD_IF_LARGE
    if exponent <= mild or size > MAX_SQUARED:
        if exponent > MAX_EXPONENT:
            raise TooMuchGrowthError
        return Fraction(3) ** -(-exponent.numerator // exponent.denominator)
    rounds = -(-_halvings(matrix, time) // 2)
    bound = Fraction(2)
    power = _short(matrix, time / 4**rounds, GROWTH_BITS, GROWTH_DEGREE)
    for k in range(rounds):
        if power.norm > MOST:
            raise TooMuchGrowthError
        twice = power.times(power)
        largest = max(Fraction(1), power.norm, twice.norm, twice.times(power).norm)
        bound = _upwards(bound * largest, GROWTH_BITS)
        if bound > MOST:
            raise TooMuchGrowthError
        if k < rounds - 1:
            power = twice.times(twice)
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
    step = [[0] * size for _ in range(size)]
    for i, row in enumerate(matrix.rows):
        for j, a in row:
            step[i][j] = round(a * time * unit)
    power = [[unit if i == j else 0 for j in range(size)] for i in range(size)]
    for k in range(degree, 0, -1):
        power = [[entry // k for entry in row] for row in _product(step, power, bits)]
        for i in range(size):
            power[i][i] += unit
    tail = 2 * (matrix.norm * time) ** (degree + 1) / factorial(degree + 1)
    return FixedPoint(power, bits, _upwards(tail, 2 * bits) + Fraction(4 * size, unit))


def _product(left: IntegerMatrix, right: IntegerMatrix, bits: int) -> IntegerMatrix:
    """The product in fixed point, rounded down."""
    largest = max((max(max(row), -min(row)) for row in left), default=0)
    packed = PackedRows(right, largest.bit_length())
    found = []
    for row in left:
        go_on()
        found.append([entry >> bits for entry in packed.combination(row)])
    return found


def _upwards(value: Fraction, bits: int) -> Fraction:
    """The least multiple of 2^-bits that is at least the value."""
    return Fraction(-((-value.numerator << bits) // value.denominator), 1 << bits)

"""Intervals in fixed point: whole numbers of units 2^-bits, rounded outwards.

Every operation returns an interval that contains the exact result for all arguments within the
given ones; an operation that is nowhere (or not everywhere) defined or has no bound there raises
`UndefinedError`. Where a function is defined on a part of the argument only (the root of
[-1, 4]), the result holds for that part: whoever asks knows that the value exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

MAX_POWER = 64
"""The largest whole exponent that is multiplied out."""


class UndefinedError(Exception):
    """There is no enclosure; the message says why."""


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from `low` to `high`, in units."""

    low: int
    high: int

    @property
    def size(self) -> int:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.high - other.low)

    def times(self, factor: int) -> Interval:
        """Times a whole number; exact."""
        ends = self.low * factor, self.high * factor
        return Interval(min(ends), max(ends))

    def hull(self, other: Interval) -> Interval:
        """The least interval that contains both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def meet(self, other: Interval) -> Interval:
        """What both have in common; this interval if there is nothing."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Interval(low, high) if low <= high else self


@dataclass(frozen=True, slots=True)
class IntervalArithmetic:
    """Operations on intervals in units of 2^-bits."""

    bits: int

    @property
    def one(self) -> Interval:
        """The number 1."""
        return Interval(1 << self.bits, 1 << self.bits)

    def number(self, value: Fraction) -> Interval:
        """A rational number."""
        top = value.numerator << self.bits
        return Interval(top // value.denominator, -(-top // value.denominator))

    def product(self, a: Interval, b: Interval) -> Interval:
        """a * b."""
        ends = a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high
        return Interval(min(ends) >> self.bits, -(-max(ends) >> self.bits))

    def divided(self, a: Interval, factor: int) -> Interval:
        """a over a positive whole number."""
        return Interval(a.low // factor, -(-a.high // factor))

    def reciprocal(self, a: Interval) -> Interval:
        """1 / a."""
        if a.low <= 0 <= a.high:
            raise UndefinedError("division by zero")
        unit = 1 << 2 * self.bits
        return Interval(unit // a.high, -(-unit // a.low))

    def quotient(self, a: Interval, b: Interval) -> Interval:
        """a / b."""
        if b.low <= 0 <= b.high:
            raise UndefinedError("division by zero")
        ends = [(x << self.bits, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        return Interval(min(x // y for x, y in ends), max(-(-x // y) for x, y in ends))

    def power(self, a: Interval, exponent: int) -> Interval:
        """a ** exponent, for a whole exponent."""
        if abs(exponent) > MAX_POWER:
            raise UndefinedError(f"the exponent {exponent} is too large")
        if exponent < 0:
            return self.reciprocal(self.power(a, -exponent))
        if exponent % 2 == 0 and a.low < 0:
            a = Interval(max(0, -a.high), a.size)
        # Even powers grow from 0 on, odd ones everywhere: only the ends count.
        low, high = self._point_power(a.low, exponent), self._point_power(a.high, exponent)
        return Interval(low.low, high.high)

    def _point_power(self, point: int, exponent: int) -> Interval:
        found = self.one
        for _ in range(exponent):
            found = self.product(found, Interval(point, point))
        return found

    def root(self, a: Interval) -> Interval:
        """The square root of what is not negative in a."""
        if a.high < 0:
            raise UndefinedError("the square root of a negative number")
        low = isqrt(max(0, a.low) << self.bits)
        high = isqrt(a.high << self.bits)
        return Interval(low, high if high * high == a.high << self.bits else high + 1)

    def absolute(self, a: Interval) -> Interval:
        """|a|."""
        return Interval(max(0, a.low, -a.high), a.size)

    def floor(self, a: Interval) -> Interval:
        """The largest whole numbers that are not beyond."""
        return Interval(a.low >> self.bits << self.bits, a.high >> self.bits << self.bits)

    def sign(self, a: Interval) -> Interval:
        """-1, 0 or 1."""
        unit = 1 << self.bits
        return Interval(unit * ((a.low > 0) - (a.low < 0)), unit * ((a.high > 0) - (a.high < 0)))

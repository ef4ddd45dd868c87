"""Taylor coefficients of functions of one number, over intervals.

Each function gives enclosures of g(x), g'(x), g''(x) / 2, ..., g^(k)(x) / k! for all x in an
interval, up to an order. The recurrences follow from the differential equations that the
functions satisfy: e.g. (1 + x^2) atan' = 1 for the coefficients v of atan',
(1 + x^2) v_k + 2 x v_(k-1) + v_(k-2) = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import factorial
from typing import TypeAlias

from workbench.models.checker.elementary import Elementary
from workbench.models.checker.intervals import Interval, UndefinedError

Coefficients: TypeAlias = list[Interval]


class Univariate:
    """The functions; each takes an interval and the largest order."""

    Function: TypeAlias = Callable[[Interval, int], Coefficients]

    def __init__(self, functions: Elementary):
        self._functions, self._plain = functions, functions.plain

    def exponential(self, a: Interval, order: int) -> Coefficients:
        """exp^(k) = exp."""
        value = self._functions.exponential(a)
        return [self._plain.divided(value, factorial(k)) for k in range(order + 1)]

    def logarithm(self, a: Interval, order: int) -> Coefficients:
        """log^(k) / k! = -(-1/x)^k / k."""
        found = [self._functions.logarithm(a)]
        if order:
            power = one = self._plain.reciprocal(a)
            for k in range(1, order + 1):
                found.append(self._plain.divided(power if k % 2 else -power, k))
                power = self._plain.product(power, one)
        return found

    def sine(self, a: Interval, order: int) -> Coefficients:
        """sin, cos, -sin, -cos, and so on."""
        return self._wave(a, order, 0)

    def cosine(self, a: Interval, order: int) -> Coefficients:
        """cos, -sin, -cos, sin, and so on."""
        return self._wave(a, order, 1)

    def _wave(self, a: Interval, order: int, first: int) -> Coefficients:
        sine, cosine = self._functions.sine(a), self._functions.cosine(a)
        cycle = sine, cosine, -sine, -cosine
        return [self._plain.divided(cycle[(first + k) % 4], factorial(k)) for k in range(order + 1)]

    def tangent(self, a: Interval, order: int) -> Coefficients:
        """tan' = 1 + tan^2."""
        found = [self._functions.tangent(a)]
        for k in range(order):
            total = self._plain.one if k == 0 else Interval(0, 0)
            for i in range(k + 1):
                total = total + self._plain.product(found[i], found[k - i])
            found.append(self._plain.divided(total, k + 1))
        return found

    def arc_tangent(self, a: Interval, order: int) -> Coefficients:
        """atan' = 1 / (1 + x^2)."""
        plain = self._plain
        below = plain.one + plain.power(a, 2)
        slopes = [plain.reciprocal(below)] if order else []
        for k in range(1, order):
            total = plain.product(a.times(2), slopes[k - 1])
            if k > 1:
                total = total + slopes[k - 2]
            slopes.append(-plain.quotient(total, below))
        rest = [plain.divided(v, k + 1) for k, v in enumerate(slopes)]
        return [self._functions.arc_tangent(a), *rest]

    def arc_sine(self, a: Interval, order: int) -> Coefficients:
        """asin' = w with (1 - x^2) w' = x w."""
        plain = self._plain
        found = [self._functions.arc_sine(a)]
        if not order:
            return found
        below = plain.one - plain.power(a, 2)
        if below.low <= 0:
            raise UndefinedError("the slope of the arc sine at the end of its range")
        slopes = [plain.reciprocal(plain.root(below))]
        for k in range(order - 1):
            total = plain.product(a.times(2 * k + 1), slopes[k])
            if k:
                total = total + slopes[k - 1].times(k)
            slopes.append(plain.divided(plain.quotient(total, below), k + 1))
        return found + [plain.divided(v, k + 1) for k, v in enumerate(slopes)]

    def arc_cosine(self, a: Interval, order: int) -> Coefficients:
        """acos = pi/2 - asin."""
        rest = [-v for v in self.arc_sine(a, order)[1:]]
        return [self._functions.arc_cosine(a), *rest]

    def reciprocal(self, a: Interval, order: int) -> Coefficients:
        """(1/x)^(k) / k! = (-1)^k / x^(k+1)."""
        found = [self._plain.reciprocal(a)]
        for _ in range(order):
            found.append(-self._plain.product(found[-1], found[0]))
        return found

    def root(self, a: Interval, order: int) -> Coefficients:
        """The square root."""
        found = [self._functions.plain.root(a)]
        return self._falling(found, Fraction(1, 2), a, order)

    def real_power(self, exponent: Fraction) -> Function:
        """x ** exponent."""

        def function(a: Interval, order: int) -> Coefficients:
            found = [self._functions.real_power(a, exponent)]
            return self._falling(found, exponent, a, order)

        return function

    def _falling(
        self, found: Coefficients, exponent: Fraction, a: Interval, order: int
    ) -> Coefficients:
        """Each coefficient of a power is the one before times (exponent - k + 1) / (k x)."""
        if order and a.low <= 0:
            raise UndefinedError("the slope of a root at zero")
        for k in range(1, order + 1):
            factor = self._plain.number((exponent - k + 1) / k)
            found.append(self._plain.quotient(self._plain.product(found[-1], factor), a))
        return found

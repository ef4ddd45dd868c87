"""Elementary functions of intervals, by series with bounds of their tails.

At a point each function is computed with intervals throughout, so that no error analysis is
needed beyond the tail of a series: the argument is made small by an identity (halving, doubling
formulas, powers of two), the series is summed until its terms vanish, and the tail is below a
geometric series with ratio at most 1/2. Over an interval the functions are monotone between
known points. All work is done with `GUARD` further bits and rounded outwards at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from workbench.models.checker.intervals import Interval, IntervalArithmetic, UndefinedError

GUARD = 48
MAX_EXPONENTIAL = 1 << 12
"""The largest argument of exp."""
MAX_ANGLE = 1 << 20
"""The largest angle whose sine is computed; beyond it, [-1, 1]."""


class Elementary:
    """Functions of intervals in units of 2^-bits; see the module's docstring."""

    def __init__(self, bits: int):
        self.plain = IntervalArithmetic(bits)
        self.fine = IntervalArithmetic(bits + GUARD)
        self._unit = 1 << self.fine.bits

    # Functions of intervals

    def exponential(self, a: Interval) -> Interval:
        """e^a."""
        return self._increasing(self._exponential, a)

    def logarithm(self, a: Interval) -> Interval:
        """The natural logarithm."""
        if a.low <= 0:
            raise UndefinedError("the logarithm of a number that may not be positive")
        return self._increasing(self._logarithm, a)

    def cosine(self, a: Interval) -> Interval:
        """cos a: its values at the ends, and 1 or -1 where a multiple of pi lies between."""
        one = self.plain.one.high
        wide = self._refined(a)
        limit = MAX_ANGLE * self._unit
        pi = pi_in(self.fine.bits)
        if wide.size > limit or wide.high - wide.low >= 2 * pi.high:
            return Interval(-one, one)
        found = self._rounded(self._angle(wide.low)[1].hull(self._angle(wide.high)[1]))
        low, high = found.low, found.high
        for k in range(wide.low // pi.high - 2, wide.high // pi.low + 3):
            turn = pi.times(k)
            if turn.low <= wide.high and turn.high >= wide.low:
                low, high = (low, one) if k % 2 == 0 else (-one, high)
        return Interval(max(low, -one), min(high, one))

    def sine(self, a: Interval) -> Interval:
        """sin a = cos (a - pi/2)."""
        quarter = self.plain.divided(pi_in(self.plain.bits), 2)
        shifted = self.cosine(a - quarter)
        if a.low == a.high and abs(a.low) <= MAX_ANGLE << self.plain.bits:
            return shifted.meet(self._rounded(self._angle(self._refined(a).low)[0]))
        return shifted

    def tangent(self, a: Interval) -> Interval:
        """tan a, where the cosine has no zero."""
        below = self.cosine(a)
        if below.low <= 0 <= below.high:
            raise UndefinedError("the tangent near a multiple of a right angle")

        def at(point: int) -> Interval:
            sine, cosine = self._angle(point)
            return self.fine.quotient(sine, cosine)

        return self._increasing(at, a)

    def arc_tangent(self, a: Interval) -> Interval:
        """atan a."""
        return self._increasing(self._arc_tangent, a)

    def arc_sine(self, a: Interval) -> Interval:
        """asin of what lies in [-1, 1]."""
        one = self.plain.one.high
        if a.low > one or a.high < -one:
            raise UndefinedError("the arc sine of a number outside [-1, 1]")
        inside = Interval(max(a.low, -one), min(a.high, one))
        return self._increasing(self._arc_sine, inside)

    def arc_cosine(self, a: Interval) -> Interval:
        """acos of what lies in [-1, 1]."""
        return self.plain.divided(pi_in(self.plain.bits), 2) - self.arc_sine(a)

    def arc_tangent_2(self, y: Interval, x: Interval) -> Interval:
        """atan2(y, x), in (-pi, pi]."""
        pi = pi_in(self.plain.bits)
        half = self.plain.divided(pi, 2)
        if x.low > 0:
            return self.arc_tangent(self.plain.quotient(y, x))
        if y.low > 0:
            return half - self.arc_tangent(self.plain.quotient(x, y))
        if y.high < 0:
            return -half - self.arc_tangent(self.plain.quotient(x, y))
        return Interval(-pi.high, pi.high)

    def real_power(self, a: Interval, exponent: Fraction) -> Interval:
        """a ** exponent of what is positive in a (or zero, for a positive exponent)."""
        if exponent.denominator == 1:
            return self.plain.power(a, exponent.numerator)
        if exponent.denominator == 2 and abs(exponent.numerator) <= 63:
            return self.plain.power(self.plain.root(a), exponent.numerator)
        if a.high < 0 or (a.low <= 0 and exponent < 0):
            raise UndefinedError("a fractional power of a number that may not be positive")
        factor = self.fine.number(exponent)

        def at(point: int) -> Interval:
            if point <= 0:
                return Interval(0, 0)
            product = self.fine.product(self._logarithm(point), factor)
            return self._exponential(product.low).hull(self._exponential(product.high))

        wide = self._refined(Interval(max(0, a.low), a.high))
        return self._rounded(at(wide.low).hull(at(wide.high)))

    # Functions at points, in fine units

    def _exponential(self, point: int) -> Interval:
        if abs(point) > MAX_EXPONENTIAL * self._unit:
            raise UndefinedError("the exponential of a large number")
        if point < 0:
            return self.fine.reciprocal(self._exponential(-point))
        halvings = max(0, point.bit_length() - self.fine.bits + 4)
        # Squaring doubles the relative error: so many more bits are carried.
        deep = IntervalArithmetic(self.fine.bits + 2 * halvings)
        small = deep.divided(_exactly(point << 2 * halvings), 1 << halvings)
        total = term = deep.one
        k = 0
        while term.high > 1:
            k += 1
            term = deep.divided(deep.product(term, small), k)
            total = total + term
        found = total + Interval(0, 2)
        for _ in range(halvings):
            found = deep.product(found, found)
        return Interval(found.low >> 2 * halvings, -(-found.high >> 2 * halvings))

    def _logarithm(self, point: int) -> Interval:
        """log(m 2^k) = k log 2 + 2 atanh((m - 1) / (m + 1)), m between 3/4 and 3/2."""
        shift = point.bit_length() - self.fine.bits
        mantissa = (
            self.fine.divided(_exactly(point), 1 << shift)
            if shift > 0
            else _exactly(point << -shift)
        )
        if 4 * mantissa.low < 3 * self._unit:
            shift -= 1
            mantissa = mantissa.times(2)
        one = self.fine.one
        small = self.fine.quotient(mantissa - one, mantissa + one)
        own = _arc_hyperbolic(self.fine, small).times(2)
        return own + log_2_in(self.fine.bits).times(shift)

    def _angle(self, point: int) -> tuple[Interval, Interval]:
        """Sine and cosine: of a small part of the angle, which is doubled again and again."""
        doublings = max(0, abs(point).bit_length() - self.fine.bits + 3)
        deep = IntervalArithmetic(self.fine.bits + 3 * doublings)
        small = Interval(point << 2 * doublings, point << 2 * doublings)
        square = deep.product(small, small)
        sine, cosine = small, deep.one
        odd, even = small, deep.one
        k = 0
        while odd.size > 1 or even.size > 1:
            k += 2
            even = -deep.divided(deep.product(even, square), (k - 1) * k)
            odd = -deep.divided(deep.product(odd, square), k * (k + 1))
            sine, cosine = sine + odd, cosine + even
        tail = Interval(-2, 2)
        sine, cosine = sine + tail, cosine + tail
        for _ in range(doublings):
            double = deep.product(sine, cosine).times(2)
            cosine = deep.one - deep.product(sine, sine).times(2)
            sine = double
        shift = 3 * doublings
        return (
            Interval(sine.low >> shift, -(-sine.high >> shift)),
            Interval(cosine.low >> shift, -(-cosine.high >> shift)),
        )

    def _arc_tangent(self, point: int) -> Interval:
        if point < 0:
            return -self._arc_tangent(-point)
        here = _exactly(point)
        if point > self._unit:
            quarter = self.fine.divided(pi_in(self.fine.bits), 2)
            return quarter - self._small_arc(self.fine.reciprocal(here))
        return self._small_arc(here)

    def _small_arc(self, a: Interval) -> Interval:
        """atan of numbers in [0, 1]: twice atan(x / (1 + sqrt(1 + x^2))), three times over."""
        fine = self.fine
        for _ in range(3):
            hypotenuse = fine.root(fine.one + fine.product(a, a))
            a = fine.quotient(a, fine.one + hypotenuse)
        return _arc_series(fine, a).times(8)

    def _arc_sine(self, point: int) -> Interval:
        """asin x = atan(x / sqrt(1 - x^2)); where the root vanishes, a right angle."""
        fine = self.fine
        if point < 0:
            return -self._arc_sine(-point)
        here = _exactly(point)
        quarter = fine.divided(pi_in(fine.bits), 2)
        square = fine.product(here, here)
        beside = fine.root(Interval(max(0, self._unit - square.high), self._unit - square.low))
        if 2 * point <= self._unit:
            ratio = fine.quotient(here, beside)
            return self._arc_tangent(ratio.low).hull(self._arc_tangent(ratio.high))
        ratio = fine.quotient(beside, here)
        return quarter - self._arc_tangent(ratio.low).hull(self._arc_tangent(ratio.high))

    # Details

    def _refined(self, a: Interval) -> Interval:
        return Interval(a.low << GUARD, a.high << GUARD)

    def _rounded(self, a: Interval) -> Interval:
        return Interval(a.low >> GUARD, -(-a.high >> GUARD))

    def _increasing(self, at: Callable[[int], Interval], a: Interval) -> Interval:
        wide = self._refined(a)
        low = at(wide.low)
        return self._rounded(low if a.low == a.high else Interval(low.low, at(wide.high).high))


def _exactly(value: int) -> Interval:
    return Interval(value, value)


def _arc_series(arithmetic: IntervalArithmetic, a: Interval) -> Interval:
    """x - x^3/3 + x^5/5 - ... for |x| <= 1/2; the tail is below a geometric series."""
    square = arithmetic.product(a, a)
    total = power = a
    k = 1
    while power.size > 1:
        k += 2
        power = -arithmetic.product(power, square)
        total = total + arithmetic.divided(power, k)
    return total + Interval(-2, 2)


def _arc_hyperbolic(arithmetic: IntervalArithmetic, a: Interval) -> Interval:
    """x + x^3/3 + x^5/5 + ... for |x| <= 1/2; the tail is below a geometric series."""
    square = arithmetic.product(a, a)
    total = power = a
    k = 1
    while power.size > 1:
        k += 2
        power = arithmetic.product(power, square)
        total = total + arithmetic.divided(power, k)
    return total + Interval(-2, 2)


@cache
def pi_in(bits: int) -> Interval:
    """pi = 16 atan(1/5) - 4 atan(1/239) in units of 2^-bits."""
    deep = IntervalArithmetic(bits + 16)
    fifth, other = (deep.number(Fraction(1, k)) for k in (5, 239))
    found = _arc_series(deep, fifth).times(16) - _arc_series(deep, other).times(4)
    return Interval(found.low >> 16, -(-found.high >> 16))


@cache
def log_2_in(bits: int) -> Interval:
    """log 2 = 2 atanh(1/3) in units of 2^-bits."""
    deep = IntervalArithmetic(bits + 16)
    found = _arc_hyperbolic(deep, deep.number(Fraction(1, 3))).times(2)
    return Interval(found.low >> 16, -(-found.high >> 16))

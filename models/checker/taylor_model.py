"""Taylor models: a polynomial and a bound of what it differs from the function meant.

A `Model` stands for functions g of symbols y_1, ..., y_n in [-1, 1] and of t in [0, 1]: for every
choice of them |g - polynomial| <= error, and low <= g <= high. All numbers are whole numbers of
units 2^-bits. Terms beyond a degree are dropped and their absolute values added to the error,
as is every rounding; so each operation is sound for all functions that its arguments stand
for. A monomial is one whole number: fields of six bits hold its exponents, that of t lowest,
then those of y_1, y_2, ..., and on top of them the degree. Products of monomials are sums of
these numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from workbench.models.checker.elementary import Elementary
from workbench.models.checker.intervals import Interval, IntervalArithmetic, UndefinedError
from workbench.models.checker.univariate import Univariate
from workbench.models.work import TERM, spend

FIELD = 6
MAX_ORDER = 24
"""The largest degree; twice it fits into a field."""

Polynomial: TypeAlias = dict[int, int]


@dataclass(frozen=True, slots=True)
class Model:
    """See the module's docstring."""

    polynomial: Polynomial
    error: int
    low: int
    high: int

    @property
    def range(self) -> Interval:
        """All values."""
        return Interval(self.low, self.high)

    @property
    def centre(self) -> int:
        """The constant term."""
        return self.polynomial.get(0, 0)


class TaylorArithmetic:
    """Operations on models of so many symbols, up to a degree."""

    def __init__(self, symbols: int, order: int, bits: int):
        self.symbols, self.order, self.bits = symbols, order, bits
        self.intervals = IntervalArithmetic(bits)
        self.functions = Elementary(bits)
        self.univariate = Univariate(self.functions)
        self._degree_shift = FIELD * (symbols + 1)
        self._degree_one = 1 << self._degree_shift
        self._odd = sum(1 << FIELD * (i + 1) for i in range(symbols))
        self._half = 1 << bits >> 1

    # Monomials and polynomials

    def symbol(self, i: int) -> int:
        """The monomial y_i, counted from 0."""
        return self._degree_one | 1 << FIELD * (i + 1)

    @property
    def time(self) -> int:
        """The monomial t."""
        return self._degree_one | 1

    def degree(self, monomial: int) -> int:
        """The sum of the exponents."""
        return monomial >> self._degree_shift

    def exponents(self, monomial: int) -> tuple[int, ...]:
        """The exponents of y_1, y_2, ..."""
        mask = (1 << FIELD) - 1
        return tuple(monomial >> FIELD * (i + 1) & mask for i in range(self.symbols))

    def range_of(self, polynomial: Polynomial) -> Interval:
        """An enclosure of all values: monomials with even exponents lie in [0, 1]."""
        low = high = polynomial.get(0, 0)
        odd = self._odd
        for monomial, value in polynomial.items():
            if monomial & odd:
                size = abs(value)
                low -= size
                high += size
            elif monomial:
                if value > 0:
                    high += value
                else:
                    low += value
        return Interval(low, high)

    def model(self, polynomial: Polynomial, error: int, known: Interval | None = None) -> Model:
        """A model of what is also known to lie in an interval."""
        spend(TERM * (50 + 2 * len(polynomial)))
        own = self.range_of(polynomial)
        own = Interval(own.low - error, own.high + error)
        found = own if known is None else own.meet(known)
        return Model(polynomial, error, found.low, found.high)

    def constant(self, value: Interval) -> Model:
        """A number of which an enclosure is known (and that may change with time)."""
        middle = (value.low + value.high) >> 1
        error = max(value.high - middle, middle - value.low)
        return Model({0: middle} if middle else {}, error, value.low, value.high)

    # Arithmetic

    def sum(self, parts: Iterable[Model]) -> Model:
        """The sum of models; exact."""
        total: Polynomial = {}
        error = low = high = 0
        for part in parts:
            for monomial, value in part.polynomial.items():
                total[monomial] = total.get(monomial, 0) + value
            error += part.error
            low += part.low
            high += part.high
        return self.model(_without_zeros(total), error, Interval(low, high))

    def negative(self, a: Model) -> Model:
        """-a."""
        return Model({m: -v for m, v in a.polynomial.items()}, a.error, -a.high, -a.low)

    def difference(self, a: Model, b: Model) -> Model:
        """a - b."""
        return self.sum((a, self.negative(b)))

    def halved(self, a: Model) -> Model:
        """a / 2, each coefficient rounded."""
        polynomial = {m: v >> 1 for m, v in a.polynomial.items()}
        return self.model(_without_zeros(polynomial), (a.error >> 1) + 1 + len(polynomial))

    def product(self, a: Model, b: Model) -> Model:
        """a * b."""
        polynomial, lost = self.multiplied(a.polynomial, b.polynomial)
        error = lost
        if a.error or b.error:
            sizes = _size(a.polynomial), _size(b.polynomial)
            mixed = sizes[0] * b.error + sizes[1] * a.error + a.error * b.error
            error += -(-mixed >> self.bits)
        return self.model(polynomial, error, self.intervals.product(a.range, b.range))

    def multiplied(self, a: Polynomial, b: Polynomial) -> tuple[Polynomial, int]:
        """The product of polynomials up to the degree, and a bound of what is left out."""
        if len(a) > len(b):
            a, b = b, a
        spend(TERM * (50 + len(a) * len(b)))
        total: Polynomial = {}
        get = total.get
        levels = self._by_degree(b)
        sizes = [sum(map(abs, level.values())) for level in levels]
        left = 0
        for monomial, value in a.items():
            room = self.order - (monomial >> self._degree_shift)
            for level in levels[: room + 1]:
                for other, factor in level.items():
                    key = monomial + other
                    total[key] = get(key, 0) + value * factor
            left += abs(value) * sum(sizes[room + 1 :])
        half, bits = self._half, self.bits
        rounded = {m: v + half >> bits for m, v in total.items()}
        lost = -(-left >> bits) + (len(rounded) + 1) // 2
        return _without_zeros(rounded), lost

    def _by_degree(self, polynomial: Polynomial) -> list[Polynomial]:
        levels: list[Polynomial] = [{} for _ in range(self.order + 1)]
        shift = self._degree_shift
        for monomial, value in polynomial.items():
            levels[monomial >> shift][monomial] = value
        return levels

    def truncated(self, a: Polynomial) -> tuple[Polynomial, int]:
        """The terms up to the degree, and the sum of the absolute values of the others."""
        limit = self.order + 1 << self._degree_shift
        kept = {m: v for m, v in a.items() if m < limit}
        return kept, 0 if len(kept) == len(a) else _size(a) - _size(kept)

    def power(self, a: Model, exponent: int) -> Model:
        """a ** exponent for a whole exponent."""
        if exponent < 0:
            return self.reciprocal(self.power(a, -exponent))
        known = self.intervals.power(a.range, exponent)
        found = self.constant(self.intervals.one)
        for bit in bin(exponent)[2:]:
            found = self.product(found, found)
            if bit == "1":
                found = self.product(found, a)
        return self.model(found.polynomial, found.error, known)

    def reciprocal(self, a: Model) -> Model:
        """1 / a."""
        return self.applied(a, self.univariate.reciprocal)

    # Functions

    def applied(self, a: Model, function: UnivariateFunction) -> Model:
        """A function of a model: its Taylor polynomial at the centre, with Lagrange's form of
        what is left; where it has no derivatives, its range alone."""
        known = function(a.range, 0)[0]
        around = Interval(min(a.low, a.centre), max(a.high, a.centre))
        try:
            slopes = function(Interval(a.centre, a.centre), self.order)
            last = function(around, self.order + 1)[self.order + 1]
        except UndefinedError:
            return self.constant(known)
        spread = Interval(around.low - a.centre, around.high - a.centre)
        inner = Model(
            {m: v for m, v in a.polynomial.items() if m}, a.error, spread.low, spread.high
        )
        found = self.constant(slopes[-1])
        for slope in reversed(slopes[:-1]):
            found = self.sum((self.product(found, inner), self.constant(slope)))
        rest = self.intervals.product(self.intervals.power(spread, self.order + 1), last)
        return self.model(found.polynomial, found.error + rest.size, known)

    def absolute(self, a: Model) -> Model:
        """|a|."""
        if a.low >= 0:
            return a
        return self.negative(a) if a.high <= 0 else self._ranged(self.intervals.absolute(a.range))

    def larger(self, a: Model, b: Model) -> Model:
        """max(a, b) = (a + b + |a - b|) / 2."""
        if a.low >= b.high:
            return a
        if b.low >= a.high:
            return b
        gap = self.absolute(self.difference(a, b))
        found = self.halved(self.sum((a, b, gap)))
        known = Interval(max(a.low, b.low), max(a.high, b.high))
        return self.model(found.polynomial, found.error, known)

    def hull(self, a: Model, b: Model) -> Model:
        """A model of whatever lies between a and b."""
        apart = self.difference(a, b).range.size
        middle = self.halved(self.sum((a, b)))
        return self.model(middle.polynomial, middle.error + apart // 2 + 1, a.range.hull(b.range))

    def _ranged(self, values: Interval) -> Model:
        return self.constant(values)

    # Substitution and integration

    def integral(self, a: Model, length: Interval) -> Model:
        """The integral over t from 0 times a positive length: t^k becomes t^(k+1) / (k+1)."""
        total: Polynomial = {}
        mask = (1 << FIELD) - 1
        half, bits = self._half, self.bits
        middle = length.low
        for monomial, value in a.polynomial.items():
            divisor = (monomial & mask) + 1
            total[monomial + self.time] = (value * middle // divisor) + half >> bits
        size = _size(a.polynomial)
        lost = -(-(size * (length.high - length.low)) >> bits) + len(total)
        kept, beyond = self.truncated(_without_zeros(total))
        error = -(-a.error * length.high >> bits) + lost + beyond
        return self.model(kept, error)

    def at_end(self, polynomial: Polynomial) -> Polynomial:
        """The polynomial for t = 1; exact."""
        mask = (1 << FIELD) - 1
        total: Polynomial = {}
        for monomial, value in polynomial.items():
            power = monomial & mask
            key = monomial - power * self.time
            total[key] = total.get(key, 0) + value
        return _without_zeros(total)

    def by_time(self, polynomial: Polynomial) -> dict[int, Polynomial]:
        """The coefficients of the powers of t, polynomials in the symbols; exact."""
        mask = (1 << FIELD) - 1
        parts: dict[int, Polynomial] = {}
        for monomial, value in polynomial.items():
            power = monomial & mask
            parts.setdefault(power, {})[monomial - power * self.time] = value
        return parts


UnivariateFunction = Univariate.Function


def _size(polynomial: Mapping[int, int]) -> int:
    """At least the largest absolute value."""
    return sum(map(abs, polynomial.values()))


def _without_zeros(polynomial: Polynomial) -> Polynomial:
    return {m: v for m, v in polynomial.items() if v}

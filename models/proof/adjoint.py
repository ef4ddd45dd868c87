"""Bounds of a linear function along an affine flow, by a curve of its dual.

Let x' = A x + B w, and let a(s) be any continuous, piecewise polynomial curve with a(0) = d.
With r = a' - A'a (its residual) and b = B'a, differentiating a(t - s) x(s) in s gives

    d x(t) = a(t) x(0) + integral over [0, t] of b(s) w(t - s) - r(s) x(t - s) ds.

This holds for every a; it is useful for a close to exp(A's) d, where r is tiny. Here a is a
Taylor polynomial on each step, in fixed point: c_0 + c_1 T + ... + c_N T^N with T in [0, 1]
the part of the step that has passed, c_{i+1} the rounded (h A)'c_i / (i+1), h the length of
the step; the next step starts where it ends. Rounding makes an entry of the T^i part of h r
at most (i+1)/2 units, and its last part is -(hA)'c_N T^N, so over one step

    integral |r x| <= sum_j m_j (N/2 units + |((hA)'c_N)_j| / (N+1)),      |x_j| <= m_j.

An upper bound of d x(t) on a step that is *linear* in T follows from three facts:
- A support function is convex, so on the chord between the ends of the step it lies below the
  chord of its values. A polynomial differs from its chord by the sum over i >= 2 of
  -c_i (T - T^i), and 0 <= T - T^i <= GAP[i].
- The integral over [0, T] of the largest b w lies below T times that over [0, 1] plus a
  quarter of the variation of b w.
- The rest is charged for the whole step.
All of this is exact integer arithmetic; every rounding is upwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from operator import itemgetter, mul

from models.proof.affine_flow import AffineFlow, Span, Vector

MASS_BITS = 32
Pick = Callable[[Sequence[int]], Sequence[int]]


def gap(i: int) -> Fraction:
    """At least the largest T - T^i for T in [0, 1]."""
    return {2: Fraction(1, 4), 3: Fraction(2, 5), 4: Fraction(1, 2)}.get(i, Fraction(i - 1, i))


def _pick(indices: tuple[int, ...]) -> Pick:
    if len(indices) == 1:
        only = indices[0]
        return lambda values: (values[only],)
    return itemgetter(*indices)


@dataclass(frozen=True)
class SparseColumns:
    """Integer columns over one denominator, to be multiplied with integer vectors."""

    denominator: int
    columns: tuple[tuple[Pick, tuple[int, ...]] | None, ...]

    @classmethod
    def of(cls, columns: Sequence[Mapping[int, Fraction]], factor: Fraction) -> SparseColumns:
        """The columns times a factor."""
        scaled = [{i: v * factor for i, v in column.items() if v} for column in columns]
        denominator = lcm(*(v.denominator for c in scaled for v in c.values()))
        return cls(
            denominator,
            tuple(
                (_pick(tuple(c)), tuple(int(v * denominator) for v in c.values())) if c else None
                for c in scaled
            ),
        )

    def __call__(self, vector: Vector) -> Vector:
        """Every column times the vector, times the denominator."""
        return [0 if c is None else sum(map(mul, c[1], c[0](vector))) for c in self.columns]


@dataclass(frozen=True)
class StartSet:
    """Bounds of each name at the start, and rows (vector, bound) that hold there too."""

    spans: tuple[Span, ...]
    rows: Sequence[tuple[Sequence[Fraction], Fraction]]

    @cached_property
    def denominator(self) -> int:
        """A common denominator of twice all bounds."""
        ends = [e.denominator for span in self.spans for e in span if e is not None]
        return 2 * lcm(*ends)

    @cached_property
    def _box(self) -> tuple[Vector, Vector, list[int]]:
        """Centres and radii times the denominator, and the names that are not bounded."""
        centres: Vector = []
        radii: Vector = []
        open_names: list[int] = []
        half = self.denominator // 2
        for j, (low, high) in enumerate(self.spans):
            if low is None or high is None:
                open_names.append(j)
                centres.append(0)
                radii.append(0)
            else:
                centres.append(int((low + high) * half))
                radii.append(int((high - low) * half))
        return centres, radii, open_names

    def support(self, vector: Vector) -> int | None:
        """The largest vector * x over the box, times the denominator; None: unbounded."""
        centres, radii, open_names = self._box
        total = sum(map(mul, vector, centres)) + sum(map(mul, map(abs, vector), radii))
        for j in open_names:
            if factor := vector[j]:
                end = self.spans[j][factor > 0]
                if end is None:
                    return None
                total += factor * int(end * self.denominator)
        return int(total)

    def support_by_row(self, vector: Vector, row: int, bits: int) -> Fraction | None:
        """The same through one of the rows: its bound plus the box's support of what the
        vector (in units of 2^-bits) differs from it. None where that says nothing."""
        normal, bound = self.rows[row]
        shifted = [v * (1 << bits) for v in normal]
        if any(v.denominator != 1 for v in shifted):
            return None
        rest = self.support([a - int(b) for a, b in zip(vector, shifted, strict=True)])
        return None if rest is None else bound * (1 << bits) + Fraction(rest, self.denominator)


@dataclass(frozen=True)
class Stage:
    """`count` steps of the same length."""

    length: Fraction
    count: int


@dataclass(frozen=True)
class Chord:
    """On a step the function is at most `begin` at its start, `end` at its end, and at most
    what lies on the line between them."""

    begin: Fraction
    end: Fraction


class FlowBounds:
    """What bounds of linear functions along one flow have in common."""

    def __init__(
        self,
        flow: AffineFlow,
        start: StartSet,
        mass: Sequence[Fraction | None],
        degree: int,
        bits: int,
    ):
        self.flow, self.start, self.degree, self.bits = flow, start, degree, bits
        self._mass = [
            0 if m is None else -((-m.numerator << MASS_BITS) // m.denominator) for m in mass
        ]
        used = [j for j, column in enumerate(flow.columns) if column]
        self._massless = [j for j in used if mass[j] is None]
        self._rounding = degree * sum(self._mass[j] for j in used)
        self._inputs = SparseColumns.of([s.column for s in flow.signals], Fraction(1))
        self._stages: dict[Fraction, SparseColumns] = {}

    def _matrix(self, length: Fraction) -> SparseColumns:
        found = self._stages.get(length)
        if found is None:
            found = self._stages[length] = SparseColumns.of(self.flow.columns, length)
        return found

    def chords(
        self, direction: Vector, stages: Sequence[Stage], rows: Sequence[int]
    ) -> Iterator[Chord]:
        """Bounds of direction * x (in units of 2^-bits) on every step; `rows[k]` numbers a
        row of the start set that may help at the k-th end of a step (-1: none). It ends early
        where there is no bound."""
        unit = 1 << self.bits
        curve, pushed, strayed = direction, Fraction(0), Fraction(0)
        here = self._support(curve, rows, 0)
        k = 0
        for stage in stages:
            matrix = self._matrix(stage.length)
            for _ in range(stage.count):
                taylor = self._taylor(curve, matrix)
                if taylor is None:
                    return
                terms, last = taylor
                push = self._push(terms, stage.length)
                curve = [sum(entries) for entries in zip(*terms, strict=True)]
                k += 1
                there = self._support(curve, rows, k)
                bend = self._bend(terms)
                if here is None or there is None or push is None or bend is None:
                    return
                strayed += self._stray(last, matrix.denominator)
                base = strayed + bend + push[1]
                begin, end = here + pushed + base, there + pushed + push[0] + base
                yield Chord(Fraction(_ceiling(begin), unit), Fraction(_ceiling(end), unit))
                pushed += push[0]
                here = there

    def _taylor(self, curve: Vector, matrix: SparseColumns) -> tuple[list[Vector], Vector] | None:
        """The coefficients c_0 ... c_N and (hA)'c_N; None where the residual may meet a name
        of which no bound is known."""
        terms = [curve]
        image = matrix(curve)
        for i in range(1, self.degree + 1):
            if any(image[j] for j in self._massless):
                return None
            half = i * matrix.denominator
            terms.append([(2 * v + half) // (2 * half) if v else 0 for v in image])
            image = matrix(terms[-1])
        return None if any(image[j] for j in self._massless) else (terms, image)

    def _support(self, curve: Vector, rows: Sequence[int], k: int) -> Fraction | None:
        whole = self.start.support(curve)
        found = None if whole is None else Fraction(whole, self.start.denominator)
        if k < len(rows) and rows[k] >= 0:
            other = self.start.support_by_row(curve, rows[k], self.bits)
            if found is None or (other is not None and other < found):
                found = other
        return found

    def _bend(self, terms: list[Vector]) -> Fraction | None:
        """How far a(T) x(0) can lie above its chord."""
        total = Fraction(0)
        for i, term in enumerate(terms[2:], start=2):
            top = self.start.support([-v for v in term])
            if top is None:
                return None
            if top > 0:
                total += gap(i) * top
        return total / self.start.denominator

    def _push(self, terms: list[Vector], length: Fraction) -> tuple[Fraction, Fraction] | None:
        """What the signals add over the step at most, and a quarter of the variation."""
        along = list(zip(*(self._inputs(term) for term in terms), strict=True))
        total = variation = Fraction(0)
        for signal, b in zip(self.flow.signals, along, strict=True):
            if not any(b):
                continue
            low, high = signal.low, signal.high
            if low is None or high is None:
                return None
            centre, radius = (low + high) / 2, (high - low) / 2
            total += centre * sum(Fraction(v, i + 1) for i, v in enumerate(b))
            if radius:
                total += radius * _absolute_integral(b)
            variation += (abs(centre) + radius) * sum(map(abs, b[1:]))
        factor = length / self._inputs.denominator
        return total * factor, variation * factor / 4

    def _stray(self, last: Vector, denominator: int) -> Fraction:
        """At least the integral of |r x| over one step."""
        tail = sum(map(mul, map(abs, last), self._mass))
        part = Fraction(self._rounding, 2) + Fraction(tail, denominator * (self.degree + 1))
        return Fraction(_ceiling(part), 1 << MASS_BITS)


def _absolute_integral(b: Sequence[int]) -> Fraction:
    """At least the integral over [0, 1] of |b_0 + b_1 T + ... |; exact where one coefficient
    outweighs all later ones and the earlier are zero, so that the sign does not change."""
    first = next(i for i, v in enumerate(b) if v)
    if 2 * abs(b[first]) >= sum(map(abs, b)):
        return abs(sum((Fraction(v, i + 1) for i, v in enumerate(b)), Fraction(0)))
    begin, end = abs(b[0]), abs(sum(b))
    chord = Fraction(begin + end, 2)
    if begin and end and (b[0] > 0) != (sum(b) > 0):
        chord = Fraction(begin * begin + end * end, 2 * (begin + end))
    bulge = sum(abs(v) * (Fraction(1, 2) - Fraction(1, i + 1)) for i, v in enumerate(b) if i > 1)
    return chord + bulge


def _ceiling(value: Fraction) -> int:
    return -((-value.numerator) // value.denominator)

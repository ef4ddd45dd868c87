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
  quarter of the variation of b w (for a function g, the integral over [0, T] differs from T
  times that over [0, 1] by at most T (1 - T) times the variation of g).
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

from models.proof.affine_flow import AffineFlow, Signal, Span, Vector

MASS_BITS = 32
STRAY_BITS = 8
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
class Support:
    """The value of a vector over a box, times the box's denominator: `centre` at its centre,
    `radius` the most it varies from there, `rest` its entries at names without two bounds."""

    centre: int
    radius: int
    rest: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class StartSet:
    """Bounds of each name at the start, and rows (vector, bound) that hold there too."""

    spans: tuple[Span, ...]
    rows: Sequence[tuple[Sequence[Fraction], Fraction]]

    @cached_property
    def denominator(self) -> int:
        """A common denominator of all bounds, times two."""
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

    def support(self, vector: Vector) -> Support:
        """What the box says about a vector."""
        centres, radii, open_names = self._box
        return Support(
            sum(map(mul, vector, centres)),
            sum(map(mul, map(abs, vector), radii)),
            tuple((j, vector[j]) for j in open_names if vector[j]),
        )

    def largest(self, support: Support, sign: int) -> int | None:
        """The largest sign * vector * x, times the denominator; None: unbounded."""
        total = sign * support.centre + support.radius
        for j, factor in support.rest:
            end = self.spans[j][sign * factor > 0]
            if end is None:
                return None
            total += sign * factor * int(end * self.denominator)
        return total

    def by_row(self, vector: Vector, sign: int, row: int, bits: int) -> Fraction | None:
        """The largest sign * vector * x through one of the rows: its bound plus the box's
        support of what the vector (in units of 2^-bits) differs from the row."""
        normal, bound = self.rows[row]
        shifted = [v * (1 << bits) for v in normal]
        if any(v.denominator != 1 for v in shifted):
            return None
        rest = [sign * a - v.numerator for a, v in zip(vector, shifted, strict=True)]
        top = self.largest(self.support(rest), 1)
        return None if top is None else bound * (1 << bits) + Fraction(top, self.denominator)


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


@dataclass(frozen=True)
class Piece:
    """One step of a curve: where it ends, and what bounds need. `bends` are the supports of
    c_2, c_3, ...; `pushes` are for each signal in it the integrals of b and |b| (at least);
    `swing` is a quarter of the variation of b w, `stray` the integral of |r x| (at least)."""

    end: Vector
    bends: list[Support]
    pushes: list[tuple[Signal, Fraction, Fraction]]
    swing: Fraction
    stray: Fraction


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
        self._mass = [0 if m is None else _ceiling(m * (1 << MASS_BITS)) for m in mass]
        used = [j for j, column in enumerate(flow.columns) if column]
        self._massless = [j for j in used if mass[j] is None]
        self._rounding = degree * sum(self._mass[j] for j in used)
        self._inputs = SparseColumns.of([s.column for s in flow.signals], Fraction(1))
        self._matrices: dict[Fraction, SparseColumns] = {}
        gaps = [gap(i) for i in range(2, degree + 1)]
        self._gap_unit = lcm(*(g.denominator for g in gaps))
        self._gaps = [int(g * self._gap_unit) for g in gaps]
        self._integral_unit = lcm(*range(1, degree + 2))
        self._integrals = [self._integral_unit // (i + 1) for i in range(degree + 1)]

    def chords(
        self, pieces: Iterator[Piece], direction: Vector, sign: int, rows: Sequence[int]
    ) -> Iterator[Chord]:
        """Bounds of sign * direction * x on every step, from the pieces of the direction's
        curve; `rows[k]` numbers a row of the start set that may help at the k-th end of a
        step (-1: none). It ends early where there is no bound."""
        pushed = strayed = Fraction(0)
        here = self._support(direction, sign, rows, 0)
        for k, piece in enumerate(pieces, start=1):
            there = self._support(piece.end, sign, rows, k)
            bend = self._bend(piece, sign)
            push = _push(piece, sign)
            if here is None or there is None or push is None or bend is None:
                return
            strayed += piece.stray
            base = pushed + strayed + bend + piece.swing
            yield Chord(self._in_units(here + base), self._in_units(there + push + base))
            pushed += push
            here = there

    def _in_units(self, value: Fraction) -> Fraction:
        """A bound in units of 2^-bits as a number, rounded up."""
        return Fraction(_ceiling(value), 1 << self.bits)

    def pieces(self, direction: Vector, stages: Sequence[Stage]) -> Iterator[Piece]:
        """The curve of a direction (in units of 2^-bits); it ends early where the residual
        may meet a name of which no bound is known, or b an unbounded signal."""
        curve = direction
        for stage in stages:
            matrix = self._matrices.get(stage.length)
            if matrix is None:
                matrix = SparseColumns.of(self.flow.columns, stage.length)
                self._matrices[stage.length] = matrix
            for _ in range(stage.count):
                taylor = self._taylor(curve, matrix)
                if taylor is None:
                    return
                terms, last = taylor
                curve = list(map(sum, zip(*terms, strict=True)))
                pushes, swing = self._pushes(terms, stage.length)
                bends = [self.start.support(term) for term in terms[2:]]
                yield Piece(curve, bends, pushes, swing, self._stray(last, matrix.denominator))

    def _taylor(self, curve: Vector, matrix: SparseColumns) -> tuple[list[Vector], Vector] | None:
        """The coefficients c_0 ... c_N, and (hA)'c_N times the denominator; None where the
        residual may meet a name of which no bound is known."""
        terms = [curve]
        image = matrix(curve)
        for i in range(1, self.degree + 1):
            if any(image[j] for j in self._massless):
                return None
            half = i * matrix.denominator
            whole = 2 * half
            terms.append([(2 * v + half) // whole if v else 0 for v in image])
            image = matrix(terms[-1])
        return None if any(image[j] for j in self._massless) else (terms, image)

    def _support(self, curve: Vector, sign: int, rows: Sequence[int], k: int) -> Fraction | None:
        whole = self.start.largest(self.start.support(curve), sign)
        found = None if whole is None else Fraction(whole, self.start.denominator)
        if k < len(rows) and rows[k] >= 0:
            other = self.start.by_row(curve, sign, rows[k], self.bits)
            if found is None or (other is not None and other < found):
                found = other
        return found

    def _bend(self, piece: Piece, sign: int) -> Fraction | None:
        """How far sign * a(T) x(0) can lie above its chord."""
        total = 0
        for width, support in zip(self._gaps, piece.bends, strict=True):
            top = self.start.largest(support, -sign)
            if top is None:
                return None
            if top > 0:
                total += width * top
        return Fraction(total, self._gap_unit * self.start.denominator)

    def _pushes(
        self, terms: list[Vector], length: Fraction
    ) -> tuple[list[tuple[Signal, Fraction, Fraction]], Fraction]:
        factor = length / self._inputs.denominator
        whole = factor / self._integral_unit
        found: list[tuple[Signal, Fraction, Fraction]] = []
        swing = Fraction(0)
        along = zip(*(self._inputs(term) for term in terms), strict=True)
        for signal, b in zip(self.flow.signals, along, strict=True):
            if not any(b):
                continue
            integral = sum(map(mul, b, self._integrals)) * whole
            if signal.low == signal.high:
                size = Fraction(0)
            else:
                size = abs(integral) if _keeps_sign(b) else _absolute_integral(b) * factor
            found.append((signal, integral, size))
            ends = [abs(e) for e in (signal.low, signal.high) if e is not None]
            largest = max(ends, default=Fraction(0))
            swing += largest * sum(map(abs, b[1:])) * factor / 4
        return found, swing

    def _stray(self, last: Vector, denominator: int) -> Fraction:
        """At least the integral of |r x| over one step, in units."""
        tail = sum(map(mul, map(abs, last), self._mass))
        part = Fraction(self._rounding, 2) + Fraction(tail, denominator * (self.degree + 1))
        return Fraction(_ceiling(part * (1 << STRAY_BITS)), 1 << (MASS_BITS + STRAY_BITS))


def _push(piece: Piece, sign: int) -> Fraction | None:
    """What the signals add to sign * d x over the step at most."""
    total = Fraction(0)
    for signal, integral, size in piece.pushes:
        if signal.low is None or signal.high is None:
            return None
        total += sign * integral * (signal.low + signal.high) + size * (signal.high - signal.low)
    return total / 2


def _keeps_sign(b: Sequence[int]) -> bool:
    """Whether one coefficient outweighs all later ones, the earlier being zero: then
    b_0 + b_1 T + ... does not change its sign on [0, 1]."""
    first = next(v for v in b if v)
    return 2 * abs(first) >= sum(map(abs, b))


def _absolute_integral(b: Sequence[int]) -> Fraction:
    """At least the integral over [0, 1] of |b_0 + b_1 T + ... |: that of the chord's absolute
    value, and that of what lies between the chord and the polynomial."""
    begin, end = b[0], sum(b)
    area = Fraction(abs(begin) + abs(end), 2)
    if begin * end < 0:
        area = Fraction(begin * begin + end * end, 2 * (abs(begin) + abs(end)))
    for i, v in enumerate(b[2:], start=2):
        area += abs(v) * (Fraction(1, 2) - Fraction(1, i + 1))
    return area


def _ceiling(value: Fraction) -> int:
    return -((-value.numerator) // value.denominator)

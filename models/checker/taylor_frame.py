"""The states at the end of a step of a nonlinear flow, written in new coordinates.

A `Frame` says of every state x at the start of a step: x = centre + shape y + slack for some y in
[-1, 1]^n, and y = memory(s) + spread z + rest. The symbols s are those of the entry set and stay
the same from step to step; z in [-1, 1]^m are *traces*, what inputs and errors added before.

Theorem. At the end of a step let x = c + L y + N(y) + e, where |e| <= strayed, and let V be an
invertible matrix. Then y' = V (x - c) is, for some z' in [-1, 1]^(m + 2n),

    V L memory(s) + V N(y) + G z',   G = [V L spread, V L diag(rest), V diag(strayed)].

Proof. Put y = memory(s) + spread z + rest into V (L y + N(y) + e), and take for z' the numbers z,
the rests over their bounds and e over strayed.

So what a trace contributes moves along as the set itself does, and is not wrapped into a box
again on every step. V N(y) comes from models of y, in which traces count as errors; its own
error and all roundings are the new rest. As |g_i z_k| <= |g_i|, any column g of G may be left
out once |g_i| is added to rest_i: the columns that lose least by it are, where there are more
than `TRACES`. At last y'_i is divided by the sum of all its coefficients, so it lies in [-1, 1].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.models.checker.rational_matrix import Matrix, inverse
from workbench.models.checker.taylor_model import Model, Polynomial, TaylorArithmetic
from workbench.models.work import TERM, spend

FRAME_BITS = 60
"""Entries of a frame are multiples of 2^-FRAME_BITS."""

TRACES = 256
"""How many traces are kept apart."""


@dataclass(frozen=True)
class Frame:
    """The states at the start of a step: x = centre + shape y + slack,
    y = memory(s) + spread z + rest; all in units."""

    centre: list[int]
    shape: list[list[int]]
    slack: list[int]
    memory: list[Polynomial]
    spread: list[list[int]]
    rest: list[int]


@dataclass(frozen=True)
class Reached:
    """The states on a step: |x - polynomials(y, t)| <= slack + t growth, y as in the frame."""

    frame: Frame
    polynomials: list[Polynomial]
    growth: list[int]

    @property
    def strayed(self) -> list[int]:
        """How far the states are from the polynomials at most."""
        return [a + b for a, b in zip(self.frame.slack, self.growth, strict=True)]


@dataclass(frozen=True)
class _Coordinate:
    """One y'_i before it is divided by its size: memory(s) + traces z' + error."""

    memory: Polynomial
    traces: list[int]
    error: int

    @property
    def size(self) -> int:
        """At least its absolute value."""
        return _total(self.memory.values()) + _total(self.traces) + self.error


def turned(arithmetic: TaylorArithmetic, reached: Reached, matrix: Matrix) -> Frame | None:
    """The end of a step in the coordinates of V; None if it is singular. The arithmetic is
    that of the degree which is remembered."""
    back = inverse(matrix)
    if back is None:
        return None
    turn = _Turn(arithmetic, reached)
    found = [turn.coordinate([int(a * (1 << FRAME_BITS)) for a in row]) for row in matrix]
    unit = 1 << arithmetic.bits
    memory, spread, rest = [], [], []
    for own in found:
        size = own.size
        memory.append({m: _nearest(v * unit, size) for m, v in own.memory.items()})
        spread.append([_nearest(v * unit, size) for v in own.traces])
        rounded = len(own.memory) + len(own.traces)
        rest.append(-(-own.error * unit // size) + rounded if size else 0)
    shape = [
        [_nearest(a.numerator * f.size, a.denominator) for a, f in zip(row, found, strict=True)]
        for row in back
    ]
    slack = [sum(1 for a in row if a) for row in back]
    return Frame(turn.centre, shape, slack, memory, *_folded(spread, rest))


class _Turn:
    """The end of one step."""

    def __init__(self, arithmetic: TaylorArithmetic, reached: Reached):
        self._arithmetic, self._before = arithmetic, reached.frame
        self._half, self._bits = 1 << arithmetic.bits - 1, arithmetic.bits
        self._strayed = reached.strayed
        self._ends = [arithmetic.at_end(p) for p in reached.polynomials]
        self._symbols = [arithmetic.symbol(j) for j in range(len(self._ends))]
        one = arithmetic.intervals.one
        before = reached.frame
        errors = [e + _total(g) for g, e in zip(before.spread, before.rest, strict=True)]
        self._known: dict[int, Model] = {
            symbol: arithmetic.model(r, e, one.hull(-one))
            for symbol, r, e in zip(self._symbols, before.memory, errors, strict=True)
        }

    @property
    def centre(self) -> list[int]:
        """c."""
        return [p.get(0, 0) for p in self._ends]

    def coordinate(self, weights: Sequence[int]) -> _Coordinate:
        """The product of a row of V with x - c; the weights are multiples of 2^-FRAME_BITS."""
        polynomial, lost = self._combined(weights)
        factors = [polynomial.pop(symbol, 0) for symbol in self._symbols]
        memory, error = self._remembered(factors, polynomial)
        traces = self._moved(factors) + [
            w * e + (1 << FRAME_BITS - 1) >> FRAME_BITS
            for w, e in zip(weights, self._strayed, strict=True)
        ]
        return _Coordinate(memory, traces, error + lost + len(traces))

    def _combined(self, weights: Sequence[int]) -> tuple[Polynomial, int]:
        """The sum of weight * polynomial of y without its constant term, and how much
        rounding it changes."""
        total: Polynomial = {}
        for weight, polynomial in zip(weights, self._ends, strict=True):
            if weight:
                for monomial, value in polynomial.items():
                    total[monomial] = total.get(monomial, 0) + weight * value
        total.pop(0, None)
        half = 1 << FRAME_BITS - 1
        return {m: v + half >> FRAME_BITS for m, v in total.items()}, len(total)

    def _moved(self, factors: Sequence[int]) -> list[int]:
        """What a linear combination of y makes of its traces and of its rests."""
        found = [0] * len(self._before.spread[0])
        spend(TERM * len(factors) * (10 + len(found)))
        for factor, row in zip(factors, self._before.spread, strict=True):
            if factor:
                found = [a + factor * b for a, b in zip(found, row, strict=True)]
        found += [a * b for a, b in zip(factors, self._before.rest, strict=True)]
        return [v + self._half >> self._bits for v in found]

    def _remembered(self, factors: Sequence[int], nonlinear: Polynomial) -> tuple[Polynomial, int]:
        """The sum of factor * memory and of a nonlinear polynomial of y, as a polynomial of
        the entry's symbols, and its error. Terms of a higher degree than is remembered are
        bounded by their coefficient."""
        parts = list(zip(factors, self._before.memory, strict=True))
        error = 0
        for monomial, value in sorted(nonlinear.items()):
            if self._arithmetic.degree(monomial) > self._arithmetic.order:
                error += abs(value)
                continue
            model = self._monomial(monomial)
            parts.append((value, model.polynomial))
            error += -(-abs(value) * model.error >> self._bits)
        total: Polynomial = {}
        for value, polynomial in parts:
            for monomial, factor in polynomial.items():
                total[monomial] = total.get(monomial, 0) + value * factor
        rounded = {m: v + self._half >> self._bits for m, v in total.items()}
        return {m: v for m, v in rounded.items() if v}, error + len(rounded)

    def _monomial(self, monomial: int) -> Model:
        """A product of entries of y, from smaller ones."""
        found = self._known.get(monomial)
        if found is None:
            powers = self._arithmetic.exponents(monomial)
            symbol = self._symbols[next(i for i, power in enumerate(powers) if power)]
            smaller = self._monomial(monomial - symbol)
            found = self._arithmetic.product(smaller, self._known[symbol])
            self._known[monomial] = found
        return found


def _folded(spread: list[list[int]], rest: list[int]) -> tuple[list[list[int]], list[int]]:
    """The traces that are kept, and the rest with all others: those along one coordinate,
    which lose nothing, and those that lose least where there are too many."""
    losses = [
        sum(sizes) - max(sizes)
        for sizes in ([abs(v) for v in column] for column in zip(*spread, strict=True))
    ]
    ordered = sorted(range(len(losses)), key=lambda k: -losses[k])
    kept = sorted(k for k in ordered[:TRACES] if losses[k])
    narrowed = [[row[k] for k in kept] for row in spread]
    return narrowed, [
        e + _total(row) - _total(some) for e, row, some in zip(rest, spread, narrowed, strict=True)
    ]


def _total(values: Iterable[int]) -> int:
    """The sum of the absolute values."""
    return sum(map(abs, values))


def _nearest(top: int, bottom: int) -> int:
    """The quotient rounded to the nearest whole number; 0 over 0 is 0."""
    return (2 * top + bottom) // (2 * bottom) if bottom else 0

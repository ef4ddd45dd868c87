"""Steps of a curve a' = A'a, and of the integral of b = B'a, in fixed point.

There are two ways from the start of a step to its end, each with a bound of its error in the
dual norm of `models.checker.exponential`:

- *by the exponential*: the integral of b is the dual of a state that stands for the signal,
  so both come with the exponential of the matrix (A B; 0 0), computed once for a length;
- *by the series*: enough terms of it are added up. That is n products of a sparse matrix with
  a vector, and is taken for large sparse matrices, whose exponential is large and dense.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from operator import mul

from workbench.models.checker.affine_flow import AffineFlow, Signal, Vector
from workbench.models.checker.exponential import MAX_SQUARED, Balanced, exponential
from workbench.models.checker.start_set import GRAINS, SparseColumns, grains, times, upwards

SPARSE = 24
"""The series is taken where the square of the dimension exceeds that many times the number of
entries of the matrix."""


@dataclass(frozen=True)
class Frame:
    """What all steps of a node have in common: `members` are the names that move, numbered as
    in the flow; `weights` are those of the norm, of all names."""

    flow: AffineFlow
    members: tuple[int, ...]
    weights: tuple[Fraction, ...]
    degree: int
    bits: int

    @cached_property
    def norm(self) -> Fraction:
        """The norm of the matrix."""
        return balanced_matrix(self.flow, self.members, self.weights).norm

    @cached_property
    def is_sparse(self) -> bool:
        """Whether curves are moved by the series."""
        size = len(self.members) + len(self.flow.signals)
        entries = sum(map(len, self.flow.columns))
        return size > MAX_SQUARED or size * size > SPARSE * entries


def balanced_matrix(
    flow: AffineFlow,
    members: Sequence[int],
    weights: Sequence[Fraction],
    signals: Sequence[tuple[Signal, Fraction]] = (),
) -> Balanced:
    """The balanced matrix over the members, and over signals with weights as states."""
    place = {j: k for k, j in enumerate(members)}
    rows: list[dict[int, Fraction]] = [{} for _ in range(len(place) + len(signals))]
    for j, k in place.items():
        for i, value in flow.columns[j].items():
            if i in place:
                rows[place[i]][k] = value * weights[j] / weights[i]
    for k, (signal, weight) in enumerate(signals, start=len(place)):
        for i in signal.column.keys() & place.keys():
            rows[place[i]][k] = signal.column[i] * weight / weights[i]
    return Balanced(tuple(tuple(row.items()) for row in rows))


class StepOfCurve(ABC):
    """Steps of one length. `reaches` bound |b| by the norm of a, for each signal; `blurs`
    bound the error of its integral by the error that `moved` states."""

    def __init__(self, frame: Frame, length: Fraction):
        self.frame, self.length = frame, length
        flow, weights, inside = frame.flow, frame.weights, set(frame.members)
        self._matrix = SparseColumns.of(flow.columns, length)
        self.inputs = SparseColumns.of([s.column for s in flow.signals], Fraction(1))
        self.reaches = [
            max(
                (abs(v) / weights[i] for i, v in s.column.items() if i in inside),
                default=Fraction(0),
            )
            for s in flow.signals
        ]
        self.blurs = [length * reach for reach in self.reaches]
        self._rounding = sum((weights[j] for j in frame.members), Fraction(0)) / 2
        self.rounding = grains(self._rounding)
        self._own = self._errors(frame.degree)
        self._weight_unit = lcm(*(w.denominator for w in weights))
        self._weights = [
            int(w * self._weight_unit) if j in inside else 0 for j, w in enumerate(weights)
        ]

    def _errors(self, degree: int) -> tuple[int, int, Fraction]:
        """Of the terms up to a degree: the norm of all rounding errors, and of those of the
        last term; and the factor of the last term that bounds the tail (0: none does). A term
        is off by half a unit for each entry and by what the error of the term before becomes;
        beyond the last term the series is below a geometric one."""
        last = total = Fraction(0)
        for i in range(1, degree + 1):
            last = last * self.frame.norm * self.length / i + self._rounding
            total += last
        ratio = self.frame.norm * self.length / (degree + 1)
        return grains(total), grains(last), ratio / (1 - ratio) if ratio < 1 else Fraction(0)

    def terms(self, curve: Vector) -> list[Vector]:
        """c_0, ..., c_N, each rounded to the nearest unit."""
        return self._continued([curve], self.frame.degree)

    def _continued(self, terms: list[Vector], degree: int) -> list[Vector]:
        found = list(terms)
        for i in range(len(found), degree + 1):
            half = i * self._matrix.denominator
            whole = 2 * half
            image = self._matrix(found[-1]) if any(found[-1]) else found[-1]
            found.append([(2 * v + half) // whole if v else 0 for v in image])
        return found

    def size(self, vector: Vector) -> int:
        """At least the dual norm of the part that moves, in grains."""
        total = sum(map(mul, map(abs, vector), self._weights))
        return upwards(total << GRAINS, self._weight_unit)

    def blur(self, last: Vector) -> int:
        """At least the norm of the difference, at any time in the step, between the curve
        and the sum of the rounded terms, in grains."""
        return self._beyond(last, self._own)

    def _beyond(self, last: Vector, errors: tuple[int, int, Fraction]) -> int:
        total, of_last, tail = errors
        return total + times(self.size(last) + of_last, tail)

    @abstractmethod
    def moved(self, terms: list[Vector]) -> tuple[Vector, list[int], int]:
        """The curve at the end of the step, rounded to the nearest unit; the integrals of b
        over the step, rounded down to grains; and at least the norm of the error, without
        roundings, in grains."""


class _ByExponential(StepOfCurve):
    def __init__(self, frame: Frame, length: Fraction):
        super().__init__(frame, length)
        norm, flow, members = frame.norm, frame.flow, frame.members
        own = [_power_below(norm / r) if r and norm else Fraction(1) for r in self.reaches]
        self.blurs = [1 / weight for weight in own]
        signals = list(zip(flow.signals, own, strict=True))
        matrix = balanced_matrix(flow, members, frame.weights, signals)
        self._exponential = exponential(matrix, length, frame.bits)
        self._transfer = self._dual_columns([*(frame.weights[j] for j in members), *own])
        inside = set(members)
        self._fixed = [
            {i: v * length for i, v in s.column.items() if i not in inside} for s in flow.signals
        ]

    def _dual_columns(self, weights: list[Fraction]) -> SparseColumns:
        """The columns of the exponential in unbalanced coordinates."""
        unit = Fraction(1, 1 << self.frame.bits)
        rows = self._exponential.rows
        columns = [
            {
                i: rows[k][column] * unit * weights[k] / weights[column]
                for k, i in enumerate(self.frame.members)
                if rows[k][column]
            }
            for column in range(len(weights))
        ]
        return SparseColumns.of(columns, Fraction(1))

    def moved(self, terms: list[Vector]) -> tuple[Vector, list[int], int]:
        curve, members = terms[0], self.frame.members
        images = self._transfer(curve)
        bottom = self._transfer.denominator
        end = list(curve)
        for j, value in zip(members, images, strict=False):
            end[j] = (2 * value + bottom) // (2 * bottom)
        integrals = []
        for value, fixed in zip(images[len(members) :], self._fixed, strict=True):
            added = sum((v * curve[i] for i, v in fixed.items()), Fraction(value, bottom))
            integrals.append((added.numerator << GRAINS) // added.denominator)
        return end, integrals, times(self.size(curve), self._exponential.error)


class _BySeries(StepOfCurve):
    def __init__(self, frame: Frame, length: Fraction):
        super().__init__(frame, length)
        self._degree = frame.degree
        term, reach = Fraction(1 << frame.bits), frame.norm * length
        for i in range(1, self._degree + 1):
            term = term * reach / i
        while term >= 1:
            self._degree += 1
            term = term * reach / self._degree
        self._long = self._errors(self._degree)
        self._parts = lcm(*range(1, self._degree + 2))

    def moved(self, terms: list[Vector]) -> tuple[Vector, list[int], int]:
        terms = self._continued(terms, self._degree)
        end = [sum(entries) for entries in zip(*terms, strict=True)]
        shares = [self._parts // (i + 1) for i in range(len(terms))]
        along = zip(*(self.inputs(term) for term in terms), strict=True)
        bottom = self.inputs.denominator * self._parts * self.length.denominator
        integrals = [
            (sum(map(mul, b, shares)) * self.length.numerator << GRAINS) // bottom for b in along
        ]
        return end, integrals, self._beyond(terms[-1], self._long)


def step_of_curve(frame: Frame, length: Fraction) -> StepOfCurve:
    """Steps of a length, in the way that suits the matrix."""
    return _BySeries(frame, length) if frame.is_sparse else _ByExponential(frame, length)


def _power_below(value: Fraction) -> Fraction:
    """A power of two between a quarter of the value and the value."""
    shift = value.numerator.bit_length() - value.denominator.bit_length() - 1
    return Fraction(2) ** shift

"""Boxes with further rows as sets of starting states, and the arithmetic of their supports.

Vectors are integers in units of 2^-bits; bounds are added up in *grains*, 2^-16 of a unit, and
every part of a sum is rounded up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from operator import itemgetter, mul

from models.proof.affine_flow import Span, Vector
from models.proof.packed_rows import PackedRows, bits_of

Pick = Callable[[Sequence[int]], Sequence[int]]

GRAINS = 16
"""Bounds are added up in grains, 2^-GRAINS of a unit, each part rounded up."""

PACKED_FROM = 8
"""From that many entries in a column on, on average, columns are multiplied packed."""


def _pick(indices: tuple[int, ...]) -> Pick:
    if len(indices) == 1:
        only = indices[0]
        return lambda values: (values[only],)
    return itemgetter(*indices)


@dataclass(frozen=True)
class SparseColumns:
    """Integer columns over one denominator, to be multiplied with integer vectors."""

    denominator: int
    columns: tuple[Mapping[int, int], ...]

    @classmethod
    def of(cls, columns: Sequence[Mapping[int, Fraction]], factor: Fraction) -> SparseColumns:
        """The columns times a factor."""
        scaled = [{i: v * factor for i, v in column.items() if v} for column in columns]
        denominator = lcm(*(v.denominator for c in scaled for v in c.values()))
        return cls(
            denominator,
            tuple(
                {i: v.numerator * (denominator // v.denominator) for i, v in c.items()}
                for c in scaled
            ),
        )

    @cached_property
    def entries(self) -> int:
        """How many entries are not zero."""
        return sum(map(len, self.columns))

    @cached_property
    def _picked(self) -> list[tuple[Pick, tuple[int, ...]] | None]:
        return [(_pick(tuple(c)), tuple(c.values())) if c else None for c in self.columns]

    @cached_property
    def _packed(self) -> dict[int, PackedRows]:
        return {}

    def __call__(self, vector: Sequence[int]) -> Vector:
        """Every column times the vector, times the denominator."""
        if self.entries <= PACKED_FROM * len(self.columns):
            return [0 if c is None else sum(map(mul, c[1], c[0](vector))) for c in self._picked]
        bits = -(-bits_of(vector) // 32) * 32
        packed = self._packed.get(bits)
        if packed is None:
            rows = [[c.get(i, 0) for c in self.columns] for i in range(len(vector))]
            packed = self._packed[bits] = PackedRows(rows, bits)
        return packed.combination(vector)


@dataclass(frozen=True)
class Support:
    """The value of a vector over a box, times the box's denominator: `centre` at its centre,
    `radius` the most it varies from there, `rest` its entries at names without two bounds."""

    centre: int
    radius: int
    rest: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class StartSet:
    """Bounds of each name at the start, and rows (entries of a vector, bound) that hold there
    too."""

    spans: tuple[Span, ...]
    rows: Sequence[tuple[Mapping[int, Fraction], Fraction]]

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

    def by_row(self, vector: Vector, sign: int, row: int, bits: int) -> int | None:
        """At least the largest sign * vector * x, in grains, through one of the rows: its
        bound plus the box's support of what the vector differs from the row."""
        normal, bound = self.rows[row]
        rest = [sign * a for a in vector]
        for j, v in normal.items():
            shifted = v * (1 << bits)
            if shifted.denominator != 1:
                return None
            rest[j] -= shifted.numerator
        top = self.largest(self.support(rest), 1)
        if top is None:
            return None
        return grains(bound * (1 << bits)) + upwards(top << GRAINS, self.denominator)


def upwards(top: int, bottom: int) -> int:
    """The quotient rounded up."""
    return -(-top // bottom)


def times(number: int, factor: Fraction) -> int:
    """The product rounded up."""
    return -(-number * factor.numerator // factor.denominator)


def grains(units: Fraction) -> int:
    """Units in grains, rounded up."""
    return upwards(units.numerator << GRAINS, units.denominator)

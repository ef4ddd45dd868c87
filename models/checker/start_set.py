"""Zonotopes with further rows as sets of starting states, and the arithmetic of their supports.

A box bounds each name on its own. Where names depend on each other (v = -2 x), combinations n_k x
of them are *measured*: they lie in ranges. With any vectors m_k, let mu_k = m_k a for a vector a,
and r = a - sum of mu_k n_k. Then

    a x = sum of mu_k (n_k x) + r x,

where each n_k x is bounded as measured and r x by the box. All mu_k and all entries of r are linear
in a, so this bound is the support of a zonotope: a * centre + sum of |a * generator|. It holds
whatever the m_k are; good ones make r small.

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

from workbench.models.checker.affine_flow import Span, Vector
from workbench.models.checker.packed_rows import PackedRows, bits_of

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
    """The value of a vector over a zonotope, times its denominator: `centre` at its centre,
    `radius` the most it varies from there, `rest` its entries at names without two bounds."""

    centre: int
    radius: int
    rest: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Measured:
    """A combination n of names that lies between bounds at the start, and the vector m by which
    it takes part in the bounds of others."""

    normal: Mapping[int, Fraction]
    low: Fraction
    high: Fraction
    factor: Mapping[int, Fraction]


@dataclass(frozen=True)
class Zonotope:
    """All centre + sum of t_i * generator_i with |t_i| <= 1, times one denominator. `radii` are
    the generators along single names."""

    centre: Vector
    radii: Vector
    generators: SparseColumns | None


@dataclass(frozen=True)
class StartSet:
    """Bounds of each name at the start, measured combinations of them, and rows (entries of a
    vector, bound) that hold there too."""

    spans: tuple[Span, ...]
    rows: Sequence[tuple[Mapping[int, Fraction], Fraction]]
    frame: Sequence[Measured] = ()

    @cached_property
    def _open_names(self) -> list[int]:
        """The names that have no two bounds."""
        return [j for j, (low, high) in enumerate(self.spans) if low is None or high is None]

    @cached_property
    def _residues(self) -> dict[int, dict[int, Fraction]]:
        """For the names at which r may differ from a, the vectors that give its entries."""
        found: dict[int, dict[int, Fraction]] = {}
        for measured in self.frame:
            for j, value in measured.normal.items():
                entry = found.setdefault(j, {j: Fraction(1)})
                for i, v in measured.factor.items():
                    entry[i] = entry.get(i, Fraction(0)) - value * v
        return {j: {i: v for i, v in entry.items() if v} for j, entry in found.items()}

    @cached_property
    def _is_framed(self) -> bool:
        """Whether the combinations can be used: where r is not zero it must be bounded."""
        return not any(self._residues.get(j) for j in self._open_names)

    @cached_property
    def _unmeasured(self) -> list[int]:
        """The open names at which r is as a."""
        framed = self._residues if self._is_framed else {}
        return [j for j in self._open_names if j not in framed]

    @cached_property
    def _parts(self) -> tuple[dict[int, Fraction], dict[int, Fraction], list[dict[int, Fraction]]]:
        """The centre, the generators along single names, and the other ones."""
        entries = self._residues if self._is_framed else {}
        centre: dict[int, Fraction] = {}
        radii: dict[int, Fraction] = {}
        generators: list[dict[int, Fraction]] = []

        def include(low: Fraction, high: Fraction, vector: Mapping[int, Fraction]) -> None:
            for i, v in vector.items():
                centre[i] = centre.get(i, Fraction(0)) + (low + high) / 2 * v
            if high != low:
                generators.append({i: (high - low) / 2 * v for i, v in vector.items()})

        for j, (low, high) in enumerate(self.spans):
            if low is not None and high is not None:
                if j in entries:
                    include(low, high, entries[j])
                else:
                    centre[j] = centre.get(j, Fraction(0)) + (low + high) / 2
                    radii[j] = (high - low) / 2
        for measured in self.frame if self._is_framed else ():
            include(measured.low, measured.high, measured.factor)
        return centre, radii, [g for g in generators if g]

    @cached_property
    def denominator(self) -> int:
        """A common denominator of the zonotope and of all bounds."""
        centre, radii, generators = self._parts
        ends = [e.denominator for span in self.spans for e in span if e is not None]
        parts = (v.denominator for vector in (centre, radii, *generators) for v in vector.values())
        return lcm(*ends, *parts)

    @cached_property
    def zonotope(self) -> Zonotope:
        """The start set without its rows, times the denominator; what names without two bounds
        add to it is left out."""
        centre, radii, generators = self._parts
        size, unit = range(len(self.spans)), self.denominator
        return Zonotope(
            [int(centre.get(j, Fraction(0)) * unit) for j in size],
            [int(radii.get(j, Fraction(0)) * unit) for j in size],
            SparseColumns(1, tuple({i: int(v * unit) for i, v in g.items()} for g in generators))
            if generators
            else None,
        )

    def support(self, vector: Vector) -> Support:
        """What the zonotope says about a vector."""
        zonotope = self.zonotope
        radius = sum(map(mul, map(abs, vector), zonotope.radii))
        if zonotope.generators is not None:
            radius += sum(map(abs, zonotope.generators(vector)))
        return Support(
            sum(map(mul, vector, zonotope.centre)),
            radius,
            tuple((j, vector[j]) for j in self._unmeasured if vector[j]),
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
        bound plus the zonotope's support of what the vector differs from the row."""
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

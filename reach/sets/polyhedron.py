"""Closed convex polyhedra with rational vertices, exactly, with both descriptions at hand.

A polyhedron in n dimensions is the slice y_0 = 1 of a cone of vectors (y_0, y_1, ..., y_n):
a constraint (c, a) states c + a*x >= 0; a generator (w, v) is the point v/w if w > 0 and the
direction v if w = 0. All operations are exact (see `reach.sets.double_description`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import lcm

from workbench.reach.sets.double_description import (
    Description,
    Vector,
    coprime,
    dot,
    narrow,
    outside,
    whole_space,
    widen,
)


@dataclass(frozen=True, slots=True, eq=False)
class Generators:
    """Points and directions, and lines. Compared by identity: the searches hand the same ones
    around again and again."""

    points: tuple[Vector, ...]
    lines: tuple[Vector, ...] = ()


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """{ x : every constraint holds } = hull of the points + cone of the directions.

    Compared by identity: two that `contains` each other are the same set.
    """

    cone: Description

    @classmethod
    def universe(cls, dimension: int) -> Polyhedron:
        """All of space."""
        return cls(narrow(whole_space(dimension + 1), [_positivity(dimension + 1)]))

    @classmethod
    def empty(cls, dimension: int) -> Polyhedron:
        """No point and no direction."""
        return _generated(dimension, (), ())

    @classmethod
    def generated(
        cls, dimension: int, generators: Iterable[Vector], lines: Iterable[Vector] = ()
    ) -> Polyhedron:
        """The hull of points and directions."""
        return _generated(dimension, tuple(generators), tuple(lines))

    @property
    def dimension(self) -> int:
        """The dimension of the space."""
        return self.cone.size - 1

    @property
    def equations(self) -> tuple[Vector, ...]:
        """c + a*x = 0, independent."""
        return self.cone.equations

    @cached_property
    def inequalities(self) -> tuple[Vector, ...]:
        """c + a*x >= 0, none redundant (not counting 1 >= 0)."""
        return tuple(row for row in self.cone.inequalities if any(row[1:]))

    @property
    def lines(self) -> tuple[Vector, ...]:
        """Directions that may be followed both ways; the first entry is 0."""
        return self.cone.lines

    @property
    def generators(self) -> tuple[Vector, ...]:
        """Points (first entry positive) and directions (first entry 0)."""
        return self.cone.rays

    @cached_property
    def spanned(self) -> Generators:
        """All that generates the polyhedron."""
        return Generators(self.cone.rays, self.cone.lines)

    # Products of many components ask the same of the same sets again and again.

    @cached_property
    def _restricted(self) -> dict[tuple[tuple[Vector, ...], tuple[Vector, ...]], Polyhedron]:
        return {}

    @cached_property
    def _widened(self) -> dict[tuple[tuple[Vector, ...], tuple[Vector, ...]], Polyhedron]:
        return {}

    @cached_property
    def _including(self) -> dict[Generators, Polyhedron]:
        return {}

    @cached_property
    def is_empty(self) -> bool:
        """Whether there is no point."""
        return not any(ray[0] for ray in self.cone.rays)

    def restricted(
        self, inequalities: Sequence[Vector], equations: Sequence[Vector] = ()
    ) -> Polyhedron:
        """The points that satisfy further constraints."""
        key = tuple(inequalities), tuple(equations)
        found = self._restricted.get(key)
        if found is None:
            cone = narrow(self.cone, *key)
            found = self._restricted[key] = self if cone is self.cone else Polyhedron(cone)
        return found

    def with_generators(
        self, generators: Sequence[Vector], lines: Sequence[Vector] = ()
    ) -> Polyhedron:
        """The hull with further points, directions and lines."""
        key = tuple(generators), tuple(lines)
        found = self._widened.get(key)
        if found is None:
            found = self._widened[key] = Polyhedron(widen(self.cone, *key))
        return found

    def including(self, other: Generators) -> Polyhedron:
        """The hull with them: this very polyhedron if they lie in it."""
        found = self._including.get(other)
        if found is None:
            new = outside(self.cone, other.points)
            lines = outside(self.cone, other.lines, are_lines=True)
            found = self.with_generators(new, lines) if new or lines else self
            self._including[other] = found
        return found

    def hull(self, other: Polyhedron) -> Polyhedron:
        """The smallest polyhedron that contains both."""
        return self.with_generators(other.generators, other.lines)

    def contains_generator(self, generator: Vector) -> bool:
        """Whether a point or direction lies in the polyhedron."""
        return not outside(self.cone, (generator,))

    def contains(self, other: Polyhedron) -> bool:
        """Whether every point of the other is one of this."""
        return other.is_empty or self.contains_all(other.spanned)

    def contains_all(self, other: Generators) -> bool:
        """Whether all of them lie in the polyhedron."""
        return not outside(self.cone, other.points) and not outside(
            self.cone, other.lines, are_lines=True
        )

    def mapped(self, rows: Sequence[Vector]) -> Polyhedron:
        """The image under y -> (row*y for each row); the first row must be a positive
        multiple of the first coordinate."""
        images = [coprime([dot(row, g) for row in rows]) for g in self.generators]
        lines = [coprime([dot(row, line) for row in rows]) for line in self.lines]
        return Polyhedron.generated(len(rows) - 1, [g for g in images if any(g)], lines)

    def some_point(self) -> tuple[Fraction, ...] | None:
        """A point of the polyhedron (the mean of its vertices); None if it is empty."""
        points = [[Fraction(a, ray[0]) for a in ray[1:]] for ray in self.cone.rays if ray[0] > 0]
        if not points:
            return None
        return tuple(sum(column, Fraction(0)) / len(points) for column in zip(*points, strict=True))


@lru_cache(maxsize=20_000)
def _generated(
    dimension: int, generators: tuple[Vector, ...], lines: tuple[Vector, ...]
) -> Polyhedron:
    size = dimension + 1
    nothing = narrow(whole_space(size), (), whole_space(size).lines)
    return Polyhedron(widen(nothing, generators, lines))


def integer_row(
    constant: int | Fraction, coefficients: Mapping[int, Fraction], dimension: int
) -> Vector:
    """constant + sum coefficient_i * x_i, times the positive number that makes it coprime
    integers."""
    denominator = lcm(constant.denominator, *(a.denominator for a in coefficients.values()))
    row = [0] * (dimension + 1)
    row[0] = constant.numerator * (denominator // constant.denominator)
    for i, a in coefficients.items():
        row[i + 1] = a.numerator * (denominator // a.denominator)
    return coprime(row)


def point_vector(point: Sequence[Fraction]) -> Vector:
    """A point as a generator."""
    denominator = lcm(*(Fraction(a).denominator for a in point))
    return (denominator, *(int(a * denominator) for a in point))


def _positivity(size: int) -> Vector:
    return (1, *([0] * (size - 1)))

"""Points of a polytope that may be thin: equations eliminated, the rest by hit and run.

{x : a.x = b for equations, c.x <= d for inequalities} is walked in coordinates of its own
affine hull, from a point inside (found once, by the solver). Inequalities that hold with
equality everywhere count as equations. All points are inside up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from random import Random

from workbench.models.expressions.affine import LinearConstraint
from workbench.models.expressions.expression import Expression, add, conjunction, multiply, variable
from workbench.models.expressions.operators import Op
from workbench.models.record import record
from workbench.simulate.stepping.tape import number

SWEEPS = 12
"""Hit and run makes so many steps for each dimension: enough to forget where it started."""

CENTERINGS = 4

FREE_WIDTH = 10.0
"""Where a polytope has no bound it ends this far, in units of 1 + |x|, from the point inside."""

WIDEST, NARROWEST = 10, -40
"""Powers of two between which the distance of the point inside to the boundary is sought."""

Vector = list[float]


@record
class Polytope:
    """`directions` are orthonormal and span the hull; `rows` are (c, d) with c.x <= d."""

    names: tuple[str, ...]
    center: tuple[float, ...]
    directions: tuple[tuple[float, ...], ...]
    rows: tuple[tuple[tuple[float, ...], float], ...]

    @property
    def dimension(self) -> int:
        """The dimension of the affine hull."""
        return len(self.directions)

    @cached_property
    def _spans(self) -> list[tuple[Vector, float]]:
        """The inequalities in coordinates of the hull, seen from the center."""
        return [
            ([_dot(c, d) for d in self.directions], max(bound - _dot(c, self.center), 0.0))
            for c, bound in self.rows
        ]

    def chord(self, z: Sequence[float], way: Sequence[float]) -> tuple[float, float]:
        """How far one can go from z against and along a way, in coordinates of the hull."""
        length = math.sqrt(_dot(way, way))
        if length == 0.0:
            return 0.0, 0.0
        high = FREE_WIDTH * (1.0 + max(map(abs, self.center))) / length
        low = -high
        for c, room in self._spans:
            speed, left = _dot(c, way), room - _dot(c, z)
            if speed > 0.0:
                high = min(high, max(left, 0.0) / speed)
            elif speed < 0.0:
                low = max(low, max(left, 0.0) / speed)
        return low, high

    def sample(self, random: Random) -> dict[str, float]:
        """A point drawn by hit and run: almost uniform, and determined by the generator."""
        z = [0.0] * self.dimension
        for _ in range(SWEEPS * self.dimension):
            way = self._way(random)
            low, high = self.chord(z, way)
            step = low + random.random() * (high - low)
            z = [a + step * b for a, b in zip(z, way, strict=True)]
        return self.point(z)

    def _way(self, random: Random) -> Vector:
        """A random direction, often along some of the facets: needles are left lengthwise."""
        way = [random.gauss(0.0, 1.0) for _ in self.directions]
        along: list[Vector] = []
        for _ in range(random.randrange(max(self.dimension, 1)) if self._spans else 0):
            normal, _ = self._spans[random.randrange(len(self._spans))]
            along = _extended(along, normal)
        for u in along:
            part = _dot(u, way)
            way = [a - part * b for a, b in zip(way, u, strict=True)]
        return way

    def at(self, share: Sequence[float]) -> dict[str, float]:
        """The point of a share of the unit cube: its middle is the center, its boundary is the
        boundary, and rays go to rays (one to one)."""
        way = [2.0 * min(max(u, 0.0), 1.0) - 1.0 for u in share]
        size = max(map(abs, way), default=0.0)
        if size == 0.0:
            return self.point(way)
        _, far = self.chord([0.0] * len(way), way)
        return self.point([size * far * w for w in way])

    def share(self, values: Mapping[str, float]) -> Vector:
        """The share of the unit cube for the point of the hull nearest to some values."""
        offset = [values.get(n, c) - c for n, c in zip(self.names, self.center, strict=True)]
        z = [_dot(offset, d) for d in self.directions]
        largest = max(map(abs, z), default=0.0)
        if largest == 0.0:
            return [0.5] * len(z)
        _, far = self.chord([0.0] * len(z), z)
        size = min(1.0 / far, 1.0) if far > 0.0 else 1.0
        return [0.5 + 0.5 * size * a / largest for a in z]

    def end(self, sign: int) -> dict[str, float]:
        """The point in which the way to low (-1) or high (+1) values ends; 0: the center."""
        ones = [float(sign)] * len(self.names)
        way = [_dot(ones, d) for d in self.directions]
        _, far = self.chord([0.0] * len(way), way)
        return self.point([far * w for w in way] if any(way) else way)

    def point(self, z: Sequence[float]) -> dict[str, float]:
        """Coordinates of the hull as values by name."""
        x = list(self.center)
        for share, direction in zip(z, self.directions, strict=True):
            x = [a + share * b for a, b in zip(x, direction, strict=True)]
        return dict(zip(self.names, x, strict=True))


def polytope(names: Sequence[str], constraints: Sequence[LinearConstraint]) -> Polytope | None:
    """The polytope of some constraints (`!=` is left out); None if it is empty, or the solver
    does not find a point of it."""
    equations = [c for c in constraints if c.relation is Op.EQUAL]
    rows = [c for c in constraints if c.relation in (Op.LESS, Op.LESS_EQUAL)]
    if _keeping([*equations, *rows], (), Fraction(0)) is None:
        return None
    inside = _inside(equations, rows)
    if inside is None:
        strict = [_inside(equations + _others(rows, c), [c], most=0) for c in rows]
        equations += [c for c, found in zip(rows, strict, strict=True) if found is None]
        rows = [c for c, found in zip(rows, strict, strict=True) if found is not None]
        inside = _inside(equations, rows)
    if inside is None:
        return None
    order = tuple(names)
    found = Polytope(
        order,
        tuple(number(inside.get(n, Fraction(0))) for n in order),
        tuple(map(tuple, _orthonormal(_null_space(order, equations)))),
        tuple((_row(c, order), number(c.bound)) for c in rows),
    )
    return replace(found, center=tuple(found.point(_middle(found)).values()))


def _middle(found: Polytope) -> Vector:
    """A point more in the middle: that of the chord along one direction after another."""
    z = [0.0] * found.dimension
    for _ in range(CENTERINGS):
        for i in range(found.dimension):
            way = [float(i == j) for j in range(found.dimension)]
            low, high = found.chord(z, way)
            z[i] += 0.5 * (low + high)
    return z


def _others(rows: Sequence[LinearConstraint], one: LinearConstraint) -> list[LinearConstraint]:
    return [c for c in rows if c is not one]


def _inside(
    exact: Sequence[LinearConstraint], rows: Sequence[LinearConstraint], most: int = WIDEST
) -> dict[str, Fraction] | None:
    """A point that keeps as far from the boundary of the rows as powers of two tell, and
    satisfies the exact ones as they are (equations are closed, the others too)."""
    best, k = _keeping(exact, rows, Fraction(1)), 0
    while best is not None and k < most:
        further = _keeping(exact, rows, Fraction(2) ** (k + 1))
        if further is None:
            return best
        best, k = further, k + 1
    while best is None and k > NARROWEST:
        k -= 4
        best = _keeping(exact, rows, Fraction(2) ** k)
    return best


def _keeping(
    exact: Sequence[LinearConstraint], rows: Sequence[LinearConstraint], distance: Fraction
) -> dict[str, Fraction] | None:
    """A point that keeps a distance (in the sum norm of the coefficients) from all rows."""
    from workbench.models.smt.solver import Witness, satisfiable

    parts = [_closed(c, Fraction(0)) for c in exact]
    for c in rows:
        size = sum(abs(a) for _, a in c.coefficients)
        parts.append(_closed(c, distance * size))
    answer = satisfiable(conjunction(*parts))
    if not isinstance(answer, Witness):
        return None
    return {n: v for n, v in answer.values.items() if isinstance(v, Fraction)}


def _closed(c: LinearConstraint, slack: Fraction) -> Expression:
    left = add(*(multiply(a, variable(n)) for n, a in c.coefficients))
    return left <= c.bound - slack if c.relation is not Op.EQUAL else c.expression


def _null_space(
    names: Sequence[str], equations: Sequence[LinearConstraint]
) -> list[list[Fraction]]:
    """A basis of {x : a.x = 0 for all equations}, exactly."""
    rows = [[dict(c.coefficients).get(n, Fraction(0)) for n in names] for c in equations]
    pivots: list[int] = []
    for column in range(len(names)):
        k = len(pivots)
        found = next((i for i in range(k, len(rows)) if rows[i][column]), None)
        if found is None:
            continue
        rows[k], rows[found] = rows[found], rows[k]
        rows[k] = [a / rows[k][column] for a in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][column]:
                factor = rows[i][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
        pivots.append(column)
    basis = []
    for free in (j for j in range(len(names)) if j not in pivots):
        vector = [Fraction(j == free) for j in range(len(names))]
        for k, column in enumerate(pivots):
            vector[column] = -rows[k][free]
        basis.append(vector)
    return basis


def _orthonormal(basis: Sequence[Sequence[Fraction]]) -> list[Vector]:
    found: list[Vector] = []
    for given in basis:
        found = _extended(found, [number(a) for a in given])
    return found


def _extended(found: list[Vector], v: Sequence[float]) -> list[Vector]:
    """Gram-Schmidt, twice for the sake of rounding: the orthonormal vectors with one more, if
    it is independent of them."""
    given = math.sqrt(_dot(v, v))
    for _ in range(2):
        for u in found:
            part = _dot(u, v)
            v = [a - part * b for a, b in zip(v, u, strict=True)]
    size = math.sqrt(_dot(v, v))
    return [*found, [a / size for a in v]] if size > 1e-9 * given else found


def _row(c: LinearConstraint, names: Sequence[str]) -> tuple[float, ...]:
    known = dict(c.coefficients)
    return tuple(number(known.get(n, Fraction(0))) for n in names)


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))

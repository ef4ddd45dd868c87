"""The double description of polyhedral cones, in integers (Chernikova's algorithm).

A cone has two descriptions of one shape. As a set of solutions, { y : e*y = 0, c*y >= 0 },
it has equations e and inequalities c; as a set of combinations it has lines (any factor)
and rays (factors >= 0). Each is dual to the other: a ray added to the combinations is an
inequality added to the solutions of the dual cone. So one function, `narrow`, serves both
directions. Vectors are tuples of coprime integers; everything is exact.

`narrow` keeps for every ray a bit mask of the inequalities that it satisfies with equality;
two rays are adjacent if no third ray saturates everything that both of them do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from operator import mul
from typing import Any, TypeAlias

from workbench.models.work import spend
from workbench.reach.time_limit import OutOfTimeError, check_time, current_deadline

_cone: Any
try:
    from workbench.reach import _cone  # type: ignore[attr-defined,no-redef]
except ImportError:  # built without a C compiler: the Python below does all of it, more slowly
    _cone = None

Vector: TypeAlias = tuple[int, ...]

MAX_PAIRS = 2_000_000
"""More pairs of rays than this are not tested for adjacency (`TooManyRaysError`)."""


class TooManyRaysError(Exception):
    """A cone has too many generators to go on."""


@dataclass(frozen=True, slots=True)
class Description:
    """A cone in both descriptions; `masks[r]` has bit i if ray r saturates inequality i.

    `equations` and `lines` are independent; no inequality and no ray is redundant.
    """

    size: int
    equations: tuple[Vector, ...]
    inequalities: tuple[Vector, ...]
    lines: tuple[Vector, ...]
    rays: tuple[Vector, ...]
    masks: tuple[int, ...]

    @property
    def dual(self) -> Description:
        """The dual cone: constraints and generators exchanged."""
        return Description(
            self.size,
            self.lines,
            self.rays,
            self.equations,
            self.inequalities,
            transposed(self.masks, len(self.inequalities)),
        )


def whole_space(size: int) -> Description:
    """The cone of all vectors."""
    unit = tuple(tuple(int(i == j) for j in range(size)) for i in range(size))
    return Description(size, (), (), unit, (), ())


def dot(a: Vector, b: Vector) -> int:
    """The inner product."""
    return sum(map(mul, a, b))


def coprime(vector: Sequence[int]) -> Vector:
    """The vector divided by the greatest common divisor of its entries."""
    divisor = gcd(*vector)
    return tuple(vector) if divisor <= 1 else tuple([a // divisor for a in vector])


def transposed(masks: Sequence[int], width: int) -> tuple[int, ...]:
    """The bit matrix with rows and columns exchanged."""
    if _cone is not None:
        found: tuple[int, ...] = _cone.transposed(tuple(masks), width)
        return found
    columns = [0] * width
    for number, mask in enumerate(masks):
        bit = 1 << number
        while mask:
            low = mask & -mask
            columns[low.bit_length() - 1] |= bit
            mask ^= low
    return tuple(columns)


def outside(
    cone: Description, vectors: tuple[Vector, ...], *, are_lines: bool = False
) -> list[Vector]:
    """The vectors that do not lie in the cone; or the lines that do not."""
    inequalities, equations = cone.inequalities, cone.equations
    if _cone is not None and vectors:
        found: list[Vector] | None = _cone.outside(
            cone.size, inequalities, equations, vectors, are_lines
        )
        if found is not None:
            return found
    zeros = (*inequalities, *equations) if are_lines else equations
    return [
        vector
        for vector in vectors
        if any(dot(row, vector) < 0 for row in inequalities)
        or any(dot(row, vector) for row in zeros)
    ]


def narrow(
    cone: Description, inequalities: Sequence[Vector], equations: Sequence[Vector] = ()
) -> Description:
    """The part of the cone that satisfies further inequalities and equations."""
    found = None if _cone is None else _compiled(cone, tuple(inequalities), tuple(equations))
    return narrow_in_python(cone, inequalities, equations) if found is None else found


def _compiled(
    cone: Description, inequalities: tuple[Vector, ...], equations: tuple[Vector, ...]
) -> Description | None:
    """`narrow` by the compiled core; None if the numbers do not fit in its integers."""
    known = cone.equations, cone.inequalities, cone.lines, cone.rays, cone.masks
    try:
        found = _cone.narrow(
            cone.size, *known, inequalities, equations, MAX_PAIRS, current_deadline()
        )
    except OverflowError as error:
        raise TooManyRaysError(f"a polyhedron has more than {error} generators") from None
    except TimeoutError:
        raise OutOfTimeError from None
    if found is None:
        return None
    return Description(cone.size, *found) if found else cone


def narrow_in_python(
    cone: Description, inequalities: Sequence[Vector], equations: Sequence[Vector] = ()
) -> Description:
    """`narrow` in integers of any size: what the compiled core, which gives the same results
    entry by entry, leaves to it."""
    work = _Work(cone)
    for equation in equations:
        work.cut(equation, is_equation=True)
    for inequality in inequalities:
        work.cut(inequality, is_equation=False)
    return work.result() if work.changed else cone


def widen(cone: Description, rays: Sequence[Vector], lines: Sequence[Vector] = ()) -> Description:
    """The cone generated by the cone and further rays and lines."""
    return narrow(cone.dual, rays, lines).dual


class _Work:
    """A cone while constraints are added to it; redundant ones are removed at the end."""

    def __init__(self, cone: Description):
        self.size = cone.size
        self.equations = list(cone.equations)
        self.inequalities = list(cone.inequalities)
        self.lines = list(cone.lines)
        self.rays = list(cone.rays)
        self.masks = list(cone.masks)
        self.changed = False

    def cut(self, row: Vector, *, is_equation: bool) -> None:
        """Add one constraint."""
        values = [dot(row, line) for line in self.lines]
        crossing = [i for i, value in enumerate(values) if value]
        if crossing:
            self._cut_line(row, values, min(crossing, key=lambda i: abs(values[i])), is_equation)
        else:
            self._cut_rays(row, is_equation)

    def _cut_line(self, row: Vector, values: list[int], chosen: int, is_equation: bool) -> None:
        """A line crosses the hyperplane: everything else is pushed along it onto the plane."""
        self.changed = True
        line, height = self.lines[chosen], values[chosen]
        if height < 0:
            line, height = tuple([-a for a in line]), -height
        self.lines = [
            other if not value else _combined(height, other, -value, line)
            for i, (other, value) in enumerate(zip(self.lines, values, strict=True))
            if i != chosen
        ]
        rays = self.rays
        for i, ray in enumerate(rays):
            if value := dot(row, ray):
                rays[i] = _combined(height, ray, -value, line)
        if is_equation:
            self.equations.append(row)
            return
        bit = 1 << len(self.inequalities)
        self.inequalities.append(row)
        self.masks = [mask | bit for mask in self.masks]
        rays.append(line)
        self.masks.append(bit - 1)

    def _cut_rays(self, row: Vector, is_equation: bool) -> None:
        values = [dot(row, ray) for ray in self.rays]
        above = [i for i, value in enumerate(values) if value > 0]
        below = [i for i, value in enumerate(values) if value < 0]
        if not below and (not is_equation or not above):
            return  # implied already
        self.changed = True
        bit = 0 if is_equation else 1 << len(self.inequalities)
        found, found_masks = self._between(values, above, below, bit)
        rays: list[Vector] = []
        masks: list[int] = []
        for ray, mask, value in zip(self.rays, self.masks, values, strict=True):
            if value == 0:
                rays.append(ray)
                masks.append(mask | bit)
            elif value > 0 and not is_equation:
                rays.append(ray)
                masks.append(mask)
        self.rays, self.masks = rays + found, masks + found_masks
        (self.equations if is_equation else self.inequalities).append(row)

    def _between(
        self, values: list[int], above: list[int], below: list[int], bit: int
    ) -> tuple[list[Vector], list[int]]:
        """The new rays, on the edges between adjacent rays of either side."""
        rays, masks = self.rays, self.masks
        if len(above) * len(below) > MAX_PAIRS:
            raise TooManyRaysError(f"a polyhedron has more than {len(rays)} generators")
        needed = self.size - len(self.lines) - len(self.equations) - 2
        found: list[Vector] = []
        found_masks: list[int] = []
        for i in above:
            check_time()
            spend(2e-4 * len(below))
            mine, up, ray = masks[i], values[i], rays[i]
            for j in below:
                common = mine & masks[j]
                if common.bit_count() < needed:
                    continue
                seen = 0
                for mask in masks:
                    if mask & common == common:
                        seen += 1
                        if seen > 2:
                            break
                if seen == 2:
                    found.append(_combined(up, rays[j], -values[j], ray))
                    found_masks.append(common | bit)
        return found, found_masks

    def result(self) -> Description:
        """Without redundant inequalities; those that hold with equality become equations."""
        count = len(self.inequalities)
        columns = transposed(self.masks, count)
        everywhere = (1 << len(self.rays)) - 1
        hidden = [i for i in range(count) if columns[i] == everywhere]
        equations = self.equations + [self.inequalities[i] for i in hidden]
        if hidden or len(equations) + len(self.lines) > self.size:
            equations = independent(equations)
        kept = _irredundant(columns, [i for i in range(count) if columns[i] != everywhere])
        return Description(
            self.size,
            tuple(equations),
            tuple(self.inequalities[i] for i in kept),
            tuple(self.lines),
            tuple(self.rays),
            transposed([columns[i] for i in kept], len(self.rays)),
        )


def _irredundant(columns: Sequence[int], candidates: list[int]) -> list[int]:
    """Inequalities whose faces are maximal; one of each group with the same face."""
    order = sorted(candidates, key=lambda i: -columns[i].bit_count())
    kept: list[int] = []
    for i in order:
        face = columns[i]
        if not any(columns[j] & face == face for j in kept):
            kept.append(i)
    return sorted(kept)


def _combined(a: int, u: Vector, b: int, v: Vector) -> Vector:
    """a*u + b*v, divided by the greatest common divisor."""
    vector = [a * x + b * y for x, y in zip(u, v, strict=True)]
    divisor = gcd(*vector)
    return tuple(vector) if divisor <= 1 else tuple([x // divisor for x in vector])


def independent(rows: Sequence[Vector]) -> list[Vector]:
    """A basis of the space that the rows span, in echelon form."""
    basis: list[tuple[int, Vector]] = []
    for row in rows:
        for pivot, other in basis:
            if row[pivot]:
                row = _combined(other[pivot], row, -row[pivot], other)
        pivot = next((i for i, a in enumerate(row) if a), -1)
        if pivot >= 0:
            basis.append((pivot, row if row[pivot] > 0 else tuple([-a for a in row])))
    return [row for _, row in basis]

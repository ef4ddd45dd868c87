"""Places of a rectangular system and jumps between them, as sets of states see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from workbench.reach.sets.double_description import Vector, coprime, dot
from workbench.reach.sets.polyhedron import Generators, Polyhedron

Number: TypeAlias = int | Fraction
"""Exact; whole numbers are kept as `int`, which are much quicker."""

Values: TypeAlias = tuple[Number, ...]
States: TypeAlias = tuple[Polyhedron, ...]
"""One polyhedron for each pack."""

Entries: TypeAlias = tuple[Generators, ...]
"""What enters a place, for each pack."""


@dataclass(frozen=True, slots=True)
class Place:
    """A location and the values of the explicit discrete variables, in their order."""

    location: str
    values: Values = ()


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Constraints c + a*x >= 0; `strict` are the numbers of those that exclude equality."""

    rows: tuple[Vector, ...]
    strict: tuple[int, ...] = ()

    def on(self, polyhedron: Polyhedron) -> Polyhedron | None:
        """The points of a polyhedron that satisfy the rows, with those at the edge of strict
        ones; None if no point satisfies them all."""
        if not self.rows:
            return polyhedron
        found = polyhedron.restricted(self.rows)
        if found.is_empty:
            return None
        for i in self.strict:
            # A convex set has a point off every edge it does not lie in.
            if all(dot(self.rows[i], g) == 0 for g in found.generators):
                return None
        return found


def restricted(states: States, bounds: Sequence[Bounds]) -> States | None:
    """The states within the bounds of each pack; None if there are none."""
    found: list[Polyhedron] = []
    for polyhedron, bound in zip(states, bounds, strict=True):
        part = bound.on(polyhedron)
        if part is None:
            return None
        found.append(part)
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class PackMove:
    """A jump as one pack sees it: bounds before it (and on `extra` new values that are chosen
    in it), and the new values as rows over (1, old values, extra); no image: unchanged."""

    bounds: Bounds
    image: tuple[Vector, ...] | None = None
    extra: tuple[str, ...] = ()
    _known: dict[Polyhedron, Generators | None] = field(default_factory=dict, repr=False)

    def successors(self, states: Polyhedron) -> Generators | None:
        """The states after the jump; None if it is impossible."""
        if states not in self._known:
            self._known[states] = self._successors(states)
        return self._known[states]

    def before(self, row: Vector) -> Vector:
        """A constraint on the values after the jump as one on those before (and on the extra
        ones), times the image's denominator."""
        if self.image is None:
            return row
        return tuple([sum(map(int.__mul__, row, c)) for c in zip(*self.image, strict=True)])

    @property
    def denominator(self) -> int:
        """What the image multiplies the first coordinate by."""
        return 1 if self.image is None else self.image[0][0]

    def _successors(self, states: Polyhedron) -> Generators | None:
        enabled = self.bounds.on(_lifted(states, len(self.extra)) if self.extra else states)
        if enabled is None:
            return None
        if self.image is None:
            return enabled.spanned
        points = dict.fromkeys(self._mapped(g) for g in enabled.generators)
        lines = dict.fromkeys(self._mapped(line) for line in enabled.lines)
        return Generators(tuple(g for g in points if any(g)), tuple(g for g in lines if any(g)))

    def _mapped(self, generator: Vector) -> Vector:
        assert self.image is not None
        return coprime([dot(row, generator) for row in self.image])


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """One case of a jump from a place."""

    edge: int
    case: int
    name: str
    target: Place
    packs: tuple[PackMove, ...]
    numbers: tuple[tuple[int, ...], ...]
    """For each pack the numbers of the rows of its bounds in the linear view."""

    def successors(self, states: States) -> Entries | None:
        """The states after the jump, by pack; None if it is impossible."""
        found: list[Generators] = []
        for pack, polyhedron in zip(self.packs, states, strict=True):
            part = pack.successors(polyhedron)
            if part is None:
                return None
            found.append(part)
        return tuple(found)


def _lifted(states: Polyhedron, extra: int) -> Polyhedron:
    """The states with further dimensions of any value."""
    pad = (0,) * extra
    size = states.dimension + 1 + extra
    units = [tuple(int(i == j) for j in range(size)) for i in range(size - extra, size)]
    lines = [*(line + pad for line in states.lines), *units]
    return Polyhedron.generated(size - 1, [g + pad for g in states.generators], lines)

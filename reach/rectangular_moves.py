"""Places of a rectangular system and jumps between them, as sets of states see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from reach.double_description import Vector, coprime, dot
from reach.polyhedron import Polyhedron

Values: TypeAlias = tuple[Fraction, ...]
States: TypeAlias = tuple[Polyhedron, ...]
"""One polyhedron for each pack."""

Generators: TypeAlias = tuple[list[Vector], list[Vector]]
"""Points and directions, and lines."""


@dataclass(frozen=True, slots=True)
class Place:
    """A location and the values of the explicit discrete variables, in their order."""

    location: str
    values: Values = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """Constraints c + a*x >= 0; `strict` are the numbers of those that exclude equality,
    `numbers` their numbers among the rows of the linear view."""

    rows: tuple[Vector, ...]
    strict: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()

    def fits(self, dimension: int) -> bool:
        """Whether there are rows, in that many dimensions."""
        return bool(self.rows) and len(self.rows[0]) == dimension + 1

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


@dataclass(frozen=True, slots=True)
class PackMove:
    """A jump as one pack sees it: bounds before it (and on `extra` values that are chosen in
    it), and the new values as rows over (1, old values, extra); no image: unchanged."""

    bounds: Bounds
    image: tuple[Vector, ...] | None = None
    extra: int = 0

    def successors(self, states: Polyhedron) -> Generators | None:
        """The generators of the states after the jump; None if it is impossible."""
        enabled = self.bounds.on(_lifted(states, self.extra) if self.extra else states)
        if enabled is None:
            return None
        if self.image is None:
            return list(enabled.generators), list(enabled.lines)
        mapped = dict.fromkeys(self._mapped(g) for g in enabled.generators)
        lines = dict.fromkeys(self._mapped(line) for line in enabled.lines)
        return [g for g in mapped if any(g)], [g for g in lines if any(g)]

    def _mapped(self, generator: Vector) -> Vector:
        assert self.image is not None
        return coprime([dot(row, generator) for row in self.image])


@dataclass(frozen=True, slots=True)
class Move:
    """One case of a jump from a place."""

    edge: int
    case: int
    name: str
    target: Place
    packs: tuple[PackMove, ...]

    def successors(self, states: States) -> list[Generators] | None:
        """The generators of the states after the jump, by pack; None if it is impossible."""
        found: list[Generators] = []
        for pack, polyhedron in zip(self.packs, states, strict=True):
            part = pack.successors(polyhedron)
            if part is None:
                return None
            found.append(part)
        return found


def _lifted(states: Polyhedron, extra: int) -> Polyhedron:
    """The states with further dimensions of any value."""
    pad = (0,) * extra
    size = states.dimension + 1 + extra
    units = [tuple(int(i == j) for j in range(size)) for i in range(size - extra, size)]
    lines = [*(line + pad for line in states.lines), *units]
    return Polyhedron.generated(size - 1, [g + pad for g in states.generators], lines)

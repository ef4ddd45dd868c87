"""What the regions of a rectangular proof may say: statements, each numbered once.

Nodes share most of their sets, so they share statements, and what follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from workbench.models.checker.covers import after
from workbench.models.linear import Form
from workbench.reach.rectangular.exploration import Node
from workbench.reach.rectangular.moves import Number
from workbench.reach.sets.conic import Premises, echelon
from workbench.reach.sets.double_description import Vector
from workbench.reach.sets.polyhedron import Polyhedron


@dataclass(frozen=True, eq=False)
class Part:
    """A pack of a node: its constraints, and the numbers of the statements they are (two for
    an equation e = 0: those of e >= 0 and of e <= 0). Each equation has a pivot dimension of
    its own."""

    names: tuple[str, ...]
    equations: tuple[tuple[int, Vector], ...]
    equation_numbers: tuple[tuple[int, int], ...]
    inequalities: tuple[Vector, ...]
    inequality_numbers: tuple[int, ...]

    @cached_property
    def vectors(self) -> dict[int, Vector]:
        """The constraints by number."""
        found = dict(zip(self.inequality_numbers, self.inequalities, strict=True))
        for (_, row), (above, below) in zip(self.equations, self.equation_numbers, strict=True):
            found[above], found[below] = row, tuple([-a for a in row])
        return found


@dataclass(frozen=True, eq=False)
class Described:
    """A node and what may be said about its states."""

    node: Node
    parts: tuple[Part, ...]
    values: tuple[tuple[int, int], ...]
    """For each explicit variable the statements that it is at most, and at least, its value."""

    @cached_property
    def homes(self) -> dict[int, int]:
        """The numbers of all statements about packs, with the first pack that has them."""
        found: dict[int, int] = {}
        for k, part in enumerate(self.parts):
            for number in part.vectors:
                found.setdefault(number, k)
        return found


_Said: TypeAlias = tuple[tuple[tuple[str, int], ...], Number]
"""Coefficients, in the order of the packs' names, and the constant."""


class Statements:
    """Forms that are <= 0 in some node's region."""

    def __init__(self, explicit: Mapping[str, int]):
        self.explicit = explicit
        self._said: list[_Said] = []
        self._forms: dict[int, Form] = {}
        self.bounded: dict[int, tuple[str, bool]] = {}
        """The statements about discrete variables: which, and whether from above."""
        self._numbers: dict[_Said, int] = {}
        self._after: dict[int, Form] = {}
        self._values: dict[tuple[str, Number], tuple[int, int]] = {}
        self._parts: dict[tuple[tuple[str, ...], Polyhedron], Part] = {}
        self._premises: dict[tuple[Part, Vector, tuple[Vector, ...]], Premises] = {}

    def form(self, number: int) -> Form:
        """What a statement says is at most 0."""
        found = self._forms.get(number)
        if found is None:
            coefficients, constant = self._said[number]
            found = Form({n: Fraction(a) for n, a in coefficients}, Fraction(constant))
            self._forms[number] = found
        return found

    def after(self, number: int) -> Form:
        """A statement on the values after a jump."""
        found = self._after.get(number)
        if found is None:
            found = self._after[number] = after(self.form(number))
        return found

    def of_value(self, name: str, value: Number) -> tuple[int, int]:
        """That a discrete variable is at most, and at least, a number."""
        found = self._values.get((name, value))
        if found is None:
            above = self._number((((name, 1),), -value))
            below = self._number((((name, -1),), value))
            self.bounded[above], self.bounded[below] = (name, True), (name, False)
            found = self._values[name, value] = above, below
        return found

    def of_pack(self, names: tuple[str, ...], polyhedron: Polyhedron) -> Part:
        """The constraints of a polyhedron."""
        found = self._parts.get((names, polyhedron))
        if found is None:
            equations = tuple(echelon(polyhedron.equations))
            rows = [row for _, row in equations]
            found = self._parts[names, polyhedron] = Part(
                names,
                equations,
                tuple((self._row(names, r), self._row(names, [-a for a in r])) for r in rows),
                polyhedron.inequalities,
                tuple(self._row(names, row) for row in polyhedron.inequalities),
            )
        return found

    def described(self, node: Node, packs: tuple[tuple[str, ...], ...]) -> Described:
        """What may be said about a node."""
        parts = tuple(map(self.of_pack, packs, node.elapsed))
        values = tuple(map(self.of_value, self.explicit, node.place.values))
        return Described(node, parts, values)

    def premises(self, part: Part, pad: Vector, bounds: tuple[Vector, ...]) -> Premises:
        """A pack's constraints, in further dimensions too, and bounds."""
        key = part, pad, bounds
        found = self._premises.get(key)
        if found is None:
            equations = tuple(row + pad for _, row in part.equations)
            inequalities = tuple(row + pad for row in part.inequalities)
            found = self._premises[key] = Premises(equations, (*inequalities, *bounds))
        return found

    def _row(self, names: tuple[str, ...], row: Vector | list[int]) -> int:
        """c + a*x >= 0 as a form that is <= 0."""
        coefficients = [(n, -a) for n, a in zip(names, row[1:], strict=True) if a]
        return self._number((tuple(coefficients), -row[0]))

    def _number(self, said: _Said) -> int:
        found = self._numbers.get(said)
        if found is None:
            found = self._numbers[said] = len(self._said)
            self._said.append(said)
        return found

"""Multipliers for goals about the states of one explored node, worked out from its rows.

The rows of an obligation are those of the node's region, then others (a guard, resets, a bad
set). A goal follows from the constraints of one pack and some of the others (`reach.conic`);
what is then left of it is made up from definitions of new values, equations and discrete
values, each of which is a pair of opposite rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from models.proof.farkas import Multipliers
from models.proof.linear import Form, Rows
from models.proof.polyhedral import Region
from reach.conic import Premises
from reach.double_description import Vector
from reach.polyhedron import Polyhedron
from reach.rectangular import Node
from reach.rectangular_moves import Bounds
from reach.rectangular_rows import ONE, Definition, Relation, Resolved

Number: TypeAlias = int | Fraction
"""Exact; whole numbers are kept as `int` because sums of them are much quicker."""


@dataclass(frozen=True)
class Part:
    """A pack of a node's region: its constraints, and the numbers of their rows (two for an
    equation e = 0: those of e >= 0 and of e <= 0). Each equation has a pivot dimension of its
    own. Packs overlap: `fresh` are the rows that this one is the first to need, in order."""

    names: tuple[str, ...]
    polyhedron: Polyhedron
    equations: tuple[tuple[int, Vector], ...]
    equation_rows: tuple[tuple[int, int], ...]
    inequality_rows: tuple[int, ...]
    fresh: tuple[tuple[int, Vector], ...]

    @property
    def inequalities(self) -> tuple[Vector, ...]:
        """The constraints that are not equations."""
        return self.polyhedron.inequalities


@dataclass(frozen=True)
class Described:
    """A node and its region; explicit variable k has the rows 2k and 2k + 1, the rows of the
    invariant come last."""

    node: Node
    region: Region
    parts: tuple[Part, ...]
    first_of_invariant: int

    @property
    def size(self) -> int:
        """The number of the region's rows."""
        return len(self.region.predicates)


class Shared:
    """What is worked out once for all nodes: they have many sets and resets in common."""

    def __init__(self, explicit: Mapping[str, int]):
        self.explicit = explicit
        self._premises: dict[tuple[int, tuple[Vector, ...]], Premises] = {}
        self._direct: dict[int, dict[str, Definition]] = {}

    def premises(self, part: Part, bounds: Bounds) -> Premises:
        """A pack's constraints and further ones."""
        key = (id(part.polyhedron), bounds.rows)
        if key not in self._premises:
            equations = tuple(row for _, row in part.equations)
            self._premises[key] = Premises(equations, (*part.inequalities, *bounds.rows))
        return self._premises[key]

    def direct(self, relation: Relation) -> dict[str, Definition]:
        """The definitions of new values without discrete variables."""
        found = self._direct.get(id(relation))
        if found is None:
            found = self._direct[id(relation)] = {
                name: known
                for name, known in relation.definitions.items()
                if self.explicit.keys().isdisjoint(known.form.coefficients)
            }
        return found


@dataclass(frozen=True)
class NodeRows:
    """The rows of an obligation as one node sees them: those of its region, then others,
    which `further` sorts out (its numbers count from the first of the others)."""

    here: Described
    rows: Rows
    further: Resolved
    shared: Shared

    @property
    def explicit(self) -> Mapping[str, int]:
        """The numbers of the explicit variables."""
        return self.shared.explicit

    def contradiction(self) -> Multipliers | None:
        """A row that fails at the node's discrete values, with what shows it."""
        values = self.here.node.place.values
        for number, row in self.further.rows:
            names = row.form.coefficients
            if names.keys() <= self.explicit.keys():
                value = row.form.constant + sum(
                    (a * values[self.explicit[n]] for n, a in names.items()), Fraction(0)
                )
                if value > 0 or (row.strict and value == 0):
                    rest = Rest(self.rows, Form({}, value))
                    rest.subtract(self.here.size + number, 1)
                    return self.completed(rest, None)
        return None

    def premises(self, part: Part, bounds: Bounds) -> PartRows:
        """What is known about one pack: its constraints and some of the other rows."""
        known = self.shared.premises(part, bounds)
        numbers = [(number, ONE) for number in part.inequality_rows]
        forms = dict(self.further.rows) if bounds.rows else {}
        indirect: set[int] = set()
        for vector, number in zip(bounds.rows, bounds.numbers, strict=True):
            form = forms[number].form
            is_direct = form is self.rows[self.here.size + number].form
            if not is_direct or not self.explicit.keys().isdisjoint(form.coefficients):
                indirect.add(len(numbers))
            at = next(i for i, a in enumerate(vector[1:]) if a)
            scale = -vector[at + 1] / form.coefficients[part.names[at]]
            numbers.append((self.here.size + number, scale))
        return PartRows(self, part, known, numbers, indirect)

    def new_value(self, name: str) -> tuple[Multipliers, Multipliers]:
        """That the new value of a discrete variable is at most, and at least, what the
        definition makes of the values before."""
        known = self.further.relation.definitions[name]
        size = len(self.rows)
        upper: list[tuple[int, Fraction]] = []
        lower: list[tuple[int, Fraction]] = []
        for n, a in known.form.coefficients.items():
            first, second = 2 * self.explicit[n], 2 * self.explicit[n] + 1
            above, below = (first, second) if a.numerator > 0 else (second, first)
            upper.append((above, abs(a)))
            lower.append((below, abs(a)))
        return (
            (*upper, (size + known.upper, known.factor)),
            (*lower, (size + known.lower, known.factor)),
        )

    def completed(self, rest: Rest, part: Part | None) -> Multipliers | None:
        """The multipliers with those of definitions, equations and discrete values that
        make up what is left of a goal; None if they do not."""
        size, definitions = len(self.rows), self.further.relation.definitions
        for name in list(rest.coefficients):
            known = definitions.get(name)
            if known is not None:
                rest.cancel(name, size + known.upper, size + known.lower)
        if part is not None and rest.coefficients:
            for (pivot, row), (first, second) in zip(
                part.equations, part.equation_rows, strict=True
            ):
                pair = (first, second) if row[pivot] < 0 else (second, first)
                rest.cancel(part.names[pivot - 1], *pair)
        for name in list(rest.coefficients):
            number = self.explicit.get(name)
            if number is not None:
                rest.cancel(name, 2 * number, 2 * number + 1)
        if rest.coefficients or rest.constant > 0:
            return None
        return rest.multipliers()


@dataclass(frozen=True)
class PartRows:
    """What is known about one pack, and which row (times what) each constraint stands for."""

    view: NodeRows
    part: Part
    known: Premises
    numbers: list[tuple[int, Fraction]]
    indirect: set[int]
    """The constraints whose rows mention new values or discrete variables."""

    def derived(self, vector: Vector, goal: Form, denominator: int = 1) -> Multipliers | None:
        """Multipliers from which a goal follows that is `vector` >= 0, divided by the
        denominator, in terms of the values before; None if none were found."""
        found = self.known.derivation(vector)
        if found is None:
            return None
        factors: dict[int, Fraction] = {}
        for i, factor in found.inequalities:
            number, scale = self.numbers[i]
            if scale is not ONE or denominator != 1:
                factor = factor * scale / denominator
            factors[number] = factors[number] + factor if number in factors else factor
        is_direct = all(i not in self.indirect for i, _ in found.inequalities)
        if not is_direct or not self._define(goal, factors):
            return self._summed(factors, goal)
        for k, factor in found.equations:
            number = self.part.equation_rows[k][factor < 0]
            factors[number] = abs(factor) if denominator == 1 else abs(factor) / denominator
        return tuple(sorted(factors.items()))

    def _define(self, goal: Form, factors: dict[int, Fraction]) -> bool:
        """Add the rows that define the new values in a goal; False if they mention discrete
        variables."""
        size = len(self.view.rows)
        definitions = self.view.shared.direct(self.view.further.relation)
        found: list[tuple[int, Fraction]] = []
        denominator, coefficients, _ = goal.integral
        for name, a in coefficients.items():
            known = definitions.get(name)
            if known is None:
                return False
            factor = _whole(abs(a)) if denominator == 1 else Fraction(abs(a), denominator)
            number = size + (known.upper if a > 0 else known.lower)
            found.append((number, factor if known.factor is ONE else factor * known.factor))
        factors.update(found)
        return True

    def _summed(self, factors: dict[int, Fraction], goal: Form) -> Multipliers | None:
        """The factors with those of all pairs of opposite rows that are needed."""
        rest = Rest(self.view.rows, goal)
        for number, factor in factors.items():
            rest.subtract(number, factor.numerator if factor.denominator == 1 else factor)
        return self.view.completed(rest, self.part)


@lru_cache(maxsize=1000)
def _whole(number: int) -> Fraction:
    """Kept, because making fractions takes longer than all else here."""
    return Fraction(number)


class Rest:
    """A goal minus a growing combination of rows."""

    def __init__(self, rows: Rows, goal: Form):
        self.rows = rows
        coefficients, self.constant = _numbers(goal)
        self.coefficients = dict(coefficients)
        self.factors: dict[int, Number] = {}

    def subtract(self, number: int, factor: Number) -> None:
        """Take away a row, times a positive factor."""
        self.factors[number] = self.factors.get(number, 0) + factor
        coefficients, constant = _numbers(self.rows[number].form)
        self.constant -= factor * constant
        mine = self.coefficients
        for name, a in coefficients.items():
            left = mine.get(name, 0) - factor * a
            if left:
                mine[name] = left
            else:
                del mine[name]

    def cancel(self, name: str, upper: int, lower: int) -> None:
        """Remove a name by one of two opposite rows: in `upper` its factor is positive."""
        a = self.coefficients.get(name)
        if a is not None:
            number = upper if a > 0 else lower
            b = _numbers(self.rows[number].form)[0][name]
            factor: Number = a * b if b in (1, -1) else Fraction(a) / b
            self.subtract(number, factor)

    def multipliers(self) -> Multipliers:
        """The rows that were taken away, with their factors."""
        return tuple([(i, Fraction(a)) for i, a in sorted(self.factors.items())])


def _numbers(form: Form) -> tuple[Mapping[str, Number], Number]:
    denominator, coefficients, constant = form.integral
    return (coefficients, constant) if denominator == 1 else (form.coefficients, form.constant)

"""Multipliers for goals about the states of one explored node, worked out from its rows.

What regions may say are *statements*, numbered once for all nodes. The rows of an obligation
are statements of a node, then others (a guard, resets, a bad set). A goal follows from the
constraints of one pack and some of the others (`reach.sets.conic`); what is then left of it is made
up from definitions of new values, equations and discrete values, each of which is a pair of
opposite rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeAlias

from workbench.models.linear import Form, Row, Rows
from workbench.reach.rectangular.moves import Number, Values
from workbench.reach.rectangular.rows import ONE, Definition, Resolved
from workbench.reach.rectangular.split import Split
from workbench.reach.rectangular.statements import Part, Statements
from workbench.reach.sets.conic import Derivation, Premises
from workbench.reach.sets.double_description import Vector

Terms: TypeAlias = tuple[tuple[int, Fraction], ...]
"""Rows with positive factors; a row is the number of a statement, or ~k for the k-th other."""


@dataclass(frozen=True, eq=False)
class Others:
    """The rows of an obligation beside those of a node, which `further` sorts out."""

    rows: Rows
    further: Resolved
    statements: Statements
    _failing: dict[tuple[int, Values], Terms | None] = field(default_factory=dict, repr=False)

    @cached_property
    def resolved(self) -> Mapping[int, Row]:
        """The rows that are left when definitions are substituted, by number."""
        return dict(self.further.rows)

    @cached_property
    def direct(self) -> Mapping[str, Definition]:
        """The definitions of new values without discrete variables."""
        explicit = self.statements.explicit
        return {
            name: known
            for name, known in self.further.relation.definitions.items()
            if explicit.keys().isdisjoint(known.form.coefficients)
        }

    def form(self, row: int) -> Form:
        """What a row says is at most 0."""
        return self.statements.form(row) if row >= 0 else self.rows[~row].form

    def defining(self, name: str) -> tuple[int, int]:
        """The rows name <= form and name >= form of a definition."""
        known = self.further.relation.definitions[name]
        size = len(self.rows)
        return ~(size + known.upper), ~(size + known.lower)

    def refuted(self, row: Split, values: Values) -> Terms | None:
        """Why one of these rows fails at discrete values."""
        key = row.number, tuple([values[i] for i, _ in row.explicit])
        if key not in self._failing:
            rest = Rest(self, Form({}, Fraction(-row.at(values)) / row.denominator), values)
            rest.subtract(~row.number, 1)
            self._failing[key] = rest.completed(None)
        return self._failing[key]

    def new_value(self, name: str, is_upper: bool, values: Values) -> Terms:
        """That the new value of a discrete variable is at most (or at least) what its
        definition makes of the values before."""
        known = self.further.relation.definitions[name]
        terms: list[tuple[int, Fraction]] = []
        for n, a in known.form.coefficients.items():
            upper, lower = self.statements.of_value(n, values[self.statements.explicit[n]])
            terms.append((upper if (a > 0) == is_upper else lower, abs(a)))
        terms.append((self.defining(name)[not is_upper], known.factor))
        return tuple(terms)


@dataclass(frozen=True, eq=False)
class PartRows:
    """What is known about one pack: its constraints and some of the other rows. `names` are
    those of its dimensions and of new values that are chosen."""

    others: Others
    part: Part
    names: tuple[str, ...]
    known: Premises
    numbers: tuple[int, ...]
    """Of the bounds, among the other rows."""

    @classmethod
    def of(
        cls,
        others: Others,
        part: Part,
        extra: tuple[str, ...],
        bounds: tuple[Vector, ...],
        numbers: tuple[int, ...],
    ) -> PartRows:
        """The constraints of the pack, then the bounds, with their numbers among the others."""
        known = others.statements.premises(part, (0,) * len(extra), bounds)
        return cls(others, part, part.names + extra, known, numbers)

    def _row(self, i: int) -> tuple[int, Fraction]:
        """The row, times what, that an inequality of the premises stands for."""
        first = len(self.part.inequality_numbers)
        if i < first:
            return self.part.inequality_numbers[i], ONE
        number, vector = self.numbers[i - first], self.known.inequalities[i]
        at = next(k for k, a in enumerate(vector[1:]) if a)
        form = self.others.resolved[number].form
        return ~number, -vector[at + 1] / form.coefficients[self.names[at]]

    def _is_direct(self, i: int) -> bool:
        """Whether the row of an inequality mentions no new value and no discrete variable."""
        first = len(self.part.inequality_numbers)
        if i < first:
            return True
        number = self.numbers[i - first]
        form = self.others.resolved[number].form
        explicit = self.others.statements.explicit
        return form is self.others.rows[number].form and explicit.keys().isdisjoint(
            form.coefficients
        )

    def derived(
        self, vector: Vector, goal: Form, values: Values, denominator: int = 1
    ) -> Terms | None:
        """Why a goal holds that is `vector` >= 0, divided by the denominator, in terms of the
        values before; None if nothing was found."""
        found = self.known.derivation(vector)
        if found is None:
            return None
        factors = self._factors(found, denominator)
        is_direct = all(self._is_direct(i) for i, _ in found.inequalities)
        if not is_direct or not self._define(goal, factors):
            return self._summed(factors, goal, values)
        for k, factor in found.equations:
            row = self.part.equation_numbers[k][factor < 0]
            factors[row] = abs(factor) if denominator == 1 else abs(factor) / denominator
        return tuple(factors.items())

    def contradiction(self, strict: tuple[int, ...], values: Values) -> Terms | None:
        """Why nothing satisfies all rows: they add up to less than nothing, or to the opposite
        of a bound that excludes equality (`strict`: numbers of bounds)."""
        falsum = (-1, *([0] * len(self.names)))
        found = self.derived(falsum, Form({}, ONE), values)
        first = len(self.part.inequality_numbers)
        for i in (first + k for k in strict):
            if found is not None:
                break
            opposite = tuple([-a for a in self.known.inequalities[i]])
            derivation = self.known.derivation(opposite)
            if derivation is not None:
                factors = self._factors(derivation, 1)
                row, scale = self._row(i)
                factors[row] = factors.get(row, 0) + scale
                found = self._summed(factors, Form({}), values)
        return found

    def _factors(self, found: Derivation, denominator: int) -> dict[int, Fraction]:
        """The rows of the inequalities in a derivation of something that is divided then."""
        factors: dict[int, Fraction] = {}
        for i, factor in found.inequalities:
            row, scale = self._row(i)
            if scale is not ONE or denominator != 1:
                factor = factor * scale / denominator
            factors[row] = factors[row] + factor if row in factors else factor
        return factors

    def _define(self, goal: Form, factors: dict[int, Fraction]) -> bool:
        """Add the rows that define the new values in a goal; False if they mention discrete
        variables."""
        definitions = self.others.direct
        found: list[tuple[int, Fraction]] = []
        denominator, coefficients, _ = goal.integral
        for name, a in coefficients.items():
            known = definitions.get(name)
            if known is None:
                return False
            factor = _whole(abs(a)) if denominator == 1 else Fraction(abs(a), denominator)
            row = self.others.defining(name)[a < 0]
            found.append((row, factor if known.factor is ONE else factor * known.factor))
        factors.update(found)
        return True

    def _summed(self, factors: dict[int, Fraction], goal: Form, values: Values) -> Terms | None:
        """The factors with those of all pairs of opposite rows that are needed."""
        rest = Rest(self.others, goal, values)
        for row, factor in factors.items():
            rest.subtract(row, factor.numerator if factor.denominator == 1 else factor)
        return rest.completed(self.part)


@lru_cache(maxsize=1000)
def _whole(number: int) -> Fraction:
    """Kept, because making fractions takes longer than all else here."""
    return Fraction(number)


class Rest:
    """A goal minus a growing combination of rows."""

    def __init__(self, others: Others, goal: Form, values: Values):
        self.others = others
        self.values = values
        coefficients, self.constant = _numbers(goal)
        self.coefficients = dict(coefficients)
        self.factors: dict[int, Number] = {}

    def subtract(self, row: int, factor: Number) -> None:
        """Take away a row, times a positive factor."""
        self.factors[row] = self.factors.get(row, 0) + factor
        coefficients, constant = _numbers(self.others.form(row))
        self.constant -= factor * constant
        mine = self.coefficients
        for name, a in coefficients.items():
            left = mine.get(name, 0) - factor * a
            if left:
                mine[name] = left
            else:
                del mine[name]

    def completed(self, part: Part | None) -> Terms | None:
        """The factors with those of definitions, equations and discrete values that make up
        what is left of the goal; None if they do not."""
        others, mine = self.others, self.coefficients
        for name in list(mine):
            if name in others.further.relation.definitions:
                self._cancel(name, *others.defining(name))
        if part is not None and mine:
            for (pivot, row), (first, second) in zip(
                part.equations, part.equation_numbers, strict=True
            ):
                pair = (first, second) if row[pivot] < 0 else (second, first)
                self._cancel(part.names[pivot - 1], *pair)
        for name in list(mine):
            number = others.statements.explicit.get(name)
            if number is not None:
                self._cancel(name, *others.statements.of_value(name, self.values[number]))
        if mine or self.constant > 0:
            return None
        return tuple([(row, Fraction(a)) for row, a in self.factors.items() if a])

    def _cancel(self, name: str, upper: int, lower: int) -> None:
        """Remove a name by one of two opposite rows: in `upper` its factor is positive."""
        a = self.coefficients.get(name)
        if a is not None:
            row = upper if a > 0 else lower
            b = _numbers(self.others.form(row))[0][name]
            self.subtract(row, a * b if b in (1, -1) else Fraction(a) / b)


def _numbers(form: Form) -> tuple[Mapping[str, Number], Number]:
    denominator, coefficients, constant = form.integral
    return (coefficients, constant) if denominator == 1 else (form.coefficients, form.constant)

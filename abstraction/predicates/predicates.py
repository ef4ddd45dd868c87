"""Predicates: affine forms whose signs tell abstract states apart.

They come from the author (`predicate { ... }` in the model, `--predicate` on the command line),
from the model itself (guards, invariants, initial and bad sets), and from refinement. A form
and its multiples are one predicate: forms are scaled to a largest coefficient of 1, the first
coefficient positive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from workbench.models.automaton import primed
from workbench.models.expressions.expression import Expression
from workbench.models.linear import Form, Row, of_variable
from workbench.models.lowering.alternatives import alternatives
from workbench.models.lowering.problem import LinearProblem


class Origin(StrEnum):
    """Where a predicate comes from."""

    GIVEN = "given"
    MINED = "mined"
    REFINED = "refined"


@dataclass(frozen=True)
class Predicate:
    """h <= 0 on one side and h >= 0 on the other; `location` limits it to one, if set."""

    form: Form
    origin: Origin
    location: str | None = None

    def __str__(self) -> str:
        return in_words(self.form, 1)


class NotAPredicateError(Exception):
    """An expression that is no linear condition over the model's variables."""


def normalised(form: Form) -> Form | None:
    """The form scaled to a largest coefficient of 1, the first positive; None for numbers."""
    if not form.coefficients:
        return None
    first = min(form.coefficients)
    size = max(abs(a) for a in form.coefficients.values())
    sign = 1 if form.coefficients[first] > 0 else -1
    return form.scaled(sign / size)


def in_words(form: Form, sign: int) -> str:
    """The side of a predicate as a comparison."""
    terms: list[str] = []
    for name, a in sorted(form.coefficients.items()):
        factor = "" if abs(a) == 1 else f"{_shown(abs(a))}*"
        glue = ("- " if a < 0 else "+ ") if terms else ("-" if a < 0 else "")
        terms.append(f"{glue}{factor}{name}")
    return f"{' '.join(terms)} {'<=' if sign > 0 else '>='} {_shown(-form.constant)}"


def _shown(value: Fraction) -> str:
    return str(value) if value.denominator <= 100 else f"{float(value):.6g}"


def given_predicates(
    problem: LinearProblem, conditions: Iterable[Expression]
) -> Iterator[Predicate]:
    """The atoms of the author's conditions; raises `NotAPredicateError` for what is not
    linear over variables and parameters."""
    for condition in conditions:
        forms = [
            form
            for rows in alternatives(condition)
            for row in rows
            if (form := normalised(row.form)) is not None
        ]
        if not forms or any(form.coefficients.keys() - problem.names for form in forms):
            raise NotAPredicateError(str(condition))
        for form in forms:
            yield Predicate(form, Origin.GIVEN)


def mined_predicates(problem: LinearProblem, locations: Iterable[str]) -> Iterator[Predicate]:
    """For each location the rows of its bad sets, its invariant and the guards that leave it,
    as far as they are over the variables alone."""
    places = list(locations)
    for location in places:
        for rows in problem.bad(location):
            yield from _rows(problem, rows, location)
        for rows in problem.invariant(location):
            yield from _rows(problem, rows, location)
        for jump in problem.jumps(location):
            for rows in jump.cases:
                yield from _rows(problem, rows, location)


def initial_predicates(problem: LinearProblem) -> Iterator[Predicate]:
    """The rows of the initial states, as far as they are over the variables alone: what entry
    transitions set, and what they leave as it was."""
    plain = {primed(name): name for name in problem.names}
    for location, cases in problem.starts():
        for rows in cases:
            forms = [row.form for row in rows]
            kept = {n for n in problem.names if of_variable(primed(n)) - of_variable(n) in forms}
            before = [row for row in rows if row.form.coefficients.keys() <= kept]
            after = [row for row in rows if row.form.coefficients.keys() <= plain.keys()]
            yield from _rows(problem, [*before, *(r.renamed(plain) for r in after)], location)


def _rows(problem: LinearProblem, rows: Iterable[Row], location: str) -> Iterator[Predicate]:
    variables = {v.name for v in problem.automaton.variables}
    for row in rows:
        names = row.form.coefficients.keys()
        if names <= problem.names and names & variables:
            form = normalised(row.form)
            if form is not None:
                yield Predicate(form, Origin.MINED, location)


def distinct(predicates: Iterable[Predicate]) -> tuple[Predicate, ...]:
    """Each hyperplane once, the first mention kept."""
    kept: dict[tuple[str | None, str], Predicate] = {}
    for predicate in predicates:
        kept.setdefault((predicate.location, str(predicate.form)), predicate)
    everywhere = {form for place, form in kept if place is None}
    return tuple(p for (place, form), p in kept.items() if place is None or form not in everywhere)

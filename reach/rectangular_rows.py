"""What the rows of a jump say about the values after it, and which variables matter at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from models.automaton import BOOL, Constraint, Kind
from models.expression import COMPARISONS, free_variables, postorder
from models.proof.linear import Form, Row, Rows, affine, combination
from models.proof.problem import LinearProblem


@dataclass(frozen=True, slots=True)
class Definition:
    """x' = form, and the numbers of the rows x' - form <= 0 and form - x' <= 0 (each possibly
    scaled)."""

    form: Form
    upper: int
    lower: int


@dataclass(frozen=True, slots=True)
class Resolved:
    """The rows of a jump sorted out: `definitions` of primed names by plain ones, and the
    other rows with these substituted, with their numbers (trivial ones are left out)."""

    definitions: Mapping[str, Definition]
    rows: tuple[tuple[int, Row], ...]


KnownPairs: TypeAlias = dict[tuple[int, int], tuple[Row, Row, tuple[str, Form] | None]]
"""What pairs of row objects define, by their identities (the rows are kept, so that these
stay theirs): the linear view uses the same objects for many jumps."""


def resolved(rows: Rows, known: KnownPairs) -> Resolved:
    """Which values after a jump follow from those before it."""
    definitions: dict[str, Definition] = {}
    others: list[int] = []
    i = 0
    while i < len(rows):
        found = _known_definition(rows[i], rows[i + 1], known) if i + 1 < len(rows) else None
        if found is not None and found[0] not in definitions:
            name, form = found
            upper = i if rows[i].form.coefficients[name] > 0 else i + 1
            definitions[name] = Definition(form, upper, 2 * i + 1 - upper)
            i += 2
        else:
            others.append(i)
            i += 1
    forms = {name: definition.form for name, definition in definitions.items()}
    left: list[tuple[int, Row]] = []
    for i in others:
        row = rows[i]
        form = substituted(row.form, forms)
        if form.coefficients or form.constant > 0 or (row.strict and form.constant == 0):
            left.append((i, row if form is row.form else Row(form, row.strict)))
    return Resolved(definitions, tuple(left))


def _known_definition(first: Row, second: Row, known: KnownPairs) -> tuple[str, Form] | None:
    key = (id(first), id(second))
    entry = known.get(key)
    if entry is None:
        entry = known[key] = (first, second, _definition(first, second))
    return entry[2]


def _definition(first: Row, second: Row) -> tuple[str, Form] | None:
    """x' and form, if the two rows together say x' = form over plain names."""
    ours, theirs = first.form.coefficients, second.form.coefficients
    if len(ours) != len(theirs) or first.strict or second.strict:
        return None
    after = [n for n in ours if n.endswith("'")]
    if len(after) != 1 or first.form.constant != -second.form.constant:
        return None
    if any(theirs.get(n) != -a for n, a in ours.items()):
        return None
    name = after[0]
    rest = Form({n: b for n, b in ours.items() if n != name}, first.form.constant)
    return name, rest.scaled(-1 / ours[name])


def substituted(form: Form, definitions: Mapping[str, Form]) -> Form:
    """The form with names replaced by forms."""
    if definitions.keys().isdisjoint(form.coefficients):
        return form
    kept = Form({n: a for n, a in form.coefficients.items() if n not in definitions}, form.constant)
    replaced = [(a, definitions[n]) for n, a in form.coefficients.items() if n in definitions]
    return combination([(Fraction(1), kept), *replaced])


def explicit_names(problem: LinearProblem) -> frozenset[str]:
    """The discrete variables whose new values after every jump are known from each other.

    Truth values and symbols always are (each possible value is a case of its own); numbers
    are where every reset gives one value in terms of such variables.
    """
    discrete = [v for v in problem.automaton.variables if v.kind is Kind.DISCRETE]
    finite = {v.name for v in discrete if v.type == BOOL or v.type.values}
    candidates = {v.name for v in discrete}
    resets = list(_resets(problem))
    while True:
        lost = {
            r.variable
            for r in resets
            if r.variable in candidates - finite
            and (r.range.exact is None or not _plain_names(r) <= candidates)
        }
        if not lost:
            return frozenset(candidates)
        candidates -= lost


def relevant_names(problem: LinearProblem) -> frozenset[str]:
    """The variables and parameters on which edges, invariants or the property depend."""
    automaton = problem.automaton
    found = set(free_variables(problem.claim.condition, automaton.assumption))
    for part in automaton.components:
        for location in part.locations:
            found |= free_variables(location.invariant)
        for edge in part.edges:
            found |= free_variables(edge.guard)
    for event in getattr(automaton, "interactions", ()):
        found |= free_variables(event.guard)
    resets = list(_resets(problem))
    while True:
        before = len(found)
        for reset in resets:
            if reset.variable in found:
                found |= _plain_names(reset)
        if len(found) == before:
            return frozenset(found)


def linked_names(problem: LinearProblem, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Groups of names that belong together: those that one component's edges and invariants
    mention, and those in one comparison of the property. Every name is in some group, and no
    group is part of another."""
    automaton = problem.automaton
    groups: set[frozenset[str]] = {frozenset((n,)) for n in names}
    for part in automaton.components:
        mentioned = {v.name for v in part.variables}
        for location in part.locations:
            mentioned |= free_variables(location.invariant)
        for edge in part.edges:
            mentioned |= free_variables(edge.guard)
            mentioned |= {n for reset in edge.resets for n in _plain_names(reset)}
        groups.add(frozenset(mentioned & set(names)))
    for node in postorder(problem.claim.condition):
        if node.op in COMPARISONS:
            groups.add(frozenset(free_variables(node) & set(names)))
    maximal = [g for g in groups if g and not any(g < other for other in groups)]
    order = {n: i for i, n in enumerate(names)}
    return tuple(sorted(tuple(sorted(g, key=order.__getitem__)) for g in maximal))


def largest_constants(problem: LinearProblem) -> dict[str, Fraction]:
    """For names that conditions compare with numbers only: the largest such number."""
    automaton = problem.automaton
    conditions = [problem.claim.condition, automaton.assumption]
    for part in automaton.components:
        conditions += [location.invariant for location in part.locations]
        conditions += [edge.guard for edge in part.edges]
    conditions += [event.guard for event in getattr(automaton, "interactions", ())]
    found: dict[str, Fraction] = {}
    mixed = {n for reset in _resets(problem) for n in _plain_names(reset)}
    for node in postorder(*conditions):
        if node.op in COMPARISONS:
            sides = affine(node.args[0]), affine(node.args[1])
            names = free_variables(node)
            if sides[0] is None or sides[1] is None or len(names) != 1:
                mixed |= names
                continue
            difference = sides[0] - sides[1]
            for name, a in difference.coefficients.items():
                found[name] = max(found.get(name, Fraction(0)), abs(difference.constant / a))
    return {name: value for name, value in found.items() if name not in mixed}


def _resets(problem: LinearProblem) -> Iterable[Constraint]:
    automaton = problem.automaton
    for part in automaton.components:
        for edge in part.edges:
            yield from edge.resets
        for start in part.initial:
            yield from start.resets
    for event in getattr(automaton, "interactions", ()):
        yield from event.resets


def _plain_names(reset: Constraint) -> set[str]:
    bounds = [b for b in (reset.range.low, reset.range.high) if b is not None]
    return {name.rstrip("'") for name in free_variables(*bounds)}

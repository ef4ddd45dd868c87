"""What the rows of a jump say about the values after it, and which variables matter at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

from workbench.models.automaton import BOOL, Constraint, Kind
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import COMPARISONS
from workbench.models.expressions.traversal import free_variables, postorder
from workbench.models.linear import Form, Row, Rows, affine, combination
from workbench.models.lowering.problem import LinearProblem

ONE = Fraction(1)
"""The commonest factor; one object, so that it is quickly recognised."""


@dataclass(frozen=True, slots=True)
class Definition:
    """x' = form, by the rows x' - form <= 0 and form - x' <= 0, each divided by `factor`;
    `upper` and `lower` are their numbers, counted back from the end of a jump's rows."""

    form: Form
    upper: int
    lower: int
    factor: Fraction


@dataclass(frozen=True, eq=False)
class Relation:
    """One case of how resets determine the values after a jump: `definitions` of primed names
    by plain ones, and the other rows with their numbers, counted back from the end."""

    size: int
    definitions: Mapping[str, Definition]
    others: tuple[tuple[int, Row], ...]

    @cached_property
    def forms(self) -> dict[str, Form]:
        """What primed names are equal to."""
        return {name: definition.form for name, definition in self.definitions.items()}


@dataclass(frozen=True, slots=True)
class Resolved:
    """The rows of a jump sorted out: its `relation`, and the other rows, with definitions
    substituted, with their numbers (trivial ones are left out)."""

    relation: Relation
    rows: tuple[tuple[int, Row], ...]


NOTHING_DEFINED = Relation(0, {}, ())


def relation(rows: Rows) -> Relation:
    """Which values after a jump follow from those before it, by the rows of its resets."""
    definitions: dict[str, Definition] = {}
    others: list[tuple[int, Row]] = []
    i, size = 0, len(rows)
    while i < size:
        found = _definition(rows[i], rows[i + 1]) if i + 1 < size else None
        if found is not None and found[0] not in definitions:
            name, form = found
            a = rows[i].form.coefficients[name]
            first, second = i - size, i + 1 - size
            upper, lower = (first, second) if a > 0 else (second, first)
            factor = ONE if a in (1, -1) else 1 / abs(a)
            definitions[name] = Definition(form, upper, lower, factor)
            i += 2
        else:
            others.append((i - size, rows[i]))
            i += 1
    return Relation(size, definitions, tuple(others))


def resolved(rows: Rows, known: Relation) -> Resolved:
    """The rows of a jump that end with those of its relation."""
    size = len(rows)
    left: list[tuple[int, Row]] = []
    for i, row in (
        *enumerate(rows[: size - known.size]),
        *((size + i, row) for i, row in known.others),
    ):
        form = substituted(row.form, known.forms)
        if form.coefficients or form.constant > 0 or (row.strict and form.constant == 0):
            left.append((i, row if form is row.form else Row(form, row.strict)))
    return Resolved(known, tuple(left))


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
    if len(form.coefficients) == 1:  # most rows of clocks and timers
        ((name, a),) = form.coefficients.items()
        return _shifted(definitions[name].scaled(a), form.constant)
    kept = Form({n: a for n, a in form.coefficients.items() if n not in definitions}, form.constant)
    replaced = [(a, definitions[n]) for n, a in form.coefficients.items() if n in definitions]
    return combination([(Fraction(1), kept), *replaced])


def _shifted(form: Form, constant: Fraction) -> Form:
    return Form(form.coefficients, form.constant + constant) if constant else form


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


SMALL_PACK = 4
"""A component that mentions more names than this is taken apart by its comparisons."""


MAX_PACKS = 100

Packs: TypeAlias = tuple[tuple[str, ...], ...]


def linked_names(problem: LinearProblem, names: tuple[str, ...]) -> Packs:
    """Groups of names that belong together: those in one comparison of the property, and
    those that one component's edges and invariants mention, or, where these are many, those
    in one of its comparisons. Every name is in some group, and no group is part of another."""
    groups: set[frozenset[str]] = {frozenset((n,)) for n in names}
    groups |= _compared(problem.claim.condition)
    for part in problem.automaton.components:
        conditions = [location.invariant for location in part.locations]
        conditions += [edge.guard for edge in part.edges]
        resets = [reset for edge in part.edges for reset in edge.resets]
        mentioned = {v.name for v in part.variables} | free_variables(*conditions)
        mentioned |= {n for reset in resets for n in _plain_names(reset)}
        if len(mentioned & set(names)) <= SMALL_PACK:
            groups.add(frozenset(mentioned))
        else:
            groups |= _taken_apart(conditions, resets, set(names))
    return _packs({group & frozenset(names) for group in groups}, names)


def paired(packs: Packs, names: tuple[str, ...]) -> Packs:
    """The unions of two packs, where they are small: the second may bound how long the first
    moves. No union where that gives too many."""
    unions = {frozenset(a) | frozenset(b) for a, b in combinations(packs, 2)}
    small = {union for union in unions if len(union) <= SMALL_PACK}
    return packs if len(small) > MAX_PACKS else _packs(small | set(map(frozenset, packs)), names)


def _packs(groups: set[frozenset[str]], names: tuple[str, ...]) -> Packs:
    """The largest groups, in the order of the names."""
    maximal = [g for g in groups if g and not any(g < other for other in groups)]
    order = {n: i for i, n in enumerate(names)}
    return tuple(sorted(tuple(sorted(g, key=order.__getitem__)) for g in maximal))


def _compared(*conditions: Expression) -> set[frozenset[str]]:
    """The names of each comparison."""
    nodes = (node for node in postorder(*conditions) if node.op in COMPARISONS)
    return {frozenset(free_variables(node)) for node in nodes}


def _taken_apart(
    conditions: list[Expression], resets: list[Constraint], names: set[str]
) -> set[frozenset[str]]:
    """The names of each comparison and each reset, with those that are compared with numbers
    only (clocks) joined to all others if there are few."""
    groups = {group & names for group in _compared(*conditions)}
    groups |= {frozenset({reset.variable} | _plain_names(reset)) & names for reset in resets}
    related = {n for group in groups if len(group) > 1 for n in group}
    clocks = {n for group in groups for n in group} - related
    if len(clocks) > SMALL_PACK // 2:
        return groups
    return {group | clocks for group in groups if len(group) > 1} | {frozenset(clocks)}


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

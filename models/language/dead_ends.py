"""Modes that every run ends in: the invariant runs out, and no transition leads on.

Provable without search: a comparison of the invariant whose sides come closer by some speed in
every state of the mode, so time has to end, while the guard of each transition contradicts the
invariants around it. Anything that might help a run on - other agents that change what is
compared, interactions, choices - keeps the check silent.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from workbench.models.agents.resets import ReadsChoiceError, after
from workbench.models.automaton import TIME, Automaton, Edge, HybridAutomaton, Kind, Location
from workbench.models.expressions.affine import AffineForm, affine_form
from workbench.models.expressions.expression import (
    ONE,
    Expression,
    add,
    compare,
    conjunction,
    constant,
    multiply,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import conjuncts
from workbench.models.language.findings import DiagnosticLog
from workbench.models.language.questions import Facts, Questions
from workbench.models.smt.solver import Unsatisfiable

SLOWEST = Fraction(1, 1000)
"""A boundary that is approached at this speed or faster is reached."""


def check_dead_ends(
    automaton: Automaton, questions: Questions, facts: Facts, findings: DiagnosticLog
) -> None:
    """Report modes from which no run ever goes on. Algebraic variables are left alone."""
    if getattr(automaton, "interactions", ()):
        return
    still = {v.name for v in automaton.variables if v.kind is Kind.DISCRETE}
    still |= {p.name for p in automaton.parameters}
    for component in automaton.components:
        others = {
            reset.variable
            for part in automaton.components
            if part is not component
            for edge in part.edges
            for reset in edge.resets
        }
        for place in _reached(component):
            if place.algebraic or place.flows == ():
                continue
            end = next(_ends(place, still - others, others, questions, facts), None)
            if end is None or not all(
                _is_impossible(edge, component, questions, facts)
                for edge in component.edges_from(place.name)
            ):
                continue
            findings.warn(
                "dead-end",
                f"every run that comes to `{place.name}` ends there: time cannot go on for ever"
                f" while `{end}`, and no transition leads out",
                end.span or place.span,
                "add a transition for when the invariant ends, or correct the guard of one",
            )


def _reached(component: HybridAutomaton) -> Iterator[Location]:
    """The locations to which edges lead from where runs start."""
    frontier = [start.location for start in component.initial]
    found: dict[str, None] = {}
    while frontier:
        name = frontier.pop()
        if name not in found:
            found[name] = None
            frontier += [edge.target for edge in component.edges_from(name)]
    return map(component.location, found)


def _ends(
    place: Location,
    still: set[str],
    changed_by_others: set[str],
    questions: Questions,
    facts: Facts,
) -> Iterator[Expression]:
    """Parts of the invariant that cannot hold for ever while time passes."""
    for part in conjuncts(place.invariant):
        distance = _distance(part)
        if distance is None or not changed_by_others.isdisjoint(distance.coefficients):
            continue
        speed = _least_speed(place, distance, still)
        if speed is None:
            continue
        slower = compare(Op.LESS, speed, constant(SLOWEST))
        slow = facts.with_relevant(conjunction(place.invariant, slower))
        if isinstance(questions.ask(slow), Unsatisfiable):
            yield part


def _distance(comparison: Expression) -> AffineForm | None:
    """What must stay at most 0, as a form."""
    if comparison.op not in (Op.LESS, Op.LESS_EQUAL, Op.GREATER, Op.GREATER_EQUAL):
        return None
    left, right = comparison.args
    is_upper = comparison.op in (Op.LESS, Op.LESS_EQUAL)
    return affine_form(left - right if is_upper else right - left)


def _least_speed(place: Location, distance: AffineForm, still: set[str]) -> Expression | None:
    """A bound below the derivative of a form; None where a part of it may change anyhow. What is
    `still` changes only by transitions."""
    known = {flow.variable: flow.range for flow in place.flows}
    terms: list[Expression] = []
    for name, factor in distance.coefficients.items():
        if name == TIME:
            terms.append(constant(factor) * ONE)
        elif name in known:
            end = known[name].low if factor > 0 else known[name].high
            if end is None:
                return None
            terms.append(multiply(constant(factor), end))
        elif name not in still:
            return None
    return add(*terms) if terms else None


def _is_impossible(
    edge: Edge, component: HybridAutomaton, questions: Questions, facts: Facts
) -> bool:
    """Whether no state of the mode allows the edge."""
    source, target = component.location(edge.source), component.location(edge.target)
    if target.algebraic:
        return False
    guard = edge.guard
    if edge.urgent and not _is_closed(guard):
        return False
    try:
        entered = after(target.invariant, edge.resets)
    except ReadsChoiceError:
        return False
    whole = facts.with_relevant(conjunction(guard, source.invariant, entered))
    return isinstance(questions.ask(whole), Unsatisfiable)


def _is_closed(guard: Expression) -> bool:
    """Whether the guard holds in the limit of states in which it holds."""
    return all(p.op in (Op.LESS_EQUAL, Op.GREATER_EQUAL, Op.EQUAL) for p in conjuncts(guard))

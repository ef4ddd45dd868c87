"""Repeating a run in exact arithmetic, by the meaning of the model and nothing else.

A run is a list of stays with constant rates (`reach.rectangular.witness.Run`). Here every
guard, invariant, reset, rate and initial condition is evaluated as the model states it, in
rationals; no polyhedron and no linear view takes part. An invariant is checked all along a
stay, and so is that no urgent edge is enabled before its end: on a straight line each linear
comparison changes its truth at most where its difference is zero, so the ends, these moments
and the times between them decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise

from workbench.models.automaton import (
    INT,
    TIME,
    Automaton,
    Constraint,
    Kind,
    Property,
    Range,
    primed,
)
from workbench.models.expressions.evaluation import EvaluationError, Scalar, evaluate
from workbench.models.expressions.expression import Expression, conjunction, constant
from workbench.models.expressions.operators import COMPARISONS
from workbench.models.expressions.ranges import bounds
from workbench.models.expressions.traversal import free_variables, postorder
from workbench.models.linear import affine
from workbench.reach.rectangular.witness import Run, Stay, decoded

MAX_CHOICES = 1000
"""Steps of the search for what the resets of one jump chose."""


class _NotLinearError(Exception):
    """A condition that cannot be followed along a straight line."""


def objection(
    automaton: Automaton, claim: Property, run: Run, horizon: Fraction | None = None
) -> str | None:
    """Why the run is no run of the automaton that violates the claim within the horizon;
    None if it is one."""
    if automaton.inputs:
        return "the model has inputs"
    if horizon is not None and run.duration > horizon:
        return f"the violation comes after the horizon {horizon}"
    try:
        return _start(automaton, run) or _stays(automaton, run) or _end(automaton, claim, run)
    except EvaluationError as error:
        return str(error)
    except _NotLinearError as error:
        return f"{error} is not linear"


def _start(automaton: Automaton, run: Run) -> str | None:
    """The first state is an initial one."""
    first = run.stays[0]
    state = decoded(automaton, first.state)
    if state.get(TIME, 0) != 0:
        return "the run does not start at time 0"
    if is_initial(automaton, first.location, state):
        return None
    return "the first state is not an initial one"


def is_initial(automaton: Automaton, location: str, state: Mapping[str, Scalar]) -> bool:
    """Whether runs may start with these values of variables and parameters."""
    for p in automaton.parameters:
        value = state[p.name]
        assert isinstance(value, Fraction), "parameters are numbers"
        if (p.low is not None and value < p.low) or (p.high is not None and value > p.high):
            return False
    for start in automaton.initial_sets():
        if start.location != location:
            continue
        changed = {reset.variable for reset in start.resets}
        given = {n: v for n, v in state.items() if n not in changed}
        try:
            if evaluate(start.condition, given) is True and _reset(start.resets, given, state):
                return True
        except EvaluationError:
            continue
    return False


def _stays(automaton: Automaton, run: Run) -> str | None:
    for number, stay in enumerate(run.stays):
        why = _stay(automaton, stay)
        if why is None and number + 1 < len(run.stays):
            why = _jump(automaton, stay, run.stays[number + 1])
        if why is not None:
            return f"stay {number + 1}, in {stay.location}: {why}"
    return None


def _stay(automaton: Automaton, stay: Stay) -> str | None:
    """Rates within the flow's ranges, and the invariant all the way."""
    place = automaton.location(stay.location)
    if stay.duration < 0:
        return "a negative duration"
    for v in automaton.variables:
        if v.type == INT and stay.state.get(v.name, Fraction(0)).denominator != 1:
            return f"{v.name} is not a whole number"
    moments = list(_moments(automaton, stay))
    if stay.duration:
        for v in automaton.variables:
            rate = stay.rates.get(v.name, Fraction(0))
            allowed = _allowed(automaton, stay, v.name)
            if v.kind is Kind.DISCRETE:
                if rate:
                    return f"{v.name} does not flow"
                continue
            for moment in (moments[0], moments[-1]):
                if not _within(rate, allowed, decoded(automaton, stay.after(moment))):
                    return f"the rate of {v.name} is outside its range"
    urgent = [e for e in automaton.edges_from(stay.location) if e.urgent]
    for moment in moments:
        state = decoded(automaton, stay.after(moment))
        if evaluate(conjunction(place.invariant, automaton.assumption), state) is not True:
            return f"the invariant fails after {moment}"
        if moment < stay.duration and any(evaluate(e.guard, state) is True for e in urgent):
            return f"an urgent edge is enabled after {moment}"
    return None


def _allowed(automaton: Automaton, stay: Stay, name: str) -> Range:
    if name == TIME:
        return Range.exactly(constant(1))
    return automaton.location(stay.location).flow_of(name)


def _moments(automaton: Automaton, stay: Stay) -> Iterator[Fraction]:
    """The times at which a condition of the location may change, and one between each two."""
    conditions = [automaton.location(stay.location).invariant, automaton.assumption]
    conditions += [e.guard for e in automaton.edges_from(stay.location) if e.urgent]
    found = {Fraction(0), stay.duration}
    for condition in conditions:
        found.update(t for t in _changes(condition, stay) if 0 < t < stay.duration)
    ordered = sorted(found)
    for earlier, later in pairwise(ordered):
        yield earlier
        yield (earlier + later) / 2
    yield ordered[-1]


def _changes(condition: Expression, stay: Stay) -> Iterator[Fraction]:
    for node in postorder(condition):
        if node.op not in COMPARISONS:
            continue
        if free_variables(node).isdisjoint(stay.rates):
            continue
        left, right = affine(node.args[0]), affine(node.args[1])
        if left is None or right is None:
            raise _NotLinearError(repr(node))
        difference = left - right
        names = difference.coefficients
        value = difference.constant + sum(
            (a * stay.state.get(n, Fraction(0)) for n, a in names.items()), Fraction(0)
        )
        slope = sum((a * stay.rates.get(n, Fraction(0)) for n, a in names.items()), Fraction(0))
        if slope:
            yield -value / slope


def _jump(automaton: Automaton, stay: Stay, following: Stay) -> str | None:
    """The edge is enabled and leads to the next state."""
    edges = automaton.edges_from(stay.location)
    if not 0 <= stay.edge < len(edges):
        return "there is no such edge"
    edge = edges[stay.edge]
    before = decoded(automaton, stay.after(stay.duration))
    after = decoded(automaton, following.state)
    if edge.target != following.location:
        return "the edge leads elsewhere"
    if evaluate(edge.guard, before) is not True:
        return f"the guard of {edge.name or edge.target} fails"
    if not _reset(edge.resets, before, after):
        return f"{edge.name or edge.target} does not lead to the next state"
    return None


def _reset(
    resets: tuple[Constraint, ...], before: Mapping[str, Scalar], after: Mapping[str, Scalar]
) -> bool:
    """Whether resets and what they leave alone lead from one state to the other.

    What a reset chooses for an auxiliary name is not part of a state: a few values are tried
    (the ends of the range, and what later resets say it must be), so that a "no" may be wrong.
    """
    changed = {reset.variable for reset in resets}
    if any(after[name] != value for name, value in before.items() if name not in changed):
        return False
    pending: list[tuple[int, dict[str, Scalar]]] = [(0, dict(before))]
    for _ in range(MAX_CHOICES):
        if not pending:
            return False
        k, values = pending.pop()
        if k == len(resets):
            return True
        options = _options(resets[k], resets[k + 1 :], values, after)
        pending += [
            (k + 1, {**values, primed(resets[k].variable): new})
            for new in options
            if _within(new, resets[k].range, values)
        ]
    return False


def _options(
    reset: Constraint,
    later: tuple[Constraint, ...],
    values: Mapping[str, Scalar],
    after: Mapping[str, Scalar],
) -> Iterator[Scalar]:
    """Values that a reset may have given its name."""
    if reset.variable in after:
        yield after[reset.variable]
    elif reset.range.exact is not None:
        yield evaluate(reset.range.exact, values)
    else:
        for end in bounds(reset):
            yield evaluate(end, values)
        for reading in later:
            if reading.variable in after:
                goal = after[reading.variable]
                yield from _solutions(bounds(reading), primed(reset.variable), goal, values)


def _solutions(
    sides: tuple[Expression, ...], name: str, goal: Scalar, values: Mapping[str, Scalar]
) -> Iterator[Fraction]:
    """Values of the name for which one of the sides is the goal."""
    for side in sides:
        form = affine(side)
        if form is None or name not in form.coefficients or not isinstance(goal, Fraction):
            continue
        rest = goal - form.constant
        for other, a in form.coefficients.items():
            value = values.get(other) if other != name else Fraction(0)
            if not isinstance(value, Fraction):
                break
            rest -= a * value
        else:
            yield rest / form.coefficients[name]


def _within(value: Scalar, allowed: Range, values: Mapping[str, Scalar]) -> bool:
    if allowed.exact is not None:
        return evaluate(allowed.exact, values) == value
    if allowed.low is None and allowed.high is None:
        return True
    if isinstance(value, str):
        return False
    low = None if allowed.low is None else evaluate(allowed.low, values)
    high = None if allowed.high is None else evaluate(allowed.high, values)
    if isinstance(low, str) or isinstance(high, str):
        return False
    return (low is None or low <= value) and (high is None or value <= high)


def _end(automaton: Automaton, claim: Property, run: Run) -> str | None:
    """The last state breaks the claim."""
    last = run.stays[-1]
    bad = claim.bad_states(automaton.occupied(last.location))
    state = decoded(automaton, last.after(last.duration))
    return None if evaluate(bad, state) is True else "the last state does not break the property"

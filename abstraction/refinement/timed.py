"""Timed abstraction: a variable replaced by a clock with bounds on how long things take.

`with_clock` adds a clock that every jump sets back; it changes no behaviour. `timed` then
forgets the variable and keeps what it implied about time: in a location whose invariant lets
the variable move by at most w, at a rate of at least r away from zero, control stays at most
w/r; and an edge whose guard lies g away from where the location is entered is not taken before
g/R, for a rate of at most R.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from workbench.abstraction.refinement.enclosures import bounds_over
from workbench.abstraction.refinement.makers import without_variables
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Range,
    Variable,
    primed,
)
from workbench.models.checker.covers import Region
from workbench.models.expressions.expression import ONE, ZERO, conjunction, equal, variable
from workbench.models.expressions.traversal import free_variables
from workbench.models.linear import Form

CLOCK = "clock"
Bounds = tuple[Fraction | None, Fraction | None]


def with_clock(automaton: HybridAutomaton) -> HybridAutomaton:
    """The automaton with a clock that measures the time since the last jump."""
    assert CLOCK not in {v.name for v in automaton.variables}
    reset = Constraint(CLOCK, Range.exactly(ZERO))
    return replace(
        automaton,
        variables=(*automaton.variables, Variable(CLOCK)),
        locations=tuple(
            replace(x, flows=(*x.flows, Constraint(CLOCK, Range.exactly(ONE))))
            for x in automaton.locations
        ),
        edges=tuple(replace(e, resets=(*e.resets, reset)) for e in automaton.edges),
        initial=tuple(
            Initial(i.location, conjunction(i.condition, equal(variable(CLOCK), 0)), i.resets)
            for i in automaton.initial
        ),
        properties=(),
        predicates=(),
    )


def timed(clocked: HybridAutomaton, name: str) -> HybridAutomaton:
    """The automaton without a variable, but with what it said about durations."""
    locations = []
    for place in clocked.locations:
        longest = _longest_stay(clocked, place, name)
        bound = () if longest is None else (variable(CLOCK) <= longest,)
        locations.append(replace(place, invariant=conjunction(place.invariant, *bound)))
    edges = []
    for edge in clocked.edges:
        soonest = _soonest(clocked, edge, name)
        bound = () if soonest is None else (variable(CLOCK) >= soonest,)
        edges.append(replace(edge, guard=conjunction(edge.guard, *bound)))
    return without_variables(
        replace(clocked, locations=tuple(locations), edges=tuple(edges)), [name]
    )


def durations(clocked: HybridAutomaton, name: str) -> tuple[Region, ...]:
    """Why the bounds on durations hold: first + least*clock <= x <= last + greatest*clock for
    the values [first, last] with which a location is entered. To be proved."""
    found = []
    for place in clocked.locations:
        first, last = _entered(clocked, place, name)
        slowest, fastest = _rate(place, name)
        predicates = [Form({CLOCK: Fraction(-1)})]
        if first is not None and slowest is not None:
            predicates.append(_form({name: Fraction(-1), CLOCK: slowest}, first))
        if last is not None and fastest is not None:
            predicates.append(_form({name: Fraction(1), CLOCK: -fastest}, -last))
        found.append(Region(place.name, tuple(predicates), ((1,) * len(predicates),)))
    return tuple(found)


def _form(coefficients: dict[str, Fraction], constant: Fraction) -> Form:
    return Form({n: a for n, a in coefficients.items() if a}, constant)


def _rate(place: Location, name: str) -> Bounds:
    return bounds_over(place.flow_of(name), place.invariant)


def _longest_stay(automaton: HybridAutomaton, place: Location, name: str) -> Fraction | None:
    low, high = bounds_over(Range.exactly(variable(name)), place.invariant)
    first, last = _entered(automaton, place, name)
    slowest, fastest = _rate(place, name)
    if slowest is not None and slowest > 0 and high is not None and first is not None:
        return (high - first) / slowest
    if fastest is not None and fastest < 0 and low is not None and last is not None:
        return (last - low) / -fastest
    return None


def _soonest(automaton: HybridAutomaton, edge: Edge, name: str) -> Fraction | None:
    """The least time from entering a location to an edge's guard."""
    place = automaton.location(edge.source)
    value = Range.exactly(variable(name))
    low, high = bounds_over(value, conjunction(place.invariant, edge.guard))
    first, last = _entered(automaton, place, name)
    slowest, fastest = _rate(place, name)
    if low is not None and last is not None and low > last and fastest is not None and fastest > 0:
        return (low - last) / fastest
    if high is not None and first is not None and high < first:
        return (first - high) / -slowest if slowest is not None and slowest < 0 else None
    return None


def _entered(automaton: HybridAutomaton, place: Location, name: str) -> Bounds:
    """Where the variable may be when control enters a location."""
    new = variable(name)
    found: list[Bounds] = []
    for start in automaton.initial:
        if start.location == place.name and not start.resets:
            found.append(bounds_over(Range.exactly(new), start.condition))
        elif start.location == place.name:
            return None, None
    for edge in automaton.edges:
        if edge.target != place.name:
            continue
        before = conjunction(edge.guard, automaton.location(edge.source).invariant)
        reset = next((r for r in edge.resets if r.variable == name), None)
        after = Range.exactly(new) if reset is None else reset.range
        if any(n.endswith(primed("")) for n in _read(after)):
            return None, None
        found.append(bounds_over(after, before))
    lows, highs = [b[0] for b in found], [b[1] for b in found]
    low = None if None in lows or not lows else min(b for b in lows if b is not None)
    high = None if None in highs or not highs else max(b for b in highs if b is not None)
    return low, high


def _read(given: Range) -> frozenset[str]:
    return free_variables(*(b for b in (given.low, given.high) if b is not None))

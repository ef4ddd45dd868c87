"""When was it too late? The last instant of a violating run from which the rescue that the author
names (`Property.rescue`) would still have helped.

From an instant of the run on, the rescued variables follow the rescue; what depends on them is
computed anew by its own equations, and everything else does what it did in the run, which is
followed beyond the violation for this. The latest instant from which the claim then holds to the
end is found among evenly spaced ones and made precise by bisection.

It explains a violation and decides nothing. Where locations, jumps or ranges stand between the
rescue and the claim there is no such instant to be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from workbench.models.automaton import (
    INT,
    REAL,
    TIME,
    Automaton,
    Constraint,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    PropertyKind,
    Range,
    Variable,
)
from workbench.models.expressions.expression import ONE, Expression, variable
from workbench.models.expressions.ranges import bounds
from workbench.models.expressions.traversal import free_variables, substitute
from workbench.models.trace import Ending, Trace
from workbench.models.verdict import LastChance
from workbench.simulate.inputs.signals import Lines, Signal
from workbench.simulate.place import Prepared
from workbench.simulate.recipe import Recipe, repeat
from workbench.simulate.run import simulate

INSTANTS = 64
"""So many instants of the run are tried before the last that helps is made precise."""

HALVINGS = 30
POINTS = 400
"""So many points of the run are kept of every variable that the rescue leaves alone."""

APART = 1e-9
"""Points nearer than this share of the run are one."""

NOW = f"{TIME}@run"
"""The time of the run, in what is computed anew."""


def last_chance(
    automaton: Automaton, claim: Property, trace: Trace, recipe: Recipe
) -> LastChance | None:
    """The last instant from which the claim's rescue helps; None if there is no rescue, or it
    cannot be told."""
    if not claim.rescue or not trace.segments:
        return None
    parts = _computed_anew(automaton, claim, trace)
    if parts is None:
        return None
    words = " and ".join(f"d({c.variable}) == {c.range.exact}" for c in claim.rescue)
    rescue = _Rescue(automaton, claim, _continued(automaton, trace, recipe), parts)
    step = trace.end / INSTANTS
    latest = next((i for i in range(INSTANTS, -1, -1) if rescue.helps(i * step)), None)
    if latest is None:
        return LastChance(None, words)
    helps, late = latest * step, min(latest + 1, INSTANTS) * step
    for _ in range(HALVINGS):
        middle = (helps + late) / 2
        helps, late = (middle, late) if rescue.helps(middle) else (helps, middle)
    return LastChance(helps, words)


def _continued(automaton: Automaton, trace: Trace, recipe: Recipe) -> Trace:
    """The run beyond its violation, so far that a rescue can show what it is worth."""
    until = max(recipe.until, 2 * trace.end)
    whole = repeat(
        automaton,
        replace(recipe.with_decisions(trace.decisions), until=until),
        stop_on_violation=False,
    )
    return whole if whole.end >= trace.end else trace


@dataclass(frozen=True)
class _Parts:
    """What of a model is computed anew: flows and equations of what the rescue changes and the
    claim depends on. The other names are `kept` as in the run."""

    flows: Mapping[str, Expression]
    equations: Mapping[str, Expression]
    kept: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What is computed anew."""
        return (*self.flows, *self.equations)


def _computed_anew(automaton: Automaton, claim: Property, trace: Trace) -> _Parts | None:
    names = dict.fromkeys(segment.location for segment in trace.segments)
    visited = [automaton.location(name) for name in names]
    rescued = {c.variable: c.range.exact for c in claim.rescue}
    flows = {**_common(c for place in visited for c in place.flows), **rescued}
    equations = _common(c for place in visited for c in place.algebraic)
    changed = _dependent_on(rescued, visited)
    needed: dict[str, None] = {}
    pending = [*free_variables(claim.condition)]
    while pending:
        name = pending.pop()
        if name in needed or name == TIME:
            continue
        needed[name] = None
        if name in changed:
            way = flows.get(name, equations.get(name))
            if way is None:
                return None
            pending += free_variables(way)
    types = {v.name: v.type for v in automaton.variables}
    types |= {i.name: i.type for i in automaton.inputs}
    constants = {p.name for p in automaton.parameters}
    kept = tuple(n for n in needed if n not in changed and n not in constants)
    jumps = (e for place in visited for e in automaton.edges_from(place.name))
    reset = {c.variable for edge in jumps for c in edge.resets}
    anew = [name for name in needed if name in changed]
    if reset.intersection(anew) or any(types[n] not in (REAL, INT) for n in kept):
        return None
    found = {n: way for n in anew if (way := flows.get(n)) is not None}
    return _Parts(
        found,
        {n: way for n in anew if n not in found and (way := equations[n]) is not None},
        kept,
    )


def _common(constraints: Iterable[Constraint]) -> dict[str, Expression | None]:
    """The equations that are the same in all places; None for what has a range or differs."""
    found: dict[str, Expression | None] = {}
    for constraint in constraints:
        exact = constraint.range.exact
        same = found.setdefault(constraint.variable, exact) == exact
        found[constraint.variable] = exact if same else None
    return found


def _dependent_on(rescued: Iterable[str], places: Iterable[Location]) -> frozenset[str]:
    """The rescued variables, and those whose course depends on them."""
    found = set(rescued)
    reads: dict[str, set[str]] = {}
    for place in places:
        for constraint in (*place.flows, *place.algebraic):
            if constraint.variable not in found:
                reads.setdefault(constraint.variable, set()).update(
                    free_variables(*bounds(constraint))
                )
    while more := {n for n, read in reads.items() if n not in found and read & found}:
        found |= more
    return frozenset(found)


class _Rescue:
    """The rescue from any instant of a run."""

    def __init__(self, automaton: Automaton, claim: Property, run: Trace, parts: _Parts):
        self._run, self._parts = run, parts
        even = (run.end * i / POINTS for i in range(POINTS + 1))
        times = [0.0]
        for t in sorted({*even, *(segment.end for segment in run.segments)}):
            if t - times[-1] > run.end * APART:
                times.append(t)
        courses = [run.at(t) for t in times]
        self._courses = {
            name: Lines(tuple(times), tuple(float(state[name]) for state in courses))
            for name in parts.kept
        }
        self._prepared = Prepared(_alone(automaton, claim, run, parts), self._signals(0.0), None)

    def helps(self, begin: float) -> bool:
        """Whether the claim holds to the end if the rescue begins at an instant."""
        state = self._run.before(begin)
        made = simulate(
            self._prepared,
            until=self._run.end - begin,
            inputs=self._signals(begin),
            initial={n: float(state[n]) for n in self._parts.flows} | {NOW: begin},
            parameters=self._run.parameters,
            dense=False,
            sliding=True,
        )
        return made.outcome.ending is Ending.HORIZON

    def _signals(self, begin: float) -> dict[str, Signal]:
        """The courses of what is kept, from an instant on."""
        return {
            name: Lines(tuple(t - begin for t in course.times), course.values)
            for name, course in self._courses.items()
        }


def _alone(automaton: Automaton, claim: Property, run: Trace, parts: _Parts) -> HybridAutomaton:
    """What is computed anew as a model of its own, with the rest as inputs."""
    now = {TIME: variable(NOW)}

    def said(way: Expression) -> Range:
        return Range.exactly(substitute(way, now))

    flows = {name: said(way) for name, way in parts.flows.items()} | {NOW: Range.exactly(ONE)}
    place = Location(
        "rescue",
        tuple(Constraint(name, way) for name, way in flows.items()),
        tuple(Constraint(name, said(way)) for name, way in parts.equations.items()),
    )
    occupied = automaton.occupied(run.segments[-1].location)
    bad = substitute(claim.bad_states(occupied), now)
    return HybridAutomaton(
        "Rescue",
        tuple(Variable(name) for name in (*flows, *parts.equations)),
        (place,),
        initial=(Initial(place.name),),
        inputs=tuple(Input(name) for name in parts.kept),
        parameters=automaton.parameters,
        properties=(Property(claim.name, bad, PropertyKind.FORBIDDEN),),
    )

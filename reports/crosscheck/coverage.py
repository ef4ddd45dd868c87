"""Which locations and transitions the runs reached, component by component, and warnings
about claims that may hold for want of behaviour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.models.automaton import Automaton, Edge, HybridAutomaton, PropertyKind
from workbench.models.expressions.expression import FALSE
from workbench.models.trace import Ending, EventType, Trace
from workbench.simulate.jump import edge_name


@dataclass(frozen=True)
class Reached:
    """A location or an edge of a component, and how often runs came by."""

    component: str
    name: str
    count: int
    edge: Edge | None = None


@dataclass(frozen=True)
class Coverage:
    """What was reached, and what that says about the claims."""

    locations: tuple[Reached, ...]
    edges: tuple[Reached, ...]
    warnings: tuple[str, ...]


def coverage(automaton: Automaton, traces: Sequence[Trace]) -> Coverage:
    """Count visits of every location and edge of every component."""
    visits: Counter[tuple[str, str]] = Counter()
    taken: Counter[tuple[str, int]] = Counter()
    occupied = {
        name: automaton.occupied(name)
        for name in {s.location for trace in traces for s in trace.segments}
        | {x for trace in traces for e in trace.jumps for x in (e.source, e.target)}
    }
    for trace in traces:
        if trace.segments:
            visits.update(occupied[trace.segments[0].location].items())
        for event in trace.events:
            if event.type is not EventType.JUMP:
                continue
            before, after = occupied[event.source], occupied[event.target]
            for component in automaton.components:
                here, there = before.get(component.name), after.get(component.name)
                index = _edge(component, here, there, event.name)
                if index is not None:
                    taken[component.name, index] += 1
                    visits[component.name, str(there)] += 1
    locations = tuple(
        Reached(c.name, place.name, visits[c.name, place.name])
        for c in automaton.components
        for place in c.locations
    )
    edges = tuple(
        Reached(c.name, edge_name(edge), taken[c.name, i], edge)
        for c in automaton.components
        for i, edge in enumerate(c.edges)
    )
    return Coverage(locations, edges, tuple(_warnings(automaton, traces)))


def _edge(component: HybridAutomaton, here: str | None, there: str | None, name: str) -> int | None:
    """The component's part in a jump: an edge between its locations that the name mentions;
    of several, the first. None if the component took no part."""
    prefix, _, own = name.rpartition(": ")
    found = [
        (i, e) for i, e in enumerate(component.edges) if e.source == here and e.target == there
    ]
    exact = [i for i, e in found if edge_name(e) == own and prefix in ("", component.name)]
    if exact:
        return exact[0]
    return found[0][0] if found and here != there else None


def _warnings(automaton: Automaton, traces: Sequence[Trace]) -> list[str]:
    found = []
    if traces and all(t.outcome.ending is Ending.EMPTY_INITIAL for t in traces):
        found.append("No run starts: the initial set seems to be empty, so every property holds.")
    stuck = [
        t
        for t in traces
        if t.outcome.ending in (Ending.BLOCKED, Ending.ZENO, Ending.LIVELOCK, Ending.CHATTERING)
    ]
    if stuck:
        found.append(
            f"{len(stuck)} of {len(traces)} runs end before the time given, because no "
            "behaviour goes on. What a real system would do then is not part of the model, "
            f"and no property speaks about it. The first: {stuck[0].outcome.sentence}"
        )
    seen = {s.location for t in traces for s in t.segments}
    untested = [
        claim.name
        for claim in automaton.properties
        if claim.kind is not PropertyKind.PROGRESS
        and seen
        and all(claim.bad_states(automaton.occupied(x)) == FALSE for x in seen)
    ]
    found += [
        f"No run reaches a place where {name!r} says anything: nothing here tests it."
        for name in untested
    ]
    return found

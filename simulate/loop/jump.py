"""Jumps: which edge is taken, and what follows: a rest beyond an accumulation, a way back to the
last chance, the end of a run that can do nothing."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from workbench.models.automaton import TIME, EventKind
from workbench.models.trace import Ending, Event, EventType
from workbench.simulate.effort import spend_on_guard
from workbench.simulate.inputs.feed import Changes
from workbench.simulate.loop.accumulation import Limit, last_round, no_rest, piled_up
from workbench.simulate.loop.boundary import hold
from workbench.simulate.loop.ending import blocked
from workbench.simulate.loop.instant import (
    Departure,
    Instant,
    InstantNotes,
    StayNotes,
    state_of,
)
from workbench.simulate.loop.past import Leapt, made
from workbench.simulate.loop.sliding import slide
from workbench.simulate.place import Place


def stay_inside(
    now: Instant, place: Place, due: list[int], forced: list[int], must: bool
) -> Instant:
    """Go on where none of the edges that are due can be taken: where the invariant forces
    something, hold the boundary or take any enabled edge."""
    if must:
        raise blocked(now, place, forced)
    if not forced:
        waiting = {**now.stay.enabled, **dict.fromkeys(due, math.inf)}
        return now.with_stay(now.stay._replace(enabled=waiting)) if due else now
    now, unheld = hold(now, place, forced)
    if not unheld:
        return now
    possible = [j for j in range(len(place.edges)) if _guard_holds(now, place, j)]
    now, taken = take(now, place, possible, True, unheld)
    if not taken:
        now, taken = take(now, place, possible, False)
    if taken:
        return now
    if now.stay.chance is not None:
        return back_to_chance(now, *now.stay.chance)
    raise blocked(now, place, unheld)


def _guard_holds(now: Instant, place: Place, j: int) -> bool:
    """Whether an edge is enabled, within tolerance."""
    spend_on_guard()
    return now.prepared.guard(place.name, j)(now.values, *now.scenario.tolerances)


def take(
    now: Instant,
    place: Place,
    options: Sequence[int],
    anyway: bool,
    forced: Sequence[int] = (),
) -> tuple[Instant, bool]:
    """Jump along one of the edges, if the target's invariant allows it, and whether that was
    done; a state of this instant is not repeated unless `anyway`, and what is `forced` must be
    resolved by the jump."""
    scenario, p, values = now.scenario, now.prepared, now.values
    decisions, left, tolerances = scenario.decisions(now), list(options), scenario.tolerances
    while left:
        j = decisions.choose(left)
        left.remove(j)
        edge, name = place.edges[j], place.edge_names[j]
        jump = p.jump(place.name, j)
        shares = [decisions.share() for _ in range(jump.choices)] if jump.choices else []
        if not jump.has_values(values, shares, *tolerances):
            continue
        reset = jump(values, shares)
        after = {**values, **reset}
        if reset and not all(map(math.isfinite, reset.values())):
            raise now.after(decisions).ended(
                Ending.NOT_FINITE,
                f"At t = {now.time:.10g} the reset of `{name}` has no finite value.",
                name,
            )
        if not p.arrival(place.name, j)(after, *tolerances):
            continue
        if forced and not all(
            p.turns_inward(place, edge.target, place.exits[part], after) for part in forced
        ):
            continue
        if not anyway and now.was_in(edge.target, after):
            continue
        now = now.after(decisions)
        if scenario.sliding or (scenario.sliding is None and edge.event is EventKind.SLIDING):
            surface = p.slides.at_edge(place, j, values, scenario.sliding is True, tolerances)
            if surface is not None:
                return slide(now, surface), True
        departure = Departure(place, values, jump, edge.event)
        return arrive(now, name, p.place(edge.target), after, jump.assigned, departure), True
    return now.after(decisions), False


def arrive(
    now: Instant,
    name: str,
    target: Place,
    values: dict[str, float],
    assigned: Collection[str],
    departure: Departure,
) -> Instant:
    """Enter the target, some values having been assigned; notice events that pile up."""
    scenario, time, place, _, decided, changes, here, _, jumps, _ = now
    exact = jumps.again(name, time) and _exactly(now, name)
    past = now.noted().past.with_event(Event(time, EventType.JUMP, name, place.name, target.name))
    fresh = not now.was_in(target.name, values)
    visited = here.visited
    if here.departures is not None:
        last: Departure = here.departures[0]
        visited = here.visited_with(state_of(scenario.prepared, last.place.name, last.values))
    uncertain = departure.place.program.flowing if here.inexact is None else here.inexact
    inexact = frozenset(uncertain).difference(assigned)
    repeats = 0 if fresh else here.repeats  # a chain of new states may come to an end
    departures = (departure, here.departures)
    notes = made(InstantNotes, (visited, here.entered, departures, inexact, {}, repeats))
    moving = {n: values[n] for n in target.program.flowing}
    jumps = jumps.with_jump(name, time, moving, fresh, scenario.until)
    stay = StayNotes(past.length)
    fields = (scenario, time, target, values, decided, changes, notes, stay, jumps, past)
    now = made(Instant, fields)
    limit = jumps.by_edge[name].ended(exact)
    if limit is not None:
        cycle = last_round(now, name, limit)
        now, rests = _rest(now, name, limit, cycle)
        if rests:
            return now
        now = no_rest(now, name, limit, cycle)
    piled_up(now, target, name)
    return now


def _exactly(now: Instant, name: str) -> bool:
    """Whether an edge of this name is enabled, without tolerance."""
    place = now.place
    named = (j for j, other in enumerate(place.edge_names) if other == name)
    return any(now.prepared.guard(place.name, j)(now.values, 0.0, 0.0) for j in named)


def _rest(now: Instant, name: str, limit: Limit, cycle: Sequence[Event]) -> tuple[Instant, bool]:
    """Go on beyond an accumulation of jumps, where the model has an edge for the state to
    which they lead: a mode of rest. The edges that accumulate lead nowhere else. (No run of the
    automaton itself gets there.)"""
    scenario, place = now.scenario, now.place
    t = max(limit.time, now.time)
    if scenario.sliding is False or t >= scenario.until:
        return now, False
    values = {**now.values, **limit.state, TIME: t}
    accumulating = {(e.name, e.source, e.target) for e in cycle}
    for j, edge in enumerate(place.edges):
        if edge.target == place.name:
            continue
        if (place.edge_names[j], place.name, edge.target) in accumulating:
            continue
        if not now.prepared.guard(place.name, j)(values, *scenario.tolerances):
            continue
        at_rest = now.logged(EventType.ACCUMULATION, name, edge.target)
        if t > now.time:
            way = Leapt(place, now.values, t, values, f"the limit of {name}")
            past = at_rest.past.with_state(way, scenario.recorder.whole)
            at_rest = at_rest.at(t, values, past)
        else:
            at_rest = at_rest.with_values(values)
        at_rest, taken = take(at_rest, place, [j], True)
        if taken:
            return at_rest._replace(jumps=at_rest.jumps.forgotten()), True
        now = now._replace(decided=at_rest.decided)
    return now, False


def at_chance(now: Instant) -> Instant:
    """The instant to come back to if an edge that stops being enabled is to be taken after all:
    before the jump of inputs, if that is what ends the chance."""
    former = now.here.former
    if former:
        changes = Changes(now.changes.levels, now.time)
        now = now._replace(values={**now.values, **former}, changes=changes)
    return now._replace(stay=StayNotes())


def back_to_chance(now: Instant, j: int, then: Instant) -> Instant:
    """Go back to the last moment at which an edge could be taken, and take it."""
    past = now.past.with_states_of(then.past).without_events_after(then.time)
    now = now._replace(
        time=then.time,
        place=now.prepared.place(now.place.name),
        values=then.values,
        changes=Changes(now.changes.levels, then.changes.signals),
        here=now.here._replace(former={}),
        stay=now.stay._replace(chance=None),
        past=past,
    )
    now, taken = take(now, now.place, [j], True)
    if not taken:
        raise blocked(now, now.place, [])
    return now

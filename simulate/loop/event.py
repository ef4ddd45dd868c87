"""Events: what a run does when watches fire at the end of a stretch of time, or a wait is over.

Several that happen at once are resolved in the order of `simulate.place`: properties, edges in
source order, parts of the invariant. Urgent edges that exact values enable at an instant are among
them (see `urgent_at_once`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.models.expressions.printing import to_text
from workbench.models.trace import Ending, EventType
from workbench.simulate.loop.boundary import (
    look_again,
    look_away,
    release,
    slack_granted,
    starts_on,
)
from workbench.simulate.loop.ending import outside_assumption
from workbench.simulate.loop.instant import Instant, StayNotes
from workbench.simulate.loop.jump import at_chance, stay_inside, take
from workbench.simulate.loop.sliding import branch_changed, leave_surface
from workbench.simulate.place import Place, Role
from workbench.simulate.stepping.calculator import TolerantCondition
from workbench.simulate.stepping.condition import formula_truth
from workbench.simulate.stepping.program import EQUALITY, FROZEN
from workbench.simulate.stepping.stretch import Stop, Stretch
from workbench.simulate.surfaces import Surface

Candidates = tuple[tuple[int, int, TolerantCondition], ...]
"""Edges, each with its watch, and its guard as it is tested."""


# What happens


def on_time(now: Instant, place: Place) -> Instant:
    """The end of a stretch without an event: the horizon, or a wait is over (or an input
    changes, see `simulate.loop.input_jump`)."""
    touch, until = now.stay.touch, now.scenario.until
    due = [j for j, deadline in now.stay.enabled.items() if deadline <= now.time]
    if now.time >= until and not due and (touch is None or now.time < touch.until):
        raise now.ended(Ending.HORIZON, f"The run reached t = {until:g}.")
    if touch is not None and now.time >= touch.until:
        now = look_again(now, touch)
    if not due:
        return now
    now, taken = take(now, place, due, False)
    return now if taken else stay_inside(now, place, due, [], False)


def react(now: Instant, place: Place, result: Stretch) -> Instant:
    """Respond to the watches that fired at the end of a stretch."""
    together: tuple[str, ...] = ()
    if len(result.fired) > 1:
        together = tuple(_name_of(now, place, watch) for watch in result.fired)
    risen: dict[int, float] = {}
    forced: list[int] = []
    touched: list[int] = []
    missed: list[int] = []
    urgent: list[int] = []
    landed: list[int] = []
    must = False  # a guard that is only touched does not keep time from passing
    for watch in result.fired:
        role, j = place.roles[watch]
        side = "grazing" if watch in result.grazing else place.sides[watch]
        residual = _residual(place, result, watch)
        if role is Role.BAD:
            now = _violated(now, place, watch, result, together)
        elif role is Role.OUTSIDE:
            raise outside_assumption(now)
        elif role is Role.RISE:
            wait, edge = 0.0, place.edges[j]
            if not edge.urgent:
                decisions = now.scenario.decisions(now)
                wait = decisions.wait(now.scenario.until, j)
                now = now.after(decisions)
            kind = EventType.GRAZING if side == "grazing" else EventType.ENABLED
            now = now.logged(kind, place.edge_names[j], "", residual, side, together)
            if side == "grazing" and wait > 0.0:
                missed.append(j)
                continue
            risen[j] = now.time + wait
            if edge.urgent:
                urgent.append(j)
                must = must or side != "grazing"
        elif role is Role.FALL:
            still = {i: deadline for i, deadline in now.stay.enabled.items() if i != j}
            now = now.with_stay(now.stay._replace(enabled=still, chance=(j, at_chance(now))))
            now = now.logged(EventType.DISABLED, place.edge_names[j], "", residual, side)
        elif role is Role.EXIT:
            slacks = slack_granted(now, place, j)
            if slacks is not None:
                now = now.with_values({**now.values, **slacks})
                landed.append(j)
                continue
            passing = side == "grazing" or starts_on(now, place, j)
            kind = EventType.GRAZING if passing else EventType.BOUNDARY
            now = now.logged(kind, place.exit_names[j], "", residual, side, together)
            (touched if passing else forced).append(j)
        elif role is Role.RELEASE:
            return release(_waiting(now, risen), place, j)
        elif role is Role.SWITCH:
            now, slides = branch_changed(now, place, j)
            if slides:
                return now
        else:
            now = release(now, place, j)
            forced.append(place.holds[j][1])
    if landed:
        place = now.prepared.place(place.name, place.holds, (*place.landed, *landed))
        now = now.with_place(place)
    due = urgent
    if not urgent:
        enabled = {**now.stay.enabled, **risen} if risen else now.stay.enabled
        due = [j for j, deadline in enabled.items() if deadline <= now.time]
    if due:
        now, taken = take(now, place, due, must)
        if taken:
            return now
    now = _waiting(now, risen)
    if touched or missed:
        now = look_away(now, touched, missed)
    return stay_inside(now, place, due, forced, must)


def _waiting(now: Instant, risen: Mapping[int, float]) -> Instant:
    """Edges that may be taken wait, each until a time."""
    if not risen:
        return now
    since, enabled, ignored, refused, chance, touch = now.stay
    enabled = {**enabled, **risen}
    return now.with_stay(StayNotes(since, enabled, ignored, refused, chance, touch))


def _violated(
    now: Instant, place: Place, watch: int, result: Stretch, together: tuple[str, ...]
) -> Instant:
    """Log a violation, and end the run if it is to stop there; a property that has no value
    ends it in any case."""
    _, j = place.roles[watch]
    name = now.prepared.properties[j]
    if not _exactly_bad(place, result, watch):
        raise now.ended(
            Ending.NOT_FINITE,
            f"At t = {now.time:.10g} in `{place.name}` the property `{name}` has no value.",
            name,
        )
    residual = _residual(place, result, watch)
    now = now.logged(EventType.VIOLATION, name, "", residual, "beyond", together)
    now = now.with_stay(now.stay._replace(ignored=now.stay.ignored | {j}))
    if now.scenario.stop_on_violation:
        raise now.ended(
            Ending.VIOLATION,
            f"The property `{name}` is violated at t = {now.time:.10g} in `{place.name}`"
            + (f", sliding along `{place.slide.text}`." if place.slide is not None else "."),
            name,
        )
    return now


# What happens while the run slides


def react_sliding(now: Instant, place: Place, surface: Surface, result: Stretch) -> Instant:
    """Respond to the watches that fired while the run slides, in their order. Edges that lead
    away from either side are taken at the first instant at which they can be, for the state is
    on both sides at once."""
    for watch in result.fired:
        role, j = place.roles[watch]
        residual = _residual(place, result, watch)
        if role is Role.BAD:
            now = _violated(now, place, watch, result, ())
        elif role is Role.OUTSIDE:
            raise outside_assumption(now)
        elif role is Role.AWAY:
            now, taken = _taken(now, surface, j, residual)
            if taken:
                return now
        elif role is Role.EXIT:
            now = now.logged(EventType.BOUNDARY, place.exit_names[j], "", residual)
            raise now.ended(
                Ending.BLOCKED,
                f"The run slides along `{surface.text}` and blocks at t = {now.time:.10g} in"
                f" `{place.name}`: `{place.exit_names[j]}` forbids time to pass.",
                place.exit_names[j],
            )
        elif role is Role.SWITCH:
            now, slides = branch_changed(now, place, j)
            if slides:
                return now
        else:
            return leave_surface(now, surface, above=j == 1)
    return now


def _taken(now: Instant, surface: Surface, index: int, residual: float) -> tuple[Instant, bool]:
    """Take an edge that leads away from one of the sides, if it can be taken."""
    location, j = now.prepared.slides.away(surface)[index]
    side = now.prepared.place(location)
    now = now.logged(EventType.ENABLED, side.edge_names[j], "", residual)
    there = now
    if location != now.place.name:
        jump = now.prepared.jump(surface.below, surface.up)
        there = now.with_values({**now.values, **jump(now.values, ())})
    after, taken = take(there, side, [j], True)
    if taken:
        return after, True
    stay = now.stay._replace(refused=now.stay.refused | {index})
    return now._replace(decided=after.decided, stay=stay), False


# Urgent edges that are enabled at the very instant at which a run starts or a jump ends


def urgent_at_once(now: Instant) -> tuple[int, ...]:
    """The watches of the urgent edges that exact values enable at this instant.

    Along a run a guard that the state rests on counts by its direction: where the flow leads away
    from it, it is left, for what led there were errors of no more than the tolerance. But values
    that a start or a reset has just given are exact: where they fulfil an urgent guard, no time
    passes, even if the flow would leave it at once. What an event left known up to its tolerance
    only must fulfil its part of the guard beyond that.
    """
    if now.here.inexact is None or now.place.slide is not None:
        return ()
    candidates = _candidates(now, now.place, now.here.inexact)
    if not candidates:
        return ()
    rtol, atol = now.scenario.tolerances
    return tuple(
        watch
        for j, watch, guard in candidates
        if j not in now.stay.enabled and guard(now.values, -rtol, -atol)
    )


def _candidates(now: Instant, place: Place, inexact: frozenset[str]) -> Candidates:
    """The urgent edges whose guards read what is exact now and changes from here on."""
    known = now.prepared.at_once
    key = (place.name, inexact)
    if key not in known:
        exact = frozenset(place.program.flowing) - inexact
        known[key] = tuple(
            (j, place.roles.index((Role.RISE, j)), guard)
            for j, edge in enumerate(place.edges)
            if edge.urgent and (Role.RISE, j) in place.roles
            for guard in (now.prepared.condition(edge.guard, inexact),)
            if not guard.names.isdisjoint(exact)
        )
    return known[key]


def with_fired(result: Stretch, watches: Sequence[int]) -> Stretch:
    """The result of a stretch without duration at whose end these watches are true, too."""
    if result.stop not in (Stop.END, Stop.EVENT):
        return result
    fired = tuple(sorted({*result.fired, *watches}))
    grazing = tuple(w for w in result.grazing if w not in watches)
    return result._replace(stop=Stop.EVENT, fired=fired, grazing=grazing)


# What watches are called, and what their values say


def _name_of(now: Instant, place: Place, watch: int) -> str:
    """What a watch is called in traces."""
    role, j = place.roles[watch]
    if role is Role.BAD:
        return now.prepared.properties[j]
    if role is Role.OUTSIDE:
        return to_text(now.prepared.base.assumption)
    if role in (Role.RISE, Role.FALL):
        return place.edge_names[j]
    if role is Role.SWITCH:
        return "a branch of the flow"
    part = j if role is Role.EXIT else place.holds[j][1]
    return place.exit_names[part]


def _residual(place: Place, result: Stretch, watch: int) -> float:
    """The value of the watch's atom that is nearest to zero."""
    found = [result.values[k] for k in place.smooth_atoms[watch]]
    if len(found) == 1 and found[0] == found[0]:
        return found[0]
    return min((v for v in found if v == v), key=abs, default=0.0)


def _exactly_bad(place: Place, result: Stretch, number: int) -> bool:
    """Whether a property is violated without counting conditions that have no value."""
    watch = place.program.watches[number]
    if all(result.values[k] == result.values[k] for k in watch.tokens if k >= 0):
        return True
    truth = []
    for value, tolerance, (_, sign, _, flags) in zip(
        result.values, result.tolerances, place.program.atoms, strict=True
    ):
        if flags & FROZEN:
            truth.append((value != 0.0) == (sign > 0))
        elif flags & EQUALITY:
            truth.append((abs(value) <= tolerance) == (sign > 0) and value == value)
        else:
            truth.append(value >= -tolerance)
    return formula_truth(watch.tokens, truth)

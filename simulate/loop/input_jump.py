"""What a run does where its inputs jump: a step of a signal, a level drawn anew.

Up to that instant the invariant held with the values before. With the values after, it may not:
then the run leaves at that very instant, along edges that are enabled with the values after, or
with those before (the jump then comes just before the step, and resets read the old values).
Each jump lands inside its target's invariant with the values with which it is made. Only where
no such way leads on is the run blocked.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence

from workbench.models.expressions.traversal import free_variables
from workbench.models.record import record
from workbench.models.trace import Ending, EventType
from workbench.simulate.loop.boundary import inside, look_again
from workbench.simulate.loop.instant import Departure, Instant, RunEnded, state_of
from workbench.simulate.loop.jump import arrive, back_to_chance
from workbench.simulate.loop.sliding import leave_surface
from workbench.simulate.place import Place
from workbench.simulate.policy import Decisions

WIDEST_SEARCH = 100
"""So many states before the step are looked at for one way on."""


@record
class Passage:
    """An edge to be taken, by its number in its location, and the state after it."""

    location: str
    edge: int
    values: dict[str, float]


def change_inputs(now: Instant) -> Instant:
    """Give signals and levels their new values; leave the location if these forbid to stay."""
    if now.stay.touch is not None:
        now = look_again(now, now.stay.touch)
    scenario, values = now.scenario, now.values
    decisions = scenario.decisions(now)
    fed, changes = scenario.feed.at_change(now.time, now.changes, decisions)
    now = now._replace(decided=decisions.taken, changes=changes)
    new = {n: v for n, v in fed.items() if v != values[n]}
    if not new:
        return now
    former = {n: values[n] for n in new}
    now = now.with_values({**values, **new})
    if now.place.slide is not None:
        now = _leave_surfaces(now, values, new)
    now = now._replace(here=now.here._replace(former=former))
    if now.place.holds:
        now = _let_go(now, new)
    if now.place.slide is None and not inside(now, *scenario.tolerances):
        return _leave(now, now.place, new)
    return now


def _leave_surfaces(now: Instant, before: Mapping[str, float], new: Mapping[str, float]) -> Instant:
    """A surface that the step moves, or on which it forbids to stay, is left to the side on
    which the state then lies."""
    slides, stays = now.prepared.slides, inside(now, *now.scenario.tolerances)
    while (surface := now.place.slide) is not None:
        if stays and free_variables(surface.g).isdisjoint(new):
            break
        on = slides.onto(surface, before)
        above = slides.height(surface, {**on, **new}) > 0.0
        now = leave_surface(now.with_values(before), surface, above)
        before = now.values
        now = now.with_values({**before, **new})
    return now


def _let_go(now: Instant, new: Mapping[str, float]) -> Instant:
    """What gives way to keep a boundary follows its own choice when the boundary jumps."""
    p, place = now.prepared, now.place
    kept = tuple(h for h in place.holds if place.read_by_exits[h[1]].isdisjoint(new))
    if kept == place.holds:
        return now
    for name, _ in set(place.holds) - set(kept):
        now = now.logged(EventType.RELEASED, f"d({name})")
    able = p.can_hold(place.name, kept)
    return now.with_place(p.place(place.name, kept if able else (), place.landed))


def _leave(now: Instant, place: Place, new: Mapping[str, float]) -> Instant:
    """Go the way that leads on; go back to the last chance, or block, if there is none."""
    p = now.prepared
    parts = p.broken(place.name, now.values, *now.scenario.tolerances)
    broken = [place.exit_names[i] for i in parts]
    before = {**now.values, **now.here.former}
    now = now.noted(before)  # a stay that only just began did so before the step
    search = _WaysOn(now, new)
    way = search.find(place.name, before)
    now = now.after(search.decisions)
    if way is not None:
        for name in broken:
            now = now.logged(EventType.BOUNDARY, name, side="beyond")
        for passage in way:
            source = p.place(passage.location)
            edge, name = source.edges[passage.edge], source.edge_names[passage.edge]
            jump = p.jump(passage.location, passage.edge)
            departure = Departure(source, now.values, jump, edge.event)
            now = arrive(now, name, p.place(edge.target), passage.values, jump.assigned, departure)
        return now.with_values({**now.values, **new})
    if now.stay.chance is not None:
        return back_to_chance(now, *now.stay.chance)
    raise _blocked(now, place, broken, new)


class _WaysOn:
    """The search for jumps that lead on."""

    def __init__(self, now: Instant, new: Mapping[str, float]):
        self.prepared, self.tolerances = now.prepared, now.scenario.tolerances
        self.decisions: Decisions = now.scenario.decisions(now)
        self.new = new
        self.seen: set[Hashable] = set()

    def find(self, location: str, before: Mapping[str, float]) -> list[Passage] | None:
        """Jumps to a state in which time may pass: one with the new values, or some with the old
        ones (`before`) and then, where needed, one with the new ones. None if there are none."""
        if not self.seen:
            self.seen.add(state_of(self.prepared, location, before))
        for passage, _ in self.passages(location, {**before, **self.new}):
            return [passage]
        for passage, target in self.passages(location, before):
            state = state_of(self.prepared, target, passage.values)
            if state in self.seen or len(self.seen) > WIDEST_SEARCH:
                continue
            self.seen.add(state)
            if self.is_inside(target, {**passage.values, **self.new}):
                return [passage]
            rest = self.find(target, passage.values)
            if rest is not None:
                return [passage, *rest]
        return None

    def passages(self, location: str, values: Mapping[str, float]) -> Iterator[tuple[Passage, str]]:
        """The edges that can be taken, urgent ones first, else in the order that the policy
        draws."""
        p, edges = self.prepared, self.prepared.place(location).edges
        possible = [j for j in range(len(edges)) if p.guard(location, j)(values, *self.tolerances)]
        for urgent in (True, False):
            options = [j for j in possible if edges[j].urgent is urgent]
            while options:
                j = self.decisions.choose(options)
                options.remove(j)
                jump = p.jump(location, j)
                shares = [self.decisions.share() for _ in range(jump.choices)]
                if not jump.has_values(values, shares, *self.tolerances):
                    continue
                reached = {**values, **jump(values, shares)}
                if not all(math.isfinite(reached[n]) for n in jump.names):
                    continue
                if self.is_inside(edges[j].target, reached):
                    yield Passage(location, j, reached), edges[j].target

    def is_inside(self, location: str, values: Mapping[str, float]) -> bool:
        """Whether the invariant of a location allows values."""
        return self.prepared.invariant(location)(values, *self.tolerances)


def _blocked(
    now: Instant, place: Place, broken: Sequence[str], new: Mapping[str, float]
) -> RunEnded:
    """The end of a run that the new values allow neither to stay nor to jump."""
    p, former = now.prepared, now.here.former
    known = {i.name for i in p.inputs}
    before = {**now.values, **former}
    jumps = {n: (former[n], v) for n, v in new.items() if n in known}
    for name, signal in p.kinked.items():
        if not new.keys().isdisjoint(signal.names):
            jumps[name] = (signal.value(before), signal.value(now.values))
    steps = ", ".join(f"`{n}` jumps from {a:.6g} to {b:.6g}" for n, (a, b) in jumps.items())
    reasons = []
    for j, name in enumerate(place.edge_names):
        guard = p.guard(place.name, j)
        if any(guard(values, *now.scenario.tolerances) for values in (now.values, before)):
            reasons.append(f"`{name}` leads outside the target's invariant")
        else:
            reasons.append(f"the guard of `{name}` is false before and after")
    why = "; ".join(reasons[:4]) if reasons else "no edge leaves the location"
    parts = ", ".join(f"`{name}`" for name in broken)
    return now.ended(
        Ending.BLOCKED,
        f"The run blocks at t = {now.time:.10g} in `{place.name}`: the input {steps}, which"
        f" {parts} does not allow, and {why}.",
        parts.strip("`"),
    )

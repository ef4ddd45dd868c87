"""What a run does where its inputs jump: a step of a signal, a level drawn anew.

Up to that instant the invariant held with the values before. With the values after, it may not:
then the run leaves at that very instant, along edges that are enabled with the values after, or
with those before (the jump then comes just before the step, and resets read the old values).
Each jump lands inside its target's invariant with the values with which it is made. Only where
no such way leads on is the run blocked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.models.expressions.traversal import free_variables
from workbench.models.record import record
from workbench.models.trace import Ending, EventType
from workbench.simulate.landing import Departure
from workbench.simulate.place import Place
from workbench.simulate.reaction import arrive, passed_by, rewind
from workbench.simulate.sliding_reaction import leave_surface

if TYPE_CHECKING:
    from workbench.simulate.execution import Execution, RunEnded

WIDEST_SEARCH = 100
"""So many states before the step are looked at for one way on."""


@record
class Passage:
    """An edge to be taken, by its number in its location, and the state after it."""

    location: str
    edge: int
    values: dict[str, float]


def change_inputs(run: Execution) -> None:
    """Give signals and levels their new values; leave the location if these forbid to stay."""
    if run.grazed or run.missed:
        passed_by(run, run.place)
    env = run.env
    new = {n: v for n, v in run.feed.changes(run.t).items() if v != env[n]}
    if not new:
        return
    former = {n: env[n] for n in new}
    env.update(new)
    if run.place.slide is not None:
        _leave_surfaces(run, {**env, **former}, new)
    run.former = former
    if run.place.holds:
        _let_go(run, new)
    if run.place.slide is None and not run.inside(run.method.rtol, run.method.atol):
        _leave(run, run.place, new)


def _leave_surfaces(run: Execution, before: dict[str, float], new: Mapping[str, float]) -> None:
    """A surface that the step moves, or on which it forbids to stay, is left to the side on
    which the state then lies."""
    slides, stays = run.prepared.slides, run.inside(run.method.rtol, run.method.atol)
    while (surface := run.place.slide) is not None:
        if stays and free_variables(surface.g).isdisjoint(new):
            break
        run.env = before
        on = slides.onto(surface, before)
        leave_surface(run, surface, above=slides.height(surface, {**on, **new}) > 0.0)
        before = run.env
        run.env = {**before, **new}


def _let_go(run: Execution, new: Mapping[str, float]) -> None:
    """What gives way to keep a boundary follows its own choice when the boundary jumps."""
    place = run.place
    kept = tuple(h for h in place.holds if place.read_by_exits[h[1]].isdisjoint(new))
    if kept != place.holds:
        for name, _ in set(place.holds) - set(kept):
            run.log(EventType.RELEASED, f"d({name})")
        able = run.prepared.can_hold(place.name, kept)
        run.place = run.prepared.place(place.name, kept if able else (), place.landed)


def _leave(run: Execution, place: Place, new: Mapping[str, float]) -> None:
    """Go the way that leads on; go back to the last chance, or block, if there is none."""
    parts = run.prepared.broken(place.name, run.env, run.method.rtol, run.method.atol)
    broken = [place.exit_names[i] for i in parts]
    before = {**run.env, **run.former}
    run.keep_instant(before)  # a stay that only just began did so before the step
    way = _way_on(run, place.name, before, new, {run.key(place.name, before)})
    if way is not None:
        for name in broken:
            run.log(EventType.BOUNDARY, name, side="beyond")
        for passage in way:
            source = run.prepared.place(passage.location)
            edge = source.edges[passage.edge]
            target = run.prepared.place(edge.target)
            jump = run.prepared.jump(passage.location, passage.edge)
            name = source.edge_names[passage.edge]
            arrive(
                run,
                name,
                target,
                passage.values,
                jump.assigned,
                Departure(source, run.env, jump, edge.event),
            )
        run.env.update(new)
    elif run.last_chance is not None:
        rewind(run)
    else:
        raise _blocked(run, place, broken, new)


def _way_on(
    run: Execution,
    location: str,
    before: Mapping[str, float],
    new: Mapping[str, float],
    seen: set[tuple[object, ...]],
) -> list[Passage] | None:
    """Jumps to a state in which time may pass: one with the new values, or some with the old
    ones (`before`) and then, where needed, one with the new ones. None if there are none."""
    after = {**before, **new}
    for passage, _ in _passages(run, location, after):
        return [passage]
    for passage, target in _passages(run, location, before):
        key = run.key(target, passage.values)
        if key in seen or len(seen) > WIDEST_SEARCH:
            continue
        seen.add(key)
        if _inside(run, target, {**passage.values, **new}):
            return [passage]
        rest = _way_on(run, target, passage.values, new, seen)
        if rest is not None:
            return [passage, *rest]
    return None


def _passages(
    run: Execution, location: str, values: Mapping[str, float]
) -> Iterator[tuple[Passage, str]]:
    """The edges that can be taken, urgent ones first, else in the order that the policy draws."""
    p, edges = run.prepared, run.prepared.place(location).edges
    enabled = [j for j in range(len(edges)) if _enabled(run, location, j, values)]
    for urgent in (True, False):
        options = [j for j in enabled if edges[j].urgent is urgent]
        while options:
            j = run.decisions.choose(options)
            options.remove(j)
            jump = p.jump(location, j)
            shares = [run.decisions.share() for _ in range(jump.choices)]
            if not jump.has_values(values, shares, run.method.rtol, run.method.atol):
                continue
            reached = {**values, **jump(values, shares)}
            if not all(math.isfinite(reached[n]) for n in jump.names):
                continue
            if _inside(run, edges[j].target, reached):
                yield Passage(location, j, reached), edges[j].target


def _enabled(run: Execution, location: str, j: int, values: Mapping[str, float]) -> bool:
    return run.prepared.guard(location, j)(values, run.method.rtol, run.method.atol)


def _inside(run: Execution, location: str, values: Mapping[str, float]) -> bool:
    return run.prepared.invariant(location)(values, run.method.rtol, run.method.atol)


def _blocked(
    run: Execution, place: Place, broken: Sequence[str], new: Mapping[str, float]
) -> RunEnded:
    """The outcome of a run that the new values allow neither to stay nor to jump."""
    known = {i.name for i in run.prepared.inputs}
    before = {**run.env, **run.former}
    jumps = {n: (run.former[n], v) for n, v in new.items() if n in known}
    for name, signal in run.prepared.kinked.items():
        if not new.keys().isdisjoint(signal.names):
            jumps[name] = (signal.value(before), signal.value(run.env))
    steps = ", ".join(f"`{n}` jumps from {a:.6g} to {b:.6g}" for n, (a, b) in jumps.items())
    reasons = []
    for j, name in enumerate(place.edge_names):
        values = (run.env, before)
        if any(_enabled(run, place.name, j, v) for v in values):
            reasons.append(f"`{name}` leads outside the target's invariant")
        else:
            reasons.append(f"the guard of `{name}` is false before and after")
    why = "; ".join(reasons[:4]) if reasons else "no edge leaves the location"
    parts = ", ".join(f"`{name}`" for name in broken)
    return run.end(
        Ending.BLOCKED,
        f"The run blocks at t = {run.t:.10g} in `{place.name}`: the input {steps}, which"
        f" {parts} does not allow, and {why}.",
        parts.strip("`"),
    )

"""What a run does at an event: jump, stay on a boundary, stop, or go on.

Where several things happen at once they are resolved in the order of `simulate.place`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from workbench.models.automaton import TIME
from workbench.models.expressions.printing import to_text
from workbench.models.trace import Ending, Event, EventType
from workbench.simulate.accumulation import Limit
from workbench.simulate.effort import spend_on_guard
from workbench.simulate.fired import exactly_bad, name_of, residual_of
from workbench.simulate.giving_way import hold, release
from workbench.simulate.jump import edge_name
from workbench.simulate.landing import Departure, granted
from workbench.simulate.piling import last_round, no_rest, offer, piled_up
from workbench.simulate.place import Place, Role
from workbench.simulate.refusal import refusal
from workbench.simulate.stepping.stretch import Stretch

if TYPE_CHECKING:
    from workbench.simulate.execution import Execution, RunEnded
    from workbench.simulate.sliding import Surface


def on_time(run: Execution, place: Place) -> None:
    """The end of a stretch without an event: the horizon, or a wait is over (or an input
    changes, see `simulate.input_jump`)."""
    if run.t >= run.until and run.t < run.grazed_until:
        due = [j for j, deadline in run.enabled.items() if deadline <= run.t]
        if not due:
            raise run.end(Ending.HORIZON, f"The run reached t = {run.until:g}.")
    if run.t >= run.grazed_until:
        passed_by(run, place)
    leave(run, place, [j for j, deadline in run.enabled.items() if deadline <= run.t])


def react(run: Execution, place: Place, result: Stretch) -> None:
    """Respond to the watches that fired at the end of a stretch."""
    together: tuple[str, ...] = ()
    if len(result.fired) > 1:
        together = tuple(name_of(run, place, watch) for watch in result.fired)
    forced: list[int] = []
    touched: list[int] = []
    missed: list[int] = []
    urgent: list[int] = []
    landed: list[int] = []
    must = False  # a guard that is only touched does not keep time from passing
    for watch in result.fired:
        role, j = place.roles[watch]
        side = "grazing" if watch in result.grazing else place.sides[watch]
        residual = residual_of(place, result, watch)
        if role is Role.BAD:
            violated(run, place, watch, result, together)
        elif role is Role.OUTSIDE:
            raise outside(run, place)
        elif role is Role.RISE:
            edge, name = place.edges[j], place.edge_names[j]
            wait = 0.0 if edge.urgent else run.decisions.wait(run.until, j)
            if side == "grazing":
                run.log(EventType.GRAZING, name, "", residual, side, together)
                if wait > 0.0:
                    missed.append(j)
                    continue
            else:
                run.log(EventType.ENABLED, name, "", residual, side, together)
            run.enabled[j] = run.t + wait
            if edge.urgent:
                urgent.append(j)
                must = must or side != "grazing"
        elif role is Role.FALL:
            run.enabled.pop(j, None)
            run.last_chance = run.chance(j)
            run.log(EventType.DISABLED, place.edge_names[j], "", residual, side)
        elif role is Role.EXIT:
            if granted(run, place, j):
                landed.append(j)
                continue
            passing = side == "grazing" or _starts_on(run, place, j)
            kind = EventType.GRAZING if passing else EventType.BOUNDARY
            run.log(kind, place.exit_names[j], "", residual, side, together)
            (touched if passing else forced).append(j)
        elif role is Role.RELEASE:
            release(run, place, j)
            return
        elif role is Role.SWITCH:
            if switched(run, place, j):
                return
        else:
            release(run, place, j)
            forced.append(place.holds[j][1])
    due = urgent or [j for j, deadline in run.enabled.items() if deadline <= run.t]
    if touched or missed:
        pass_by(run, touched, missed)
    if landed:
        place = run.prepared.place(place.name, place.holds, (*place.landed, *landed))
        run.place = place
    leave(run, place, due, forced, must)


def _starts_on(run: Execution, place: Place, j: int) -> bool:
    """Whether the state lies on the boundary of a part of the invariant, or beyond it by no
    more than the tolerance, while the flow leads to the inside."""
    tolerances = (run.method.rtol, run.method.atol)
    inside = run.inside(*tolerances)
    if inside and j in run.prepared.broken(place.name, run.env, *tolerances):
        return False
    return inside and run.prepared.leads_inward(place, place.exits[j], run.env)


def pass_by(run: Execution, parts: list[int], edges: list[int]) -> None:
    """A part of the invariant is touched but not about to be violated, or a guard whose edge
    is not taken: look away from it for an instant, then test it."""
    run.before_touch = (run.recorder.mark(), run.t, dict(run.env))
    run.grazed = run.grazed | frozenset(parts)
    run.missed = run.missed | frozenset(edges)
    run.grazed_until = run.t + 1e-6 * max(run.until, run.t)


def passed_by(run: Execution, place: Place) -> None:
    """After the touch: the invariant must still hold, within tolerance; else what was done
    while looking away is undone."""
    parts = sorted(run.grazed)
    run.grazed, run.missed, run.grazed_until = frozenset(), frozenset(), math.inf
    if parts and run.prepared.broken(place.name, run.env, run.method.rtol, run.method.atol):
        mark, run.t, run.env = run.before_touch
        run.recorder.forget_since(mark)
        raise blocked(run, place, parts)


def switched(run: Execution, place: Place, j: int) -> bool:
    """A branch inside the flow changed; without end at one instant this is chattering, unless
    the run may slide (then it does, and the answer is yes)."""
    run.accumulation.recent.append(run.t)
    if run.sliding:
        surface = run.prepared.slides.at_branch(place, place.conditions[j // 2], run.env)
        if surface is not None:
            slide(run, surface)
            return True
    if run.accumulation.chatters():
        condition = to_text(place.conditions[j // 2])
        raise run.end(
            Ending.CHATTERING,
            f"The flow of `{place.name}` switches back and forth at t = {run.t:.10g} almost"
            f" without time passing (chattering) where `{condition}`"
            f" changes{offer(run)}.",
            condition,
        )
    return False


def slide(run: Execution, surface: Surface) -> None:
    """Go on along a surface. Where two of them take turns at one instant, each leads onto the
    other; what is true in their intersection cannot be told from two sides at a time."""
    slides, left = run.prepared.slides, run.place.slide
    if surface in run.entered and left is not None:
        raise run.end(
            Ending.CHATTERING,
            f"At t = {run.t:.10g} the state lies on two surfaces of edges at once,"
            f" `{left.text}` and `{surface.text}`, and sliding on one leads onto the other:"
            " how it goes on where they meet is not known, so the run stops.",
            surface.text,
        )
    run.entered.add(surface)
    run.accumulation.recent.append(run.t)
    if run.accumulation.chatters():
        raise run.end(
            Ending.CHATTERING,
            f"The run enters the surface `{surface.text}` again and again at t = {run.t:.10g}"
            " almost without time passing.",
            surface.text,
        )
    run.log(EventType.SLIDES, surface.text, surface.above)
    run.env, run.place = slides.onto(surface, run.env), slides.place(surface)
    run.begin_stay()


def violated(
    run: Execution, place: Place, watch: int, result: Stretch, together: tuple[str, ...]
) -> None:
    """Log a violation, and end the run if it is to stop there; a property that has no value
    ends it in any case."""
    _, j = place.roles[watch]
    name = run.prepared.properties[j]
    residual = residual_of(place, result, watch)
    if not exactly_bad(place, result, watch):
        raise run.end(
            Ending.NOT_FINITE,
            f"At t = {run.t:.10g} in `{place.name}` the property `{name}` has no value.",
            name,
        )
    run.log(EventType.VIOLATION, name, "", residual, "beyond", together)
    run.ignored.add(j)
    if run.stop_on_violation:
        raise run.end(
            Ending.VIOLATION,
            f"The property `{name}` is violated at t = {run.t:.10g} in `{place.name}`"
            + (f", sliding along `{place.slide.text}`." if place.slide is not None else "."),
            name,
        )


def outside(run: Execution, place: Place) -> RunEnded:
    """The end of a run whose inputs, parameters or values are not what the model assumes."""
    assumed = to_text(run.prepared.base.assumption)
    return run.end(
        Ending.ASSUMPTION,
        f"The assumption `{assumed}` is broken at t = {run.t:.10g} in `{place.name}`: the model"
        " says nothing about what follows.",
        assumed,
    )


def leave(
    run: Execution,
    place: Place,
    due: list[int],
    forced: list[int] | None = None,
    must: bool = False,
) -> None:
    """Take one of the edges that are due; where the invariant forces something, hold the
    boundary or take any enabled edge."""
    forced = forced or []
    if due and take(run, place, due, must):
        return
    if must:
        raise blocked(run, place, forced)
    if not forced:
        for j in due:
            run.enabled[j] = math.inf
        return
    unheld = hold(run, place, forced)
    if not unheld:
        return
    possible = [j for j in range(len(place.edges)) if guard_holds(run, place, j)]
    if take(run, place, possible, True, unheld) or take(run, place, possible, False):
        return
    if run.last_chance is not None:
        rewind(run)
        return
    raise blocked(run, place, unheld)


def guard_holds(run: Execution, place: Place, j: int) -> bool:
    """Whether an edge is enabled, within tolerance."""
    spend_on_guard()
    return run.prepared.guard(place.name, j)(run.env, run.method.rtol, run.method.atol)


def take(
    run: Execution, place: Place, options: list[int], anyway: bool, forced: list[int] | None = None
) -> bool:
    """Jump along one of the edges, if the target's invariant allows it; an instant is
    not repeated unless `anyway`, and what is `forced` must be resolved by the jump."""
    options, here = list(options), run.key(place.name, run.env)
    while options:
        j = run.decisions.choose(options)
        options.remove(j)
        edge = place.edges[j]
        jump = run.prepared.jump(place.name, j)
        shares = [run.decisions.share() for _ in range(jump.choices)]
        if not jump.has_values(run.env, shares, run.method.rtol, run.method.atol):
            continue
        reset = jump(run.env, shares)
        values = {**run.env, **reset}
        if not all(map(math.isfinite, reset.values())):
            raise run.end(
                Ending.NOT_FINITE,
                f"At t = {run.t:.10g} the reset of `{edge_name(edge)}` has no finite value.",
                edge_name(edge),
            )
        target = run.prepared.place(edge.target)
        arrives = run.prepared.arrival(place.name, j)
        if not arrives(values, run.method.rtol, run.method.atol):
            continue
        if forced and not all(
            run.prepared.turns_inward(place, edge.target, place.exits[part], values)
            for part in forced
        ):
            continue
        there = run.key(edge.target, values)
        if not anyway and (there in run.visited or there == here):
            continue
        if run.sliding is not False:
            surface = run.prepared.slides.at_edge(
                place, j, run.env, run.sliding is True, (run.method.rtol, run.method.atol)
            )
            if surface is not None:
                slide(run, surface)
                return True
        departure = Departure(place, run.env, jump, edge.event)
        arrive(run, edge_name(edge), target, values, jump.assigned, departure)
        return True
    return False


def arrive(
    run: Execution,
    name: str,
    target: Place,
    values: dict[str, float],
    assigned: Collection[str],
    departure: Departure,
) -> None:
    """Enter the target, some values having been assigned; notice events that pile up."""
    exact = run.accumulation.again(name, run.t) and _exactly(run, name)
    here, there = run.key(run.place.name, run.env), run.key(target.name, values)
    fresh = there != here and there not in run.visited
    run.visited.update((here, there))
    run.keep_instant()
    run.log(EventType.JUMP, name, target.name)
    run.env, run.place = values, target
    run.begin_stay()
    run.landed_from(departure, assigned)
    run.jumps += 1
    if fresh:
        run.instant = (run.t, 0)  # a chain of new states may come to an end
    run.accumulation.jump(name, run.t, {n: values[n] for n in target.program.flowing}, fresh)
    limit = run.accumulation.by_edge[name].ended(exact)
    if limit is not None:
        cycle = last_round(run, name, limit)
        if rest(run, target, name, limit, cycle):
            return
        no_rest(run, name, limit, cycle)
    piled_up(run, target, name)


def _exactly(run: Execution, name: str) -> bool:
    """Whether an edge of this name is enabled, without tolerance."""
    place = run.place
    named = (j for j, other in enumerate(place.edge_names) if other == name)
    return any(run.prepared.guard(place.name, j)(run.env, 0.0, 0.0) for j in named)


def rest(run: Execution, place: Place, name: str, limit: Limit, cycle: Sequence[Event]) -> bool:
    """Go on beyond an accumulation of jumps, where the model has an edge for the state to
    which they lead: a mode of rest. The edges that accumulate lead nowhere else. (No run of the
    automaton itself gets there.)"""
    t = max(limit.time, run.t)
    if run.sliding is False or t >= run.until:
        return False
    values = {**run.env, **limit.state, TIME: t}
    accumulating = {(e.name, e.source, e.target) for e in cycle}
    for j, edge in enumerate(place.edges):
        if edge.target == place.name:
            continue
        if (place.edge_names[j], place.name, edge.target) in accumulating:
            continue
        tolerances = (run.method.rtol, run.method.atol)
        if not run.prepared.guard(place.name, j)(values, *tolerances):
            continue
        before = run.t, run.env, run.recorder.mark()
        run.log(EventType.ACCUMULATION, name, edge.target)
        if t > run.t:
            run.pass_to(t, values, f"the limit of {name}")
        run.env = values
        if take(run, place, [j], True):
            run.accumulation.forget()
            return True
        run.t, run.env, mark = before
        run.recorder.forget_since(mark)
        del run.events[-1]
    return False


def rewind(run: Execution) -> None:
    """Go back to the last moment at which an edge could be taken, and take it."""
    assert run.last_chance is not None
    mark, t, env, j, signal_change = run.last_chance
    run.feed.expect(signal_change)
    run.recorder.forget_since(mark)
    run.events = [e for e in run.events if e.time <= t]
    run.t, run.env, run.last_chance, run.former = t, dict(env), None, {}
    run.place = run.prepared.place(run.place.name)
    if not take(run, run.place, [j], True):
        raise blocked(run, run.place, [])


def blocked(run: Execution, place: Place, forced: list[int]) -> RunEnded:
    """The outcome of a run that can neither wait nor jump, with the reasons."""
    parts = ", ".join(f"`{place.exit_names[i]}`" for i in forced) or "an urgent edge"
    reasons = [refusal(run, place, j) for j in range(len(place.edges))]
    why = "; ".join(reasons[:4]) if reasons else "no edge leaves the location"
    return run.end(
        Ending.BLOCKED,
        f"The run blocks at t = {run.t:.10g} in `{place.name}`: {parts} forbids time to"
        f" pass, and {why}.",
        parts.strip("`"),
    )

"""The loop: from one instant of a run to the next, until the run ends.

An instant goes on to the next in two parts: time passes until something happens
(`simulate.loop.flow`), and the run responds (`simulate.loop.event`, and `input_jump` where what is
fed in changes). `follow` does so to the end. It may be given any instant of a run, as often as
wanted: what follows is the same each time.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.models.trace import Counts, Outcome, Trace
from workbench.simulate.loop.boundary import inside
from workbench.simulate.loop.ending import (
    cannot_go_on,
    external_failed,
    left_invariant,
    too_many_steps,
)
from workbench.simulate.loop.event import on_time, react, react_sliding, with_fired
from workbench.simulate.loop.flow import pass_time
from workbench.simulate.loop.input_jump import change_inputs
from workbench.simulate.loop.instant import Instant, RunEnded
from workbench.simulate.stepping.program import ExternalError
from workbench.simulate.stepping.stretch import Stop, Stretch

OUTSIDE = 10.0
"""A state further outside the invariant than this many tolerances ends the run."""


def advance(now: Instant) -> Instant:
    """The next instant of a run; RunEnded is raised where there is none."""
    now, result, at_once = pass_time(now)
    try:
        return respond(now, result, at_once)
    except ExternalError as failure:
        raise external_failed(now, failure) from None


def respond(now: Instant, result: Stretch, at_once: tuple[int, ...]) -> Instant:
    """Do what the end of a stretch asks for; a run never goes on, and never proves
    anything, from a state outside the invariant."""
    if at_once:
        result = with_fired(result, at_once)
    stop, place, scenario = result.stop, now.place, now.scenario
    rtol, atol = scenario.tolerances
    known = stop is Stop.EVENT or stop is Stop.END
    known = known and not (now.stay.touch is not None and now.stay.touch.parts)
    if known and not inside(now, OUTSIDE * rtol, OUTSIDE * atol):
        raise left_invariant(now)
    if stop is Stop.END:
        now = on_time(now, place)
    elif stop is not Stop.EVENT:
        raise cannot_go_on(now, stop)
    elif now.past.steps >= scenario.method.max_steps:
        raise too_many_steps(now)
    elif place.slide is not None:
        now = react_sliding(now, place, place.slide, result)
    else:
        now = react(now, place, result)
    return change_inputs(now) if now.time >= now.changes.next else now


def instants(now: Instant) -> Iterator[Instant]:
    """An instant and those that follow it, up to the last but the end of the run; the trace is
    that of `follow`."""
    while True:
        yield now
        try:
            now = advance(now)
        except RunEnded:
            return


def follow(now: Instant) -> Trace:
    """The whole run to which an instant belongs, from its start to its end."""
    try:
        while True:
            now = advance(now)
    except RunEnded as ended:
        return trace_of(ended.now or now, ended.outcome)


def trace_of(now: Instant, outcome: Outcome) -> Trace:
    """What a run did up to an instant, with how it ended."""
    now, scenario, prepared = now.noted(), now.scenario, now.prepared
    return Trace(
        prepared.base.name,
        tuple(v.name for v in prepared.base.variables),
        scenario.recorder.segments(now.past),
        tuple(now.past.events_since(0)),
        outcome,
        Counts(*now.past.work),
        tuple(scenario.numbers.known[: now.decided]),
        {p.name: now.values[p.name] for p in prepared.view.parameters},
        repr(scenario.method),
    )

"""Time passes: a stretch of the flow of one place, up to the next event or change of inputs."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace

from workbench.models.automaton import TIME
from workbench.models.interruption import go_on
from workbench.simulate.effort import spend_on_stretch
from workbench.simulate.loop.ending import external_failed, too_many_steps
from workbench.simulate.loop.event import urgent_at_once
from workbench.simulate.loop.instant import Instant, StayNotes
from workbench.simulate.place import Place, Role
from workbench.simulate.stepping.engine import stretch
from workbench.simulate.stepping.methods import Adams, Method
from workbench.simulate.stepping.program import ExternalError, Program
from workbench.simulate.stepping.stretch import Stop, Stretch

MAX_KEPT = 20_000_000
"""So many numbers of dense output are kept of one run: 160 megabytes, ten times that as JSON."""

TYPICAL_ORDER = 8
"""The order of a usual step; each variable has one number more than that in every step."""

MAX_SPECIAL = 1000
"""For so many things that are special in a place its watches are remembered."""

TIGHTENED = 0.1
"""The tolerances of Adams' method in place of a series, relative to those of the series."""

SHORTEST = 1e-13
"""Where an external function fails in every step longer than this part of the time, it fails."""


Outset = tuple[Instant, float, "array[int]", tuple[int, ...]]
"""How a stretch begins: at which instant, until when it lasts at most, which watches are looked at,
and those of urgent edges that are enabled at once."""


_NONE: frozenset[int] = frozenset()


def outset(now: Instant) -> Outset:
    """Make ready for the next stretch."""
    if now.place.branches is not None:
        now = now.with_values({**now.values, **now.place.branches(now.values)})
    at_once = urgent_at_once(now)
    until = now.time if at_once else max(next_change(now), now.time)
    return now, until, _watches(now), at_once


def next_change(now: Instant) -> float:
    """When the next signal, level or wait changes, or the run ends."""
    stay, change = now.stay, min(now.scenario.until, *now.changes)
    if stay.touch is not None:
        change = min(change, stay.touch.until)
    return min(change, *stay.enabled.values()) if stay.enabled else change


def _watches(now: Instant) -> array[int]:
    """The watches to look at: guards of enabled edges for becoming false, others for
    becoming true; and each branch of the flow for becoming what it is not."""
    place, stay = now.place, now.stay
    wanted = place.ordinary
    if stay.enabled or stay.ignored or stay.refused or stay.touch:
        wanted = _special_watches(place, stay)
    if place.switches:
        values = now.values
        wanted = wanted + array("i", [pair[values[name] != 0.0] for name, pair in place.switches])
    return wanted


def _special_watches(place: Place, stay: StayNotes) -> array[int]:
    """The watches to look at, those of branches left out, where something special is going on."""
    touch = stay.touch
    parts, edges = (touch.parts, touch.edges) if touch is not None else (_NONE, _NONE)
    key = (tuple(stay.enabled), stay.ignored, stay.refused, parts, edges)
    known = place.special
    found = known.get(key)
    if found is not None:
        return found
    without = [(Role.BAD, j) for j in stay.ignored]
    without += [(Role.RISE, j) for j in (*stay.enabled, *edges)]
    without += [(Role.AWAY, j) for j in stay.refused]
    without += [(Role.EXIT, j) for j in parts]
    numbers = place.numbers
    wanted = {*place.ordinary}.difference(map(numbers.get, without))
    falls = (numbers.get((Role.FALL, j)) for j in stay.enabled)
    wanted.update(watch for watch in falls if watch is not None)
    if len(known) >= MAX_SPECIAL:
        known.clear()
    known[key] = array("i", sorted(wanted))
    return known[key]


def pass_time(now: Instant) -> tuple[Instant, Stretch, tuple[int, ...]]:
    """Let time pass until something happens: the instant then, what the stretch was like, and the
    watches of urgent edges that were enabled at its beginning."""
    try:
        begin = outset(now)
        result = _part(begin, math.inf)
    except ExternalError as failure:
        begin, result = _up_to_failure(now, failure)
    return passed(begin[0], result), result, begin[3]


def passed(now: Instant, result: Stretch) -> Instant:
    """The end of a stretch; its work is counted, and may be called off."""
    place, values = now.place, now.values
    spend_on_stretch(place.program, result.work)
    go_on()
    after = dict(values)
    after[TIME] = result.t
    after.update(zip(place.program.flowing, result.x, strict=True))
    past = now.past.passed(place, values, result, now.scenario.recorder.whole)
    return now.at(result.t, after, past)


def _part(begin: Outset, limit: float) -> Stretch:
    """What the stretch does, up to a time at most."""
    now, until, watches, _ = begin
    scenario, program = now.scenario, now.place.program
    method, whole = scenario.method, scenario.recorder.whole
    if program.sampled or not program.differentiable:
        method = _suited(program, scenario.sampling if program.sampled else method)
    if whole:
        method = _within_memory(now, method, len(program.flowing))
    return stretch(program, method, now.values, min(until, limit), watches, whole)


def _up_to_failure(now: Instant, failure: ExternalError) -> tuple[Outset, Stretch]:
    """Go on in short parts where an external function failed in a step, for the step may have
    looked further than the run gets: the last part, or the end of the run at the time from which
    on the function fails."""
    scenario = now.scenario
    part = (next_change(now) - now.time) / 2.0
    while part > SHORTEST * scenario.until:
        try:
            begin = outset(now)
            result = _part(begin, now.time + part)
        except ExternalError as again:
            failure, part = again, part / 2.0
            continue
        if result.stop is not Stop.END or result.t >= next_change(now):
            return begin, result
        now = passed(begin[0], result)
        if now.past.steps >= scenario.method.max_steps:
            raise too_many_steps(now)
        part *= 2.0
    raise external_failed(now, failure)


def _suited(program: Program, method: Method) -> Method:
    """The method, or one that is no series where the flow calls a function."""
    return method if program.differentiable else without_series(method)


def without_series(method: Method) -> Method:
    """The method, or Adams in place of a series: where a function is called whose derivatives are
    not known, a series would take it for a constant. Its tolerances are those of the series,
    tightened: else what is repeated by a series, to see how exact a run of Adams' method is, would
    be the same run again, errors and all."""
    if isinstance(method, Adams):
        return method
    return Adams(
        method.rtol * TIGHTENED, method.atol * TIGHTENED, max_step=method.max_step,
        max_steps=method.max_steps, detection=method.detection,
    )  # fmt: skip


def _within_memory(now: Instant, method: Method, width: int) -> Method:
    """The method with no more steps than there is room for the dense output of so many
    variables."""
    room = (MAX_KEPT - now.past.kept) // (max(width, 1) * (TYPICAL_ORDER + 1))
    return method if room >= method.max_steps else replace(method, max_steps=max(room, 1))

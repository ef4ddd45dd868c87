"""Runs as far as they are certain: two computations of one run, compared.

A tolerance bounds the error of a step, not that of a run. An unstable flow carries every error
away: x' = y, y' = 25 x is left at once by whoever computes it on its stable line x = -y/5. So a
run is computed twice, by two methods that take the same decisions, and ends where the two
part: where a state differs by more than `AGREEMENT` of its size, where one jumps and the other
does not, or does so later. How far two computations are apart estimates the error of each; it
is no bound.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Set
from dataclasses import replace
from itertools import islice, pairwise, zip_longest

from workbench.models.trace import Ending, Event, EventType, Outcome, Segment, Trace

AGREEMENT = 1e-7
"""The share of a state's size by which two computations of it may differ."""


def certain(first: Trace, second: Trace) -> Trace:
    """The first run, up to where the second, made with the same decisions, parts from it."""
    parting = _parting(first, second)
    return first if parting is None else _cut(first, *parting)


def stays(trace: Trace) -> Iterator[tuple[int, int]]:
    """The times that a run spends in a location without a jump, as ranges of segments."""
    jumps = {event.time for event in trace.jumps}
    first = 0
    for i, (before, after) in enumerate(pairwise(trace.segments), 1):
        if after.location != before.location or after.start in jumps:
            yield first, i
            first = i
    if trace.segments:
        yield first, len(trace.segments)


def _parting(first: Trace, second: Trace) -> tuple[int, float] | None:
    """The segment and the time up to which two runs agree; None if they do so to the end."""
    agreed, variables = (0, first.start), frozenset(first.variables)
    for mine, other in zip_longest(stays(first), stays(second)):
        if mine is None:
            return None
        if other is None:
            return agreed
        theirs = second.segments[slice(*other)]
        begun, entry = first.segments[mine[0]], theirs[0]
        if (
            begun.location != entry.location
            or _far(begun.start, entry.start)
            or _apart(variables, begun, begun.start, entry, entry.start)
        ):
            return agreed
        end = theirs[-1].end
        for number in range(*mine):
            segment = first.segments[number]
            for t in segment.times:
                near = theirs[min(bisect_left(theirs, t, key=_end), len(theirs) - 1)]
                if (t > end and _far(t, end)) or _apart(variables, segment, t, near, min(t, end)):
                    return agreed
                agreed = (number, t)
        if _far(agreed[1], end) and mine[1] < len(first.segments):
            return agreed
    return None


def _end(segment: Segment) -> float:
    return segment.end


def _far(time: float, other: float) -> bool:
    return abs(time - other) > AGREEMENT * max(1.0, abs(time))


def _apart(variables: Set[str], one: Segment, t: float, other: Segment, u: float) -> bool:
    """Whether two states differ by more than may be."""
    mine, theirs = _numbers(variables, one, t), _numbers(variables, other, u)
    size = max([1.0, *map(abs, mine.values())])
    return any(
        not abs(value - theirs[name]) <= AGREEMENT * size  # what is no number is far from all
        for name, value in mine.items()
        if name in theirs
    )


def _numbers(variables: Set[str], segment: Segment, t: float) -> dict[str, float]:
    """The numbers of a state; what is fed in, and what equations make of it, is not compared."""
    held = {n: v for n, v in segment.held.items() if n in variables}
    found = {n: float(v) for n, v in held.items() if not isinstance(v, str)}
    found.update(zip(segment.flowing, segment.state(t), strict=True))
    return found


def _cut(trace: Trace, last: int, time: float) -> Trace:
    """The run up to a time of a segment, without what comes after it at the same instant."""
    jumps = sum(len(taken) for _, taken, _ in islice(trace.transitions(), last))
    sentence = (
        f"Two computations of this run differ by more than {AGREEMENT:g} of its size after "
        f"t = {time:.6g}: rounding decides what comes then, and it is left out."
    )
    segments = (*trace.segments[:last], _shortened(trace.segments[last], time))
    return replace(
        trace,
        segments=segments,
        events=tuple(_events(trace, jumps, time)),
        outcome=Outcome(Ending.UNCERTAIN, time, sentence),
    )


def _events(trace: Trace, jumps: int, time: float) -> Iterator[Event]:
    for event in trace.events:
        jumps -= event.type is EventType.JUMP
        if jumps < 0 or event.time > time:
            return
        yield event


def _shortened(segment: Segment, time: float) -> Segment:
    """The segment up to a time of it."""
    if time >= segment.end:
        return segment
    count = max(bisect_left(segment.times, time), 0) if time > segment.start else 0
    size = sum(d + 1 for d in segment.degrees[:count]) * len(segment.flowing)
    return replace(
        segment,
        times=array("d", [*segment.times[:count], time]),
        degrees=segment.degrees[:count],
        coefficients=segment.coefficients[:size],
        final=array("d", segment.state(time)),
    )

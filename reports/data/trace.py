"""Runs as plain data for plots and replay: values at chosen times, and what happened."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

import numpy as np

from workbench.models.automaton import Automaton, Edge, Input, Variable
from workbench.models.trace import Event, EventType, Scalar, Segment, Trace
from workbench.reports.words import wording
from workbench.simulate.jump import edge_name

POINTS = 260
"""About so many points of a run are looked at."""

TOLERANCE = 1e-3
"""By this share of a variable's size the drawn lines may miss a run: a fraction of a pixel."""

MAX_EVENTS = 400

SHOWN = (
    EventType.JUMP,
    EventType.VIOLATION,
    EventType.BOUNDARY,
    EventType.HELD,
    EventType.RELEASED,
    EventType.GRAZING,
)
"""Events worth a step of the replay."""


@dataclass(frozen=True)
class Shown:
    """What is told of every state: variables and inputs. Values of enumerations are numbers,
    their places in the type."""

    declared: Mapping[str, Variable | Input]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What they are called, in order."""
        return tuple(self.declared)

    def numbers(self, values: Mapping[str, Scalar]) -> list[float | None]:
        """The state, as numbers with few digits; None where there is no finite one."""
        return [self._number(name, values.get(name)) for name in self.names]

    def _number(self, name: str, value: Scalar | None) -> float | None:
        if isinstance(value, str):
            symbols = self.declared[name].type.values
            return float(symbols.index(value)) if value in symbols else None
        return None if value is None or not math.isfinite(value) else short(float(value))


def trace_data(
    trace: Trace,
    transitions: Transitions,
    shown: Shown,
    sizes: Sequence[float],
    points: int = POINTS,
) -> dict[str, Any]:
    """A run: its stretches with what is shown of its states, its events, how it ended. Points
    that straight lines do without are left out; `sizes` are those of the variables."""
    duration = max(trace.end - trace.start, 1e-300)
    share = points / duration
    events = _events(trace, transitions)
    return {
        "outcome": {
            "ending": str(trace.outcome.ending),
            "time": short(trace.outcome.time),
            "sentence": trace.outcome.sentence,
        },
        "parameters": {n: short(v) for n, v in trace.parameters.items()},
        "stretches": [_stretch(s, shown, share, sizes) for s in trace.segments],
        "events": events[:MAX_EVENTS],
        "events_left_out": max(0, len(events) - MAX_EVENTS),
        "steps": trace.counts.steps,
        "method": trace.method,
    }


def _stretch(
    segment: Segment, shown: Shown, share: float, sizes: Sequence[float]
) -> dict[str, Any]:
    times = _times(segment, share)
    rows = [shown.numbers(segment.valuation(t)) for t in times]
    columns = [[row[j] for row in rows] for j in range(len(shown.names))]
    kept = needed(times, columns, sizes)
    return {
        "location": segment.location,
        "t": [short(times[i], 8) for i in kept],
        "values": {
            name: _column([column[i] for i in kept])
            for name, column in zip(shown.names, columns, strict=True)
        },
    }


def needed(
    times: Sequence[float], columns: Sequence[Sequence[float | None]], sizes: Sequence[float]
) -> list[int]:
    """The points that must be kept so that straight lines between them miss no other by more
    than `TOLERANCE` of the size of its variable; the first and the last always (the method of
    Ramer, Douglas and Peucker). Nothing is left out where a value is missing."""
    count = len(times)
    if count <= 2 or any(v is None for column in columns for v in column):
        return list(range(count))
    t = np.array(times)
    values = np.array(columns, dtype=float).reshape(len(columns), count)
    values = values / np.array(sizes).reshape(-1, 1)
    kept, pending = {0, count - 1}, [(0, count - 1)]
    while pending:
        first, last = pending.pop()
        if last - first < 2:
            continue
        u = (t[first + 1 : last] - t[first]) / (t[last] - t[first])
        line = values[:, [first]] * (1 - u) + values[:, [last]] * u
        misses = np.abs(values[:, first + 1 : last] - line).max(axis=0, initial=0.0)
        worst = int(misses.argmax())
        if misses[worst] > TOLERANCE:
            middle = first + 1 + worst
            kept.add(middle)
            pending += [(first, middle), (middle, last)]
    return sorted(kept)


def sizes_of(traces: Sequence[Trace], shown: Shown) -> list[float]:
    """How far apart the values of each variable are, over all runs; 1 where they are equal."""
    low, high = [math.inf] * len(shown.names), [-math.inf] * len(shown.names)
    for trace in traces:
        for segment in trace.segments:
            for t in (segment.start, (segment.start + segment.end) / 2, segment.end):
                for j, value in enumerate(shown.numbers(segment.valuation(t))):
                    if value is not None:
                        low[j], high[j] = min(low[j], value), max(high[j], value)
    return [b - a if b > a else 1.0 for a, b in zip(low, high, strict=True)]


def _times(segment: Segment, share: float) -> list[float]:
    """Both ends, and points between them: more where the integration took more steps."""
    start, end = segment.start, segment.end
    if end <= start:
        return [end]
    wanted = max(1, math.ceil((end - start) * share))
    pieces = [t for t in segment.times if start < t < end]
    if len(pieces) > 2 * wanted:
        stride = math.ceil(len(pieces) / (2 * wanted))
        pieces = pieces[::stride]
    gap = (end - start) / wanted
    grid = [start + gap * i for i in range(1, wanted)]
    found = [start]
    for t in sorted({*pieces, *grid, end}):
        if t == end or (t - found[-1] > 0.2 * gap and end - t > 0.2 * gap):
            found.append(t)
    return found


def _column(values: Sequence[float | None]) -> Any:
    """One variable; a single number where it does not change."""
    return values[0] if all(v == values[0] for v in values) else values


def short(value: float, digits: int = 6) -> float:
    """A number with few digits, which saves space in the file."""
    return float(f"{value:.{digits}g}")


class Transitions:
    """The transitions that runs take, each told once; jumps refer to them by number."""

    def __init__(self, automaton: Automaton):
        self._automaton = automaton
        self._numbers: dict[tuple[str, str, str], int] = {}
        self.data: list[dict[str, Any]] = []

    def number(self, jump: Event) -> int:
        """The number of the transition behind a jump."""
        key = (jump.name, jump.source, jump.target)
        if key not in self._numbers:
            self._numbers[key] = len(self.data)
            self.data.append(self._told(jump))
        return self._numbers[key]

    def _told(self, jump: Event) -> dict[str, Any]:
        told: dict[str, Any] = {"name": jump.name, "source": jump.source, "target": jump.target}
        edge = edge_of(self._automaton, jump)
        if edge is not None:
            told["guard"] = " && ".join(wording.conditions(edge.guard)) or "true"
            told["resets"] = list(wording.jumps(edge.resets))
            told["line"] = None if edge.span is None else [_file(edge), edge.span.line]
        return told


def _events(trace: Trace, transitions: Transitions) -> list[dict[str, Any]]:
    """What happened, in order, each with the stretch that it happens in or (a jump) leads to."""
    after: dict[int, int] = {}
    for number, (_, jumps, _) in enumerate(trace.transitions(), 1):
        after.update({id(jump): number for jump in jumps})
    found: list[dict[str, Any]] = []
    here, last = 0, len(trace.segments) - 1
    for event in trace.events:
        here = after.get(id(event), here)
        while here < last and trace.segments[here].end < event.time:
            here += 1
        if event.type is EventType.JUMP:
            data: dict[str, Any] = {"transition": transitions.number(event)}
        elif event.type in SHOWN:
            data = {"name": event.name, "source": event.source, "target": event.target}
        else:
            continue
        data["stretch"] = max(here, 0)
        found.append({"t": short(event.time, 8), "type": str(event.type), **data})
    return found


def edge_of(automaton: Automaton, event: Event) -> Edge | None:
    """The edge behind a jump."""
    candidates = [e for e in automaton.edges_from(event.source) if e.target == event.target]
    named = [e for e in candidates if edge_name(e) == event.name]
    return next(iter(named or candidates), None)


def _file(edge: Edge) -> str:
    return PurePath(edge.span.file).name if edge.span is not None else ""

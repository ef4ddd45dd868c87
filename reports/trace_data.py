"""Runs as plain data for plots and replay: values at chosen times, and what happened."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from models.automaton import Automaton, Edge
from models.trace import Event, EventType, Scalar, Segment, Trace
from reports import wording
from simulate.jump import edge_name

POINTS = 260
"""About so many points of a run are drawn."""

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


def trace_data(
    automaton: Automaton, trace: Trace, names: Sequence[str], points: int = POINTS
) -> dict[str, Any]:
    """A run: its stretches with values of the named variables, its events, how it ended."""
    duration = max(trace.end - trace.start, 1e-300)
    share = points / duration
    events = [e for e in trace.events if e.type in SHOWN]
    return {
        "outcome": {
            "ending": str(trace.outcome.ending),
            "time": short(trace.outcome.time),
            "sentence": trace.outcome.sentence,
        },
        "parameters": {n: short(v) for n, v in trace.parameters.items()},
        "stretches": [_stretch(s, names, share) for s in trace.segments],
        "events": [_event(automaton, e) for e in events[:MAX_EVENTS]],
        "events_left_out": max(0, len(events) - MAX_EVENTS),
        "steps": trace.counts.steps,
        "method": trace.method,
    }


def _stretch(segment: Segment, names: Sequence[str], share: float) -> dict[str, Any]:
    times = _times(segment, share)
    rows = [segment.valuation(t) for t in times]
    return {
        "location": segment.location,
        "t": [short(t, 8) for t in times],
        "values": {name: _column(rows, name) for name in names},
    }


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


def _column(rows: Sequence[Mapping[str, Scalar]], name: str) -> Any:
    """One variable; a single number where it does not change."""
    values = [_number(row.get(name)) for row in rows]
    return values[0] if all(v == values[0] for v in values) else values


def _number(value: Scalar | None) -> float | None:
    if value is None or isinstance(value, str) or not math.isfinite(value):
        return None
    return short(float(value))


def short(value: float, digits: int = 6) -> float:
    """A number with few digits, which saves space in the file."""
    return float(f"{value:.{digits}g}")


def _event(automaton: Automaton, event: Event) -> dict[str, Any]:
    data: dict[str, Any] = {
        "t": short(event.time, 8),
        "type": str(event.type),
        "name": event.name,
        "source": event.source,
        "target": event.target,
    }
    if event.type is EventType.JUMP:
        edge = edge_of(automaton, event)
        if edge is not None:
            data["guard"] = " && ".join(wording.conditions(edge.guard)) or "true"
            data["resets"] = list(wording.jumps(edge.resets))
            data["line"] = None if edge.span is None else [_file(edge), edge.span.line]
    return data


def edge_of(automaton: Automaton, event: Event) -> Edge | None:
    """The edge behind a jump."""
    candidates = [e for e in automaton.edges_from(event.source) if e.target == event.target]
    named = [e for e in candidates if edge_name(e) == event.name]
    return next(iter(named or candidates), None)


def _file(edge: Edge) -> str:
    return PurePath(edge.span.file).name if edge.span is not None else ""

"""Traces in files: JSON that reads back to an equal trace, and CSV for other tools."""

from __future__ import annotations

import csv
import io
import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from models.expression_text import parse_expression
from models.printing import to_text
from models.source import Diagnostic, ModelError
from models.trace import Counts, Ending, Event, EventType, Outcome, Segment, Trace

SCHEMA = "charon-trace/1"


def to_json(trace: Trace) -> str:
    """The whole trace, dense output included; numbers keep every bit."""
    document = {
        "schema": SCHEMA,
        "model": trace.model,
        "method": trace.method,
        "variables": list(trace.variables),
        "parameters": dict(trace.parameters),
        "decisions": list(trace.decisions),
        "outcome": asdict(trace.outcome),
        "counts": asdict(trace.counts),
        "events": [asdict(event) for event in trace.events],
        "segments": [_segment_out(segment) for segment in trace.segments],
    }
    return json.dumps(document)


def from_json(text: str) -> Trace:
    """The trace that `to_json` wrote; anything else is refused with a diagnostic."""
    try:
        document = json.loads(text)
        if document["schema"] != SCHEMA:
            raise ModelError(Diagnostic("trace-schema", f"not a trace of the form {SCHEMA}"))
        return Trace(
            str(document["model"]),
            tuple(map(str, document["variables"])),
            tuple(_segment_in(s) for s in document["segments"]),
            tuple(_event_in(e) for e in document["events"]),
            _outcome_in(document["outcome"]),
            Counts(**{k: int(v) for k, v in document["counts"].items()}),
            tuple(map(float, document["decisions"])),
            {str(k): float(v) for k, v in document["parameters"].items()},
            str(document["method"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ModelError(
            Diagnostic("trace-file", f"this is not a trace: {type(error).__name__} {error}")
        ) from error


def to_csv(trace: Trace, step: float | None = None, names: Sequence[str] = ()) -> str:
    """Rows time, location, variables: at the ends of all integration steps, or every `step`;
    both values are given where a jump changes them. Enumerations are written as stored."""
    chosen = tuple(names) or trace.variables
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["time", "location", *(n for n in chosen if n != "time")])
    for t, location, values in trace.samples(step):
        writer.writerow([repr(t), location, *(_cell(values[n]) for n in chosen if n != "time")])
    return out.getvalue()


def _cell(value: float | bool | str) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _segment_out(segment: Segment) -> dict[str, Any]:
    return {
        "location": segment.location,
        "flowing": list(segment.flowing),
        "times": list(segment.times),
        "degrees": list(segment.degrees),
        "coefficients": list(segment.coefficients),
        "held": dict(segment.held),
        "final": list(segment.final),
        "derived": {name: to_text(e) for name, e in segment.derived.items()},
    }


def _segment_in(given: Mapping[str, Any]) -> Segment:
    times = array("d", given["times"])
    degrees = array("i", given["degrees"])
    coefficients = array("d", given["coefficients"])
    flowing = tuple(map(str, given["flowing"]))
    size = sum(d + 1 for d in degrees) * len(flowing)
    if (len(times) != len(degrees) + 1 and degrees) or len(coefficients) != size:
        raise ValueError("the pieces of a segment do not fit together")
    derived = {str(n): parse_expression(e) for n, e in given["derived"].items()}
    final = array("d", given["final"])
    if len(final) != len(flowing):
        raise ValueError("a segment lacks its final state")
    held = {str(k): v for k, v in given["held"].items()}
    return Segment(
        str(given["location"]), flowing, times, degrees, coefficients, held, final, derived
    )


def _event_in(given: Mapping[str, Any]) -> Event:
    return Event(
        float(given["time"]),
        EventType(given["type"]),
        str(given["name"]),
        str(given["source"]),
        str(given["target"]),
        float(given["residual"]),
        str(given["side"]),
        tuple(map(str, given["together"])),
    )


def _outcome_in(given: Mapping[str, Any]) -> Outcome:
    accumulation = given["accumulation"]
    return Outcome(
        Ending(given["ending"]),
        float(given["time"]),
        str(given["sentence"]),
        str(given["name"]),
        None if accumulation is None else float(accumulation),
    )

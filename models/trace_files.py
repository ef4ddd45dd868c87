"""Traces in files: JSON that reads back to an equal trace, and CSV for other tools."""

from __future__ import annotations

import csv
import io
import json
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from itertools import pairwise
from typing import Any

from workbench.models.expressions.operators import Op
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import postorder
from workbench.models.source import Diagnostic, ModelError
from workbench.models.trace import (
    Counts,
    Course,
    Ending,
    Event,
    EventType,
    Outcome,
    Scalar,
    Segment,
    Trace,
    scalar_text,
)
from workbench.models.trace_boxes import Box, hull_at

SCHEMA = "charon-trace/1"
LONGEST_NUMBER = 1000
"""So many letters of a number in a table are read."""
TIME_COLUMN, LOCATION_COLUMN, SLIDING_COLUMN = "time", "location", "sliding"
_MARKS = {LOCATION_COLUMN, SLIDING_COLUMN}
LOWER, UPPER = ".lower", ".upper"
"""What the names of columns with bounds of a variable end with."""


def to_json(trace: Trace) -> str:
    """The whole trace, dense output included; numbers keep every bit."""
    return json.dumps(as_document(trace))


def as_document(trace: Trace) -> dict[str, Any]:
    """The whole trace as plain data."""
    return {
        "schema": SCHEMA,
        "model": trace.model,
        "method": trace.method,
        "variables": list(trace.variables),
        "parameters": dict(trace.parameters),
        "decisions": list(trace.decisions),
        "outcome": asdict(trace.outcome),
        "counts": asdict(trace.counts),
        "events": [event._asdict() for event in trace.events],
        "segments": [_segment_out(segment) for segment in trace.segments],
    }


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
    except RecursionError:
        raise _not_a_trace("it is nested too deeply") from None
    except KeyError as error:
        raise _not_a_trace(f"there is no {error}") from error
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise _not_a_trace(str(error)) from error


def to_csv(
    trace: Trace,
    step: float | None = None,
    names: Sequence[str] = (),
    boxes: Sequence[Box] | None = None,
) -> str:
    """Rows time, location, variables: at the ends of all integration steps, or every `step`;
    both values are given where a jump changes them. Enumerations are written as stored. A
    column `sliding` names the surface where a run slides along one. With `boxes`, which enclose
    a run in the order of time, columns `x.lower` and `x.upper` bound each variable at that
    time; they are empty where nothing is enclosed."""
    chosen = [n for n in tuple(names) or trace.variables if n != TIME_COLUMN]
    slides = [SLIDING_COLUMN] if any(s.sliding for s in trace.segments) else []
    bounded = [] if boxes is None else [n + end for n in chosen for end in (LOWER, UPPER)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([TIME_COLUMN, LOCATION_COLUMN, *slides, *chosen, *bounded])
    for t, segment, values in trace.rows(step):
        marks = [segment.sliding] if slides else []
        cells = [_cell(values[n]) for n in chosen]
        if boxes is not None:
            hull = hull_at(boxes, t, segment.location)
            cells += [_cell(b) for n in chosen for b in hull.get(n, ("", ""))]
        writer.writerow([repr(t), segment.location, *marks, *cells])
    return out.getvalue()


def from_csv(text: str, model: str = "", numeric: Collection[str] = ()) -> Trace:
    """A trace with straight lines between the rows of a table, as `to_csv` or another tool wrote
    it: a column `time`, columns with numbers or words, and perhaps `location` and `sliding`.
    Where the time stands still or a word changes a new segment begins. Raises ModelError, also
    where a `numeric` column, or one that has numbers, has anything else."""
    lines, (head, *rows) = _numbered(csv.reader(text.splitlines()))
    if TIME_COLUMN not in head or len(set(head)) != len(head):
        raise _not_a_trace("the table needs a header of different names with a column `time`")
    table: dict[str, list[float]] = {}
    words: dict[str, list[str]] = {}
    for i, name in enumerate(head):
        if any(name.endswith(end) and name.removesuffix(end) in head for end in (LOWER, UPPER)):
            continue  # bounds of another column
        try:
            cells = [row[i] for row in rows]
        except IndexError:
            raise _not_a_trace("a line of the table is too short") from None
        numbers = [_number(cell) for cell in cells]
        if name not in _MARKS and (name in numeric or any(map(_counts, numbers))):
            for line, cell, found in zip(lines, cells, numbers, strict=True):
                if found is None:
                    raise _not_a_trace(f"line {line}, column `{name}`: `{cell}` is no number")
        if name in (LOCATION_COLUMN, SLIDING_COLUMN) or None in numbers:
            words[name] = cells
        else:
            table[name] = [v for v in numbers if v is not None]
    times = table.pop(TIME_COLUMN, None)
    if times is None or any(not a <= b for a, b in pairwise(times)):
        raise _not_a_trace("the column `time` needs numbers that grow")
    variables = tuple(n for n in head if n in table or n in words.keys() - _MARKS)
    segments = tuple(_straight(times, table, words))
    end = segments[-1].end if segments else 0.0
    outcome = Outcome(Ending.HORIZON, end, "The run was read from a table.")
    return Trace(model, variables, segments, (), outcome)


def _numbered(reader: Iterator[list[str]]) -> tuple[list[int], list[list[str]]]:
    """The rows of a table that are not empty (the first is the header), and the numbers of the
    lines below the header."""
    found = [(number, row) for number, row in enumerate(reader, 1) if row] or [(1, [])]
    return [number for number, _ in found[1:]], [row for _, row in found]


def _counts(value: float | None) -> bool:
    """Whether a cell is a number; what a variable has where it has no value could be a word's."""
    return value is not None and value == value


def _straight(
    times: Sequence[float], table: Mapping[str, list[float]], words: Mapping[str, list[str]]
) -> Iterator[Segment]:
    """Segments of straight lines between rows."""
    first = 0
    for i in range(1, len(times) + 1):
        if i < len(times) and times[i] > times[i - 1] and _same(words, i):
            continue
        held = {n: cells[first] for n, cells in words.items()}
        location, sliding = held.pop(LOCATION_COLUMN, ""), held.pop(SLIDING_COLUMN, "")
        coefficients = array("d")
        for k in range(first, i - 1):
            for values in table.values():
                slope = (values[k + 1] - values[k]) / (times[k + 1] - times[k])
                coefficients.extend((values[k], slope))
        yield Segment(
            location,
            tuple(table),
            array("d", times[first:i]),
            array("i", [1] * (i - 1 - first)),
            coefficients,
            held,
            array("d", [values[i - 1] for values in table.values()]),
            sliding=sliding,
        )
        first = i


def _same(words: Mapping[str, list[str]], i: int) -> bool:
    return all(cells[i] == cells[i - 1] for cells in words.values())


def _number(cell: str) -> float | None:
    if cell.lower() in ("true", "false"):  # other programs begin them with a capital
        return float(cell.lower() == "true")
    try:
        return float(cell)
    except ValueError:
        return None


def _not_a_trace(why: str) -> ModelError:
    return ModelError(Diagnostic("trace-file", f"this is not a trace: {why}"))


def _cell(value: Scalar) -> str:
    return repr(value) if isinstance(value, float) else scalar_text(value)


def _segment_out(segment: Segment) -> dict[str, Any]:
    called, tables = _called(segment), _looked_up(segment)
    return {
        "location": segment.location,
        "flowing": list(segment.flowing),
        "times": list(segment.times),
        "degrees": list(segment.degrees),
        "coefficients": list(segment.coefficients),
        "held": dict(segment.held),
        "final": list(segment.final),
        "derived": {n: to_text(e, quote_symbols=True) for n, e in segment.derived.items()},
        "sliding": segment.sliding,
        "inputs": {name: _course_out(course) for name, course in segment.inputs.items()},
        **({"externals": called} if called else {}),
        **({"tables": {t.name: _table_out(t) for t in tables}} if tables else {}),
    }


def _called(segment: Segment) -> list[str]:
    """The functions from outside that the equations of a segment call."""
    nodes = postorder(*segment.derived.values())
    return sorted({node.name for node in nodes if node.op is Op.EXTERNAL})


def _looked_up(segment: Segment) -> list[Table]:
    """The tables that the equations of a segment read."""
    nodes = postorder(*segment.derived.values())
    return list(dict.fromkeys(node.table for node in nodes if node.op is Op.LOOKUP))


def _table_out(table: Table) -> dict[str, Any]:
    return {
        "interpolation": table.interpolation.value,
        "axes": [list(map(str, axis)) for axis in table.axes],
        "values": [list(map(str, row)) for row in table.values],
    }


def _table_in(name: str, given: Mapping[str, Any]) -> Table:
    axes, values = (
        tuple(tuple(Fraction(str(v)[:LONGEST_NUMBER]) for v in row) for row in given[part])
        for part in ("axes", "values")
    )
    return Table(name, axes, values, Interpolation(given["interpolation"]))


def _course_out(course: Course) -> list[float] | str:
    return list(course) if isinstance(course, tuple) else to_text(course)


def _course_in(given: Any) -> Course:
    if isinstance(given, str):
        return parse_expression(given)
    a, b = given
    return float(a), float(b)


def _segment_in(given: Mapping[str, Any]) -> Segment:
    times = array("d", given["times"])
    degrees = array("i", given["degrees"])
    coefficients = array("d", given["coefficients"])
    flowing = tuple(map(str, given["flowing"]))
    size = sum(d + 1 for d in degrees) * len(flowing)
    if (len(times) != len(degrees) + 1 and degrees) or len(coefficients) != size:
        raise ValueError("the pieces of a segment do not fit together")
    called = frozenset(map(str, given.get("externals", ())))
    tables = {str(n): _table_in(str(n), t) for n, t in given.get("tables", {}).items()}
    derived = {
        str(n): parse_expression(e, tables=tables, externals=called)
        for n, e in given["derived"].items()
    }
    final = array("d", given["final"])
    if len(final) != len(flowing):
        raise ValueError("a segment lacks its final state")
    held = {str(k): v for k, v in given["held"].items()}
    sliding = str(given.get("sliding", ""))
    inputs = {str(n): _course_in(c) for n, c in given.get("inputs", {}).items()}
    return Segment(
        str(given["location"]), flowing, times, degrees, coefficients, held, final, derived,
        sliding, inputs,
    )  # fmt: skip


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

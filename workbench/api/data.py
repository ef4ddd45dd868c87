"""Models, runs and verdicts as plain data, for pages and other programs: what JSON can say.

Numbers that are not finite are None, and a run has as many points as a picture of it shows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.models.automaton import Automaton, Input, Variable
from workbench.models.expressions.printing import to_text
from workbench.models.source import Diagnostic
from workbench.models.trace import Event, EventType

if TYPE_CHECKING:
    from workbench.api.model import Model
    from workbench.api.refinement import Refinement
    from workbench.api.runs import Array, Floats, Run
    from workbench.api.verdicts import Verdict
    from workbench.models.model import Setting

POINTS = 400
"""About so many points of a run are told."""

DIGITS = 9
"""So many digits are told of the largest value of a course, and as many places of the others."""

MAX_EVENTS = 2000
"""So many events of a run are told."""

MAX_STEPS = 5000
"""So many steps of an agent with a clock of its own are told."""

_LEFT_OUT = (EventType.ENABLED, EventType.DISABLED)
_MEMORY = re.compile(r"\{[^{}]*\}")


# Models


def model_data(model: Model) -> dict[str, Any]:
    """What can be chosen and seen of a model's runs: variables, constants and parameters, first
    values, inputs, and the bounds that properties set to single variables."""
    automaton = model.automaton
    first, given = _first_ranges(automaton), _given_by_equations(automaton)
    return {
        "name": model.name,
        "horizon": None if automaton.horizon is None else float(automaton.horizon),
        "variables": [_declared(v) | {"kind": str(v.kind)} for v in automaton.variables],
        "parameters": [_setting(s) for s in model.loaded.settings],
        "initial": [
            _declared(v) | ({"given": True} if v.name in given else first.get(v.name, {}))
            for v in automaton.variables
        ],
        "inputs": [_declared(i) | _ends(i.low, i.high) for i in automaton.inputs],
        "properties": _properties(automaton),
    }


def _declared(what: Variable | Input) -> dict[str, Any]:
    return {"name": what.name, "type": what.type.name} | (
        {"values": list(what.type.values)} if what.type.values else {}
    )


def _setting(setting: Setting) -> dict[str, Any]:
    value = setting.value
    told = float(value) if isinstance(value, Fraction) else value
    data = {"name": setting.name, "type": setting.type.name, "value": told}
    return data | _ends(setting.low, setting.high)


def _ends(low: Fraction | None, high: Fraction | None) -> dict[str, float]:
    ends = {"low": low, "high": high}
    return {side: float(end) + 0.0 for side, end in ends.items() if end is not None}


def _first_ranges(automaton: Automaton) -> dict[str, dict[str, float]]:
    """The bounds of single variables in the first initial set."""
    from workbench.simulate.start.box import box_of

    start = next(automaton.initial_sets(), None)
    if start is None:
        return {}
    box = box_of(start.condition)
    found = {name: _ends(box.low.get(name), box.high.get(name)) for name in {*box.low, *box.high}}
    for name, value in box.defined:
        if value.is_constant:
            found[name] = _ends(value.constant, value.constant)
    return found


def _given_by_equations(automaton: Automaton) -> frozenset[str]:
    """The variables that an equation gives wherever control is: none of them is free at first."""
    found: set[str] = set()
    for component in automaton.components:
        equations = (
            {c.variable for c in place.algebraic if c.range.exact is not None}
            for place in component.locations
        )
        found |= set.intersection(*equations)
    return frozenset(found)


def _properties(automaton: Automaton) -> list[dict[str, Any]]:
    from workbench.reports.claims.property_bounds import property_bounds

    bounds = property_bounds(automaton)
    return [
        {
            "name": claim.name,
            "kind": str(claim.kind),
            "bounds": [
                {"variable": b.variable, **_kept_within(b.low, b.high)}
                for b in bounds
                if b.claim == claim.name
            ],
        }
        for claim in automaton.properties
    ]


def _kept_within(low: float, high: float) -> dict[str, Any]:
    """Values from `low` to `high` are bad: the bound that keeps a variable away from them."""
    if math.isinf(low):
        return {"low": high + 0.0}
    return {"high": low + 0.0} if math.isinf(high) else {"not_within": [low, high]}


# Runs


def run_data(run: Run, points: int = POINTS) -> dict[str, Any]:
    """A run: the courses of all variables at common times, what happened, in
    which modes the agents were, and how it ended. Where jumps happen a time stands there
    twice."""
    times, values = thinned(run, points)
    events = [e for e in run.events if e.type not in _LEFT_OUT]
    return {
        "seed": run.seed,
        "times": times.tolist(),
        "values": {name: _numbers(course) for name, course in values.items()},
        "events": [_event(e) for e in events[:MAX_EVENTS]],
        "events_left_out": max(0, len(events) - MAX_EVENTS),
        "locations": list(_stays(run)),
        "clocks": {agent: list(times[:MAX_STEPS]) for agent, times in run.clocks.items()},
        "violated": list(run.violated),
        "end": {"reason": str(run.ending), "time": run.end, "text": run.sentence},
    }


def thinned(run: Run, points: int = POINTS) -> tuple[Floats, dict[str, Array]]:
    """The courses of all variables at about so many times: at the ends of the integration steps
    and between them; where these are too many, the first, last, least and greatest values of
    equal stretches of time, so that no peak is lost."""
    times, courses = run.courses((run.end - run.start) / points)
    numeric = [np.asarray(v, dtype=np.float64) for v in courses.values() if v.dtype != object]
    kept = _kept(times, numeric, points)
    return times[kept], {name: course[kept] for name, course in courses.items()}


def _kept(times: Floats, columns: Sequence[Floats], points: int) -> Array:
    """The places to keep, in order."""
    count = len(times)
    if count <= 4 * points:
        return np.arange(count)
    buckets = max(16, points // (2 + 2 * len(columns)))
    borders = np.searchsorted(times, np.linspace(times[0], times[-1], buckets + 1)[1:-1])
    kept = {0, count - 1}
    for part in np.split(np.arange(count), borders):
        if not len(part):
            continue
        kept |= {int(part[0]), int(part[-1])}
        for column in columns:
            here = column[part]
            if not np.isnan(here).all():
                kept |= {int(part[np.nanargmin(here)]), int(part[np.nanargmax(here)])}
    return np.array(sorted(kept))


def _numbers(values: Array) -> list[Any]:
    """A course with the digits that a picture needs; None where there is no finite number."""
    if values.dtype == object:
        return [v if not isinstance(v, float) or math.isfinite(v) else None for v in values]
    if values.dtype == bool:
        return list(values.tolist())
    finite = np.isfinite(values)
    largest = float(np.abs(values[finite]).max(initial=0.0))
    shown = values if not largest else np.round(values, DIGITS - math.ceil(math.log10(largest)))
    if finite.all():
        return list(shown.tolist())
    return [v if ok else None for v, ok in zip(shown.tolist(), finite.tolist(), strict=True)]


def _event(event: Event) -> dict[str, Any]:
    agent, colon, label = event.name.rpartition(": ")
    return {
        "time": event.time,
        "type": str(event.type),
        "label": label if colon else event.name,
        "agent": agent,
        "source": event.source,
        "target": event.target,
    }


def _stays(run: Run) -> Iterator[dict[str, Any]]:
    """From when to when the agents are in which modes."""
    modes: dict[str, list[list[str]]] = {}
    stay: dict[str, Any] = {}
    for segment in run.trace.segments:
        if segment.end < run.start or segment.start > run.end:
            continue
        place, start, end = segment.location, segment.start, segment.end
        start, end = max(start, run.start), min(end, run.end)
        if stay and stay["location"] == place:
            stay["to"] = end
            continue
        if stay:
            yield stay
        if place not in modes:
            modes[place] = [] if run.automaton is None else active_modes(run.automaton, place)
        stay = {"from": start, "to": end, "location": place, "modes": modes[place]}
    if stay:
        yield stay


def active_modes(automaton: Automaton, location: str) -> list[list[str]]:
    """The modes that are active in a location, each by the names that lead to it from the whole:
    of agents, then of modes."""
    whole = automaton.components[0].name if len(automaton.components) == 1 else None
    found = []
    for agent, place in automaton.occupied(location).items():
        names = [] if agent == whole else agent.split(".")
        found.append([*names, *_MEMORY.sub("", place).split(".")])
    return found


# Verdicts


def verdict_data(verdict: Verdict) -> dict[str, Any]:
    """A verdict and what it rests on; the evidence itself is a file (`Verdict.save`)."""
    data: dict[str, Any] = {
        "property": verdict.name,
        "outcome": verdict.outcome,
        "headline": verdict.headline,
        "scope": verdict.scope,
        "method": verdict.method,
        "seconds": verdict.seconds,
        "assumptions": list(verdict.assumptions),
        "blocking": verdict.blocking,
    }
    if verdict.is_verified:
        data["horizon"] = None if verdict.horizon is None else str(verdict.horizon)
    if verdict.outcome == "unknown":
        data |= {"reason": verdict.reason, "advice": verdict.advice.split("\n")}
        data |= {"known": list(verdict.known)}
    if verdict.invariant is not None:
        cells = chain.from_iterable(verdict.invariant.cells.values())
        data["invariant"] = [
            {"location": place, "inequalities": told, "conditions": [to_text(c) for c in cell]}
            for (place, told), cell in zip(verdict.invariant.lines(), cells, strict=True)
        ]
    if verdict.counterexample is not None:
        found = verdict.counterexample
        data["confirmations"] = [
            {"how": c.how, "rigorous": c.rigorous} for c in found.confirmations
        ]
        data["counterexample"] = run_data(found.run)
    return data


def refinement_data(refinement: Refinement) -> dict[str, Any]:
    """A refinement: its outcome, and the tree of its proof or what is left."""
    return {
        "outcome": refinement.outcome,
        "text": str(refinement),
        "data": refinement.data,
    }


# Messages


def diagnostic_data(diagnostic: Diagnostic) -> dict[str, Any]:
    """A message about a model, with its place."""
    span = diagnostic.span
    place = None
    if span is not None:
        place = {
            "file": span.file,
            "line": span.line,
            "column": span.column,
            "end_line": span.end_line,
            "end_column": span.end_column,
        }
    return {
        "code": diagnostic.code,
        "severity": str(diagnostic.severity),
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        "span": place,
    }

"""The cross-check as plain data: margins of runs, and contradictions."""

from __future__ import annotations

from typing import Any

from workbench.models.automaton import Property
from workbench.models.dynamics import eliminate_algebraic
from workbench.models.expressions.traversal import free_variables
from workbench.models.lowering.problem import LinearProblem
from workbench.models.trace import scalar_text
from workbench.models.verdict import Falsified
from workbench.reports.analysis import Findings
from workbench.reports.claims.claimed_set import at_most_zero
from workbench.reports.crosscheck.contradictions import Contradiction
from workbench.reports.crosscheck.margins import Margin, Place
from workbench.reports.data import claim_words
from workbench.reports.data.trace import short
from workbench.reports.words.inequalities import readable

MAX_TEXT = 240
"""Longer predicates (of ellipsoids, for example) are cut where a place is described."""


def crosscheck_data(findings: Findings) -> dict[str, Any]:
    """Margins of every run, by property and by claimed set, with their places."""
    check = findings.check
    words = _SetWords(findings)
    told = {p.name: _is_measured(findings, p) for p in findings.automaton.properties}
    return {
        "points": check.points,
        "sets": {name: claimed.title for name, claimed in findings.sets.items()},
        "runs": [
            {
                "properties": {
                    name: _property_margin(m, told[name], _shown_broken(findings, run.run, name))
                    for name, m in run.properties.items()
                },
                "sets": {name: words.margin(m, run.run) for name, m in run.sets.items()},
            }
            for run in check.runs
        ],
        "contradictions": [_contradiction(c) for c in check.contradictions],
    }


def _shown_broken(findings: Findings, run: int, name: str) -> Falsified | None:
    """The verdict of which a run is the counterexample."""
    if findings.runs[run].claim != name:
        return None
    return next(
        (v for v in findings.verdicts if v.claim == name and isinstance(v, Falsified)), None
    )


def _is_measured(findings: Findings, claim: Property) -> bool:
    """Whether a property speaks of numbers: only these have a distance from their border."""
    automaton = findings.automaton
    types = {v.name: v.type.name for v in automaton.variables}
    types.update({i.name: i.type.name for i in automaton.inputs})
    names = free_variables(claim.condition)
    return any(types.get(name, "real") in ("real", "int") for name in names)


def _property_margin(
    margin: Margin, is_measured: bool, verdict: Falsified | None
) -> dict[str, Any]:
    """The margin of a property: a word where there is nothing to measure."""
    data = _margin(margin, verdict)
    if margin.value is None:
        return data | {"text": "not reached"}
    if is_measured and data["value"] is not None:
        return data
    return data | {"text": "broken" if data["broken"] else "holds"}


def _margin(margin: Margin, verdict: Falsified | None = None) -> dict[str, Any]:
    """A margin; of a counterexample, which ends on the border, the depth of its repetitions."""
    value = margin.value
    ends_there = verdict is not None and not margin.broken
    finite = value is not None and abs(value) != float("inf")
    return {
        "value": short(value) if finite and value is not None else None,
        "text": claim_words.broken_text(verdict)
        if verdict is not None and ends_there
        else claim_words.margin_text(margin),
        "broken": margin.broken or ends_there,
        "exact": margin.exact,
        "place": None if margin.place is None else _place_data(margin.place),
    }


class _SetWords:
    """Margins from claimed sets, with the faces that runs touch and why they may."""

    def __init__(self, findings: Findings):
        self._findings = findings
        self._known: dict[str, frozenset[str]] = {}

    def margin(self, margin: Margin, run: int) -> dict[str, Any]:
        """The margin from all faces that the run does not touch, then those that it does."""
        data = _margin(margin) | {"touched": [self._touch(place, run) for place in margin.touched]}
        if not margin.touched or margin.rest is None or margin.rest.value is None:
            return data
        rest = _margin(margin.rest)
        if rest["value"] is None:
            return data
        return data | {"text": rest["text"], "rest": rest["value"], "place": rest["place"]}

    def _touch(self, place: Place, run: int) -> dict[str, Any]:
        trace = self._findings.runs[run].trace
        if place.time <= trace.segments[0].start:
            why = "at the start"
        elif any(place.predicate in self._bounds(s.location) for s in trace.segments):
            why = "the model's own bound"
        else:
            why = f"at t = {place.time:.5g}"
        return {"predicate": _cut(place.predicate), "why": why, "t": short(place.time, 9)}

    def _bounds(self, location: str) -> frozenset[str]:
        """The model's own bounds in a location, as faces are written."""
        if location not in self._known:
            automaton = self._findings.automaton
            plain = eliminate_algebraic(automaton)
            cases = LinearProblem(plain, plain.properties[0]).invariant(location)
            rows = (row for case in cases for row in case)
            self._known[location] = frozenset(readable(at_most_zero(row.form)) for row in rows)
        return self._known[location]


def _place_data(place: Place) -> dict[str, Any]:
    return {
        "t": short(place.time, 9),
        "location": place.location,
        "predicate": _cut(place.predicate),
        "values": {
            n: short(v) if isinstance(v, float) and abs(v) < float("inf") else scalar_text(v)
            for n, v in place.values.items()
        },
    }


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]} ..."


def _contradiction(found: Contradiction) -> dict[str, Any]:
    return {
        "run": found.run,
        "claim": found.claim,
        "sentence": found.sentence,
        "margin": found.margin if found.margin is None else short(max(found.margin, -1e300)),
        "place": None if found.place is None else _place_data(found.place),
    }

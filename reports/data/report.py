"""Everything in a report as one JSON document: the page shows this and nothing else.

The schema is versioned. Names of fields are part of the interface; a field is added without
a new version, and never given another meaning.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from functools import reduce
from operator import or_
from pathlib import PurePath
from typing import Any

from workbench.abstraction.predicates.refinement_history import RefinementRound
from workbench.abstraction.unreached import Unreached, unreached
from workbench.models.automaton import (
    TIME,
    Automaton,
    Input,
    Kind,
    Parameter,
    Property,
    PropertyKind,
    Variable,
)
from workbench.models.catalogue import find
from workbench.models.certificates.judgement import Accepted
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.expression import TRUE, Expression
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.traversal import free_variables
from workbench.models.lowering.problem import linear_problem
from workbench.models.source import Span
from workbench.models.verdict import Falsified, Verdict, Verified
from workbench.reports.analysis import CheckedCertificate, Findings, suspicious
from workbench.reports.crosscheck.coverage import Reached
from workbench.reports.data import claim_words
from workbench.reports.data.approach import approach_data
from workbench.reports.data.crosscheck import crosscheck_data
from workbench.reports.data.invariant import invariant_data
from workbench.reports.data.locations import ModeTags, location_data, location_names
from workbench.reports.data.proof_graph import proof_graph
from workbench.reports.data.sets import bad_data, set_data
from workbench.reports.data.trace import Shown, Transitions, short, sizes_of, trace_data
from workbench.reports.data.verdict import Provenance, verdict_data
from workbench.reports.enclosed_counterexample import recipe_of
from workbench.reports.pictures import abstract_graph
from workbench.reports.pictures.diagram import transition_tag
from workbench.reports.pictures.projection import hull_box
from workbench.reports.words import wording
from workbench.reports.words.first_states import first_states
from workbench.reports.words.inequalities import boolean_names
from workbench.reports.words.run_recipe import recipe_lines

SCHEMA = "charon-workbench/report/2"
MIN_PLOTTED, MAX_PLOTTED = 6, 24
"""So many variables are offered as axes, those of the properties first."""

MAX_NUMBERS = 60_000
"""All plotted runs together; more runs get fewer points each."""

RESCUED = 80
"""So many points of what a rescue would have done are drawn."""

MAX_STATES = 30
"""So many states of an abstract path are told."""


def report_data(findings: Findings) -> dict[str, Any]:
    """The document of one model."""
    automaton = findings.automaton
    shown = _shown(findings)
    names = shown.names
    points = max(40, min(260, MAX_NUMBERS // max(1, len(findings.runs) * (len(names) + 1))))
    transitions = Transitions(automaton)
    sizes = sizes_of([run.trace for run in findings.runs], shown)
    runs = [
        {"kind": run.kind, "how": run.how, "claim": run.claim}
        | trace_data(run.trace, transitions, shown, sizes, points)
        for run in findings.runs
    ]
    box = hull_box({name: _values(runs, name) for name in names})
    check = crosscheck_data(findings)
    properties = [
        _property(findings, v, box) | {"approach": approach_data(findings, v.claim, check)}
        for v in findings.verdicts
    ]
    return {
        "schema": SCHEMA,
        "model": _model(findings),
        "variables": [_variable(shown.declared[name]) for name in names]
        + [_variable(p) for p in automaton.parameters],
        "variables_left_out": len(_plotted(automaton)) - len(names),
        "locations": location_data(findings),
        "properties": properties,
        "first_states": first_states(automaton),
        "going_on": claim_words.going_on(findings),
        "assumptions": claim_words.assumptions(findings),
        "transitions": transitions.data,
        "runs": runs,
        "first_run": _first_run(runs, properties),
        "crosscheck": check,
        "coverage": _coverage(findings),
        "blocking": findings.blocking.sentence,
        "unreached": _unreached(findings).sentence,
        "left_out": list(findings.left_out),
        "seconds": {phase: round(s, 3) for phase, s in findings.seconds.items()},
        "settings": _settings(findings),
        "command": findings.command,
    }


def _first_run(runs: list[dict[str, Any]], properties: list[dict[str, Any]]) -> int:
    """The number of the run that is shown first: a counterexample, else the one that came closest
    to breaking the first property, if it was followed to the end."""
    for number, run in enumerate(runs):
        if run["kind"] == "counterexample":
            return number
    near = properties[0]["approach"] if properties else None
    if near is None or near["touches"] or runs[near["run"]]["outcome"]["ending"] != "horizon":
        return 0
    return int(near["run"])


def _unreached(findings: Findings) -> Unreached:
    """What no run reaches, by all that was proved."""
    verdicts = [v for v in findings.verdicts if isinstance(v, Verified)]
    by_proof = (unreached(findings.automaton, verdict.certificate) for verdict in verdicts)
    return reduce(or_, by_proof, unreached(findings.automaton))


def overall(data: Mapping[str, Any]) -> str:
    """The worst of the verdicts: `contradiction`, `falsified`, `unknown` or `verified`; `error`
    for a model that could not be reported on."""
    if data.get("error"):
        return "error"
    if data["crosscheck"]["contradictions"] or any(
        p["certificate_check"] and not p["certificate_check"]["accepted"]
        for p in data["properties"]
    ):
        return "contradiction"
    outcomes = {p["verdict"]["outcome"] for p in data["properties"]}
    return next((o for o in ("falsified", "unknown") if o in outcomes), "verified")


def _settings(findings: Findings) -> dict[str, Any]:
    """What was asked for; what was not is null or empty."""
    chosen = findings.settings.verification
    asked = {field.name: _asked(getattr(chosen, field.name)) for field in fields(chosen)}
    return asked | {"runs": findings.settings.runs, "until": findings.until}


def _asked(value: object) -> object:
    """A setting as data: exact numbers and conditions are written out."""
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [_asked(one) for one in value]
    return to_text(value) if isinstance(value, Expression) else value


def _shown(findings: Findings) -> Shown:
    """What the page tells of every state: as much as there is room for, inputs last."""
    automaton = findings.automaton
    declared: dict[str, Variable | Input] = {v.name: v for v in automaton.variables}
    declared.update({i.name: i for i in automaton.inputs})
    chosen = _plotted(automaton)[: _room(findings)]
    fed = {i.name for i in automaton.inputs}
    names = sorted(chosen, key=lambda name: name in fed)
    return Shown({name: declared[name] for name in names})


def _plotted(automaton: Automaton) -> list[str]:
    """What can be plotted: the variables that properties mention, what is fed in, the others."""
    declared = [v for v in automaton.variables if v.name != TIME]
    used = {n for p in automaton.properties for n in _mentioned(p)}
    first = [v.name for v in declared if v.name in used]
    rest = [v.name for v in declared if v.name not in used]
    return [*first, *(i.name for i in automaton.inputs), *rest]


def _room(findings: Findings) -> int:
    """How many variables can be plotted: fewer where runs consist of very many stretches."""
    stretches = sum(len(run.trace.segments) for run in findings.runs)
    return max(MIN_PLOTTED, min(MAX_PLOTTED, MAX_NUMBERS // (2 * max(1, stretches))))


def _mentioned(claim: Property) -> frozenset[str]:
    return frozenset(free_variables(claim.condition))


def _values(runs: list[dict[str, Any]], name: str) -> list[float]:
    found: list[float] = []
    for run in runs:
        for stretch in run["stretches"]:
            column = stretch["values"][name]
            found += [
                v for v in (column if isinstance(column, list) else [column]) if v is not None
            ]
    return found


def _variable(declared: Variable | Input | Parameter) -> dict[str, Any]:
    kind = (
        str(declared.kind)
        if isinstance(declared, Variable)
        else ("input" if isinstance(declared, Input) else "parameter")
    )
    return {
        "name": declared.name,
        "type": declared.type.name,
        "kind": kind,
        "symbols": list(declared.type.values),
    }


def _model(findings: Findings) -> dict[str, Any]:
    model = findings.model
    entry = find(findings.label.partition(":")[0])
    return {
        "label": findings.label,
        "name": model.name,
        "title": entry.title if entry is not None else "",
        "sha256": model.automaton.sha256,
        "sources": [
            {"file": PurePath(name).name, "text": text} for name, text in model.sources.items()
        ],
        "warnings": [f"{_place(w.span)}{w.message}" for w in model.warnings],
        "components": [c.name for c in model.automaton.components],
    }


def _place(span: Span | None) -> str:
    return "" if span is None else f"{PurePath(span.file).name}:{span.line}: "


# Properties


def _property(
    findings: Findings, verdict: Verdict, box: Mapping[str, tuple[float, float]]
) -> dict[str, Any]:
    automaton, claim = findings.automaton, findings.claim(verdict.claim)
    checked = findings.certificates.get(verdict.claim)
    provenance = Provenance(
        findings.command,
        findings.settings.verification.seed,
        certificate_size=None if checked is None else len(checked.text),
        check_seconds=None if checked is None else round(checked.seconds, 4),
    )
    places = location_names(findings)
    given = findings.given.get(verdict.claim)
    data = {
        "name": claim.name,
        "kind": str(claim.kind),
        "formula": "" if claim.kind is PropertyKind.PROGRESS else to_text(claim.condition),
        "where": "" if claim.where == TRUE else to_text(claim.where),
        "line": None if claim.span is None else [PurePath(claim.span.file).name, claim.span.line],
        "words": claim_words.in_words(claim),
        "claimed": claim_words.claimed(verdict),
        "not_claimed": claim_words.not_claimed(
            verdict, goes_on=claim_words.proved_to_go_on(findings)
        ),
        "verdict": verdict_data(findings.model, findings.label, verdict, provenance),
        "tried": claim_words.tried(verdict),
        "recipe": _recipe(verdict),
        "rescued": _rescued(verdict),
        "suspicious": list(suspicious(findings, verdict)),
        "bad": bad_data(automaton, claim, places, box),
        "set": None,
        "graph": None,
        "given": None if given is None else abstract_graph.as_data(given),
        "invariant": None,
        "certificate_check": None,
        "certificate_sha256": None,
        "rounds": [_round(r) for r in findings.rounds.get(verdict.claim, ())],
    }
    if isinstance(verdict, Verified) and checked is not None:
        flowing = [v.name for v in automaton.variables if v.kind is Kind.ANALOG]
        first = sorted(_mentioned(claim)) + [n for n in _plotted(automaton) if n in flowing][:2]
        if (claimed := findings.sets.get(verdict.claim)) is not None:
            traces = [run.trace for run in findings.runs]
            data["set"] = set_data(
                automaton, verdict.certificate, claim, claimed, traces, box, first
            )
        data["graph"] = _graph(findings, verdict)
        data["invariant"] = invariant_data(verdict, boolean_names(automaton))
        data["certificate_check"] = _check(checked)
        data["certificate_sha256"] = _sha256(checked.text)
    return data


def _check(checked: CheckedCertificate) -> dict[str, Any]:
    """What was said of a certificate, on whose word, and how long the files are that show it."""
    judgement = checked.judgement
    accepted = judgement if isinstance(judgement, Accepted) else None
    return {
        "accepted": accepted is not None,
        "obligations": accepted and accepted.obligations,
        "why": ""
        if isinstance(judgement, Accepted)
        else f"{judgement.obligation}: {judgement.why}",
        "basis": accepted.basis.words if accepted else "",
        "missing": accepted.basis.missing if accepted else "",
        "seconds": round(checked.seconds, 4),
        "bytes": len(checked.text),
        "document_bytes": None if checked.document is None else len(checked.document),
        "document_sha256": None if checked.document is None else _sha256(checked.document),
    }


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _recipe(verdict: Verdict) -> dict[str, Any] | None:
    """What a counterexample is made from, and whether its file can be replayed."""
    if not isinstance(verdict, Falsified):
        return None
    lines = recipe_lines(verdict.trace, recipe_of(verdict))
    return {
        "lines": [{"what": what, "how": how} for what, how in lines],
        "replayable": bool(verdict.recording),
    }


def _rescued(verdict: Verdict) -> dict[str, Any] | None:
    """What the rescue would have made of a counterexample from the last instant on."""
    told = verdict.last_chance if isinstance(verdict, Falsified) else None
    if told is None or told.time is None or told.course is None:
        return None
    course = told.course
    times = [course.end * i / RESCUED for i in range(RESCUED + 1)]
    states = [course.segment_at(t).valuation(t) for t in times]
    numbers = [n for n in told.state if all(isinstance(s.get(n), float) for s in states)]
    return {
        "t": [short(told.time + t) for t in times],
        "values": {name: [short(float(state[name])) for state in states] for name in numbers},
    }


def _round(made: RefinementRound) -> dict[str, Any]:
    """One round of predicate abstraction."""
    path = [
        {"location": s.location, "entered": s.entered, "cell": list(s.comparisons)}
        for s in made.path[:MAX_STATES]
    ]
    return {
        "number": made.number,
        "states": made.states,
        "path": path,
        "left_out": max(0, len(made.path) - MAX_STATES),
        "learned": [str(p) for p in made.learned],
    }


def _graph(findings: Findings, verdict: Verified) -> dict[str, Any] | None:
    """The abstract states of a polyhedral proof."""
    proof = verdict.certificate.safety
    if not isinstance(proof, PolyhedralProof):
        return None
    problem = linear_problem(findings.automaton, findings.claim(verdict.claim))
    graph = proof_graph(problem, proof)
    return None if graph is None else graph.data()


# Coverage


def _coverage(findings: Findings) -> dict[str, Any]:
    found = findings.coverage
    tags = ModeTags(findings.model)
    return {
        "locations": [
            {
                "component": r.component,
                "name": r.name,
                "count": r.count,
                "tag": tags.path(r.component, r.name)[-1],
            }
            for r in found.locations
        ],
        "transitions": [_transition(r) for r in found.edges],
        "warnings": list(found.warnings),
    }


def _transition(reached: Reached) -> dict[str, Any]:
    edge = reached.edge
    return {
        "component": reached.component,
        "name": reached.name,
        "count": reached.count,
        "guard": "" if edge is None else " && ".join(wording.conditions(edge.guard)),
        "source": "" if edge is None else edge.source,
        "target": "" if edge is None else edge.target,
        "tag": "" if edge is None else transition_tag(reached.component, edge.span),
        "line": None
        if edge is None or edge.span is None
        else [PurePath(edge.span.file).name, edge.span.line],
    }

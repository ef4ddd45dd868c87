"""A verdict as plain data: the same fields on the command line and in reports."""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from workbench.models.automaton import Automaton, EventKind
from workbench.models.model import Model
from workbench.models.verdict import Effort, Falsified, Unknown, Verdict, Verified

PACKAGES = (
    "charon-workbench",
    "z3-solver",
    "highspy",
    "clarabel",
    "pycddlib-standalone",
    "python-flint",
    "numpy",
    "scipy",
)


@dataclass(frozen=True)
class Provenance:
    """How a verdict came about, for whoever wants to repeat it."""

    command: str
    seed: int
    certificate_path: str | None = None
    certificate_size: int | None = None
    check_seconds: float | None = None
    trace_path: str | None = None


def outcome_word(verdict: Verdict) -> str:
    """`verified`, `falsified` or `unknown`."""
    if isinstance(verdict, Verified):
        return "verified"
    return "falsified" if isinstance(verdict, Falsified) else "unknown"


def verdict_data(
    model: Model, label: str, verdict: Verdict, provenance: Provenance
) -> dict[str, Any]:
    """The fields of one verdict."""
    data: dict[str, Any] = {
        "model": label,
        "model_sha256": model.automaton.sha256,
        "property": verdict.claim,
        "outcome": outcome_word(verdict),
        "scope": _scope(verdict),
        "method": verdict.method,
        "reason": verdict.reason if isinstance(verdict, Unknown) else None,
        "advice": verdict.advice if isinstance(verdict, Unknown) else None,
        "known": list(verdict.known) if isinstance(verdict, Unknown) else [],
        "details": list(verdict.details) if isinstance(verdict, Unknown) else [],
        "cut": list(verdict.cut) if isinstance(verdict, Unknown) else [],
        "assumptions": assumptions(model),
    }
    if isinstance(verdict, Verified):
        data["certificate"] = {
            "kind": verdict.certificate.kind,
            "path": provenance.certificate_path,
            "size": provenance.certificate_size,
            "obligations": verdict.judgement.obligations,
            "checker": "accepted",
            "checked_by": verdict.judgement.basis.name,
            "check_seconds": provenance.check_seconds,
        }
    elif isinstance(verdict, Falsified):
        data["counterexample"] = {
            "path": provenance.trace_path,
            "time": verdict.trace.outcome.time,
            "confirmations": [
                {
                    "how": c.how,
                    "violation": c.violation if math.isfinite(c.violation) else None,
                    "rigorous": c.rigorous,
                }
                for c in verdict.confirmations
            ],
        }
        if verdict.last_chance is not None:
            data["counterexample"]["safety_lost"] = verdict.last_chance.data
    return data | {
        "statistics": statistics(verdict.effort),
        "versions": versions(),
        "seed": provenance.seed,
        "command": provenance.command,
    }


def statistics(effort: Effort) -> dict[str, Any]:
    """Seconds by phase, and counts."""
    seconds = {phase: round(s, 4) for phase, s in effort.seconds.items()}
    return {"seconds": seconds, **effort.counts}


def assumptions(model: Model) -> list[str]:
    """What every verdict about the model rests on, in words."""
    automaton = model.automaton
    found = [f"{p.name} is a constant in [{p.low}, {p.high}]" for p in automaton.parameters]
    for given in automaton.inputs:
        low = "-inf" if given.low is None else given.low
        high = "inf" if given.high is None else given.high
        found.append(f"the input {given.name} stays in [{low}, {high}]")
    if automaton.assumption.op != "boolean":
        found.append(f"always {automaton.assumption}")
    found.append("a mode is entered only where its invariant holds")
    return [*found, *model.closed_by, *about_sliding(automaton)]


def about_sliding(automaton: Automaton) -> list[str]:
    """What verdicts say, or do not say, about a model whose simulated runs may slide."""
    if any(e.event is EventKind.SLIDING for part in automaton.components for e in part.edges):
        return ["jumps follow one another: sliding, the limit of ever faster ones, is left out"]
    return []


def versions() -> dict[str, str]:
    """The versions of what took part."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _scope(verdict: Verdict) -> dict[str, Any] | None:
    if isinstance(verdict, Verified):
        if verdict.horizon is None:
            return {"kind": "unbounded"}
        return {"kind": "bounded", "horizon": str(verdict.horizon)}
    if isinstance(verdict, Falsified):
        return {"kind": "bounded", "horizon": str(verdict.trace.outcome.time)}
    return None

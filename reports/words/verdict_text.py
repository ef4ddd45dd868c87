"""A verdict in a few lines for a terminal: the outcome, what it rests on, or what is missing."""

from __future__ import annotations

from textwrap import indent

from workbench.models.counting import counted
from workbench.models.model import Model
from workbench.models.verdict import Effort, Falsified, Unknown, Verdict, Verified
from workbench.reports.words.inequalities import boolean_names
from workbench.reports.words.invariant_text import invariant_lines

TOLD = 0.05
"""Seconds that are worth telling."""


def outcome_text(verdict: Verdict) -> str:
    """The outcome, and for how long it speaks."""
    if isinstance(verdict, Verified):
        until = "for all time" if verdict.horizon is None else f"up to time {verdict.horizon}"
        return f"VERIFIED {until}"
    if isinstance(verdict, Falsified):
        return f"FALSIFIED at time {verdict.trace.outcome.time:.6g}"
    return "UNKNOWN"


def seconds(verdict: Verdict) -> float:
    """How long the decision took."""
    return verdict.effort.total


def verdict_text(
    label: str,
    model: Model,
    verdict: Verdict,
    missing: str = "",
    brief: bool = False,
    details: bool = False,
) -> str:
    """The verdict with this name for the model; a brief one leaves out the invariant, `details`
    say of an undecided property what every method came to. `missing` is the behaviour
    for want of which a claim may hold."""
    but = f"; but {missing}" if missing else ""
    head = f"{label}: {verdict.claim!r}: {outcome_text(verdict)}"
    if isinstance(verdict, Verified):
        below = _of_verified(model, verdict, brief)
        head += f" ({verdict.method}, {seconds(verdict):.1f} s)"
    elif isinstance(verdict, Falsified):
        below = [f"confirmed: {c.how}" for c in verdict.confirmations]
        below += [verdict.last_chance.sentence] if verdict.last_chance else []
        head += f" ({verdict.method})"
    else:
        below = _of_unknown(verdict, details)
        head += f" ({seconds(verdict):.1f} s)"
    return "\n".join([head + but, *(indent(line, "  ") for line in below)])


def _of_verified(model: Model, verdict: Verified, brief: bool) -> list[str]:
    proved = counted(verdict.judgement.obligations, "obligation")
    by = verdict.judgement.basis.words
    lines = [
        f"{verdict.certificate.kind} certificate: {proved}, accepted by {by}",
        *(f"assuming that {text}" for text in model.closed_by),
    ]
    if brief:
        return lines
    found = invariant_lines(verdict.certificate.safety, boolean_names(model.automaton))
    lines += ["every reachable state satisfies (numbers rounded), in"] if found else []
    return lines + [f"  {line}" for line in found]


def _of_unknown(verdict: Unknown, details: bool) -> list[str]:
    lines = [verdict.reason, *(f"known: {line}" for line in verdict.known)]
    if details:
        lines += [*verdict.details, *_time_spent(verdict.effort)]
    return [*lines, f"hint: {verdict.advice}"]


def _time_spent(effort: Effort) -> list[str]:
    """What took the time: methods, or the phases of one."""
    total: dict[str, float] = {}
    for phase, spent in effort.seconds.items():
        what = phase.partition(" ")[0]
        total[what] = total.get(what, 0.0) + spent
    found = [f"{what} {spent:.1f} s" for what, spent in total.items() if spent >= TOLD]
    return [f"time: {', '.join(found)}"] if found else []

"""What a verdict says, and does not say, in sentences."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from workbench.models.automaton import Property, PropertyKind
from workbench.models.counting import counted
from workbench.models.expressions.expression import TRUE, Expression
from workbench.models.expressions.operators import Op
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.traversal import conjuncts
from workbench.models.trace import Ending
from workbench.models.verdict import Confirmation, Falsified, Unknown, Verdict, Verified
from workbench.reports.crosscheck.certain_runs import AGREEMENT
from workbench.reports.crosscheck.margins import Margin
from workbench.reports.data.verdict import about_sliding
from workbench.reports.words import wording
from workbench.reports.words.inequalities import rounded

if TYPE_CHECKING:
    from workbench.reports.analysis import Findings

MAX_STARTS = 12

SHORTEST = 0.05
"""Seconds; less is not worth telling."""

SHALLOW = 1e-9
"""An enclosure ends where all of it is beyond a property, which says nothing about how far the
run goes: depths below this are not told."""

ROUNDING = 1e-3
"""Margins below this share of their allowance are written as 0, like all negative ones that
arithmetic explains."""


def in_words(claim: Property) -> str:
    """What is said of the property's formula, in words that come before it."""
    if claim.kind is PropertyKind.PROGRESS:
        return "From every reachable state time can pass or a jump leads on, and there is a run."
    every = (
        "In no reachable state"
        if claim.kind is PropertyKind.FORBIDDEN
        else ("In every reachable state")
    )
    return f"{every}{_while(claim.where)}:"


def _while(where: Expression) -> str:
    """The restriction to some locations; simple ones in words."""
    parts = conjuncts(where)
    if all(part.op is Op.AT for part in parts):
        places = [
            f"{component} is in {location}" for component, location in (p.place for p in parts)
        ]
        return f" while {' and '.join(places)}" if places else ""
    return f" while {to_text(where)}"


def scope(verdict: Verdict) -> str:
    """For how long the verdict speaks."""
    if isinstance(verdict, Verified):
        return "for all time" if verdict.horizon is None else f"up to time {verdict.horizon}"
    if isinstance(verdict, Falsified):
        return f"broken at time {verdict.trace.outcome.time:.6g}"
    return "not decided"


def claimed(verdict: Verdict) -> list[str]:
    """What the verdict claims."""
    if isinstance(verdict, Verified):
        time = "at all times" if verdict.horizon is None else f"up to time {verdict.horizon}"
        return [
            f"Every behaviour of the model satisfies the property {time}: from every initial "
            "state, for every value of what the model leaves open.",
            f"The evidence is a {verdict.certificate.kind} certificate; a checker that shares "
            "no code with the search verified its "
            f"{counted(verdict.judgement.obligations, 'obligation')} in exact rational arithmetic.",
        ]
    if isinstance(verdict, Falsified):
        return [
            "The model has a behaviour that breaks the property; the run is part of this report "
            "and can be stepped through.",
            *(f"Confirmed: {c.how}{_beyond(c)}." for c in verdict.confirmations),
            *(
                [f"{verdict.last_chance.sentence[0].upper()}{verdict.last_chance.sentence[1:]}."]
                if verdict.last_chance
                else []
            ),
        ]
    seconds = verdict.effort.total
    methods = len(tried(verdict))
    effort = f" by {counted(methods, 'method')}" if methods > 1 else f" by {verdict.method}"
    effort += f" in {seconds:.3g} s" if seconds >= SHORTEST else ""
    return [
        f"Nothing is claimed: neither a proof nor a counterexample was found{effort}.",
        *(f"Known: {line}." for line in verdict.known),
    ]


def tried(verdict: Verdict) -> list[dict[str, str]]:
    """Why each method that was tried did not decide."""
    if not isinstance(verdict, Unknown):
        return []
    if verdict.method != "auto":
        return [{"method": verdict.method, "why": verdict.reason}]
    split = (line.partition(": ") for line in verdict.details)
    return [{"method": a, "why": b} if b else {"method": "", "why": a} for a, _, b in split]


def _beyond(confirmation: Confirmation) -> str:
    """How deep in the bad states a repetition was, unless it says so itself."""
    depth = confirmation.violation
    if "violated by" in confirmation.how or not (math.isfinite(depth) and depth > SHALLOW):
        return ""
    return f" (beyond by {depth:.4g})"


def broken_text(verdict: Falsified) -> str:
    """How far beyond the property a counterexample goes. The trace ends where it breaks; the
    repetitions that confirm it go on."""
    depths = [c.violation for c in verdict.confirmations if math.isfinite(c.violation)]
    deepest = max(depths, default=0.0)
    return f"broken by {rounded(deepest)}" if deepest > 0 else "broken"


def not_claimed(verdict: Verdict, *, goes_on: bool = False) -> list[str]:
    """What the verdict does not claim, or what can be done about it; where it is proved that every
    run goes on, nothing is to be said of runs that end."""
    if isinstance(verdict, Verified):
        found = [
            "It is a statement about this model under these assumptions, not about the real system."
        ]
        if not goes_on:
            found.append(
                "It says nothing about what happens after a run that the model does not continue."
            )
        if verdict.horizon is not None:
            found.append(f"It says nothing about times after {verdict.horizon}.")
        return found
    if isinstance(verdict, Falsified):
        if any(c.rigorous for c in verdict.confirmations):
            return ["It does not say how often or how likely the property is broken."]
        return [
            "The run is computed in floating point and confirmed by an independent replay, not "
            "by a rigorous enclosure."
        ]
    return [
        f"What to try: {verdict.advice}.",
        "That no simulated run breaks the property would be no proof.",
    ]


def proved_to_go_on(findings: Findings) -> bool:
    """Whether it is proved for all time that runs never block."""
    proved = (v for v in findings.verdicts if isinstance(v, Verified) and v.horizon is None)
    return any(findings.claim(v.claim).kind is PropertyKind.PROGRESS for v in proved)


def going_on(findings: Findings) -> dict[str, str]:
    """Whether runs go on, and how that is known: `proved`, `numeric` (by simulation), or
    `unproved`, since runs were seen that do not."""
    simulated = (run for run in findings.runs if run.kind == "simulated")
    ends = Counter(run.trace.outcome.ending for run in simulated)
    seen = f"{ends[Ending.HORIZON]} of {counted(ends.total(), 'simulated run')} "
    seen += f"{'reaches' if ends.total() == 1 else 'reach'} t = {findings.until:g}"
    if unsure := ends[Ending.UNCERTAIN]:
        seen += f" ({unsure} {'is' if unsure == 1 else 'are'} followed as far as that is certain)"
    proved, blocking = proved_to_go_on(findings), findings.blocking
    if against := blocking.without_time if proved else blocking.sentence:
        return {"text": against, "kind": "unproved"}
    if proved:
        return {"text": "Every run can go on for ever: proved.", "kind": "proved"}
    if not ends:
        return {"text": "Not looked at.", "kind": "unproved"}
    if ends[Ending.BLOCKED]:
        return {"text": f"{seen}, and {ends[Ending.BLOCKED]} are blocked.", "kind": "unproved"}
    return {
        "text": f"{seen}, and none was seen to block; that every run can go on is not proved.",
        "kind": "numeric",
    }


def margin_text(margin: Margin) -> str:
    """A margin as a number; a word where there is none."""
    if margin.value is None:
        return "not tested"
    if math.isinf(margin.value):
        return "no border" if margin.value > 0 else "outside"
    if -margin.allowance <= margin.value <= margin.allowance * ROUNDING:
        return "0"
    return ("" if margin.exact else "≈ ") + rounded(margin.value)


def assumptions(findings: Findings) -> list[dict[str, Any]]:
    """What the verdicts rest on: `kind` is `given` (by the model), `proved`, `numeric` (true
    up to floating point) or `unproved`."""
    automaton = findings.automaton
    starts = [start for component in automaton.components for start in component.initial]
    found = [("initial states", wording.start(s), "given") for s in starts[:MAX_STARTS]]
    if len(starts) > MAX_STARTS:
        found.append(("initial states", f"and {len(starts) - MAX_STARTS} more", "given"))
    found += [("parameter", wording.bounded("const", p), "given") for p in automaton.parameters]
    found += [("input", wording.bounded("input", i), "given") for i in automaton.inputs]
    if automaton.assumption != TRUE:
        found += [("assumption", c, "given") for c in wording.conditions(automaton.assumption)]
    for component in automaton.components:
        for place in component.locations:
            for flow in place.flows:
                if flow.range.exact is None:
                    text = f"{wording.flow(flow)} in {place.name}: any signal within these bounds"
                    found.append(("left open", text, "given"))
    found = list(dict.fromkeys(found))
    found.append(
        (
            "meaning",
            "a mode is entered only where its invariant holds; time passes only while it holds",
            "given",
        )
    )
    found += [("surroundings", text, "unproved") for text in findings.model.closed_by]
    found += [("meaning", text, "given") for text in about_sliding(automaton)]
    for verdict in findings.verdicts:
        found.append(_basis(verdict))
    found.append(
        (
            "runs",
            "simulated in floating point by two methods, shown as far as both agree to "
            f"{AGREEMENT:g} of the size of a state: plots and margins illustrate, they prove "
            "nothing",
            "numeric",
        )
    )
    return [{"what": what, "text": text, "kind": kind} for what, text, kind in found]


def _basis(verdict: Verdict) -> tuple[str, str, str]:
    if isinstance(verdict, Verified):
        return (
            "evidence",
            f"“{verdict.claim}”: certificate checked in exact rational arithmetic",
            "proved",
        )
    if isinstance(verdict, Falsified):
        rigorous = any(c.rigorous for c in verdict.confirmations)
        how = "enclosed rigorously" if rigorous else "replayed in floating point"
        return (
            "evidence",
            f"“{verdict.claim}”: counterexample {how}",
            "proved" if rigorous else "numeric",
        )
    return ("evidence", f"“{verdict.claim}”: not decided", "unproved")

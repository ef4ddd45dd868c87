"""Outcomes of the refinement checker in words and as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from workbench.abstraction.refinement.outcome import Failure, NotProved, Refines, Refuted, Step
from workbench.abstraction.refinement.proof_tree import Proof
from workbench.models.source import Span


def outcome_word(proof: Proof) -> str:
    """`refines`, `refuted` or `not proved`."""
    if proof.holds:
        return "refines"
    return "refuted" if isinstance(proof.outcome, Refuted) else "not proved"


def tree_lines(step: Step) -> list[str]:
    """The steps of a proof, one to a line, those below a step indented under it."""
    lines: list[str] = []
    pending: list[tuple[Step, str, str]] = [(step, "", "")]
    while pending:
        node, lead, indent = pending.pop()
        note = f" ({node.note})" if node.note else ""
        spent = f", {node.seconds:.2f} s" if node.seconds else ""
        lines.append(f"{lead}{node.claim or 'the parts'}: {node.rule}{note}{spent}")
        for number, below in reversed(list(enumerate(node.below))):
            last = number == len(node.below) - 1
            pending.append(
                (below, indent + ("`- " if last else "|- "), indent + ("   " if last else "|  "))
            )
    return lines


def failure_lines(failure: Failure, sources: Mapping[str, str]) -> list[str]:
    """An obligation that is left, with its state and the lines of both sources."""
    lines = [f"{failure.kind}: {failure.title}: {failure.why}"]
    if failure.state:
        lines.append(f"  at {state_text(failure.state)}")
    for side, span in (("detailed", failure.detailed), ("abstract", failure.abstract)):
        if span is not None:
            lines.append(f"  {side}: {span}: {_line(span, sources)}")
    return lines


def state_text(state: Mapping[str, object]) -> str:
    """A state in the user's variables: values, values after a jump, derivatives."""
    shown = {n: v for n, v in state.items() if not n.startswith(("assigned ", "wave "))}
    return ", ".join(f"{name} = {_value(value)}" for name, value in sorted(shown.items()))


def proof_data(proof: Proof) -> dict[str, Any]:
    """The fields of one comparison."""
    data: dict[str, Any] = {"outcome": outcome_word(proof), "proof": _step_data(proof.step)}
    outcome = proof.outcome
    if isinstance(outcome, Refuted):
        data["run"] = {
            "time": outcome.mismatch.time,
            "location": outcome.mismatch.location,
            "values": dict(outcome.mismatch.values),
            "why": outcome.mismatch.why,
            "jumps": outcome.mismatch.jumps,
            "confirmed_by": outcome.confirmed_by,
            "decisions": list(outcome.trace.decisions),
        }
    if isinstance(outcome, Refuted | NotProved):
        data["failures"] = [_failure_data(f) for f in outcome.failures]
    return data


def _step_data(step: Step) -> dict[str, Any]:
    """The tree, built from the leaves upwards."""
    done: dict[int, dict[str, Any]] = {}
    for node in reversed(list(step.walk())):
        done[id(node)] = {
            "claim": node.claim,
            "rule": str(node.rule),
            "note": node.note,
            "seconds": round(node.seconds, 4),
            "holds": node.outcome is None or isinstance(node.outcome, Refines),
            "below": [done[id(b)] for b in node.below],
        }
    return done[id(step)]


def _failure_data(failure: Failure) -> dict[str, Any]:
    return {
        "obligation": failure.kind,
        "title": failure.title,
        "why": failure.why,
        "state": {n: _value(v) for n, v in failure.state.items()},
        "detailed": None if failure.detailed is None else str(failure.detailed),
        "abstract": None if failure.abstract is None else str(failure.abstract),
    }


def _line(span: Span, sources: Mapping[str, str]) -> str:
    lines = sources.get(span.file, "").split("\n")
    return lines[span.line - 1].strip() if 1 <= span.line <= len(lines) else ""


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction):
        return str(value) if value.denominator < 10_000 else f"{float(value):.6g}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)

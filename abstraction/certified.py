"""From a proof to a verdict: the trusted checker has the last word."""

from __future__ import annotations

from abstraction.strategy import Task
from models.proof.certificate import Certificate, Proof
from models.verdict import Effort, Unknown, Verdict, Verified, verified


def certify(task: Task, method: str, proof: Proof, effort: Effort) -> Verdict:
    """`Verified` if the checker accepts the proof, else `Unknown` with its objection."""
    automaton, claim = task.automaton, task.claim.name
    certificate = Certificate(automaton.name, automaton.sha256, claim, proof)
    verdict = verified(automaton, claim, method, certificate, effort)
    if isinstance(verdict, Verified):
        return verdict
    why = f"the checker rejected the certificate: {verdict.obligation}: {verdict.why}"
    return Unknown(claim, method, why, "try another --method", effort)

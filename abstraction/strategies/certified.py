"""From a proof to a verdict: the trusted checker has the last word."""

from __future__ import annotations

import time

from workbench.abstraction.strategies.strategy import FIRST_STATE, Task
from workbench.models.certificates.certificate import Certificate, Proof
from workbench.models.checker.progress import FirstState
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.evidence.progress import GoingOn, ProgressProof
from workbench.models.interruption import CheckInterruptedError
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Effort, Unknown, Verdict, Verified, verified
from workbench.reach.going_on import going_on
from workbench.reach.time_limit import time_limit

GRACE = 0.5
"""Seconds that the final check may go on beyond the time limit: a proof that was found in time
should not be lost for a moment. Its work is not limited."""


def certify(task: Task, method: str, proof: Proof, effort: Effort) -> Verdict:
    """`Verified` if the checker accepts the proof, else `Unknown` with its objection."""
    automaton, claim = task.automaton, task.claim.name
    start = task.options.get(FIRST_STATE)
    if isinstance(start, FirstState) and not isinstance(proof, ProgressProof):
        proof = ProgressProof(start, proof, _going_on(task, proof))
    certificate = Certificate(automaton.name, automaton.sha256, claim, proof)
    latest = task.deadline + GRACE
    try:
        with time_limit(latest):
            verdict = verified(
                automaton, claim, method, certificate, effort, lambda: time.monotonic() >= latest
            )
    except CheckInterruptedError:
        why = "the time limit was reached in the final check of a certificate that was found"
        return Unknown(claim, method, why, "try another --method", effort)
    if isinstance(verdict, Verified):
        return verdict
    why = f"the checker rejected the certificate: {verdict.obligation}: {verdict.why}"
    return Unknown(claim, method, why, "try another --method", effort)


def _going_on(task: Task, proof: Proof) -> GoingOn | None:
    """The kernel's evidence that runs go on. Its work is not limited, nor is the final check's."""
    regions = proof.regions if isinstance(proof, PolyhedralProof) else ()
    try:
        with time_limit(task.deadline):
            problem = linear_problem(task.automaton, task.claim)
            return going_on(problem, regions, lambda: task.is_late)
    except CheckInterruptedError:
        return None

"""Why a proof is refused: the first of its obligations that its evidence does not show.

This is asked after the kernel has refused a proof, so that somebody can mend it, and before the
kernel is asked, whether there is a proof that can be written down for it at all. Nothing here can
make anything accepted.
"""

from __future__ import annotations

from typing import TypeAlias

from workbench.models.checker.covers import counted_or_failed
from workbench.models.evidence import polyhedral, quadratic, quadratic_function
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.evidence.quadratic import QuadraticInvariant
from workbench.models.evidence.quadratic_function import QuadraticFunctions
from workbench.models.lowering.problem import LinearProblem

KernelProof: TypeAlias = PolyhedralProof | QuadraticInvariant | QuadraticFunctions
"""Proofs that the kernel decides about."""


def malformed(problem: LinearProblem, proof: KernelProof) -> tuple[str, str] | None:
    """What is wrong with the sets that a proof is about, and why; None if they are of the model."""
    if isinstance(proof, PolyhedralProof):
        why = polyhedral.malformed(problem, proof.regions)
        return ("invariant", why) if why else None
    if isinstance(proof, QuadraticFunctions):
        why = quadratic_function.malformed(problem, proof)
        return ("functions", why) if why else None
    failure = quadratic.malformed(problem, proof)
    return (failure.obligation, failure.why) if failure else None


def failed(problem: LinearProblem, proof: KernelProof) -> tuple[str, str] | None:
    """The first obligation of a proof, which is not malformed, that fails, and why."""
    if isinstance(proof, PolyhedralProof):
        obligations = polyhedral.obligations(problem, proof.regions)
        found = counted_or_failed(obligations, proof.evidence)
        return None if isinstance(found, int) else found
    if isinstance(proof, QuadraticFunctions):
        return quadratic_function.failed(problem, proof)
    failure = next(quadratic.failures(problem, proof), None)
    return (failure.obligation, failure.why) if failure else None

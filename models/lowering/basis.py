"""Whose word a verdict rests on: that of the kernel, or that of the checker alone.

The checker of `models/proof` looks at every certificate. What it accepts and the kernel knows is
lowered and given to the kernel too, whose soundness is proved in Coq. The kernel accepts all that
the checker rightly accepts; if it does not, one of the two is wrong, and nothing is proved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.models.kernel.document import document, refusal
from workbench.models.lowering import polyhedral, quadratic
from workbench.models.lowering.normal_form import NotLoweredError
from workbench.models.proof.certificate import PolyhedralProof, Proof
from workbench.models.proof.problem import LinearProblem
from workbench.models.proof.quadratic import QuadraticInvariant
from workbench.models.proof.quadratic_function import QuadraticFunctions


@dataclass(frozen=True, slots=True)
class Basis:
    """Who accepted a certificate; `missing` says why it was not the kernel."""

    kernel: bool
    missing: str = ""

    @property
    def name(self) -> str:
        """For machines: `kernel` or `checker`."""
        return "kernel" if self.kernel else "checker"

    @property
    def words(self) -> str:
        """For people, to follow "accepted by"."""
        if self.kernel:
            return "the kernel, whose soundness is proved in Coq"
        return "the trusted checker"


BY_KERNEL = Basis(True)
BY_CHECKER = Basis(False, "the kernel does not know certificates of this kind yet")


class DisagreementError(Exception):
    """The kernel refuses what the checker accepts; the message is the kernel's."""


def basis(problem: LinearProblem, proof: Proof) -> Basis:
    """Whose word a proof rests on that the checker accepts."""
    try:
        content = kernel_document(problem, proof)
    except NotLoweredError as error:
        return Basis(False, str(error))
    why = refusal(content)
    if why is not None:
        raise DisagreementError(why)
    return BY_KERNEL


def kernel_document(problem: LinearProblem, proof: Proof) -> dict[str, Any]:
    """The problem and a proof that the checker accepts, as the kernel takes them; for kinds of
    proofs that it does not know `NotLoweredError` says why."""
    if isinstance(proof, PolyhedralProof):
        form, found = polyhedral.lowered(problem, proof.regions, proof.evidence)
        return document(polyhedral.CHECKER, form.data, found)
    if isinstance(proof, QuadraticInvariant | QuadraticFunctions):
        form, found = quadratic.lowered(problem, proof)
        return document(quadratic.CHECKER, form.data, found)
    raise NotLoweredError(BY_CHECKER.missing)

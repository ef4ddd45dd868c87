"""Whose word a verdict rests on: that of the kernel, or that of the checker alone.

The checker of `models/proof` looks at every certificate. What it accepts and the kernel knows is
lowered and given to the kernel too, whose soundness is proved in Coq. The kernel accepts all that
the checker rightly accepts; if it does not, one of the two is wrong, and nothing is proved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.models.kernel.document import document, refusal
from workbench.models.lowering import polyhedral, progress, quadratic
from workbench.models.lowering.normal_form import NormalForm, NotLoweredError
from workbench.models.proof.certificate import PolyhedralProof, Proof
from workbench.models.proof.problem import LinearProblem
from workbench.models.proof.progress import ProgressProof
from workbench.models.proof.quadratic import QuadraticInvariant
from workbench.models.proof.quadratic_function import QuadraticFunctions


@dataclass(frozen=True, slots=True)
class Basis:
    """Who accepted a certificate: the kernel, or the checker alone, and then `missing` says why."""

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
        return f"the trusted checker; {self.missing}" if self.missing else "the trusted checker"


BY_KERNEL = Basis(True)
BY_CHECKER = Basis(False)


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
    """The problem and a proof that the checker accepts, as the kernel takes them. For kinds of
    proofs that the kernel does not know `NotLoweredError` says why."""
    return lowered(problem, proof)[1]


def lowered(problem: LinearProblem, proof: Proof) -> tuple[NormalForm, dict[str, Any]]:
    """The same, with the normal form and so the names."""
    if isinstance(proof, ProgressProof):
        form, content, found = progress.lowered(problem, proof)
        return form, document(progress.CHECKER, content, found)
    if isinstance(proof, PolyhedralProof):
        form, found = polyhedral.lowered(problem, proof.regions, proof.evidence)
        return form, document(polyhedral.CHECKER, form.data, found)
    if isinstance(proof, QuadraticInvariant | QuadraticFunctions):
        form, found = quadratic.lowered(problem, proof)
        return form, document(quadratic.CHECKER, form.data, found)
    raise NotLoweredError("the kernel does not know flowpipes yet")

"""Whose word a verdict rests on: that of the kernel, or that of the checker alone.

The checker of `models/proof` looks at every certificate. What it accepts and the kernel knows is
lowered and given to the kernel too, whose soundness is proved in Coq. The kernel accepts all that
the checker rightly accepts; if it does not, one of the two is wrong, and nothing is proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.models.kernel.document import document, refusal
from workbench.models.lowering.polyhedral import CHECKER, NotLoweredError, lowered
from workbench.models.proof.polyhedral import Evidence, Region
from workbench.models.proof.problem import LinearProblem


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


def polyhedral_basis(
    problem: LinearProblem, regions: Sequence[Region], evidence: Sequence[Evidence]
) -> Basis:
    """Whose word a polyhedral proof rests on that the checker accepts."""
    try:
        content = polyhedral_document(problem, regions, evidence)
    except NotLoweredError as error:
        return Basis(False, str(error))
    why = refusal(content)
    if why is not None:
        raise DisagreementError(why)
    return BY_KERNEL


def polyhedral_document(
    problem: LinearProblem, regions: Sequence[Region], evidence: Sequence[Evidence]
) -> dict[str, Any]:
    """The problem and the evidence as the kernel takes them."""
    form, found = lowered(problem, regions, evidence)
    return document(CHECKER, form.data, found)

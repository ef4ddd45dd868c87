"""What the kernel is asked about a proof: the problem in normal form, and evidence in its words.

The problem is lowered here, with the locations that the proof speaks about and, where it speaks
about time, with a clock. Which locations these are, and whether there is a clock, makes no
difference to what is proved (the lemmas of `models.lowering.normal_form` and `problem`). The
evidence is written by `models.evidence`, which need not be trusted: the kernel checks it.
"""

from __future__ import annotations

from typing import Any

from workbench.models.certificates.certificate import Proof
from workbench.models.evidence import kernel_polyhedral, kernel_progress, kernel_quadratic
from workbench.models.evidence.polyhedral import PolyhedralProof, mentions_time
from workbench.models.evidence.progress import ProgressProof
from workbench.models.evidence.quadratic import QuadraticInvariant
from workbench.models.evidence.quadratic_function import QuadraticFunctions
from workbench.models.kernel.document import document
from workbench.models.lowering.normal_form import NormalForm, NotLoweredError
from workbench.models.lowering.problem import LinearProblem

CHECK_POLYHEDRAL = "check_polyhedral"
CHECK_QUADRATIC = "check_quadratic"
CHECK_PROGRESS = "check_progress"


def kernel_document(problem: LinearProblem, proof: Proof) -> dict[str, Any]:
    """The problem and a proof as the kernel takes them. If the kernel takes no such proof,
    `NotLoweredError` says why."""
    return lowered(problem, proof)[1]


def lowered(problem: LinearProblem, proof: Proof) -> tuple[NormalForm, dict[str, Any]]:
    """The same, with the normal form and so the names."""
    if isinstance(proof, ProgressProof):
        form, content, found = kernel_progress.lowered(problem, proof)
        return form, document(CHECK_PROGRESS, content, found)
    if isinstance(proof, PolyhedralProof):
        view = problem.with_clock if mentions_time(proof.regions) else problem
        form = NormalForm(view, (region.location for region in proof.regions))
        return form, document(CHECK_POLYHEDRAL, form.data, kernel_polyhedral.evidence(form, proof))
    if isinstance(proof, QuadraticInvariant | QuadraticFunctions):
        form = NormalForm(problem, proof.locations)
        return form, document(CHECK_QUADRATIC, form.data, kernel_quadratic.evidence(form, proof))
    raise NotLoweredError("the kernel does not know such proofs yet")

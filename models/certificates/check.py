"""The one place where it is decided what is proved.

`check` is asked about certificates with evidence of a kind, as searches find it. Where the kernel
knows the kind, the problem is lowered, the evidence is written down for the kernel, and the kernel
alone decides; what follows from its word is the theorem below. Of other kinds the hand-written
checker decides, and its docstrings are the theorem.

`check_standalone` is asked about those that stand alone, whose two halves it checks: that the
problem is the model's, and that it is proved.

Theorem. If `check_standalone` accepts, the property holds in every reachable state of the
automaton; for progress: there is a run, and each can go on from each of its states, whatever the
inputs do.
Proof. Let the certificate speak about the locations S. The automaton and the property are lowered
here, again, to a problem N: the normal form of the view with the locations S taken in and all
others forbidden, with a clock if the certificate has one. What the kernel is given is N as it was
lowered here, not what stands in the file; of the file it gets the evidence, through its decoder. It
accepts only if N is safe (`polyhedral_sound`, `quadratic_sound`). By the lemma of
`models.lowering.normal_form`, N is safe only if no run of the view comes to a bad state, whatever
S is: a run that left S would be in a forbidden location, where all states are bad. The view allows
at least what the automaton does (`models.lowering.problem`), and a clock takes part in nothing. So
no run of the automaton comes to a bad state. For progress the problem is a system of two automata,
lowered here, too, and the kernel accepts only if it never blocks (`progress_sound`); that then the
automaton does not block is the theorem of `models.lowering.narrow`. (Models with equations that may
have no value, of which it knows nothing, are refused, and those with invariants without their
border, where no state is the last and yet time comes to an end.) Nothing else that the file says
is used: its problem and its names are compared with N and its names, so that what a reader of the
file sees is what was proved; its checksum and its property decide only whether it is refused at
once.

Without the model (`check_alone`) the kernel is given the problem of the file. Then the problem is
safe, or never blocks, and of what model it is the problem, nobody has looked at.

Of progress of which rows say too little there is another argument, for `check` alone: a first state
in which a run may start, and a proof that no reachable state is stuck, by the theorem of
`models.checker.progress`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from workbench.models.automaton import TIME, Automaton
from workbench.models.certificates.certificate import Certificate, SafetyProof
from workbench.models.certificates.judgement import (
    BY_CHECKER,
    BY_KERNEL,
    BY_KERNEL_WHERE_RUNS_COME,
    Accepted,
    Judgement,
    Rejected,
)
from workbench.models.certificates.kernel_form import (
    CHECK_POLYHEDRAL,
    CHECK_PROGRESS,
    kernel_document,
)
from workbench.models.certificates.question import problem_of
from workbench.models.certificates.standalone import Legend, StandaloneCertificate
from workbench.models.checker import flowpipe
from workbench.models.checker.flowpipe import FlowpipeProof
from workbench.models.checker.progress import fault_of_start
from workbench.models.evidence import diagnosis
from workbench.models.evidence.diagnosis import KernelProof
from workbench.models.evidence.kernel_progress import leaves
from workbench.models.evidence.progress import ProgressProof
from workbench.models.interruption import go_on, interruptible
from workbench.models.kernel.document import document, refusal
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.narrow import reaching, system
from workbench.models.lowering.normal_form import Data, NormalForm, NotLoweredError
from workbench.models.lowering.problem import LinearProblem
from workbench.models.lowering.stuck import fault_of_places


def check(
    automaton: Automaton,
    property_name: str,
    certificate: Certificate,
    expired: Callable[[], bool] | None = None,
) -> Judgement:
    """Whether the certificate proves the property of the automaton. `expired` is asked again
    and again; when it agrees, the check ends with `CheckInterruptedError`."""
    with nullcontext() if expired is None else interruptible(expired):
        return _check(automaton, property_name, certificate)


def _check(automaton: Automaton, property_name: str, certificate: Certificate) -> Judgement:
    proof = certificate.proof
    stated = certificate.model_sha256, certificate.claim
    problem = problem_of(automaton, property_name, *stated, isinstance(proof, ProgressProof))
    if isinstance(problem, Rejected):
        return problem
    try:
        if isinstance(proof, ProgressProof):
            return _progress(automaton, problem, proof)
        return _safety(problem, proof)
    except TooManyCasesError as error:
        return Rejected("model", str(error))


def _safety(problem: LinearProblem, proof: SafetyProof) -> Judgement:
    """What is said about a proof that no reachable state is bad."""
    if isinstance(proof, FlowpipeProof):
        return _by_hand(problem, proof)
    return by_kernel(problem, proof)


def _progress(
    automaton: Automaton, problem: LinearProblem, proof: ProgressProof[SafetyProof]
) -> Judgement:
    """What the kernel says about ways in which runs go on; without any, whether runs start, and
    whether none comes to a state in which it is stuck."""
    if why := fault_of_places(automaton):
        return Rejected("model", why)
    if proof.going_on is not None:
        try:
            content = kernel_document(problem, proof)
        except NotLoweredError:
            pass
        else:
            go_on()
            refused = refusal(content)
            if refused is not None:
                return Rejected("kernel", refused)
            return Accepted(obligations(content), BY_KERNEL)
    if why := fault_of_start(problem.automaton, proof.start):
        return Rejected("start", why)
    found = _safety(problem, proof.safety)
    if isinstance(found, Accepted) and found.basis.kernel:
        return replace(found, basis=BY_KERNEL_WHERE_RUNS_COME)
    return found


def _by_hand(problem: LinearProblem, proof: FlowpipeProof) -> Judgement:
    """What the hand-written checker says."""
    found = flowpipe.counted_or_failed(problem, proof)
    if isinstance(found, int):
        return Accepted(found, BY_CHECKER, proof.horizon)
    return Rejected(*found)


def by_kernel(problem: LinearProblem, proof: KernelProof) -> Judgement:
    """What the kernel says about a proof; of one that it refuses, which obligation fails."""
    if fault := diagnosis.malformed(problem, proof):
        return Rejected(*fault)
    try:
        content = kernel_document(problem, proof)
    except NotLoweredError as error:
        return _refused(problem, proof, f"it cannot be written down for the kernel: {error}")
    go_on()
    why = refusal(content)
    if why is not None:
        return _refused(problem, proof, why)
    return Accepted(obligations(content), BY_KERNEL)


def _refused(problem: LinearProblem, proof: KernelProof, why: str) -> Rejected:
    """A proof that the kernel does not accept, with the obligation that fails, if one is known."""
    return Rejected(*(diagnosis.failed(problem, proof) or ("kernel", why)))


# Certificates that stand alone

PARTS = ("invariant", "flow", "jumps", "bad states")
"""Of a location in normal form, in order."""


def check_standalone(
    automaton: Automaton,
    property_name: str,
    certificate: StandaloneCertificate,
    expired: Callable[[], bool] | None = None,
) -> Judgement:
    """Whether the certificate proves the property of the automaton. `expired` is asked now and
    then; when it agrees, the check ends with `CheckInterruptedError`."""
    with nullcontext() if expired is None else interruptible(expired):
        problem = compared(automaton, property_name, certificate)
        if isinstance(problem, Rejected):
            return problem
        go_on()
        content = certificate.document
        why = refusal(document(content["checker"], problem, content["evidence"]))
        if why is not None:
            return Rejected("evidence", why)
        return Accepted(obligations(certificate.document), BY_KERNEL)


def check_alone(certificate: StandaloneCertificate) -> Judgement:
    """Whether the evidence proves that the problem in the certificate is safe, or never blocks."""
    why = refusal(certificate.document)
    if why is not None:
        return Rejected("evidence", why)
    return Accepted(obligations(certificate.document), BY_KERNEL)


def compared(
    automaton: Automaton, property_name: str, certificate: StandaloneCertificate
) -> Data | Rejected:
    """The problem of the automaton and the property, lowered here, if it is the certificate's."""
    stated = certificate.model_sha256, certificate.claim
    problem = problem_of(automaton, property_name, *stated, certificate.is_progress)
    if isinstance(problem, Rejected):
        return problem
    if certificate.is_progress:
        if why := fault_of_places(automaton):
            return Rejected("model", why)
        problem = reaching(problem)
    try:
        return _compared(problem, certificate)
    except (TooManyCasesError, NotLoweredError) as error:
        return Rejected("model", str(error))


def _compared(problem: LinearProblem, certificate: StandaloneCertificate) -> Data | Rejected:
    names = certificate.names
    view = problem.with_clock if TIME in names.states else problem
    for name in names.locations:
        if not view.has_location(name):
            return Rejected("problem", f"the model has no location {name[:80]!r}")
    form = NormalForm(view, names.locations)
    ours = system(form) if certificate.is_progress else form.data
    if names != Legend.of(form):
        return Rejected("problem", "the names are not those of the model")
    if json.dumps(ours) != json.dumps(certificate.problem):  # where 1 is not true
        where = _difference(form.locations, ours, certificate)
        return Rejected("problem", f"{where} are not the model's")
    return ours


def _difference(places: Sequence[str], ours: Data, certificate: StandaloneCertificate) -> str:
    """What is not as it is in the model."""
    theirs = certificate.problem
    if not certificate.is_progress:
        return _different_part(places, ours, theirs)
    if ours[:-2] != theirs[:-2]:
        return "the number of variables, what is whole, or what is given,"
    wide, narrow = zip(ours[-2:], theirs[-2:], strict=True)
    if wide[0] != wide[1]:
        return _different_part(places, *wide)
    return f"of what runs can do: {_different_part(places, *narrow)}"


def _different_part(places: Sequence[str], ours: Data, theirs: Any) -> str:
    for name, mine, other in zip(places, ours[0], theirs[0], strict=True):
        if mine != other:
            whole = isinstance(other, list) and len(other) == len(PARTS)
            parts = [part for i, part in enumerate(PARTS) if not whole or mine[i] != other[i]]
            return f"{', '.join(parts)} of {name}"
    return "starts"


def obligations(content: Mapping[str, Any]) -> int:
    """How many facts the evidence in a document shows that the kernel accepts: a start, a flow, an
    exit, a jump, a bad state, in each of its cases; of progress, also a first state, and the cases
    in which runs go on."""
    checker, evidence = content["checker"], content["evidence"]
    if checker == CHECK_PROGRESS:
        reachable, _, ways = evidence
        cells = [way for regions in ways for region in regions for way in region]
        return _facts(CHECK_POLYHEDRAL, reachable) + 1 + leaves(cells)
    return _facts(checker, evidence)


def _facts(checker: str, evidence: Any) -> int:
    starts, places = evidence
    if checker == CHECK_POLYHEDRAL:
        depths: tuple[int, ...] = (0, 4, 4, 3, 2)
        places = [region for location in places for region in location]
    else:
        depths = (0, 3, 2, 1)
        places = [evidence for location in places for evidence in location]
    own = (
        _count(part, depth)
        for evidence in places
        for part, depth in zip(evidence, depths, strict=True)
    )
    return _count(starts, 2) + sum(own)


def _count(value: Any, depth: int) -> int:
    """The number of elements so deep in lists."""
    if depth == 0:
        return 0
    return len(value) if depth == 1 else sum(_count(item, depth - 1) for item in value)

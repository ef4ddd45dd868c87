"""The one function that decides what is proved.

`check` returns `Accepted` only if the certificate speaks about this very model and this
property and every obligation multiplies out. It uses exact rationals and the standard
library only; it trusts nothing of what a certificate says but the numbers it multiplies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from workbench.models.automaton import NEVER_BLOCKS, Automaton, Property, PropertyKind
from workbench.models.expressions.expression import TRUE
from workbench.models.interruption import go_on, interruptible
from workbench.models.lowering.basis import (
    BY_CHECKER,
    Basis,
    DisagreementError,
    basis,
)
from workbench.models.proof import flowpipe, polyhedral, quadratic_function
from workbench.models.proof.certificate import Certificate, PolyhedralProof, Proof, SafetyProof
from workbench.models.proof.flowpipe import FlowpipeProof
from workbench.models.proof.linear import TooManyCasesError
from workbench.models.proof.polyhedral import Evidence
from workbench.models.proof.problem import LinearProblem, linear_problem
from workbench.models.proof.progress import ProgressProof, fault_of_start
from workbench.models.proof.quadratic import QuadraticInvariant, failures
from workbench.models.proof.quadratic_function import QuadraticFunctions
from workbench.models.proof.stuck import fault_of_places
from workbench.models.well_formed import fault_of


@dataclass(frozen=True, slots=True)
class Accepted:
    """The property holds in every reachable state, for all time or up to a horizon."""

    obligations: int
    horizon: Fraction | None = None
    basis: Basis = BY_CHECKER


@dataclass(frozen=True, slots=True)
class Rejected:
    """The certificate proves nothing: the first obligation that fails, and why."""

    obligation: str
    why: str


Judgement: TypeAlias = Accepted | Rejected


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
    is_progress = isinstance(proof, ProgressProof)
    stated = certificate.model_sha256, certificate.claim
    problem = problem_of(automaton, property_name, *stated, is_progress)
    if isinstance(problem, Rejected):
        return problem
    safety = proof.safety if isinstance(proof, ProgressProof) else proof
    try:
        if isinstance(proof, ProgressProof):
            if why := fault_of_places(automaton):
                return Rejected("model", why)
            if why := fault_of_start(problem.automaton, proof.start):
                return Rejected("start", why)
        found = _obligations(problem, safety)
        return _on_its_basis(problem, proof, found) if isinstance(found, Accepted) else found
    except TooManyCasesError as error:
        return Rejected("model", str(error))


def problem_of(
    automaton: Automaton,
    property_name: str,
    model_sha256: str,
    claim: str,
    is_progress: bool,
) -> LinearProblem | Rejected:
    """The linear view of what is to be proved, if a certificate with such a head is about it: it
    names this model and this property, which is progress if the certificate is of that kind."""
    if model_sha256 != automaton.sha256:
        return Rejected("model", "the certificate was made for another model")
    if claim != property_name:
        return Rejected("property", f"the certificate is for {claim!r}")
    asked = next((p for p in automaton.properties if p.name == property_name), None)
    if asked is None and property_name == NEVER_BLOCKS:
        asked = Property(NEVER_BLOCKS, TRUE, PropertyKind.PROGRESS)
    if asked is None:
        return Rejected("property", f"the model has no property {property_name!r}")
    if why := fault_of(automaton):
        return Rejected("model", why)
    if is_progress != (asked.kind is PropertyKind.PROGRESS):
        return Rejected("kind", "the certificate is for another kind of property")
    return linear_problem(automaton, asked)


def _obligations(problem: LinearProblem, proof: SafetyProof) -> Judgement:
    """Whether every obligation holds."""
    if isinstance(proof, PolyhedralProof):
        return _polyhedral(problem, proof)
    if isinstance(proof, FlowpipeProof):
        return _flowpipe(problem, proof)
    if isinstance(proof, QuadraticFunctions):
        return _functions(problem, proof)
    return _quadratic(problem, proof)


def _on_its_basis(problem: LinearProblem, proof: Proof, found: Accepted) -> Judgement:
    """What is accepted, with whose word it rests on."""
    try:
        return replace(found, basis=basis(problem, proof))
    except DisagreementError as error:
        return Rejected("kernel", f"the kernel does not accept what the checker accepts: {error}")


def _polyhedral(problem: LinearProblem, proof: PolyhedralProof) -> Judgement:
    if why := polyhedral.malformed(problem, proof.regions):
        return Rejected("invariant", why)
    return _each(polyhedral.obligations(problem, proof.regions), proof.evidence, None)


def _flowpipe(problem: LinearProblem, proof: FlowpipeProof) -> Judgement:
    if why := flowpipe.malformed(problem, proof):
        return Rejected("flowpipe", why)
    try:
        found = flowpipe.obligations(problem, proof.horizon, proof.nodes)
        return _each(found, proof.evidence, proof.horizon)
    except flowpipe.UnsuitableError as error:
        return Rejected("flowpipe", str(error))


def _each(
    obligations: Iterable[polyhedral.Obligation],
    given: Iterable[Evidence],
    horizon: Fraction | None,
) -> Judgement:
    """Whether each obligation holds by the piece of evidence given for it."""
    count = 0
    evidence = iter(given)
    for obligation in obligations:
        go_on()
        piece = next(evidence, None)
        if piece is None:
            return Rejected(obligation.title, "there is no evidence for it")
        if not obligation.holds(piece):
            return Rejected(obligation.title, "the evidence does not prove it")
        count += 1
    if next(evidence, None) is not None:
        return Rejected("evidence", "there is more evidence than obligations")
    return Accepted(count, horizon)


def _quadratic(problem: LinearProblem, proof: QuadraticInvariant) -> Judgement:
    for failure in failures(problem, proof):
        return Rejected(failure.obligation, failure.why)
    return Accepted(len(proof.ellipsoids) * len(proof.locations))


def _functions(problem: LinearProblem, proof: QuadraticFunctions) -> Judgement:
    found = quadratic_function.rejected(problem, proof)
    return Accepted(found) if isinstance(found, int) else Rejected(*found)

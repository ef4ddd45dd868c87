"""Where the kernel knows a kind, its word alone decides; others only say what fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.kernel_documents import PROOFS, proof
from workbench.models.automaton import HybridAutomaton
from workbench.models.certificates import check as deciding
from workbench.models.certificates.certificate import Certificate
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Judgement, Rejected
from workbench.models.evidence import diagnosis
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.expression import negation
from workbench.models.kernel.document import refusal
from workbench.models.lowering.normal_form import NormalForm
from workbench.models.lowering.problem import linear_problem


def judged(model: HybridAutomaton, found: Any) -> Judgement:
    claim = model.properties[0].name
    return check(model, claim, Certificate(model.name, model.sha256, claim, found))


@pytest.mark.parametrize("name", PROOFS)
def test_what_the_kernel_refuses_is_rejected_though_nothing_else_fails(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, found = proof(name)
    accepted = judged(model, found)
    assert isinstance(accepted, Accepted) and accepted.basis.kernel
    monkeypatch.setattr(deciding, "refusal", lambda content: "not today")
    assert judged(model, found) == Rejected("kernel", "not today")


@pytest.mark.parametrize("name", PROOFS)
def test_what_says_why_a_proof_fails_cannot_make_it_accepted(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, found = proof(name)
    monkeypatch.setattr(diagnosis, "failed", lambda problem, proof: None)
    broken = replace(model, properties=(opposite(model),))
    assert isinstance(judged(broken, found), Rejected)


def opposite(model: HybridAutomaton) -> Any:
    """The property that just the states are bad which the proved one allows."""
    claim = model.properties[0]
    return replace(claim, condition=negation(claim.condition))


@pytest.mark.parametrize("name", PROOFS)
def test_the_kernel_is_given_the_problem_as_it_is_lowered(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever evidence is written down: the problem comes from the model."""
    model, found = proof(name)
    asked: list[Any] = []

    def noted(content: Any) -> str | None:
        asked.append(content)
        return refusal(content)

    monkeypatch.setattr(deciding, "refusal", noted)
    assert isinstance(judged(model, found), Accepted)
    (content,) = asked
    places = found.regions if isinstance(found, PolyhedralProof) else found.locations
    names = [getattr(place, "location", place) for place in places]
    problem = linear_problem(model, model.properties[0])
    forms = [NormalForm(view, names).data for view in (problem, problem.with_clock)]
    assert content["problem"] in forms

"""Cells with parts of their own: what is handed over at a facet, and what is not believed."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from workbench.models.automaton import Constraint, HybridAutomaton, Range
from workbench.models.certificates.certificate import (
    Certificate,
    MalformedCertificateError,
    decode,
    encode,
)
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.checker.covers import Region
from workbench.models.evidence.polyhedral import HandedOver, PolyhedralProof
from workbench.models.expressions.expression import constant
from workbench.models.linear import Form
from workbench.models.lowering.problem import linear_problem
from workbench.reach.evidence import Unproved, prove


def form(constant: int | Fraction = 0, **coefficients: int | Fraction) -> Form:
    return Form({n: Fraction(a) for n, a in coefficients.items()}, Fraction(constant))


LEFT, RIGHT = (1,), (-1,)
SLOPE = form(Fraction(-4, 5), y=1, x=Fraction(3, 5))
CEILING = form(Fraction(-4, 5), y=1)


def bent(*parts: tuple[Form, ...]) -> Region:
    """Left of x = 0 and right of it, with a part each."""
    return Region("run", (form(x=1),), (LEFT, RIGHT), parts)


def proved(model: HybridAutomaton, region: Region) -> PolyhedralProof | Unproved:
    return prove(linear_problem(model, model.properties[0]), (region,))


def certified(model: HybridAutomaton, region: Region) -> Certificate:
    proof = proved(model, region)
    assert isinstance(proof, PolyhedralProof), proof.obligation.title
    return Certificate(model.name, model.sha256, "safe", proof)


def test_parts_prove_what_no_convex_set_can(sinking: HybridAutomaton) -> None:
    """A convex set with (-2, 2) and far points of y = 0 has (0, 1), which is bad."""
    certificate = certified(sinking, bent((SLOPE,), (CEILING,)))
    assert isinstance(check(sinking, "safe", certificate), Accepted)
    assert decode(encode(certificate)) == certificate


def test_a_part_that_the_facet_exceeds_is_not_proved(sinking: HybridAutomaton) -> None:
    lower = form(Fraction(-3, 4), y=1)
    outcome = proved(sinking, bent((SLOPE,), (lower,)))
    assert isinstance(outcome, Unproved)
    assert outcome.obligation.title.startswith("flow in run: cell 1, predicate 1")


def test_a_part_that_the_flow_leaves_is_not_proved(sinking: HybridAutomaton) -> None:
    steep = form(Fraction(-1, 2), y=1, x=Fraction(3, 4))
    outcome = proved(sinking, bent((steep,), (CEILING,)))
    assert isinstance(outcome, Unproved)


def test_initial_states_must_lie_in_the_part(sinking: HybridAutomaton) -> None:
    low = form(-1, y=1)
    outcome = proved(sinking, bent((low,), (low,)))
    assert isinstance(outcome, Unproved)
    assert outcome.obligation.title.startswith("initial states")


def test_a_run_that_slides_along_a_facet_is_not_forgotten(sinking: HybridAutomaton) -> None:
    """With x' of either sign and y' = 1 a run may go up along x = 0, crossing it all the time.
    Each of y <= x and y <= -x looks kept by the flow towards the facet alone."""
    location = sinking.locations[0]
    either = Constraint("x", Range(constant(-1), constant(1)))
    up = Constraint("y", Range.exactly(constant(1)))
    sliding = replace(sinking, locations=(replace(location, flows=(either, up)),))
    region = bent((form(-4, y=1, x=-1),), (form(-4, y=1, x=1),))
    outcome = proved(sliding, region)
    assert isinstance(outcome, Unproved)
    assert outcome.obligation.title.startswith("flow in run")


def changed(text: str, change: str) -> str:
    raw = json.loads(text)
    region = raw["regions"][0]
    handed = next(e for e in raw["evidence"] if "handed_over" in e[0])[0]["handed_over"]
    if change == "drop the parts":
        del region["parts"]
    elif change == "drop one part":
        region["parts"].pop()
    elif change == "empty one part":
        region["parts"][0] = []
    elif change == "lower the ceiling":
        region["parts"][1][0]["constant"] = "-3/5"
    elif change == "a cell twice":
        region["cells"] = ["-", "-"]
    elif change == "other weight":
        handed[0]["own"] = "-1/2"
    elif change == "no proof":
        handed.clear()
    elif change == "two proofs":
        handed.append(handed[0])
    return json.dumps(raw)


@pytest.mark.parametrize(
    "change",
    [
        "drop the parts",
        "drop one part",
        "empty one part",
        "lower the ceiling",
        "a cell twice",
        "other weight",
        "no proof",
        "two proofs",
    ],
)
def test_changed_certificates_are_rejected(sinking: HybridAutomaton, change: str) -> None:
    text = encode(certified(sinking, bent((SLOPE,), (CEILING,))))
    assert isinstance(check(sinking, "safe", decode(changed(text, change))), Rejected)


def test_a_heavy_identity_without_slack_is_rejected(sinking: HybridAutomaton) -> None:
    """The same half-space, ten times as large a form: true, but the weight is 10 - 6."""
    tight = tuple(f.scaled(Fraction(10)) for f in (CEILING,))
    proof = proved(sinking, bent((SLOPE,), tight))
    assert isinstance(proof, Unproved)
    roomy = (form(Fraction(-81, 10), y=10),)
    assert isinstance(proved(sinking, bent((SLOPE,), roomy)), PolyhedralProof)


def test_a_hand_over_is_no_proof_of_anything_else(sinking: HybridAutomaton) -> None:
    certificate = certified(sinking, bent((SLOPE,), (CEILING,)))
    assert isinstance(certificate.proof, PolyhedralProof)
    evidence = tuple(HandedOver(()) for _ in certificate.proof.evidence)
    forged = replace(certificate, proof=replace(certificate.proof, evidence=evidence))
    assert isinstance(check(sinking, "safe", forged), Rejected)


@pytest.mark.parametrize("parts", ["1", '["x"]', '[[{"coefficients": 1, "constant": "0"}], []]'])
def test_malformed_parts_are_named_as_such(sinking: HybridAutomaton, parts: str) -> None:
    raw = json.loads(encode(certified(sinking, bent((SLOPE,), (CEILING,)))))
    raw["regions"][0]["parts"] = json.loads(parts)
    with pytest.raises(MalformedCertificateError, match="parts"):
        decode(json.dumps(raw))

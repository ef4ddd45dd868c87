"""Certificates of refinements: accepted as made, rejected when changed."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from thermostats import heater, simple_heater

from workbench.abstraction.refinement.flat import Settings, refine
from workbench.abstraction.refinement.outcome import Refines
from workbench.models.automaton import HybridAutomaton
from workbench.models.certificates.certificate import MalformedCertificateError
from workbench.models.certificates.judgement import Rejected
from workbench.models.certificates.refinement import (
    RefinementCertificate,
    Refuted,
    Simulated,
    check_refinement,
    reach_problem,
)
from workbench.models.certificates.refinement_text import decode_refinement, encode_refinement
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.linear import Form
from workbench.reach.evidence import prove

Pair = tuple[HybridAutomaton, HybridAutomaton, RefinementCertificate]


@pytest.fixture(scope="module", params=["plain", "reach"])
def proved(request: pytest.FixtureRequest) -> Pair:
    wide = {"on_invariant": "x <= 22", "off_invariant": "x >= 18"}
    changes: dict[str, Any] = wide if request.param == "reach" else {}
    detailed, abstract = heater(**changes), simple_heater()
    outcome = refine(detailed, abstract, ("x",), Settings(refute=False))
    assert isinstance(outcome, Refines)
    return detailed, abstract, outcome.certificate


def test_text_round_trip(proved: Pair) -> None:
    detailed, abstract, certificate = proved
    again = decode_refinement(encode_refinement(certificate))
    assert again == certificate
    assert isinstance(check_refinement(detailed, abstract, again), Simulated)


def test_every_changed_number_is_rejected_or_still_a_proof(proved: Pair) -> None:
    """A changed multiplier must break its obligation: here every row is needed."""
    detailed, abstract, certificate = proved
    random = Random(1)
    for i, piece in enumerate(certificate.evidence):
        assert isinstance(piece, Refuted)
        for j, multipliers in enumerate(piece.cases):
            if not multipliers:
                continue
            k = random.randrange(len(multipliers))
            row, value = multipliers[k]
            for changed in ((row, -value), (row + 1000, value), (row, value + Fraction(7, 3))):
                cases = list(piece.cases)
                cases[j] = (*multipliers[:k], changed, *multipliers[k + 1 :])
                evidence = list(certificate.evidence)
                evidence[i] = Refuted(tuple(cases))
                judgement = check_refinement(
                    detailed, abstract, replace(certificate, evidence=tuple(evidence))
                )
                if changed[1] < 0 or changed[0] >= 1000:
                    assert isinstance(judgement, Rejected)


def test_other_models_maps_and_missing_evidence_are_rejected(proved: Pair) -> None:
    detailed, abstract, certificate = proved
    split = next(
        k for k, e in enumerate(certificate.evidence) if isinstance(e, Refuted) and e.cases
    )
    without = (*certificate.evidence[:split], Refuted(()), *certificate.evidence[split + 1 :])
    wrong = [
        replace(certificate, detailed_sha256="0" * 64),
        replace(certificate, abstract_sha256=detailed.sha256),
        replace(certificate, evidence=certificate.evidence[:-1]),
        replace(certificate, evidence=(*certificate.evidence, certificate.evidence[0])),
        replace(certificate, evidence=without),
        replace(certificate, places={"ON": "ON"}),
        replace(certificate, places={"ON": "OFF", "OFF": "ON"}),
        replace(certificate, places={"ON": "nowhere", "OFF": "OFF"}),
        replace(certificate, witness={"x": Form({"x": Fraction(2)})}),
        replace(certificate, observed=("y",)),
    ]
    for changed in wrong:
        assert isinstance(check_refinement(detailed, abstract, changed), Rejected)


def test_reachable_sets_must_be_proved() -> None:
    wide = {"on_invariant": "x <= 22", "off_invariant": "x >= 18"}
    detailed, abstract = heater(**wide), simple_heater()  # type: ignore[arg-type]
    outcome = refine(detailed, abstract, ("x",), Settings(refute=False))
    assert isinstance(outcome, Refines)
    proof = outcome.certificate.reach
    assert proof is not None
    smaller = tuple(
        replace(r, predicates=tuple(Form(h.coefficients, h.constant + 1) for h in r.predicates))
        for r in proof.regions
    )
    clock = Form({"time": Fraction(-1)})
    timed = tuple(
        replace(r, predicates=(*r.predicates, clock), cells=tuple((*c, 1) for c in r.cells))
        for r in proof.regions
    )
    again = prove(reach_problem(detailed), timed)
    assert isinstance(again, PolyhedralProof)
    for changed in (replace(proof, regions=smaller), replace(proof, evidence=()), again):
        certificate = replace(outcome.certificate, reach=changed)
        assert isinstance(check_refinement(detailed, abstract, certificate), Rejected)
    bare = replace(outcome.certificate, reach=None)
    assert isinstance(check_refinement(detailed, abstract, bare), Rejected)


def test_malformed_texts_are_named(proved: Pair) -> None:
    text = encode_refinement(proved[2])
    raw = json.loads(text)
    bad: list[str] = ["", "[]", "{", text.replace("refinement/1", "refinement/2")]
    bad.append(json.dumps({**raw, "extra": 1}))
    bad.append(json.dumps({k: v for k, v in raw.items() if k != "places"}))
    bad.append(json.dumps({**raw, "evidence": [{"refuted": [{"0": 0.5}]}]}))
    bad.append(json.dumps({**raw, "evidence": [{}]}))
    for given in bad:
        with pytest.raises(MalformedCertificateError):
            decode_refinement(given)

"""The checker accepts true invariants and rejects every claim that its evidence does not prove."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.models.automaton import HybridAutomaton
from workbench.models.certificates.certificate import (
    Certificate,
    MalformedCertificateError,
    decode,
    encode,
)
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.checker.covers import Region
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.linear import Form
from workbench.models.lowering.problem import linear_problem
from workbench.reach.evidence import Unproved, prove


def form(constant: int | Fraction = 0, **coefficients: int | Fraction) -> Form:
    return Form({n: Fraction(a) for n, a in coefficients.items()}, Fraction(constant))


def certified(model: HybridAutomaton, *regions: Region) -> Certificate:
    proof = prove(linear_problem(model, model.properties[0]), regions)
    assert isinstance(proof, PolyhedralProof), proof.obligation.title
    return Certificate(model.name, model.sha256, "safe", proof)


def between_ones(location: str = "run") -> Region:
    return Region(location, (form(-1, x=1), form(-1, x=-1)), ((1, 1),))


def test_a_known_invariant_is_accepted(disturbed_decay: HybridAutomaton) -> None:
    certificate = certified(disturbed_decay, between_ones())
    assert isinstance(check(disturbed_decay, "safe", certificate), Accepted)
    assert decode(encode(certificate)) == certificate


def test_a_set_that_the_flow_leaves_has_no_evidence(disturbed_decay: HybridAutomaton) -> None:
    too_small = Region("run", (form(Fraction(-9, 10), x=1), form(-1, x=-1)), ((1, 1),))
    problem = linear_problem(disturbed_decay, disturbed_decay.properties[0])
    outcome = prove(problem, (too_small,))
    assert isinstance(outcome, Unproved)
    assert outcome.obligation.title.startswith("flow in run")


def test_a_set_that_misses_initial_states_has_no_evidence(
    disturbed_decay: HybridAutomaton,
) -> None:
    problem = linear_problem(disturbed_decay, disturbed_decay.properties[0])
    outcome = prove(problem, (Region("run", (form(0, x=1), form(-1, x=-1)), ((1, 1),)),))
    assert isinstance(outcome, Unproved)
    assert outcome.obligation.title.startswith("initial states")


def test_strictness_of_the_bad_set_is_respected(disturbed_decay: HybridAutomaton) -> None:
    from workbench.models.automaton import Property
    from workbench.models.expressions.expression import variable

    strict = replace(disturbed_decay, properties=(Property("safe", variable("x") < 1),))
    outcome = prove(linear_problem(strict, strict.properties[0]), (between_ones(),))
    assert isinstance(outcome, Unproved)
    assert outcome.obligation.title.startswith("safety")


def test_a_set_of_cells_proves_what_no_convex_set_can(corner: HybridAutomaton) -> None:
    cells = ((1, 1), (1, -1), (-1, 1))
    certificate = certified(corner, Region("run", (form(x=1), form(y=1)), cells))
    assert isinstance(check(corner, "safe", certificate), Accepted)


def test_a_union_of_regions_is_accepted(corner: HybridAutomaton) -> None:
    left = Region("run", (form(x=1),), ((1,),))
    lower = Region("run", (form(y=1),), ((1,),))
    certificate = certified(corner, left, lower)
    assert isinstance(check(corner, "safe", certificate), Accepted)


def test_resets_with_ranges_are_covered(sawtooth: HybridAutomaton) -> None:
    certificate = certified(sawtooth, Region("up", (form(-5, x=1), form(x=-1)), ((1, 1),)))
    assert isinstance(check(sawtooth, "safe", certificate), Accepted)


def test_the_model_and_the_property_must_be_the_same(disturbed_decay: HybridAutomaton) -> None:
    certificate = certified(disturbed_decay, between_ones())
    other = replace(disturbed_decay, name="other")
    assert check(other, "safe", certificate) == Rejected(
        "model", "the certificate was made for another model"
    )
    renamed = replace(certificate, claim="else")
    assert isinstance(check(disturbed_decay, "safe", renamed), Rejected)


def broken(text: str, change: str) -> str:
    """The certificate with one thing changed that its claim depends on."""
    raw = json.loads(text)
    region = raw["regions"][0]
    if change == "drop the region":
        raw["regions"] = []
    elif change == "drop a cell":
        region["cells"] = []
    elif change == "drop a predicate":
        region["predicates"].pop()
        region["cells"] = ["-"]
    elif change == "shrink an offset":
        region["predicates"][0]["constant"] = "-1/4"
    elif change == "grow an offset":
        region["predicates"][0]["constant"] = "-3/2"
    elif change == "flip a coefficient":
        region["predicates"][0]["coefficients"]["x"] = "-1"
    elif change == "flip a cell":
        region["cells"] = ["+-"]
    elif change == "drop evidence":
        raw["evidence"].pop()
    elif change == "swap evidence":
        raw["evidence"].reverse()
    elif change == "repeat evidence":
        raw["evidence"].append(raw["evidence"][-1])
    return json.dumps(raw)


@pytest.mark.parametrize(
    "change",
    [
        "drop the region",
        "drop a cell",
        "drop a predicate",
        "shrink an offset",
        "grow an offset",
        "flip a coefficient",
        "flip a cell",
        "drop evidence",
        "swap evidence",
        "repeat evidence",
    ],
)
def test_broken_claims_are_rejected_by_name(disturbed_decay: HybridAutomaton, change: str) -> None:
    text = encode(certified(disturbed_decay, between_ones()))
    judgement = check(disturbed_decay, "safe", decode(broken(text, change)))
    assert isinstance(judgement, Rejected)
    assert judgement.obligation and judgement.why


def numbers(node: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """The paths of all multipliers in the evidence."""
    if isinstance(node, dict):
        items = list(node.items())
    elif isinstance(node, list):
        items = list(enumerate(node))
    else:
        return [path] if isinstance(node, str) and path[-1] != "facet" else []
    return [found for key, value in items for found in numbers(value, (*path, key))]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_changed_multipliers_never_prove_a_broken_claim(
    disturbed_decay: HybridAutomaton, data: st.DataObject
) -> None:
    """With the offset beyond what is safe no change of one multiplier may be accepted."""
    raw = json.loads(encode(certified(disturbed_decay, between_ones())))
    raw["regions"][0]["predicates"][0]["constant"] = data.draw(
        st.sampled_from(["-3/2", "-1/4", "-11/10"])
    )
    path = data.draw(st.sampled_from(numbers(raw["evidence"])))
    node = raw["evidence"]
    for key in path[:-1]:
        node = node[key]
    change = data.draw(st.fractions(min_value=-3, max_value=3, max_denominator=40))
    node[path[-1]] = str(Fraction(node[path[-1]]) + change)
    judgement = check(disturbed_decay, "safe", decode(json.dumps(raw)))
    assert isinstance(judgement, Rejected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "not json",
        '{"schema": "charon-workbench/certificate/1"}',
        '{"schema": "charon-workbench/certificate/2", "kind": "polyhedral"}',
        "[" * 100_000,
        '{"schema": 1.5}',
        '{"schema": ' + "9" * 5000 + "}",
        "\x00",
    ],
)
def test_malformed_certificates_are_named_as_such(text: str) -> None:
    with pytest.raises(MalformedCertificateError):
        decode(text)


@pytest.mark.parametrize("number", ["1/0", "1e9", "0.5", "--1", "9" * 5000, "", "1/", "/2", "٣"])
def test_odd_numbers_are_malformed(disturbed_decay: HybridAutomaton, number: str) -> None:
    raw = json.loads(encode(certified(disturbed_decay, between_ones())))
    raw["regions"][0]["predicates"][0]["constant"] = number
    with pytest.raises(MalformedCertificateError):
        decode(json.dumps(raw))


@pytest.mark.parametrize("field", ["model", "evidence", "regions", "scope", "kind"])
def test_missing_fields_are_malformed(disturbed_decay: HybridAutomaton, field: str) -> None:
    raw = json.loads(encode(certified(disturbed_decay, between_ones())))
    del raw[field]
    with pytest.raises(MalformedCertificateError):
        decode(json.dumps(raw))


def test_unknown_fields_are_malformed(disturbed_decay: HybridAutomaton) -> None:
    raw = json.loads(encode(certified(disturbed_decay, between_ones())))
    raw["trust_me"] = True
    with pytest.raises(MalformedCertificateError, match="trust_me"):
        decode(json.dumps(raw))

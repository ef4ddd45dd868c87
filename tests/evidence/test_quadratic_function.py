"""Quadratic functions: exact semidefiniteness, energy proofs, and nothing false accepted."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evidence.test_quadratic import determinant
from tests.support.energy_automata import (
    rotation,
    shaken_spring,
    switched_energy,
    two_rotations,
    two_sided,
    walled_spring,
)
from workbench.abstraction.strategies.quadratic import QuadraticStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.cli import run
from workbench.models.automaton import Automaton, HybridAutomaton, Property
from workbench.models.certificates.certificate import (
    Certificate,
    MalformedCertificateError,
    decode,
    encode,
)
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.evidence.definite import is_positive_semidefinite
from workbench.models.evidence.quadratic_function import (
    QuadraticFunctions,
    Witness,
    bad_situations,
    proves,
    situations,
)
from workbench.models.load import load
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Unknown, Verified
from workbench.reach.quadratic.ellipsoid_search import reachable_locations
from workbench.reach.quadratic.function_search import NoFunction, search_functions
from workbench.reports.claims.claimed_set import function_set
from workbench.reports.crosscheck.contradictions import cross_check
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams

WHOLE = st.integers(min_value=-3, max_value=3).map(Fraction)


@given(st.lists(WHOLE, min_size=6, max_size=6))
def test_semidefiniteness_agrees_with_all_principal_minors(entries: list[Fraction]) -> None:
    a, b, c, d, e, f = entries
    matrix = [[a, b, c], [b, d, e], [c, e, f]]
    minors = [
        determinant([[matrix[i][j] for j in chosen] for i in chosen])
        for size in (1, 2, 3)
        for chosen in combinations(range(3), size)
    ]
    assert is_positive_semidefinite(matrix) == all(m >= 0 for m in minors)


@given(st.lists(st.tuples(WHOLE, WHOLE), min_size=4, max_size=4))
def test_gram_matrices_are_semidefinite_and_a_bit_less_is_judged_right(rows: list[Any]) -> None:
    gram = [[a * c + b * d for c, d in rows] for a, b in rows]  # 4 x 4 of rank at most 2
    assert is_positive_semidefinite(gram)
    gram[3][3] -= Fraction(1, 10**9)
    minors = [
        determinant([[gram[i][j] for j in chosen] for i in chosen])
        for size in (1, 2, 3, 4)
        for chosen in combinations(range(4), size)
    ]
    assert is_positive_semidefinite(gram) == all(m >= 0 for m in minors)


def ball(name: str = "bouncing_ball", claim: str = "never above its start") -> Automaton:
    model = load(name).automaton
    return replace(model, properties=tuple(p for p in model.properties if p.name == claim))


SAFE = {
    "rotation": rotation(),
    "rotation, hardly": rotation(Fraction(1132, 1000)),
    "spring": walled_spring(),
    "spring, touching": walled_spring(Fraction(1)),
    "switched": switched_energy(),
    "switched, touching": switched_energy(Fraction(1)),
    "both sides": two_sided(),
    "two rotations": two_rotations(),
    "shaken": shaken_spring(),
    "ball": ball(),
}
UNSAFE = {
    "rotation": rotation(Fraction(1131, 1000)),
    "spring": walled_spring(Fraction(99, 100)),
    "spring that gains": walled_spring(restitution=Fraction(2)),
    "switched": switched_energy(Fraction(99, 100)),
    "both sides": two_sided(Fraction(11, 10)),
    "two rotations": two_rotations(Fraction(99, 100)),
    "shaken": shaken_spring(Fraction(9, 10)),
    "ball": ball("bouncing_ball_lively"),
}


def proof_of(model: Automaton) -> QuadraticFunctions | NoFunction:
    problem = linear_problem(model, model.properties[0])
    locations = reachable_locations(problem)
    assert locations is not None
    return search_functions(problem, locations, lambda: False)


def certificate_of(model: Automaton) -> Certificate:
    proof = proof_of(model)
    assert isinstance(proof, QuadraticFunctions), proof
    return Certificate(model.name, model.sha256, model.properties[0].name, proof)


def judged(model: Automaton, certificate: Certificate) -> Accepted | Rejected:
    return check(model, certificate.claim, certificate)


@pytest.mark.parametrize("name", SAFE)
def test_energy_proves_safety_and_survives_writing(name: str) -> None:
    model = SAFE[name]
    certificate = certificate_of(model)
    read = decode(encode(certificate))
    assert read == certificate
    assert read.kind == "quadratic function" and read.horizon is None
    assert isinstance(judged(model, read), Accepted)


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_twins_are_never_proved(name: str) -> None:
    model = UNSAFE[name]
    assert isinstance(proof_of(model), NoFunction)
    verdict = QuadraticStrategy().attempt(Task(model, model.properties[0]))
    assert isinstance(verdict, Unknown) and "quadratic function" in verdict.reason


@pytest.mark.parametrize(
    ("safe", "unsafe"),
    [("rotation", "rotation"), ("spring", "spring"), ("switched", "switched"), ("ball", "ball")],
)
def test_a_proof_of_the_safe_twin_proves_nothing_about_the_other(safe: str, unsafe: str) -> None:
    certificate = certificate_of(SAFE[safe])
    model = UNSAFE[unsafe]
    claimed = replace(certificate, model_sha256=model.sha256)
    assert isinstance(check(model, claimed.claim, claimed), Rejected)


def test_functions_are_listed_one_for_each_bad_case_where_one_is_not_enough() -> None:
    proof = certificate_of(SAFE["two rotations"]).proof
    assert isinstance(proof, QuadraticFunctions)
    assert len(proof.functions) == 2


# Tampering, with a proof in which nothing is to spare


def with_evidence(certificate: Certificate, index: int, witness: Witness) -> Certificate:
    proof = certificate.proof
    assert isinstance(proof, QuadraticFunctions)
    evidence = (*proof.evidence[:index], witness, *proof.evidence[index + 1 :])
    return replace(certificate, proof=replace(proof, evidence=evidence))


def witnesses(certificate: Certificate) -> list[tuple[int, Witness]]:
    assert isinstance(certificate.proof, QuadraticFunctions)
    return list(enumerate(certificate.proof.evidence))


@pytest.mark.parametrize("name", ["ball", "rotation", "spring, touching"])
def test_every_multiplier_is_needed_and_none_may_be_negative(name: str) -> None:
    model, tried = SAFE[name], 0
    certificate = certificate_of(model)
    for index, w in witnesses(certificate):
        for k, (j, a) in enumerate(w.linear):
            for other in ((), ((j, -a),), ((len(w.linear) + 99, a),)):
                linear = (*w.linear[:k], *other, *w.linear[k + 1 :])
                changed = with_evidence(certificate, index, replace(w, linear=linear))
                assert isinstance(judged(model, changed), Rejected)
                tried += 1
        for k, (i, j, a) in enumerate(w.products):
            for others in ((), ((i, j, -a),), ((-1, j, a),)):
                products = (*w.products[:k], *others, *w.products[k + 1 :])
                changed = with_evidence(certificate, index, replace(w, products=products))
                assert isinstance(judged(model, changed), Rejected)
                tried += 1
    assert tried >= 3


def test_factors_of_functions_matter() -> None:
    model = SAFE["ball"]
    certificate = certificate_of(model)
    problem = linear_problem(model, model.properties[0])
    locations = reachable_locations(problem) or ()
    cases = (*situations(problem, locations), *bad_situations(problem, locations))
    for (index, w), situation in zip(witnesses(certificate), cases, strict=True):
        if situation.source is None:
            wrong = [((0, Fraction(1)),)]
        elif situation.rates is not None:  # V' = 0, so alpha V must be a sum of squares
            wrong = [((0, Fraction(a)),) for a in ("1", "-1", "1/1000")]
        else:
            wrong = [((0, Fraction(a)),) for a in ("0", "-1", "1/2")] + [((1, Fraction(1)),)]
        for factors in wrong:
            changed = with_evidence(certificate, index, replace(w, factors=factors))
            assert isinstance(judged(model, changed), Rejected), (situation.title, factors)


def test_every_coefficient_of_the_function_matters() -> None:
    model = SAFE["ball"]
    certificate = certificate_of(model)
    proof = certificate.proof
    assert isinstance(proof, QuadraticFunctions)
    ((location, terms),) = proof.functions[0].items()
    for monomial in terms:
        for step in (Fraction(1, 10**6), Fraction(-1, 10**6)):
            spoiled = {**terms, monomial: terms[monomial] + step}
            changed = replace(proof, functions=({location: spoiled},))
            assert isinstance(judged(model, replace(certificate, proof=changed)), Rejected)


def test_gaps_and_missing_or_surplus_evidence_are_refused() -> None:
    model = SAFE["ball"]
    certificate = certificate_of(model)
    proof = certificate.proof
    assert isinstance(proof, QuadraticFunctions)
    last = len(proof.evidence) - 1
    for gap in (None, Fraction(-1), Fraction(1, 1000)):
        changed = with_evidence(certificate, last, replace(proof.evidence[last], gap=gap))
        assert isinstance(judged(model, changed), Rejected)
    for evidence in (proof.evidence[:-1], (*proof.evidence, proof.evidence[0]), ()):
        spoiled = replace(certificate, proof=replace(proof, evidence=evidence))
        assert isinstance(judged(model, spoiled), Rejected)
    for functions in ((), ({},), ({"nowhere": {}},), ({"fall": {("a", "b"): Fraction(1)}},)):
        spoiled = replace(certificate, proof=replace(proof, functions=functions))
        assert isinstance(judged(model, spoiled), Rejected)


def test_the_touched_bound_must_be_strict() -> None:
    """With `x < 1` wanted, the bad states x >= 1 are met at the start."""
    model = walled_spring(Fraction(1))
    certificate = certificate_of(model)
    x = model.properties[0].condition.args[0]
    closed = replace(model, properties=(Property("bounded", x < 1),))
    assert isinstance(judged(closed, replace(certificate, model_sha256=closed.sha256)), Rejected)
    assert isinstance(proof_of(closed), NoFunction)


def test_a_flow_may_not_assume_what_it_is_to_show() -> None:
    """V = x^2 + y^2 + 1 is never at most 0. So V <= 0 excludes everything: as an earlier
    function, or where V is known already; not while V <= 0 is being shown of the flow."""
    model = rotation()
    problem = linear_problem(model, model.properties[0])
    positive = {"turn": {m: Fraction(1) for m in ((), ("x", "x"), ("y", "y"))}}
    circular = Witness(((0, Fraction(1)),), (), (), Fraction(1))
    start, flow = situations(problem, ("turn",))
    (bad,) = bad_situations(problem, ("turn",))
    both = (positive, positive)
    assert not proves(start, both, 0, circular)
    assert not proves(flow, both, 0, circular)
    assert proves(flow, both, 1, circular)
    assert proves(bad, both, None, circular)
    later = replace(circular, factors=((1, Fraction(1)),))
    assert not proves(flow, both, 0, later)
    assert not proves(flow, both, 0, replace(later, gap=None))


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d["functions"][0].append(d["functions"][0][0]),
        lambda d: d["functions"][0][0]["terms"].append(d["functions"][0][0]["terms"][0]),
        lambda d: d["functions"][0][0]["terms"][0].update(factor=1),
        lambda d: d["functions"].append("x"),
        lambda d: d["evidence"][0].update(matrix=[]),
        lambda d: d["evidence"][0].update(rows={"x": "1"}),
        lambda d: d["evidence"][0].update(products=[{"of": [0], "factor": "1"}]),
        lambda d: d["evidence"][0].update(products=[{"of": [True, 0], "factor": "1"}]),
        lambda d: d["evidence"][0].update(gap="1/0"),
        lambda d: d.update(scope={"kind": "bounded", "horizon": "1"}),
    ],
)
def test_malformed_text_is_refused_with_a_place(damage: Any) -> None:
    data = json.loads(encode(certificate_of(SAFE["rotation"])))
    damage(data)
    with pytest.raises(MalformedCertificateError, match=r"\w"):
        decode(json.dumps(data))


# Against runs


@pytest.mark.parametrize(
    "name", ["ball", "spring", "switched, touching", "both sides", "two rotations", "shaken"]
)
def test_simulated_runs_stay_where_the_functions_are_not_positive(name: str) -> None:
    model = SAFE[name]
    proof = certificate_of(model).proof
    assert isinstance(proof, QuadraticFunctions)
    trace = simulate(model, until=8, method=Adams(1e-10, 1e-12))
    claim = model.properties[0].name
    found = cross_check(model, [trace], {claim: function_set(proof)}, {claim: math.inf})
    assert found.consistent, found.contradictions
    smaller = tuple(
        {place: {**terms, (): terms.get((), Fraction(0)) + 1} for place, terms in f.items()}
        for f in proof.functions
    )
    wrong = function_set(replace(proof, functions=smaller))
    assert not cross_check(model, [trace], {claim: wrong}, {claim: math.inf}).consistent


def test_the_search_ends_when_its_work_is_used_up() -> None:
    model = SAFE["rotation"]
    problem = linear_problem(model, model.properties[0])
    found = search_functions(problem, ("turn",), lambda: True)
    assert isinstance(found, NoFunction) and "work was used up" in found.reason


def test_the_workbench_verifies_rechecks_and_reports_the_ball(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claim, out, page = "never above its start", tmp_path / "ball.json", tmp_path / "ball.html"
    assert run(["verify", "bouncing_ball", "-p", claim, "--certificate", str(out)]) == 0
    said = capsys.readouterr().out
    assert "VERIFIED for all time" in said and "quadratic function" in said
    assert run(["recheck", "bouncing_ball", str(out)]) == 0
    assert run(["recheck", "bouncing_ball_lively", str(out)]) != 0
    assert run(["report", "bouncing_ball", "-p", claim, "--runs", "2", "-o", str(page)]) == 0
    assert "velocity²" in page.read_text(encoding="utf-8")


def test_the_plain_method_takes_the_function_where_ellipsoids_fail() -> None:
    model: HybridAutomaton = rotation()
    verdict = QuadraticStrategy().attempt(Task(model, model.properties[0]))
    assert isinstance(verdict, Verified)
    assert isinstance(verdict.certificate.proof, QuadraticFunctions)

"""Ellipsoids: exact definiteness, and certificates that are accepted only when true."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.models.automaton import (
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Variable,
)
from workbench.models.certificates.certificate import Certificate, decode, encode
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.evidence.definite import dot, is_positive_definite, solve, times
from workbench.models.evidence.quadratic import Ellipsoid, FlowWitness, QuadraticInvariant
from workbench.models.expressions.expression import conjunction, equal, variable
from workbench.models.lowering.problem import linear_problem
from workbench.reach.quadratic.ellipsoid_search import (
    NotQuadratic,
    QuadraticSearch,
    search_quadratic,
)

X, Y, U = variable("x"), variable("y"), variable("u")
ENTRIES = st.fractions(min_value=-4, max_value=4, max_denominator=6)


def determinant(matrix: list[list[Fraction]]) -> Fraction:
    """By permutations: slow, and nothing like the code under test."""
    total = Fraction(0)
    for order in permutations(range(len(matrix))):
        swaps = sum(order[i] > order[j] for j in range(len(order)) for i in range(j))
        product = Fraction((-1) ** swaps)
        for row, column in enumerate(order):
            product *= matrix[row][column]
        total += product
    return total


@given(st.lists(ENTRIES, min_size=6, max_size=6))
def test_definiteness_agrees_with_the_minors(entries: list[Fraction]) -> None:
    a, b, c, d, e, f = entries
    matrix = [[a, b, c], [b, d, e], [c, e, f]]
    minors = [determinant([row[:k] for row in matrix[:k]]) for k in (1, 2, 3)]
    assert is_positive_definite(matrix) == all(m > 0 for m in minors)


@given(st.lists(ENTRIES, min_size=6, max_size=6), st.lists(ENTRIES, min_size=3, max_size=3))
def test_solving_is_exact(entries: list[Fraction], right: list[Fraction]) -> None:
    a, b, c, d, e, f = entries
    root = [[1 + a * a, b, c], [Fraction(0), 1 + d * d, e], [Fraction(0), Fraction(0), 1 + f * f]]
    columns = [[row[j] for row in root] for j in range(3)]
    matrix = [[dot(x, y) for y in columns] for x in columns]
    assert times(matrix, solve(matrix, right)) == right


def switched(bound: int | Fraction = 3) -> HybridAutomaton:
    """Two stable rotations with an input, switched at will; |x| stays below about 2.3."""
    from workbench.models.automaton import Constraint, Range

    def place(name: str, turn: int) -> Location:
        return Location(
            name,
            (
                Constraint("x", Range.exactly(-X + turn * Y + U)),
                Constraint("y", Range.exactly(-turn * X - Y)),
            ),
        )

    return HybridAutomaton(
        "switched",
        (Variable("x"), Variable("y")),
        (place("left", 1), place("right", 2)),
        (Edge("left", "right"), Edge("right", "left")),
        (Initial("left", conjunction(equal(X, 0), equal(Y, 0))),),
        (Input("u", low=Fraction(-1), high=Fraction(1)),),
        properties=(Property("bounded", X <= bound),),
    )


def certificate_of(model: HybridAutomaton) -> Certificate:
    found = search_quadratic(
        linear_problem(model, model.properties[0]), QuadraticSearch(), lambda: False
    )
    assert isinstance(found, QuadraticInvariant), found
    return Certificate(model.name, model.sha256, "bounded", found)


def test_an_ellipsoid_is_found_and_accepted_for_arbitrary_switching() -> None:
    model = switched()
    certificate = certificate_of(model)
    assert decode(encode(certificate)) == certificate
    assert isinstance(check(model, "bounded", certificate), Accepted)


def test_a_bound_that_is_reached_is_never_proved() -> None:
    model = switched(Fraction(1, 2))
    found = search_quadratic(
        linear_problem(model, model.properties[0]), QuadraticSearch(), lambda: False
    )
    assert isinstance(found, NotQuadratic)


def broken(ellipsoid: Ellipsoid, change: str) -> Ellipsoid:
    shape = [list(row) for row in ellipsoid.shape]
    witness = ellipsoid.witnesses["left"]
    if change == "shrink":
        return replace(ellipsoid, shape=tuple(tuple(100 * v for v in row) for row in shape))
    if change == "grow":
        return replace(ellipsoid, shape=tuple(tuple(v / 100 for v in row) for row in shape))
    if change == "asymmetric":
        shape[0][1] += 1
        return replace(ellipsoid, shape=tuple(map(tuple, shape)))
    if change == "indefinite":
        shape[0][0] = -shape[0][0]
        return replace(ellipsoid, shape=tuple(map(tuple, shape)))
    if change == "move":
        return replace(ellipsoid, center=tuple(v + 50 for v in ellipsoid.center))
    if change == "fast":
        faster = FlowWitness(witness.alpha * 1000, witness.earlier)
        return replace(ellipsoid, witnesses={**ellipsoid.witnesses, "left": faster})
    if change == "negative":
        worse = FlowWitness(-witness.alpha, witness.earlier)
        return replace(ellipsoid, witnesses={**ellipsoid.witnesses, "left": worse})
    if change == "circular":
        itself = FlowWitness(witness.alpha, (*witness.earlier, Fraction(1)))
        return replace(ellipsoid, witnesses={**ellipsoid.witnesses, "left": itself})
    assert change == "forget a location"
    return replace(ellipsoid, witnesses={"left": witness})


@pytest.mark.parametrize(
    "change",
    [
        "shrink",
        "grow",
        "asymmetric",
        "indefinite",
        "move",
        "fast",
        "negative",
        "circular",
        "forget a location",
    ],
)
def test_broken_ellipsoids_are_rejected_by_name(change: str) -> None:
    model = switched()
    certificate = certificate_of(model)
    proof = certificate.proof
    assert isinstance(proof, QuadraticInvariant)
    changed = replace(proof, ellipsoids=(broken(proof.ellipsoids[0], change),))
    judgement = check(model, "bounded", replace(certificate, proof=changed))
    assert isinstance(judgement, Rejected)
    assert judgement.obligation and judgement.why


def test_all_reachable_locations_must_be_listed() -> None:
    model = switched()
    certificate = certificate_of(model)
    proof = certificate.proof
    assert isinstance(proof, QuadraticInvariant)
    judgement = check(
        model, "bounded", replace(certificate, proof=replace(proof, locations=("left",)))
    )
    assert isinstance(judgement, Rejected)
    assert "jump" in judgement.obligation


def test_an_edge_that_resets_the_state_is_rejected() -> None:
    from workbench.models.automaton import Constraint, Range
    from workbench.models.expressions.expression import constant

    model = switched()
    kick = Edge("left", "right", resets=(Constraint("x", Range.exactly(constant(100))),))
    kicked = replace(model, edges=(kick, model.edges[1]))
    certificate = replace(certificate_of(model), model_sha256=kicked.sha256)
    judgement = check(kicked, "bounded", certificate)
    assert isinstance(judgement, Rejected)
    assert "jump" in judgement.obligation


def test_a_bad_set_that_is_not_linear_is_left_to_others() -> None:
    model = replace(switched(), properties=(Property("bounded", X * X <= 9),))
    found = search_quadratic(
        linear_problem(model, model.properties[0]), QuadraticSearch(), lambda: False
    )
    assert isinstance(found, NotQuadratic)

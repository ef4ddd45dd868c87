"""Nonlinear flowpipe certificates: accepted where the closed form agrees, rejected otherwise."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.checker.test_flowpipe_certificate import mutated
from tests.support.affine_automata import Membership
from workbench.models.automaton import (
    TIME,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.certificates.certificate import (
    Certificate,
    MalformedCertificateError,
    decode,
    encode,
)
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.checker.flowpipe import FlowpipeProof
from workbench.models.checker.taylor_node import TaylorNode
from workbench.models.expressions.expression import (
    Expression,
    conjunction,
    constant,
    power,
    variable,
)
from workbench.models.lowering.problem import linear_problem
from workbench.reach.nonlinear.flowpipe import NonlinearExploration
from workbench.reach.nonlinear.parts import NonlinearMethod, NotFollowed

X, C = variable("x"), variable("c")
HORIZON = Fraction(2)


def logistic(claim: Expression) -> HybridAutomaton:
    """x' = x (1 - x) from x in [1/5, 1/4]; every second x becomes x^2."""
    squared = (
        Constraint("x", Range.exactly(power(X, 2))),
        Constraint("c", Range.exactly(constant(0))),
    )
    return HybridAutomaton(
        "logistic",
        (Variable("x"), Variable("c")),
        (
            Location(
                "grow",
                (
                    Constraint("x", Range.exactly(X * (1 - X))),
                    Constraint("c", Range.exactly(constant(1))),
                ),
                (),
                C <= 1,
            ),
        ),
        (Edge("grow", "grow", C >= 1, squared, name="square"),),
        (Initial("grow", conjunction(X >= Fraction(1, 5), X <= Fraction(1, 4), C <= 0, C >= 0)),),
        properties=(Property("safe", claim),),
    )


def grown(x: float, t: float) -> float:
    return 1 / (1 + (1 / x - 1) * math.exp(-t))


HIGHEST = grown(0.25, 1)
"""Of all runs up to time 2: reached at time 1, before the first square."""


def explored(model: HybridAutomaton) -> FlowpipeProof | NotFollowed:
    problem = linear_problem(model, model.properties[0])
    return NonlinearExploration(problem, HORIZON, NonlinearMethod(depth=1)).run()


def certified(model: HybridAutomaton) -> Certificate:
    proof = explored(model)
    assert isinstance(proof, FlowpipeProof), proof
    return Certificate(model.name, model.sha256, "safe", proof)


@pytest.fixture(scope="module")
def safe() -> tuple[HybridAutomaton, Certificate]:
    model = logistic(constant(Fraction(HIGHEST) + Fraction(1, 1000)) >= X)
    return model, certified(model)


def test_a_property_that_just_holds_is_proved(safe: tuple[HybridAutomaton, Certificate]) -> None:
    model, certificate = safe
    judgement = check(model, "safe", certificate)
    assert isinstance(judgement, Accepted)
    assert judgement.horizon == HORIZON
    assert certificate.kind == "flowpipe"
    assert decode(encode(certificate)) == certificate


def test_a_property_that_just_fails_is_not() -> None:
    assert isinstance(explored(logistic(X <= Fraction(HIGHEST) - Fraction(1, 1000))), NotFollowed)


def test_the_closed_form_lies_inside(safe: tuple[HybridAutomaton, Certificate]) -> None:
    model, certificate = safe
    assert isinstance(certificate.proof, FlowpipeProof)
    inside = Membership(linear_problem(model, model.properties[0]), certificate.proof)
    for start in (0.2, 0.21, 0.24, 0.25):
        second = grown(start, 1) ** 2
        for k in range(21):
            t = k / 20
            for x, time in ((grown(start, t), t), (grown(second, t), 1 + t)):
                assert inside.excess("grow", {"x": x, "c": t, TIME: time}) <= 1e-9


def test_it_is_tight(safe: tuple[HybridAutomaton, Certificate]) -> None:
    """A state that no run comes near is outside."""
    model, certificate = safe
    assert isinstance(certificate.proof, FlowpipeProof)
    inside = Membership(linear_problem(model, model.properties[0]), certificate.proof)
    for x in (grown(0.25, 0.5) + 0.01, grown(0.2, 0.5) - 0.01):
        assert inside.excess("grow", {"x": x, "c": 0.5, TIME: 0.5}) > 0


def test_properties_that_are_not_linear() -> None:
    above = Fraction(HIGHEST) ** 3 + Fraction(1, 1000)
    model = logistic(power(X, 3) <= above)
    assert isinstance(check(model, "safe", certified(model)), Accepted)
    below = Fraction(HIGHEST) ** 3 - Fraction(1, 1000)
    assert isinstance(explored(logistic(power(X, 3) <= below)), NotFollowed)


# Certificates that are changed

Change = Callable[[TaylorNode], TaylorNode]


def _first(node: TaylorNode, **changes: Any) -> TaylorNode:
    return replace(node, steps=(replace(node.steps[0], **changes), *node.steps[1:]))


CHANGES: dict[str, tuple[Change, str]] = {
    "tiny radii": (
        lambda n: _first(n, radii=tuple(Fraction(1, 1 << n.bits) for _ in n.names)),
        "flowpipe",
    ),
    "no radii": (lambda n: _first(n, radii=()), "flowpipe"),
    "a longer step": (lambda n: _first(n, length=n.steps[0].length * 64), "flowpipe"),
    "a singular frame": (
        lambda n: _first(n, frame=tuple(tuple(Fraction(0) for _ in n.names) for _ in n.names)),
        "flowpipe",
    ),
    "no frame": (lambda n: _first(n, frame=()), "flowpipe"),
    "no steps": (lambda n: replace(n, steps=()), "flowpipe"),
    "steps left out": (lambda n: replace(n, steps=n.steps[:1]), "end"),
    "unknown location": (lambda n: replace(n, location="nowhere"), "flowpipe"),
    "unknown name": (lambda n: replace(n, names=("w", *n.names[1:])), "flowpipe"),
    "a name not followed": (lambda n: replace(n, names=n.names[1:]), "flowpipe"),
    "no direction": (lambda n: replace(n, normals=()), "node 1"),
    "half an entry set": (lambda n: replace(n, entry=n.entry[::2]), "flowpipe"),
    "a smaller entry set": (
        lambda n: replace(
            n, entry=tuple(replace(f, constant=f.constant + Fraction(1, 100)) for f in n.entry)
        ),
        "",
    ),
    "an order too high": (lambda n: replace(n, order=10**6), "flowpipe"),
    "bits beyond measure": (lambda n: replace(n, bits=10**9), "flowpipe"),
    "memory beyond the order": (lambda n: replace(n, memory=n.order + 1), "flowpipe"),
    "an endless step": (lambda n: _first(n, length=Fraction(10**30)), "flowpipe"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_broken_certificates_are_rejected_by_name(
    safe: tuple[HybridAutomaton, Certificate], change: str
) -> None:
    model, certificate = safe
    assert isinstance(certificate.proof, FlowpipeProof)
    node, *others = certificate.proof.nodes
    assert isinstance(node, TaylorNode)
    alter, where = CHANGES[change]
    proof = replace(certificate.proof, nodes=(alter(node), *others))
    judgement = check(model, "safe", replace(certificate, proof=proof))
    assert isinstance(judgement, Rejected)
    assert where in judgement.obligation


def never_accepted_for_a_false_claim(certificate: Certificate, draw: st.DrawFn) -> None:
    """The twin's claim is false: whatever is changed, no certificate may be accepted for it."""
    twin = logistic(X <= Fraction(HIGHEST) - Fraction(1, 1000))
    data = json.loads(encode(replace(certificate, model_sha256=twin.sha256)))
    for _ in range(draw(st.integers(0, 3))):
        mutated(data, draw)
    try:
        changed = decode(json.dumps(data))
    except MalformedCertificateError:
        return
    judgement = check(twin, "safe", changed)
    if isinstance(judgement, Accepted):
        # The claim fails from about time 1 on: up to an earlier time it is true.
        assert judgement.horizon is not None
        assert judgement.horizon < 1


@given(st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_change_makes_a_false_claim_accepted(
    safe: tuple[HybridAutomaton, Certificate], data: st.DataObject
) -> None:
    never_accepted_for_a_false_claim(safe[1], data.draw)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
def test_thousands_of_changes_make_no_false_claim_accepted(
    safe: tuple[HybridAutomaton, Certificate], data: st.DataObject
) -> None:
    never_accepted_for_a_false_claim(safe[1], data.draw)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("order", "high"),
        ("bits", True),
        ("followed", "x"),
        ("steps", [{"length": "1"}]),
        ("steps", [{"length": "1", "radii": ["1/0"], "frame": []}]),
        ("normals", ["x"]),
        ("extra", 1),
    ],
)
def test_malformed_nodes_are_errors(
    safe: tuple[HybridAutomaton, Certificate], field: str, value: Any
) -> None:
    data = json.loads(encode(safe[1]))
    data["nodes"][0][field] = value
    with pytest.raises(MalformedCertificateError):
        decode(json.dumps(data))

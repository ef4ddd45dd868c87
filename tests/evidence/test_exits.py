"""Regions that hand over to each other: what the checker accepts, and what it must refuse."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from workbench.models.automaton import (
    Constraint,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.certificates.certificate import Certificate, decode, encode
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.checker.covers import Impossible, Region
from workbench.models.evidence.polyhedral import ExitObligation, FacetReason, Kept, PolyhedralProof
from workbench.models.expressions.text import parse_expression
from workbench.models.linear import Form
from workbench.models.lowering.problem import linear_problem
from workbench.reach.evidence import Unproved, prove


def form(constant: int | Fraction = 0, **coefficients: int | Fraction) -> Form:
    return Form({n: Fraction(a) for n, a in coefficients.items()}, Fraction(constant))


def flowing(
    x: str, y: str, start: str, safe: str, inputs: tuple[Input, ...] = ()
) -> HybridAutomaton:
    """One location with x' and y' as given."""
    flows = tuple(
        Constraint(name, Range.exactly(parse_expression(text)))
        for name, text in (("x", x), ("y", y))
    )
    return HybridAutomaton(
        name="plane",
        variables=(Variable("x"), Variable("y")),
        locations=(Location("run", flows),),
        initial=(Initial("run", parse_expression(start)),),
        inputs=inputs,
        properties=(Property("safe", parse_expression(safe)),),
    )


def bent() -> HybridAutomaton:
    """x' = 1, y' = -1 from (-1, 1): the run follows y = -x, and then y <= x is safe as well;
    below either line is no convex set."""
    return flowing(
        "1",
        "u",
        "x >= -1 && x <= -1 && y >= 1 && y <= 1",
        "y <= x || y <= -x",
        (Input("u", low=Fraction(-1), high=Fraction(-1)),),
    )


def left(margin: Fraction = Fraction(1, 20)) -> Region:
    """x <= 1/10 (an exit) and y <= -x."""
    return Region("run", (form(Fraction(-1, 10), x=1), form(x=1, y=1)), ((1, 1),), (), (0,), margin)


def right(margin: Fraction = Fraction(1, 20)) -> Region:
    """x >= 0 (an exit) and y <= x."""
    return Region("run", (form(x=-1), form(x=-1, y=1)), ((1, 1),), (), (0,), margin)


def certificate(model: HybridAutomaton, *regions: Region) -> Certificate:
    proof = prove(linear_problem(model, model.properties[0]), regions)
    assert isinstance(proof, PolyhedralProof), proof.obligation.title
    return Certificate(model.name, model.sha256, "safe", proof)


def test_regions_hand_over_and_survive_the_way_through_a_file() -> None:
    model = bent()
    made = certificate(model, left(), right())
    assert isinstance(check(model, "safe", made), Accepted)
    assert decode(encode(made)) == made


def test_without_exits_neither_region_is_kept() -> None:
    model = bent()
    alone = tuple(replace(r, exits=(), margin=Fraction(0)) for r in (left(), right()))
    assert isinstance(prove(linear_problem(model, model.properties[0]), alone), Unproved)


def test_a_region_that_nobody_takes_over_is_refused() -> None:
    model = bent()
    outcome = prove(linear_problem(model, model.properties[0]), (left(),))
    assert isinstance(outcome, Unproved)
    assert isinstance(outcome.obligation, ExitObligation)


def test_the_next_region_must_contain_what_arrives() -> None:
    """At x = 1/10 states with y up to -1/10 arrive; y <= x - 1 does not hold for them."""
    lower = replace(right(), predicates=(form(x=-1), form(1, x=-1, y=1)))
    outcome = prove(linear_problem(bent(), bent().properties[0]), (left(), lower))
    assert isinstance(outcome, Unproved)
    assert outcome.obligation.title.startswith("exit in run")


def chattering() -> HybridAutomaton:
    """u drives x at will, and y' = 1: nothing keeps y below 1."""
    return flowing(
        "u",
        "1",
        "x >= 0 && x <= 0 && y >= 0 && y <= 0",
        "y <= 1",
        (Input("u", low=Fraction(-1), high=Fraction(1)),),
    )


def test_regions_that_meet_at_a_line_cannot_pass_a_state_to_and_fro() -> None:
    """Each of x <= 0 and x >= 0 may be left at once where they touch; were a margin of zero
    allowed, they could hand a state back and forth while y grows out of both."""
    model = chattering()
    below = form(-1, y=1)
    regions = (
        Region("run", (form(x=1), below), ((1, 1),), (), (0, 1), Fraction(1, 10)),
        Region("run", (form(x=-1), below), ((1, 1),), (), (0, 1), Fraction(1, 10)),
    )
    problem = linear_problem(model, model.properties[0])
    assert isinstance(prove(problem, regions), Unproved)
    flat = tuple(replace(region, margin=Fraction(0)) for region in regions)
    forged = Certificate(model.name, model.sha256, "safe", PolyhedralProof(flat, ()))
    assert check(model, "safe", forged) == Rejected(
        "invariant", "a region of run with exits needs one cell and a margin"
    )


@pytest.mark.parametrize(
    "change", ["exits", "negative margin", "no such exit", "margin", "two cells", "predicate"]
)
def test_tampered_exits_are_refused(change: str) -> None:
    model = bent()
    raw = json.loads(encode(certificate(model, left(), right())))
    region = raw["regions"][0]
    if change == "exits":
        region["exits"] = [0, 1]
    elif change == "negative margin":
        region["margin"] = "-1/20"
    elif change == "no such exit":
        region["exits"] = [7]
    elif change == "margin":
        raw["regions"][1]["margin"] = "1/2"
    elif change == "two cells":
        region["cells"] = ["--", "-+"]
    else:
        region["predicates"][0]["constant"] = "1/10"
    assert isinstance(check(model, "safe", decode(json.dumps(raw))), Rejected)


def test_only_exits_may_stand_in_for_the_invariant() -> None:
    """A kept predicate must not be used to show itself by 'the invariant implies it'."""
    model = bent()
    made = certificate(model, left(), right())
    assert isinstance(made.proof, PolyhedralProof)
    evidence = list(made.proof.evidence)
    number = next(i for i, e in enumerate(evidence) if isinstance(e, Kept))
    evidence[number] = Kept(FacetReason.INVARIANT, Fraction(0), ((1, Fraction(1)),))
    forged = replace(made, proof=PolyhedralProof(made.proof.regions, tuple(evidence)))
    assert isinstance(check(model, "safe", forged), Rejected)


def test_an_exit_that_the_flow_never_takes_needs_no_successor() -> None:
    """x' = -1 never leaves x <= 1/10 upwards: no state there has a derivative >= 0."""
    model = flowing("-1", "-1", "x >= 0 && x <= 0 && y >= 0 && y <= 0", "y <= 1")
    region = Region(
        "run", (form(Fraction(-1, 10), x=1), form(-1, y=1)), ((1, 1),), (), (0,), Fraction(1, 100)
    )
    made = certificate(model, region)
    assert isinstance(made.proof, PolyhedralProof)
    assert any(isinstance(e, Impossible) for e in made.proof.evidence)
    assert isinstance(check(model, "safe", made), Accepted)

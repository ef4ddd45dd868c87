"""Uncertain parameters that multiply variables: what the corners of their box stand for."""

from __future__ import annotations

from fractions import Fraction

import pytest

from workbench.models.automaton import (
    Constraint,
    HybridAutomaton,
    Initial,
    Location,
    Parameter,
    Property,
    Range,
    Variable,
)
from workbench.models.certificates.certificate import Certificate
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted
from workbench.models.checker.covers import Region
from workbench.models.expressions.text import parse_expression
from workbench.models.linear import Form
from workbench.models.lowering.problem import linear_problem
from workbench.reach.evidence import Unproved, prove


def form(constant: int | Fraction = 0, **coefficients: int | Fraction) -> Form:
    return Form({n: Fraction(a) for n, a in coefficients.items()}, Fraction(constant))


def uncertain(low: str, high: str, safe: str) -> HybridAutomaton:
    """x' in [low, high] from 0, a clock c and a one that stands still, with p in [0, 1]."""
    flows = (
        Constraint("x", Range(parse_expression(low), parse_expression(high))),
        Constraint("c", Range.exactly(parse_expression("1"))),
        Constraint("one", Range.exactly(parse_expression("0"))),
    )
    return HybridAutomaton(
        name="uncertain",
        variables=(Variable("x"), Variable("c"), Variable("one")),
        locations=(Location("run", flows, (), parse_expression("true")),),
        edges=(),
        initial=(Initial("run", parse_expression("x == 0 && c == 0 && one == 1")),),
        parameters=(Parameter("p", low=Fraction(0), high=Fraction(1)),),
        properties=(Property("safe", parse_expression(safe)),),
    )


def below(slope: int) -> Region:
    """x <= slope * c, and one = 1."""
    predicates = (form(x=1, c=-slope), form(-1, one=1), form(1, one=-1))
    return Region("run", predicates, ((1, 1, 1),))


def proved(model: HybridAutomaton, region: Region) -> bool:
    claim = model.properties[0]
    proof = prove(linear_problem(model, claim), (region,))
    if isinstance(proof, Unproved):
        return False
    certificate = Certificate(model.name, model.sha256, claim.name, proof)
    return isinstance(check(model, claim.name, certificate), Accepted)


@pytest.mark.parametrize("low", ["25*p*one", "25*p*one - 5*one*(1 - p)"])
def test_a_range_that_is_empty_at_a_corner_says_nothing(low: str) -> None:
    """At p = 1 no slope lies between 25 and 20; at p = 1/2 it is 12.5 or more, although at
    p = 0 it is 10 at most."""
    assert not proved(uncertain(low, "(10 + 10*p)*one", "x <= 10*c"), below(10))


def test_two_ranges_that_are_empty_at_different_corners_say_nothing() -> None:
    """Each corner excludes one of the two, and at p = 1/2 both have slope 0 to 1/2."""
    model = uncertain("(p - 1/2)*one", "(1 - p)*one", "x <= 0")
    other = Constraint("y", Range(parse_expression("(1/2 - p)*one"), parse_expression("p*one")))
    (place,) = model.locations
    both = HybridAutomaton(
        name="both",
        variables=(*model.variables, Variable("y")),
        locations=(Location("run", (*place.flows, other), (), place.invariant),),
        edges=(),
        initial=(Initial("run", parse_expression("x == 0 && y == 0 && c == 0 && one == 1")),),
        parameters=model.parameters,
        properties=model.properties,
    )
    assert not proved(both, below(0))


def test_a_range_of_one_extent_counts() -> None:
    """Between p - 1 and p + 1, at most 2 for every p."""
    model = uncertain("p*one - 1", "p*one + 1", "x <= 2*c")
    assert proved(model, below(2))
    assert not proved(model, below(1))


def test_exact_flows_count_at_every_corner() -> None:
    slope = "(3 - 2*p)*one"
    assert proved(uncertain(slope, slope, "x <= 3*c"), below(3))
    assert not proved(uncertain(slope, slope, "x <= 2*c"), below(2))


def test_ranges_without_such_parameters_count() -> None:
    assert proved(uncertain("-one", "2*one", "x <= 2*c"), below(2))

"""Invariants that speak about the time since the start: what the checker accepts and refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Parameter,
    Property,
    Range,
    Variable,
)
from workbench.models.certificates.certificate import Certificate, decode, encode
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.checker.covers import Region
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.text import parse_expression
from workbench.models.linear import Form
from workbench.models.lowering.problem import linear_problem
from workbench.reach.evidence import Unproved, prove


def form(constant: int | Fraction = 0, **coefficients: int | Fraction) -> Form:
    return Form({n: Fraction(a) for n, a in coefficients.items()}, Fraction(constant))


def rising(
    safe: str, edges: tuple[Edge, ...] = (), slope: str = "1", invariant: str = "true"
) -> HybridAutomaton:
    """x' = slope from x = 0."""
    flow = Constraint("x", Range.exactly(parse_expression(slope)))
    return HybridAutomaton(
        name="rising",
        variables=(Variable("x"),),
        locations=(Location("run", (flow,), (), parse_expression(invariant)),),
        edges=edges,
        initial=(Initial("run", parse_expression("x == 0")),),
        properties=(Property("safe", parse_expression(safe)),),
    )


def decaying() -> HybridAutomaton:
    """x' = -x from 4."""
    model = rising("x <= 5", slope="-x")
    return replace(model, initial=(Initial("run", parse_expression("x == 4")),))


def followed() -> tuple[Region, ...]:
    """4 - time while time <= 1 (there x <= 3, and 4 e^-t is below the line until then, with
    slope at most -1 on it), then x <= 3 for ever."""
    below = (form(-1, time=1), form(-4, x=1, time=1), form(time=-1))
    first = Region("run", below, ((1, 1, 1),), (), (0,), Fraction(1, 2))
    return first, Region("run", (form(-3, x=1),), ((1,),))


def offered(model: HybridAutomaton, *regions: Region) -> Certificate | Unproved:
    found = prove(linear_problem(model, model.properties[0]), regions)
    if isinstance(found, Unproved):
        return found
    return Certificate(model.name, model.sha256, "safe", found)


def test_regions_follow_each_other_in_time() -> None:
    model = decaying()
    made = offered(model, *followed())
    assert isinstance(made, Certificate)
    assert decode(encode(made)) == made
    assert isinstance(check(model, "safe", made), Accepted)


def test_the_clock_begins_at_zero_and_has_slope_one() -> None:
    """x <= time is kept and true at the start, x <= time - 1 is not true, x <= time / 2 is not
    kept."""
    model = rising("x >= -1")
    assert isinstance(offered(model, Region("run", (form(x=1, time=-1),), ((1,),))), Unproved)
    both = Region("run", (form(x=1, time=-1), form(x=-1)), ((1, 1),))
    assert isinstance(offered(model, both), Certificate)
    for wrong in (form(1, x=1, time=-1), form(x=2, time=-1), form(x=1, time=-2)):
        lower = Region("run", (wrong, form(x=-1)), ((1, 1),))
        accepted = wrong == form(x=1, time=-2)
        assert isinstance(offered(model, lower), Certificate if accepted else Unproved)


def test_time_cannot_be_held_back() -> None:
    """x <= time and time <= 5 would prove x <= 5."""
    model = rising("x <= 5")
    held = Region("run", (form(x=1, time=-1), form(-5, time=1)), ((1, 1),))
    outcome = offered(model, held)
    assert isinstance(outcome, Unproved)
    assert outcome.obligation.title.startswith("flow in run")
    leaving = replace(held, exits=(1,), margin=Fraction(1))
    assert isinstance(offered(model, leaving), Unproved)


def test_jumps_do_not_change_the_clock() -> None:
    """A jump that may be taken at any time does not turn the clock back: x <= time is kept, but
    that the time is at most 1 after a jump is not."""
    reset = Constraint("x", Range.exactly(parse_expression("0")))
    model = rising("x >= -1", (Edge("run", "run", parse_expression("true"), (reset,)),))
    kept = Region("run", (form(x=1, time=-1), form(x=-1)), ((1, 1),))
    assert isinstance(offered(model, kept), Certificate)
    stays = Region("run", (form(x=1, time=-1), form(x=-1), form(-1, x=-2, time=1)), ((1, 1, 1),))
    assert isinstance(offered(model, stays), Unproved)


def test_a_region_after_its_time_has_no_start() -> None:
    model = rising("x >= -1")
    late = Region("run", (form(1, time=-1), form(x=-1)), ((1, 1),))
    outcome = offered(model, late)
    assert isinstance(outcome, Unproved)
    assert outcome.obligation.title.startswith("initial states")


@pytest.mark.parametrize("change", ["exit", "later", "steeper", "lower", "no exit", "name"])
def test_tampered_stretches_are_refused(change: str) -> None:
    model = decaying()
    made = offered(model, *followed())
    assert isinstance(made, Certificate)
    raw = json.loads(encode(made))
    first, last = raw["regions"]
    if change == "exit":
        first["predicates"][0]["constant"] = "-1/2"
    elif change == "later":
        first["predicates"][0]["constant"] = "-4"
    elif change == "steeper":
        first["predicates"][1]["coefficients"]["time"] = "4"
    elif change == "lower":
        last["predicates"][0]["constant"] = "-2"
    elif change == "no exit":
        first["exits"] = []
    else:
        first["predicates"][1]["coefficients"]["tim"] = first["predicates"][1]["coefficients"].pop(
            "time"
        )
    assert isinstance(check(model, "safe", decode(json.dumps(raw))), Rejected)


def test_an_input_that_is_called_time_is_no_clock() -> None:
    """It may be anything at any moment; a certificate cannot speak about it."""
    plain = rising("x >= -1", slope="time")
    model = replace(plain, inputs=(Input("time", low=Fraction(-1), high=Fraction(1)),))
    problem = linear_problem(model, model.properties[0])
    assert problem.with_clock is problem
    forged = PolyhedralProof((Region("run", (form(x=1, time=-1),), ((1,),)),), ())
    judgement = check(model, "safe", Certificate(model.name, model.sha256, "safe", forged))
    assert isinstance(judgement, Rejected)
    assert judgement.obligation == "model" and "no input or parameter" in judgement.why


def test_a_parameter_that_is_called_time_stands_still() -> None:
    """x' = 1 from 0: x <= time + 1 is not kept where time is a number from 0 to 1."""
    model = replace(
        rising("x <= 100"), parameters=(Parameter("time", low=Fraction(0), high=Fraction(1)),)
    )
    outcome = offered(model, Region("run", (form(-1, x=1, time=-1),), ((1,),)))
    assert isinstance(outcome, Unproved)
    assert outcome.obligation.title.startswith("flow in run")


def test_a_model_that_reads_the_time_has_one_clock() -> None:
    plain = rising("x >= -1", invariant="time <= 2")
    model = replace(
        plain,
        variables=(*plain.variables, Variable("time")),
        locations=(
            replace(
                plain.locations[0],
                flows=(
                    *plain.locations[0].flows,
                    Constraint("time", Range.exactly(parse_expression("1"))),
                ),
            ),
        ),
        initial=(Initial("run", parse_expression("x == 0 && time == 0")),),
    )
    problem = linear_problem(model, model.properties[0])
    assert problem.with_clock is problem
    kept = Region("run", (form(x=1, time=-1), form(x=-1)), ((1, 1),))
    made = offered(model, kept)
    assert isinstance(made, Certificate)
    assert isinstance(check(model, "safe", made), Accepted)

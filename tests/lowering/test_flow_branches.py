"""Piecewise linear flows, and flows in which inputs multiply variables."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import verify
from workbench.models.automaton import Constraint, Location, Range
from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.text import parse_expression
from workbench.models.linear import affine
from workbench.models.load import load
from workbench.models.lowering.flow_branches import flow_branches
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Verdict, Verified

FLOWS = [
    "max(-1, min(1, -2*x - 3*y))",
    "-x - 0.2*sign(y) - 0.1*abs(y)",
    "(x > 0 ? -1 : 1) - y",
    "abs(x - abs(y)) - min(x, y, 1)",
]
GRID = [Fraction(k, 4) for k in range(-8, 9)]


@pytest.mark.parametrize("text", FLOWS)
def test_in_every_state_a_branch_counts_and_all_that_do_agree(text: str) -> None:
    """Brute force on a grid with the corners of the pieces on it."""
    flow = parse_expression(text)
    place = Location("here", (Constraint("x", Range.exactly(flow)),))
    found = flow_branches(place, {})
    for x in GRID:
        for y in GRID:
            state = {"x": x, "y": y}
            values = set()
            for condition, branch in found:
                exact = branch.flows[0].range.exact
                assert exact is not None and affine(exact) is not None
                if evaluate(condition, state):
                    values.add(evaluate(exact, state))
            assert values == {evaluate(flow, state)}


def test_too_many_branches_are_left_alone() -> None:
    whole = parse_expression(" + ".join(f"abs(x{k})" for k in range(9)))
    place = Location("here", (Constraint("x0", Range.exactly(whole)),))
    ((_, found),) = flow_branches(place, {})
    assert found == place


MODEL = """
mode Top() {{
  write analog real x, y;
  read analog real u;
  diff {{ d(x) == {first}; d(y) == {second}; }}
}}
agent Plant() {{
  private analog real x, y;
  read analog real u in [0, 1];
  init {{ x in [0.9, 1]; y in [0, 0.1]; }}
  mode top = Top();
  assert "claim" {{ {claim} }}
}}
system Plant();
"""
SATURATED = ("y", "max(-1, min(1, -2*x - 3*y))")
RUBBING = ("y", "-x - 0.2*sign(y) - 0.1*abs(y)")
GAIN = ("-2*x + u*y", "-u*x - 1.5*y")  # x^2 + y^2 falls whatever u does


def judged(folder: Path, flows: tuple[str, str], claim: str, method: str) -> Verdict:
    text = MODEL.format(first=flows[0], second=flows[1], claim=claim)
    (folder / "plant.charon").write_text(text)
    automaton = load(folder / "plant.charon").automaton
    return verify(Task(automaton, automaton.properties[0], time.monotonic() + 20), method)


@pytest.mark.parametrize(
    ("flows", "claim", "method"),
    [
        (SATURATED, "x <= 1.2", "template"),
        (SATURATED, "x <= 1.2", "abstraction"),
        (RUBBING, "x <= 1.1", "abstraction"),
        (GAIN, "x <= 1.1 && y >= -1.1", "quadratic"),
        (GAIN, "x <= 1.1 && y >= -1.1", "template"),
    ],
)
def test_proofs_for_all_time(
    flows: tuple[str, str], claim: str, method: str, tmp_path: Path
) -> None:
    assert isinstance(judged(tmp_path, flows, claim, method), Verified)


METHODS = ("template", "abstraction", "quadratic", "flowpipe", "nonlinear", "rectangular")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("flows", "claim"),
    [(SATURATED, "x >= 0.2"), (RUBBING, "y >= -0.3"), (GAIN, "x >= 0.3"), (GAIN, "y >= -0.05")],
)
def test_broken_claims_are_not_proved(
    flows: tuple[str, str], claim: str, method: str, tmp_path: Path
) -> None:
    assert not isinstance(judged(tmp_path, flows, claim, method), Verified)


@pytest.mark.parametrize("flows", [SATURATED, RUBBING, GAIN, ("u*y - x", "max(u*x, -y)")])
def test_derivatives_are_means_of_those_whose_rows_hold(
    flows: tuple[str, str], tmp_path: Path
) -> None:
    """At random states and inputs, each derivative lies between the least and the largest."""
    text = MODEL.format(first=flows[0], second=flows[1], claim="x <= 9")
    (tmp_path / "plant.charon").write_text(text)
    automaton = load(tmp_path / "plant.charon").automaton
    problem = linear_problem(automaton, automaton.properties[0])
    (location,) = {location for location, _ in problem.starts()}
    random = Random(3)
    for _ in range(300):
        state = {n: Fraction(random.randint(-12, 12), 4) for n in ("x", "y")}
        state["u"] = Fraction(random.randint(0, 4), 4)
        for name, text in zip(("x", "y"), flows, strict=True):
            found = []
            for dynamics in problem.dynamics(location):
                rows = [r for r in dynamics.rows if r.form.coefficients.keys() <= state.keys()]
                values = [
                    r.form.constant + sum(a * state[n] for n, a in r.form.coefficients.items())
                    for r in rows
                ]
                if all(
                    v < 0 or (v == 0 and not r.strict) for v, r in zip(values, rows, strict=True)
                ):
                    form = dynamics.derivative[name]
                    if not form.coefficients.keys() <= state.keys():
                        found += [Fraction(-99), Fraction(99)]  # not known at all
                    else:
                        terms = (a * state[n] for n, a in form.coefficients.items())
                        found.append(form.constant + sum(terms, Fraction(0)))
            true = evaluate(parse_expression(text), state)
            assert isinstance(true, Fraction)
            assert min(found) <= true <= max(found)

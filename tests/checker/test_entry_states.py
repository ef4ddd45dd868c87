"""What is known of the state in which a stay begins: not what holds only while time passes."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import pytest

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import verify
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.checker.affine_flow import affine_flow
from workbench.models.expressions.expression import (
    Expression,
    conjunction,
    constant,
    equal,
    variable,
)
from workbench.models.load import load
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Falsified, Unknown, Verified

X, Y = variable("x"), variable("y")


def still(name: str) -> Constraint:
    return Constraint(name, Range.exactly(constant(0)))


def passing_through(most: Expression) -> HybridAutomaton:
    """From y = 0 a jump leads to y = 6, where d(x) in [0, most] may be empty, and another on."""
    rest = (still("x"), still("y"))
    narrow = (Constraint("x", Range(constant(0), most)), still("y"))
    raised = (Constraint("y", Range.exactly(Y + 6)),)
    return HybridAutomaton(
        "passing",
        (Variable("x"), Variable("y")),
        (Location("s", rest), Location("a", narrow), Location("c", rest)),
        (Edge("s", "a", resets=raised, name="go"), Edge("a", "c", name="out")),
        (Initial("s", conjunction(equal(X, 0), equal(Y, 0))),),
        properties=(Property("low", Y <= Fraction(11, 2)),),
        horizon=Fraction(1),
    )


METHODS = (
    "flowpipe",
    "template",
    "quadratic",
    "rectangular",
    "nonlinear",
    "history",
    "abstraction",
)


@pytest.mark.parametrize("method", METHODS)
def test_a_location_in_which_no_time_can_pass_is_entered_all_the_same(method: str) -> None:
    automaton = passing_through(constant(5) - Y)
    verdict = verify(
        Task(automaton, automaton.properties[0], deadline=time.monotonic() + 5), method
    )
    assert not isinstance(verdict, Verified)


def test_bounds_that_follow_from_derivatives_are_not_bounds_of_entries() -> None:
    automaton = passing_through(constant(5) - Y)
    problem = linear_problem(automaton, automaton.properties[0])
    assert "y" not in affine_flow(problem, "a").limits


ENTERED = """
mode Rest() {{ write analog real x; diff {{ d(x) == 0; }} }}
mode Top() {{
  write analog real x;
  mode s = Rest();
  trans from init to s do {{ x = x + 5; }}
}}
agent Entered() {{
  write analog real x;
  init {{ x in [0, 5]; }}
  mode top = Top();
  assume {{ x >= {least} }}
  assert "high" {{ x >= 8.5 }}
}}
system Entered() until 1;
"""


def entered(folder: Path, least: str, method: str) -> object:
    (folder / "entered.charon").write_text(ENTERED.format(least=least))
    automaton = load(folder / "entered.charon").automaton
    return verify(Task(automaton, automaton.properties[0], deadline=time.monotonic() + 5), method)


@pytest.mark.parametrize("method", METHODS)
def test_assumptions_are_about_states_and_not_about_values_before_entry(
    method: str, tmp_path: Path
) -> None:
    """From x = 0 the first state is x = 5, which satisfies x >= 4."""
    verdict = entered(tmp_path, "4", method)
    assert isinstance(verdict, Falsified | Unknown)


def test_assumptions_restrict_the_states_after_entry(tmp_path: Path) -> None:
    assert isinstance(entered(tmp_path, "9", "template"), Verified)

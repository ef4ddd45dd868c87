"""Several inclusions held at boundaries at once."""

from __future__ import annotations

import pytest

from workbench.models.expressions.text import parse_expression as parse
from workbench.models.load import load
from workbench.models.trace import Ending
from workbench.simulate.holding import joint_rates
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.run import prepare, simulate


@pytest.fixture(scope="module")
def cruise():
    return prepare(load("adaptive_cruise").automaton)


@pytest.mark.parametrize("seed", [6, 10, 19, 25, 43])
def test_a_later_hold_changes_what_earlier_ones_need(cruise, seed):
    policy = Policy(Switching.LATEST, Level.RANDOM)
    trace = simulate(cruise, until=40.0, policy=policy, seed=seed)
    assert trace.outcome.ending is Ending.HORIZON


def test_a_chain_in_any_order():
    """x2 keeps its distance to x1, which keeps its own to x0."""
    first, second = parse("x0 - x1 >= 1"), parse("x1 - x2 >= 1")
    flows = {"x0": parse("3"), "x1": parse("7"), "x2": parse("9")}
    for holds in ([("x1", first), ("x2", second)], [("x2", second), ("x1", first)]):
        assert joint_rates(holds, flows) == {n: parse("3") for n, _ in holds}


def test_parts_that_share_their_variables():
    """x + y and x - y constant: both stand still, whatever their inclusions want."""
    holds = [("x", parse("x + y >= 0")), ("y", parse("x - y >= z"))]
    flows = {"x": parse("1"), "y": parse("1"), "z": parse("4")}
    assert joint_rates(holds, flows) == {"x": parse("2"), "y": parse("-2")}


def test_parts_that_say_the_same_determine_nothing():
    holds = [("x", parse("x + y >= 0")), ("y", parse("2*x + 2*y <= 1"))]
    assert joint_rates(holds, {}) is None

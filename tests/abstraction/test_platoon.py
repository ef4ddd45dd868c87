"""The whole platoon: what is proved of it, and that nothing is that simulation comes close to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.slow import slow_but
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import strategy
from workbench.models.agents.composition import Product
from workbench.models.automaton import Property
from workbench.models.expressions.text import parse_expression
from workbench.models.load import load
from workbench.models.verdict import Verified

TIGHTENED = [
    "dist > 4",
    "dist > 16",
    "dist <= 0",
    "velOther > 0",
    "velFirst > 0",
    "velOther <= 30",
    "velFirst < 36",
    "velOther < 0",
    "velOther > 36",
]
"""Simulation comes to 3.985 m; both vehicles stand, the front drives at the limit, the follower
faster than 30 m/s; and what was proved, denied."""


@pytest.mark.parametrize(
    "claim", slow_but(["no collision"], ["no collision", "no reversing", "within the limit"])
)
def test_the_whole_platoon_keeps_what_it_claims(claim: str) -> None:
    automaton = load("platoon").automaton
    wanted = next(p for p in automaton.properties if p.name == claim)
    assert isinstance(strategy("template").attempt(Task(automaton, wanted)), Verified)


@pytest.mark.parametrize("claim", slow_but(["dist > 4", "velOther <= 30"], TIGHTENED))
def test_nothing_is_proved_that_simulation_comes_close_to(claim: str) -> None:
    automaton = load("platoon").automaton
    assert isinstance(automaton, Product)
    wanted = Property("tightened", parse_expression(claim))
    task = Task(replace(automaton, properties=(wanted,)), wanted).within(1500)
    assert not isinstance(strategy("template").attempt(task), Verified)


@pytest.mark.parametrize("name", ["platoon_lagging", "platoon_digital"])
def test_no_law_makes_the_follower_reverse(name: str) -> None:
    automaton = load(name).automaton
    wanted = next(p for p in automaton.properties if p.name == "no reversing")
    assert isinstance(strategy("template").attempt(Task(automaton, wanted)), Verified)

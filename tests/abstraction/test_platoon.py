"""The whole platoon: what is proved of it, and that nothing is that simulation comes close to."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.support.slow import slow_but
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.templates.eigen_directions import cascade_directions
from workbench.abstraction.templates.system import template_system
from workbench.abstraction.verification import strategy
from workbench.models.agents.composition import Product
from workbench.models.automaton import Property
from workbench.models.expressions.text import parse_expression
from workbench.models.load import load
from workbench.models.lowering.problem import linear_problem
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


@pytest.mark.parametrize("count", slow_but([2], [2, 3, 4]))
def test_a_convoy_is_proved_in_one_product(count: int) -> None:
    """Each vehicle hands its bounds on to the next."""
    chosen = {"n": Fraction(count)}
    automaton = load("platoon_endless", agent="Platoon", parameters=chosen).automaton
    wanted = next(p for p in automaton.properties if p.name == f"unit[{count}]: no collision")
    assert isinstance(strategy("template").attempt(Task(automaton, wanted)), Verified)


def test_every_vehicle_of_a_convoy_keeps_something_of_its_own() -> None:
    automaton = load("platoon_endless", agent="Platoon", parameters={"n": Fraction(3)}).automaton
    system = template_system(linear_problem(automaton, automaton.properties[0]))
    rows = cascade_directions(system)
    own = [{system.names[j] for j in np.flatnonzero(row)} for row in rows]
    for i in (1, 2, 3):
        unit = {f"acc[{i}]", f"unit[{i}].dist", f"vel[{i}]"}
        assert sum(names == unit for names in own) >= 2 * 2
    assert all(len(names) <= 3 for names in own)


def test_one_vehicle_alone_is_no_cascade() -> None:
    automaton = load("platoon_endless", agent="Platoon", parameters={"n": Fraction(1)}).automaton
    problem = linear_problem(automaton, automaton.properties[0])
    assert cascade_directions(template_system(problem)) == []

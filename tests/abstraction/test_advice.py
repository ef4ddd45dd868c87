"""Hints say what can help: more time where it ran out, doubts where runs were doubtful."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import cast

import pytest

from tests.support.slow import slow_but
from workbench.abstraction.advice import MORE_TIME, PREDICATES, after_all
from workbench.abstraction.lanes import Lane
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import deadline, verify
from workbench.models.automaton import Automaton, HybridAutomaton
from workbench.models.load import load, load_text
from workbench.models.verdict import Effort, Unknown

TOUCHED = """
mode Fly() { write analog real x, y, z; diff { d(x) == y; d(y) == -2; d(z) == 0; } }
mode Bad() { write analog real x, y, z; diff { d(x) == 0; d(y) == 0; d(z) == 1; } }
mode Top() {
  write analog real x, y, z;
  mode fly = Fly(); mode bad = Bad();
  trans from init to fly;
  trans #hit from fly to bad when x > 1;
}
agent A() {
  private analog real x, y, z;
  init { x = 0; y = 2; z = 0; }
  mode top = Top();
  assert "never bad" { z <= 0.5 }
}
system A() until 6;
"""


@pytest.fixture
def touched(tmp_path: Path) -> Automaton:
    path = tmp_path / "touched.charon"
    path.write_text(TOUCHED)
    return load(path).automaton


def unknown(automaton: Automaton, method: str, limit: float, **options: object) -> Unknown:
    task = Task(automaton, automaton.properties[0], limit, options=options)
    verdict = verify(task, method)
    assert isinstance(verdict, Unknown)
    return verdict


@cache
def patient(method: str) -> Unknown:
    """The verdict about the touched guard, with all the time that there is."""
    return unknown(load_text(TOUCHED, "touched.charon").automaton, method, deadline(3600.0))


@pytest.mark.parametrize(
    "method",
    slow_but(
        ["template", "simulation"], ["template", "nonlinear", "flowpipe", "simulation", "quadratic"]
    ),
)
def test_more_time_is_advised_only_where_it_ran_out(touched: Automaton, method: str) -> None:
    assert "--time-limit" not in patient(method).advice
    over = time.monotonic() - 0.01
    assert unknown(touched, method, over).advice.startswith(MORE_TIME)


def test_doubts_about_runs_are_a_reason() -> None:
    verdict = patient("simulation")
    assert verdict.reason.startswith("violated in simulation by ")
    assert "`hit` at t = 1 may only touch its guard" in verdict.reason
    assert "falsify --enclose" in verdict.advice


def came_to(*undecided: Unknown, hurried: Collection[str] = ()) -> list[Lane]:
    found = {verdict.method: verdict for verdict in undecided}
    return [Lane("proofs", undecided=found, hurried=set(hurried))]


def test_auto_advises_no_method_that_it_tried(touched: Automaton) -> None:
    claim = touched.properties[0]
    task = Task(touched, claim, deadline(3600.0))
    tried = [
        Unknown(claim.name, name, "no proof", "try another --method", Effort())
        for name in ("template", "abstraction")
    ]
    assert after_all(task, came_to(tried[0])) == "simplify the model or the property"
    assert after_all(task, came_to(*tried)) == PREDICATES
    hurried = came_to(*tried, hurried={"template"})
    assert after_all(task, hurried) == f"{MORE_TIME}, or {PREDICATES}"


def test_auto_advises_a_bound_where_runs_are_followed_for_ever(touched: Automaton) -> None:
    claim = touched.properties[0]
    tried = came_to(Unknown(claim.name, "flowpipe", "no end", "bound the time", Effort()))
    bounded = Task(touched, claim, deadline(3600.0), options={"horizon": Fraction(6)})
    assert "--horizon" not in after_all(bounded, tried)
    assert "--horizon" in after_all(replace(bounded, automaton=endless(touched), options={}), tried)


def endless(automaton: Automaton) -> Automaton:
    return replace(cast("HybridAutomaton", automaton), horizon=None)


def test_what_a_model_leaves_open_is_named(tmp_path: Path) -> None:
    path = tmp_path / "open.charon"
    path.write_text("""
        mode Go() { read analog real u; write analog real x; diff { d(x) == u - x; } }
        agent A() { read analog real u; private analog real x; init { x = 0; } mode top = Go();
                    assert "low" { x <= 1 } }
    """)
    automaton = load(path).automaton
    task = Task(automaton, automaton.properties[0], deadline(3600.0))
    assert "bound the input `u`" in after_all(task, [])

"""What is said of a property that nothing decides: each sentence is proved, or was measured."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.abstraction.partial_results import partial_results
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import strategy
from workbench.models.automaton import HybridAutomaton
from workbench.models.expressions.text import parse_expression
from workbench.models.load import load
from workbench.models.verdict import Unknown, Verified
from workbench.models.work import counting

SWING = """
mode Swinging() { write analog real x, y; diff { d(x) == y; d(y) == -x - y; } }
agent Swing() {
  private analog real x, y;
  init { x in [0.9, 1]; y in [0, 0.5]; }
  mode top = Swinging();
  assert "low" { x <= 1.07 }
}
"""


@pytest.fixture
def task(tmp_path: Path) -> Task:
    path = tmp_path / "swing.charon"
    path.write_text(SWING)
    automaton = load(path).automaton
    return Task(automaton, automaton.properties[0], budget=8000.0)


def claiming(task: Task, condition: str) -> Task:
    automaton = task.automaton
    assert isinstance(automaton, HybridAutomaton)
    claim = replace(task.claim, condition=parse_expression(condition))
    return Task(replace(automaton, properties=(claim,)), claim)


def test_a_time_and_a_weaker_bound_are_found_and_hold(task: Task) -> None:
    with counting():
        until, weaker = partial_results(task)
    horizon = re.fullmatch(r"proved up to time (\S+) \(--horizon \1\)", until)
    bound = re.fullmatch(r"the weaker `x <= (\S+)` is proved for all time", weaker)
    assert horizon is not None
    assert bound is not None
    assert 1.07 < float(bound[1]) < 1.5
    verdict = strategy("template").attempt(claiming(task, f"x <= {bound[1]}"))
    assert isinstance(verdict, Verified)
    assert verdict.horizon is None


def test_how_close_runs_came_is_told_with_time_and_place(task: Task) -> None:
    high = replace(claiming(task, "x <= 1.5"), options={"simulations": 20})
    verdict = strategy("simulation").attempt(high)
    assert isinstance(verdict, Unknown)
    assert re.search(
        r"the closest came within \S+ of one, at t = \S+ in `Swinging`", verdict.reason
    )

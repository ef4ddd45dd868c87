"""Runs with many jumps are followed by a search, and models without choices are not searched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workbench.models.automaton import Automaton
from workbench.models.load import load
from workbench.simulate.search.falsification import Budget, Options, Outcome, falsify
from workbench.simulate.search.objective import Objective
from workbench.simulate.search.search_space import JUMPS, Shape

PLAIN = Options(rigorous=())

SAMPLED = """
mode Run() { write analog real c, x; diff { d(c) == 1; d(x) == 1 - 0.5*x; } inv { c <= 0.01 } }
mode Top() {
  write analog real c, x; mode run = Run(); trans from init to run;
  trans #sample from run to run when c >= 0.01 do { c = 0; x = x + STEP; }
}
agent A() {
  private analog real c, x; init { c = 0; x INIT; } mode top = Top();
  assert "low" { x <= 2 } assert "lower" { x <= 3 }
}
system A() until 8;
"""


def sampled(tmp_path: Path, first: str = "= 0") -> Automaton:
    path = tmp_path / "sampled.charon"
    path.write_text(SAMPLED.replace("STEP", "0.001").replace("INIT", first))
    return load(path).automaton


def search(automaton: Automaton, claim: int = 0, budget: int = 2000) -> Outcome:
    return falsify(automaton, automaton.properties[claim], Budget(budget), PLAIN)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["= 0", "in [0, 0.01]"])
def test_a_violation_after_many_jumps_is_found(tmp_path: Path, first: str) -> None:
    found = search(sampled(tmp_path, first=first), budget=200).found
    assert found is not None
    assert len(found.trace.jumps) > JUMPS[0]


@pytest.mark.slow
def test_where_nothing_is_open_few_runs_are_made(tmp_path: Path) -> None:
    """Every run samples at the same times, though random switching draws numbers for it."""
    outcome = search(sampled(tmp_path), claim=1)
    assert outcome.found is None
    assert outcome.exhausted
    assert outcome.simulations < 60
    assert not outcome.cut


def test_decisions_that_make_a_difference_are_searched(tmp_path: Path) -> None:
    """A sample may be taken early: when it is, is a choice, and then nothing ends the search."""
    path = tmp_path / "early.charon"
    early = SAMPLED.replace("c >= 0.01", "c >= 0.005").replace("until 8", "until 1")
    path.write_text(early.replace("STEP", "0.0005").replace("INIT", "= 0"))
    outcome = search(load(path).automaton, claim=1, budget=40)
    assert outcome.simulations == 40
    assert not outcome.exhausted


def test_jumps_without_time_end_a_run_and_not_the_search(tmp_path: Path) -> None:
    path = tmp_path / "stuck.charon"
    path.write_text(
        """mode Stay() { write analog real x; diff { d(x) == 1; } inv { x <= 1 } }
        mode Top() {
          write analog real x; mode here = Stay(); mode there = Stay();
          trans from init to here;
          trans #go from here to there when x >= 1;
          trans #back from there to here when x >= 1;
        }
        agent A() {
          private analog real x; init { x in [0, 0.5]; } mode top = Top();
          assert "low" { x <= 2 }
        }
        system A() until 5;"""
    )
    outcome = search(load(path).automaton, budget=30)
    assert outcome.found is None
    assert outcome.simulations == 30


def test_what_is_not_followed_to_its_end_is_told(tmp_path: Path) -> None:
    automaton = sampled(tmp_path)
    objective = Objective(automaton, automaton.properties[0])
    shape = Shape(8.0)
    score = objective.cost(shape, [], 0)
    assert score.cut and score.end < 8.0
    further = shape.further
    assert further is not None
    assert not objective.cost(further, [], 0).cut
    assert replace(shape, jumps=JUMPS[-1]).further is None
    outcome = Outcome(None, 1.0, None, 3, 0.1, cut=2)
    assert outcome.shortened == ["2 runs were not followed to the end: too many jumps or steps"]
    assert replace(outcome, cut=0).shortened == []

"""Violations behind guards that meet an invariant only at its boundary, or that are only touched
where ranges leave freedom: they are confirmed, and in twins whose guards are never met nothing is
falsified. What is seen in simulation and not confirmed is never passed over."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from workbench.abstraction.strategies.falsification import SimulationStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.models.automaton import Automaton
from workbench.models.load import load
from workbench.models.trace import Ending
from workbench.models.verdict import Falsified, Unknown
from workbench.simulate.recipe import read_recorded, repeat
from workbench.simulate.search.falsification import Budget, Options, Outcome, falsify
from workbench.simulate.search.objective import focused

TWO_PLACES = """
mode Here() {{ {reads} write analog real x, y; diff {{ {flow} }} inv {{ {invariant} }} }}
mode There() {{ write analog real x, y; diff {{ d(x) == 1; d(y) == 0; }} }}
mode Top() {{
  {reads} write analog real x, y;
  mode here = Here();
  mode there = There();
  trans from init to here;
  {more}
  trans from here to there when {guard} do {{ x = 10; }}
}}
agent A() {{ {inputs} private analog real x {x}, y {y}; mode top = Top();
  assert "p" {{ x <= 11 }} }}
"""

RISING = {"flow": "d(x) == 4 - x; d(y) == 0;", "invariant": "x <= 3"}
INPUT = {"reads": "read analog real u;", "inputs": "read analog real u in [-1, 1];"}

CASES: dict[str, dict[str, str]] = {
    "abs": {**RISING, "guard": "abs(x) >= 3", "safe": "abs(x) > 3"},
    "max": {**RISING, "guard": "max(x, y) >= 3", "safe": "max(x, y) >= 3.001"},
    "abs in both": {
        **RISING, "invariant": "abs(x) <= 3", "guard": "abs(x) >= 3", "safe": "abs(x) > 3",
    },
    "an input from a range": {
        **INPUT, "flow": "d(x) == u; d(y) == 0;", "invariant": "x <= 3",
        "guard": "abs(x) >= 3", "safe": "x > 3",
    },
    "an input that is held back": {
        **INPUT, "flow": "d(x) == 5*u - x; d(y) == 0;", "invariant": "x <= 2",
        "guard": "x >= 2", "safe": "x > 2",
    },
    "a derivative from a range": {
        "flow": "d(x) in [-1, 1]; d(y) == 0;", "invariant": "x <= 3",
        "guard": "abs(x) >= 3", "safe": "x > 3",
    },
    "the end of a derivative's range": {
        "flow": "d(x) in [0, 1]; d(y) == 1;", "invariant": "y <= 3",
        "guard": "y >= 3 && x >= 3", "safe": "y >= 3 && x > 3",
    },
    "the end of an input's range": {
        **INPUT, "flow": "d(x) == u; d(y) == 1;", "invariant": "y <= 3",
        "guard": "y >= 3 && x >= 3", "safe": "y >= 3 && x > 3",
    },
    "the end of a reset's range": {
        "flow": "d(x) == 0; d(y) == 1;", "invariant": "y <= 1",
        "more": "trans from here to here when y >= 1 do { y = 0; x in [0, 3]; }",
        "guard": "y >= 1 && x >= 3", "safe": "y >= 1 && x > 3",
    },
    "a corner at the end of a start's range": {
        "flow": "d(x) == 1; d(y) == 0;", "invariant": "x + y <= 4", "y": "in [0, 1]",
        "guard": "x >= 3 && y >= 1", "safe": "x >= 3 && y > 1",
    },
    "a touch from the first start": {
        "flow": "d(x) == y; d(y) == -1;", "invariant": "true", "x": "in [0, 1]", "y": "= 2",
        "guard": "x >= 2", "safe": "x >= 3.001",
    },
    "a touch at the end of a derivative's range": {
        "flow": "d(x) == y; d(y) in [-1, -0.8];", "invariant": "true", "y": "= 2",
        "guard": "x >= 2", "safe": "x >= 2.501",
    },
    "a touch with an input at its end": {
        **INPUT, "flow": "d(x) == y; d(y) == u - 2;", "invariant": "true", "y": "= 2",
        "guard": "x >= 2/3", "safe": "x >= 2.001",
    },
    "a guard that holds before the boundary": {
        **RISING, "more": "trans from here to here when y >= 9;", "guard": "x >= 2",
        "safe": "x >= 3.001",
    },
}  # fmt: skip

BLANK = {"reads": "", "inputs": "", "more": "", "x": "= 0", "y": "= 0"}


def model(folder: Path, case: str, guard: str) -> Automaton:
    parts = {**BLANK, **CASES[case]}
    parts["guard"] = parts[guard]
    path = folder / "model.charon"
    path.write_text(TWO_PLACES.format(**parts))
    return load(path).automaton


def searched(automaton: Automaton, simulations: int) -> Outcome:
    return falsify(automaton, automaton.properties[0], Budget(simulations), Options(until=8.0))


@pytest.mark.parametrize("case", CASES)
def test_what_a_boundary_allows_is_confirmed(tmp_path: Path, case: str) -> None:
    automaton = model(tmp_path, case, "guard")
    outcome = searched(automaton, 600)
    assert outcome.found is not None, outcome.suspicion or outcome.robustness
    again = repeat(focused(automaton, automaton.properties[0]), outcome.found.recipe)
    assert again.outcome.ending is Ending.VIOLATION


TWINS = [*CASES][::2]


@pytest.mark.parametrize("case", TWINS)
def test_what_is_never_met_falsifies_nothing(tmp_path: Path, case: str) -> None:
    assert searched(model(tmp_path, case, "safe"), 12).found is None


# A violation in hand

TOUCH = """
mode Here() {{ write analog real x, y; diff {{ d(x) == y; d(y) == -1; }} }}
mode There() {{ write analog real x, y; diff {{ d(x) == 10; d(y) == 0; }} }}
mode Top() {{
  write analog real x, y;
  mode here = Here();
  mode there = There();
  trans from init to here;
  trans from here to there when x >= 2;
}}
agent A() {{ private analog real x = 0, y in [1, 2]; mode top = Top();
  assert "p" {{ {claim} }} }}
"""


def touching(folder: Path, claim: str = "x <= 5") -> Automaton:
    """The guard is touched from the end of the range alone: no run beside it helps."""
    path = folder / "touch.charon"
    path.write_text(TOUCH.format(claim=claim))
    return load(path).automaton


def test_a_violation_that_is_not_confirmed_is_said(tmp_path: Path) -> None:
    automaton = touching(tmp_path)
    task = Task(automaton, automaton.properties[0], options={"simulations": 60})
    verdict = SimulationStrategy().attempt(task)
    assert isinstance(verdict, Unknown)
    assert verdict.reason.startswith("violated in simulation by ")
    assert "not confirmed: " in verdict.reason and "may only touch its guard" in verdict.reason
    assert verdict.suspect is not None
    _, recipe, sha256 = read_recorded(verdict.suspect)
    assert recipe is not None and sha256 == automaton.sha256
    again = repeat(focused(automaton, automaton.properties[0]), recipe)
    assert again.outcome.ending is Ending.VIOLATION


def test_what_does_not_violate_is_no_suspect(tmp_path: Path) -> None:
    outcome = searched(touching(tmp_path, "x <= 100"), 40)
    assert outcome.suspect is None and outcome.suspicion is None
    assert outcome.robustness > 0


# The clock

SLOW = 40.0
"""How much faster than the work a clock goes here."""


@pytest.mark.parametrize(
    "case", ["abs", "a derivative from a range", "a touch from the first start"]
)
def test_a_slow_machine_finds_the_same(
    tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    automaton = model(tmp_path, case, "guard")
    claim = automaton.properties[0]

    def found() -> tuple[object, ...]:
        budget = Budget(400, time.monotonic() + 4000.0, 3000.0)
        outcome = falsify(automaton, claim, budget)
        assert outcome.found is not None
        return outcome.simulations, outcome.robustness, outcome.found.recipe, outcome.late

    usual, real = found(), time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: SLOW * real())
    assert found() == usual


def test_work_ends_a_search_where_it_ends_on_any_machine(tmp_path: Path) -> None:
    automaton = model(tmp_path, "abs", "safe")
    claim = automaton.properties[0]
    outcomes = [falsify(automaton, claim, Budget(10**6, math.inf, 150.0)) for _ in range(2)]
    assert outcomes[0].simulations == outcomes[1].simulations < 10**6
    assert not outcomes[0].late


def test_the_clock_cuts_and_the_outcome_says_so(tmp_path: Path) -> None:
    automaton = model(tmp_path, "abs", "safe")
    begun = time.monotonic()
    outcome = falsify(automaton, automaton.properties[0], Budget(10**6, begun + 0.5))
    assert outcome.late and outcome.found is None
    assert time.monotonic() - begun < 2.0


def test_the_simulation_strategy_falsifies_at_boundaries(tmp_path: Path) -> None:
    automaton = model(tmp_path, "an input from a range", "guard")
    verdict = SimulationStrategy().attempt(Task(automaton, automaton.properties[0]))
    assert isinstance(verdict, Falsified)

"""Which dynamics lead closest to bad states, and what long chains from them prove."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.abstraction.templates.approach import closest_dynamics
from workbench.abstraction.templates.directions import fastest_rate
from workbench.abstraction.templates.invariant_search import (
    PACE,
    Found,
    TemplateInvariant,
    search_invariant,
)
from workbench.abstraction.templates.sampled_runs import sampled_runs
from workbench.abstraction.templates.system import template_system
from workbench.models.load import load, load_text
from workbench.models.lowering.problem import LinearProblem, linear_problem

STOP_AND_GO = """
mode Follow() {
  write analog real gap, speed;
  read analog real front;
  diff { d(gap) == front - speed; d(speed) == GAIN*(gap - 4 - speed) + 2*(front - speed); }
  inv { speed >= 0 }
}
mode Stand() {
  write analog real gap, speed;
  read analog real front;
  diff { d(gap) == front - speed; d(speed) == 0; }
  inv { GAIN*(gap - 4) + 2*front <= 0 }
}
mode Top() {
  write analog real gap, speed;
  read analog real front;
  mode follow = Follow();
  mode stand = Stand();
  trans from init to follow;
  trans #stop from follow to stand when speed <= 0 && GAIN*(gap - 4) + 2*front <= 0;
  trans #go from stand to follow when GAIN*(gap - 4) + 2*front >= 0;
}
agent Car() {
  write analog real gap, speed;
  read analog real front;
  init { gap in [8, 20]; speed in [0, 4]; }
  mode top = Top();
}
mode Ahead() { write analog real front; diff { d(front) in [-2, 2]; } inv { front >= 0 && front <= 9 } }
agent Front() { write analog real front; init { front in [3, 5]; } mode top = Ahead(); }
agent Road() {
  private analog real gap, speed, front;
  agent car = Car();
  agent ahead = Front();
  assert "apart" { gap > 0 }
}
"""


def problem_of(text: str) -> LinearProblem:
    automaton = load_text(text).automaton
    return linear_problem(automaton, automaton.properties[0])


def test_the_law_that_leads_closest_comes_first() -> None:
    """Who stands does not approach, however close: the law of driving is the one that matters."""
    system = template_system(problem_of(STOP_AND_GO.replace("GAIN", "1")))
    runs = sampled_runs(system, PACE / fastest_rate(system), np.random.default_rng(0))
    assert runs is not None
    assert [flow.location for flow in closest_dynamics(system, runs)] == ["follow"]


@pytest.mark.slow
@pytest.mark.parametrize("gain", ["1", "2"])
def test_a_standing_car_needs_a_speed_of_exactly_zero(gain: str) -> None:
    """Were its speed only small, it would creep for ever."""
    found = search_invariant(
        problem_of(STOP_AND_GO.replace("GAIN", gain)), TemplateInvariant(), lambda: False
    )
    assert isinstance(found, Found)


@pytest.mark.slow
def test_the_whole_platoon_keeps_its_distance() -> None:
    automaton = load("platoon").automaton
    problem = linear_problem(automaton, automaton.properties[0])
    found = search_invariant(problem, TemplateInvariant(), lambda: False)
    assert isinstance(found, Found)
    assert found.polyhedra == len(template_system(problem).locations)


NOISY = """
mode Top() {
  write analog real x;
  read analog real u;
  diff { d(x) == min(1, u - x); }
}
agent Pushed() {
  read analog real u in [-1, 1];
  private analog real x;
  init { x in [0, 1]; }
  mode top = Top();
  assert "low" { x <= 1.5 }
}
"""


def test_sampled_points_follow_the_branch_that_their_inputs_decide() -> None:
    """On the other branch x would grow without end."""
    system = template_system(problem_of(NOISY))
    runs = sampled_runs(system, PACE / fastest_rate(system), np.random.default_rng(0))
    assert runs is not None
    points = runs.points(system.locations)
    assert points is not None and points.max() <= 1.01

"""Long chains for the dynamics that matter most: lags, what laws keep by themselves, and room."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.templates.closest_chains import kept_rows, quick_rates
from workbench.abstraction.templates.directions import axes, template
from workbench.abstraction.templates.invariant import (
    TemplateSearch,
    least_invariant,
    search_setting,
)
from workbench.abstraction.templates.room import with_room
from workbench.abstraction.templates.system import Array, template_system
from workbench.abstraction.verification import strategy
from workbench.models.load import load, load_text
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Verified

LAGGING = """
mode Going() {
  write analog real pos, given, asked;
  read analog real u;
  diff { d(pos) == given; d(given) == 20*(asked - given); d(asked) == u - pos - 2*asked; }
}
mode Waiting() {
  write analog real pos, given, asked;
  read analog real u;
  diff { d(pos) == 0; d(given) == 20*(asked - given); d(asked) == u - pos - 2*asked; }
}
mode Top() {
  write analog real pos, given, asked;
  read analog real u;
  mode going = Going();
  mode waiting = Waiting();
  trans from init to going;
  trans #wait from going to waiting when true;
  trans #go from waiting to going when true;
}
agent Cart() {
  read analog real u in [-1, 1];
  private analog real pos, given, asked;
  init { pos in [-1, 1]; given = 0; asked = 0; }
  mode top = Top();
  assert "near" { pos < 4 }
}
"""


def test_a_short_lag_is_left_behind_by_one_step() -> None:
    matrix = np.array([[-1.0, 3.0, 0.0], [0.0, -20.0, 5.0], [0.0, 0.0, -2.0]])
    quick, rate = quick_rates(matrix)
    assert quick == pytest.approx([20.0])
    assert rate == pytest.approx(2.0)
    values, vectors = np.linalg.eig(matrix)
    fast = vectors[:, int(np.argmin(values))]
    start = np.array([1.0, 0.0, 0.0])
    assert abs((start + matrix.T @ start / 20) @ fast) < 1e-9 < abs(start @ fast)


@pytest.mark.parametrize(
    "matrix",
    [np.zeros((2, 2)), np.array([[0.0, 1.0], [-30.0, -1.0]]), np.array([[20.0, 0.0], [0.0, -1.0]])],
    ids=["nothing moves", "an oscillation", "growth"],
)
def test_only_what_decays_alone_is_quick(matrix: Array) -> None:
    quick, rate = quick_rates(matrix)
    assert quick == []
    assert rate > 0


def test_what_stands_still_has_no_part_in_what_is_kept() -> None:
    automaton = load_text(LAGGING).automaton
    system = template_system(linear_problem(automaton, automaton.properties[0]))
    pos = system.names.index("pos")
    rows = {flow.location: kept_rows(flow) for flow in system.flows}
    assert any(row[pos] == 0 and np.count_nonzero(row) == 2 for row in rows["waiting"])
    for flow in system.flows:
        moving = np.any(flow.state, axis=1)
        for row in rows[flow.location]:
            change = np.where(moving, row @ flow.state, 0.0)
            assert np.linalg.matrix_rank(np.array([change, np.where(moving, row, 0.0)]), 1e-9) == 1


RELAYED = """
mode Lags() {
  write analog real x, y;
  read analog real u;
  diff { d(x) == y - x; d(y) == u - y; }
}
mode Top() {
  write analog real x, y;
  read analog real u;
  mode here = Lags();
  mode there = Lags();
  trans from init to here;
  trans #go from here to there when true;
  trans #back from there to here when true;
}
agent Relay() {
  read analog real u in [-1, 1];
  private analog real x, y;
  init { x in [-1, 1]; y in [-1, 1]; }
  mode top = Top();
  assert "small" { x < 2 }
}
"""


def test_offsets_are_given_the_room_that_there_is() -> None:
    """Though both locations hand all their bounds on to one another without any loss."""
    automaton = load_text(RELAYED).automaton
    system = template_system(linear_problem(automaton, automaton.properties[0]))
    search = TemplateSearch(shared=False)
    setting = search_setting(system, template(axes(system), 0.01, 0.5), search)
    least = least_invariant(setting, setting.start, search, lambda: False, {})
    assert isinstance(least, np.ndarray)
    found = with_room(setting, least, 1e-3)
    assert found is not None
    assert np.all(found > least + 1e-4) and np.all(found < least + 0.1)
    flows = range(len(system.flows))
    for bound in setting.bounds(found):
        spare = 1e-6 if bound.image in flows else -1e-12
        assert bound.value(found) <= found[bound.target] - spare
    assert setting.meets_bad(found, 0.0) is None


@pytest.mark.slow
@pytest.mark.parametrize("lag", ["1/20", "1/5"])
def test_a_lag_of_the_brakes_is_no_danger(lag: str) -> None:
    automaton = load("platoon_lagging", parameters={"lag": Fraction(lag)}).automaton
    assert isinstance(
        strategy("template").attempt(Task(automaton, automaton.properties[0])), Verified
    )

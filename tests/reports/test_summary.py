"""The first screen of a report: verdicts, assumptions, the closest approach, whether runs go on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.report_models import report_settings
from workbench.models.load import load_text
from workbench.reports.analysis import analyse
from workbench.reports.data.report import report_data
from workbench.reports.pages.summary import said_by_none, summary
from workbench.reports.simulated_runs import closest, simulated
from workbench.reports.words.first_states import first_states

BUG = """
mode Slow() { write analog real x; read analog real y; diff { d(x) in [-1, 1]; } inv { x <= 9 } }
mode Top() {
  write analog real x; read analog real y;
  mode left = Slow();
  mode right = Slow();
  trans from init to left when x <= 2;
  trans from init to right when x >= 1;
}
mode Follow() { write analog real y; read analog real x; diff { d(y) == x - y; } }
agent Leader() { write analog real x; read analog real y; init { x in [0, 3]; } mode top = Top(); }
agent Follower() { write analog real y; read analog real x; init { y = 2; } mode top = Follow(); }
agent Both() {
  private analog real x, y;
  agent leader = Leader();
  agent follower = Follower();
  assert "near" { y <= 6.5 }
  assert "not beyond" { x <= 9 }
  assert "goes on" { never blocks }
}
"""


def told(text: str = BUG, runs: int = 6, **choices: Any) -> dict[str, Any]:
    model = load_text(text)
    settings = report_settings(**{"runs": runs, "until": 4.0, "method": "template"} | choices)
    return report_data(analyse(model, "bug", model.automaton.properties, settings))


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return told()


def test_first_states_are_ranges_over_all_places_where_an_agent_begins() -> None:
    assert first_states(load_text(BUG).automaton) == ["x in [0, 3]", "y = 2"]


def test_first_states_without_bounds_are_not_told() -> None:
    text = BUG.replace("x in [0, 3];", "where x >= 0; where x <= y;").replace("y = 2;", "")
    assert first_states(load_text(text).automaton) == ["x \N{GREATER-THAN OR EQUAL TO} 0"]


def test_what_an_entry_sets_is_what_a_variable_begins_with() -> None:
    text = BUG.replace("left when x <= 2;", "left when x <= 2 do { x = 1; }")
    text = text.replace("right when x >= 1;", "right when x >= 2;")
    assert first_states(load_text(text).automaton)[0] == "x in [1, 3]"


def test_a_search_comes_closer_than_random_runs() -> None:
    """x may rise to 3 + t, and y follows: y(4) = 6 at most."""
    automaton = load_text(BUG).automaton
    runs = simulated(automaton, 6, 0, 4.0)
    found = closest(automaton, automaton.properties[0], runs[3:], 0, 4.0)
    assert found is not None and found.simulations <= 16 * 3
    highest = max(run.trace.at(run.trace.end)["y"] for run in runs[3:])
    reached = found.run.trace.at(found.run.trace.end)["y"]
    assert isinstance(reached, float) and isinstance(highest, float)
    assert highest < reached <= 6 + 1e-6


def test_where_runs_touch_the_border_nothing_is_searched() -> None:
    automaton = load_text(BUG.replace("{ x <= 9 }", "{ y <= 2 + 10*time }")).automaton
    runs = simulated(automaton, 6, 0, 4.0)
    assert closest(automaton, automaton.properties[1], runs, 0, 4.0) is None


def test_the_closest_run_is_part_of_the_page(data: dict[str, Any]) -> None:
    near = data["properties"][0]["approach"]
    assert near["run"] == len(data["runs"]) - 2
    assert "of a search directed at it" in near["of"]
    assert "“near”" in data["runs"][near["run"]]["how"]
    shown = str(summary(data))
    assert f'data-run="{near["run"]}"' in shown and near["text"] in shown
    assert "x in [0, 3]" in shown and "d(x) in [-1, 1] in left" in shown


def test_whether_runs_go_on_is_told_with_its_grounds(data: dict[str, Any]) -> None:
    assert data["going_on"]["kind"] == "proved"
    assert not any("does not continue" in line for line in data["properties"][1]["not_claimed"])
    silent = BUG.replace('assert "goes on" { never blocks }', "")
    seen = told(silent, runs=5)
    assert seen["going_on"]["kind"] == "numeric"
    count = [run["kind"] for run in seen["runs"]].count("simulated")
    assert f"{count} of {count} simulated runs reach t = 4" in seen["going_on"]["text"]
    assert any("does not continue" in line for line in seen["properties"][1]["not_claimed"])
    stuck = told(silent.replace("x <= 9 }\n", "x <= 3 }\n", 1).replace("[-1, 1]", "[1, 2]"))
    assert stuck["going_on"]["kind"] == "unproved" and "block" in stuck["going_on"]["text"]


def test_what_all_verdicts_leave_unsaid_is_told_once() -> None:
    both = [
        {"verdict": {"outcome": "verified"}, "not_claimed": ["a", "b"]},
        {"verdict": {"outcome": "verified"}, "not_claimed": ["b", "c"]},
    ]
    assert said_by_none(both) == ["b"]
    assert said_by_none(both[:1]) == []
    assert said_by_none([*both, {"verdict": {"outcome": "unknown"}, "not_claimed": ["b"]}]) == []


def test_the_closest_run_is_shown_first_if_it_was_followed_to_the_end(data: dict[str, Any]) -> None:
    near = data["properties"][0]["approach"]
    ended = data["runs"][near["run"]]["outcome"]["ending"]
    assert ended == "horizon" and data["first_run"] == near["run"]
    stuck = told(BUG.replace("x <= 9 }\n", "x <= 3 }\n", 1).replace("[-1, 1]", "[1, 2]"))
    assert stuck["first_run"] == 0
    broken = told(BUG.replace("y <= 6.5", "y <= 5"), method="simulation")
    assert broken["runs"][broken["first_run"]]["kind"] == "counterexample"

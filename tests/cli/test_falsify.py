"""`workbench falsify`, and falsification inside `workbench verify`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest


def test_counterexample_is_found_saved_and_replayed(workbench: Callable, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    result = workbench(
        "falsify", "platoon_saturated", "-p", "no collision", "--seed", 1, "--trace", path
    )
    assert result.code == 10
    assert "'no collision': FALSIFIED at time 1.94146" in result.out
    assert "start: velFirst = 15, velOther = 25, dist = 20" in result.out
    assert result.out.count("confirmed: ") >= 2
    replay = workbench("simulate", "platoon_saturated", "--replay", path)
    assert replay.code == 10
    assert "`no collision` is violated at t = 1.941464" in replay.out
    second = workbench("simulate", "platoon_saturated", "--replay", path, "--method", "taylor")
    assert second.code == 10


def test_nothing_found_is_unknown(workbench: Callable) -> None:
    result = workbench("falsify", "platoon_paper", "--budget", 40)
    assert result.code == 5
    assert "no violation found (40 simulations" in result.out
    assert "best robustness" in result.out and "start: " in result.out


def test_json(workbench: Callable) -> None:
    data = workbench("falsify", "infusion_pump_eager", "--json").data
    assert data["schema"] == "workbench.falsify/1"
    assert data["outcome"] == "falsified" and data["property"] == "no overdose"
    assert data["counterexample"]["violation"] > 0
    assert len(data["counterexample"]["confirmations"]) >= 2
    several = workbench("falsify", "powertrain_revving", "--budget", 20, "--json").data
    assert {r["property"]: r["outcome"] for r in several["results"]} == {
        "below the red line": "falsified",
        "no stalling": "unknown",
    }


def test_formula(workbench: Callable, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    wrong = workbench(
        "falsify", "platoon_paper", "--formula", "always[0,3](dist > 25)", "--trace", path
    )
    assert wrong.code == 10
    assert json.loads(path.read_text())["recipe"]["stop_on_violation"] is False
    replay = workbench("simulate", "platoon_paper", "--replay", path)
    assert replay.code == 10 and "The formula is violated at t = " in replay.out
    right = workbench(
        "falsify", "platoon_paper", "--formula", "always[0,3](dist > 1)", "--budget", 30
    )
    assert right.code == 5


def test_a_broken_formula_is_dated_where_it_is_decided(workbench: Callable, tmp_path: Path) -> None:
    """x = t from 0: the formula is lost at 3, although it speaks of all times up to 10."""
    model, path = tmp_path / "rise.charon", tmp_path / "bad.json"
    model.write_text(
        "mode Up() { write analog real x; diff { d(x) == 1; } }"
        "agent Rise() { private analog real x = 0; mode top = Up(); }"
    )
    options = ("--formula", "always[0,10] x <= 3", "--until", 4, "--trace", path)
    result = workbench("falsify", model, *options)
    assert result.code == 10 and "FALSIFIED at time 3 (1 simulation," in result.out
    assert "as far as t = 10" in result.err
    data = workbench("falsify", model, *options, "--json").data
    assert data["counterexample"]["time"] == pytest.approx(3.0, abs=1e-6)
    assert data["run"]["until"] < 4
    replay = workbench("simulate", model, "--replay", path)
    assert "violated at t = 3 (robustness -0.0" in replay.out
    open_ = workbench("simulate", model, "--until", 2, "--formula", "always[0,10] x <= 3")
    assert open_.code == 0 and "The formula is open" in open_.out
    assert "violated at t = 3" in workbench("simulate", model, "--formula", "always x <= 3").out


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--formula", "always[0,3](dst > 25)"], 2, "did you mean 'dist'"),
        (["--formula", "always[0,3] ("], 2, "parenthesis"),
        (["--formula", "always[0 3] (dist > 1)"], 2, "an interval reads [low, high]"),
        (["--formula", "always[0,3] (dist >)"], 2, "found the end of the expression"),
        (["--formula", "dist > 1", "-p", "no collision"], 2, "either a property or"),
        (["-p", "no colision"], 2, "did you mean 'no collision'"),
        (["--budget", "0"], 2, "--budget"),
    ],
)
def test_mistakes_get_a_message(
    workbench: Callable, options: list[str], code: int, says: str
) -> None:
    result = workbench("falsify", "platoon_paper", *options)
    assert result.code == code
    assert says in result.err


def test_same_seed_same_answer(workbench: Callable) -> None:
    def answer(seed: int) -> dict[str, object]:
        data = workbench("falsify", "van_der_pol", "--budget", 60, "--seed", seed, "--json").data
        return {k: v for k, v in data.items() if k not in ("seconds", "seed", "command")}

    assert answer(3) == answer(3) != answer(4)


def test_verify_falsifies_first(workbench: Callable, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    result = workbench("verify", "platoon_saturated", "--trace", path)
    assert result.code == 10
    assert "FALSIFIED" in result.out and f"wrote {path}" in result.err
    assert workbench("simulate", "platoon_saturated", "--replay", path).code == 10
    only = workbench("verify", "infusion_pump", "--method", "simulation", "--time-limit", 1)
    assert only.code == 5
    assert "no violation in" in only.out


PARTLY_DEFINED = """
mode Top() {
  write analog real x;
  write discrete enum { red, green } e;
  mode up = Up();
  mode down = Down();
  trans from init to up;
  trans #top from up to down when x >= 1 do { e = green; }
}
mode Up() {
  write analog real x;
  write discrete enum { red, green } e;
  diff { d(x) == 1; }
  inv { x <= 1 }
}
mode Down() {
  write analog real x;
  write discrete enum { red, green } e;
  diff { d(x) == -1; }
  inv { x >= 0 }
}
agent Pulse() {
  private analog real x = 0;
  private discrete enum { red, green } e = red;
  mode top = Top();
  assert "logarithm" { log(x) < 100 }
  assert "either" { 1/(x - x) > 3 || x >= 2 }
}
"""


@pytest.fixture
def pulse(tmp_path: Path) -> Path:
    path = tmp_path / "pulse.charon"
    path.write_text(PARTLY_DEFINED, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        ("x", "`x` is not a condition"),
        ("1 + 2", "is not a condition"),
        ("always[0,1](x && e == red)", "is not a condition"),
        ("always[0,1](e == 3)", "a value of an enumeration is expected"),
        ("always[0,1](blue == e)", "there is no variable 'blue'"),
        ('at("Pulse", "nowhere")', "has no location 'nowhere'"),
        ('at("Nobody", "up")', "there is no component 'Nobody'"),
    ],
)
def test_formulas_that_are_no_conditions(
    workbench: Callable, pulse: Path, formula: str, complaint: str
) -> None:
    result = workbench("falsify", pulse, "--formula", formula)
    assert result.code == 2
    assert complaint in result.err


def test_values_of_enumerations_in_formulas(workbench: Callable, pulse: Path) -> None:
    late = workbench("falsify", pulse, "--formula", "always[0,2](e == red)", "--budget", 5)
    assert late.code == 10 and "FALSIFIED" in late.out
    early = workbench("falsify", pulse, "--formula", "always[0,0.5](e == red)", "--budget", 5)
    assert early.code == 5


def test_what_has_no_value_is_not_violated(workbench: Callable, pulse: Path) -> None:
    """log(0) and 1/0 say nothing, whatever stands beside them."""
    assert workbench("falsify", pulse, "--budget", 4, "--until", 1.5).code == 5
    for formula in ("always[0,1](x < 1/0)", "always[0,1](sqrt(x - 0.5) >= 0)"):
        result = workbench("falsify", pulse, "--formula", formula, "--budget", 3)
        assert result.code == 5, formula


def test_mistakes_in_formulas_are_underlined(workbench: Callable) -> None:
    for formula, mark in (
        ("always[0,3](dst > 25)", "always[0,3](dst > 25)\n    |             ^^^"),
        ("always[0 3](dist > 25)", "always[0 3](dist > 25)\n    |       ^"),
        ("always[0,3](dist > 25", "always[0,3](dist > 25\n    |            ^"),
    ):
        result = workbench("falsify", "platoon_paper", "--formula", formula)
        assert result.code == 2 and mark in result.err


CHOICES = """
mode Wait() { write analog real x, c; diff { d(x) == 0; d(c) == 1; } inv { c <= 1 } }
mode Top() {
  write analog real x, c; write discrete int n;
  mode w = Wait();
  trans from init to w;
  trans #a from w to w when c >= 1 && n < 3 do { x = 2*x; c = 0; n = n + 1; }
  trans #b from w to w when c >= 1 && n < 3 do { x in [2*x, 2*x + 1]; c = 0; n = n + 1; }
}
agent A() {
  private analog real x, c; private discrete int n; private discrete bool f;
  init { x = 0; c = 0; n = 0; }
  mode top = Top();
  assert "low" { x <= 6.5 }
  assert "not five" { x != 5 || n < 3 }
  assert "down" { !f }
}
system A() until 4;
"""


@pytest.fixture
def choices(tmp_path: Path) -> Path:
    path = tmp_path / "choices.charon"
    path.write_text(CHOICES, encoding="utf-8")
    return path


def test_edges_and_landings_are_told(workbench: Callable, choices: Path) -> None:
    """Only b three times, each near the upper end of its range, leads beyond 6.5."""
    result = workbench("falsify", choices, "-p", "low")
    assert result.code == 10
    told = [line.strip() for line in result.out.splitlines() if line.strip().startswith("at ")]
    assert [line.split(",")[0] for line in told] == ["at 1: b", "at 2: b", "at 3: b"]
    assert float(told[-1].split(":=")[1]) > 6.5
    begins = workbench("falsify", choices, "-p", "down")
    assert begins.code == 10 and "f = true" in begins.out


def test_an_interrupted_search_says_what_is_known(
    workbench: Callable, choices: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.simulate.search.falsification._run", interrupt)
    result = workbench("falsify", choices)
    assert result.code == 130
    assert "'low': interrupted, no violation found so far (0 simulations" in result.out
    assert "nothing is known about 'not five', 'down'" in result.err


def test_an_equality_without_a_margin_is_named(workbench: Callable, choices: Path) -> None:
    """x may be 5 after three edges, but only just: no margin tells it from rounding."""
    whole = choices.read_text().replace("x in [2*x, 2*x + 1]", "x = 2*x + 1")
    choices.write_text(whole)
    result = workbench("falsify", choices, "-p", "not five", "--budget", 400)
    assert result.code == 5
    assert "violated the property by an equality of numbers that has no margin" in result.out


TOUCH = """
mode Here() { write analog real x, y; diff { d(x) == y; d(y) == -1; } }
mode There() { write analog real x, y; diff { d(x) == 10; d(y) == 0; } }
mode Top() {
  write analog real x, y;
  mode here = Here();
  mode there = There();
  trans from init to here;
  trans from here to there when x >= 2;
}
agent A() { private analog real x = 0, y in [1, 2]; mode top = Top(); assert "low" { x <= 5 } }
"""


def test_a_violation_that_is_not_confirmed_is_told_and_saved(
    workbench: Callable, tmp_path: Path
) -> None:
    """The guard is only touched, from one end of a range: nobody can tell by computing."""
    model, file = tmp_path / "touch.charon", tmp_path / "run.json"
    model.write_text(TOUCH)
    found = workbench("falsify", model, "--budget", 12, "--trace", file)
    assert found.code == 5
    assert "'low': violated in simulation by " in found.out and "not confirmed" in found.out
    assert "may only touch its guard" in found.out
    assert "no violation found" not in found.out
    assert workbench("simulate", model, "--replay", file).code == 10
    data = workbench("falsify", model, "--budget", 12, "--trace", file, "--json").data
    assert data["outcome"] == "unknown" and data["suspect"]["path"] == str(file)
    assert "may only touch its guard" in data["suspect"]["reason"]


def test_verify_saves_a_run_that_is_not_confirmed(workbench: Callable, tmp_path: Path) -> None:
    model, file = tmp_path / "touch.charon", tmp_path / "run.json"
    model.write_text(TOUCH)
    found = workbench("verify", model, "--method", "simulation", "--trace", file)
    assert found.code == 5
    assert "violated in simulation by " in found.out
    assert workbench("simulate", model, "--replay", file).code == 10


def test_the_limit_is_one_of_the_whole_command(workbench: Callable) -> None:
    begun = time.monotonic()
    found = workbench("falsify", "platoon_convoy", "--budget", 100_000, "--time-limit", 1)
    assert time.monotonic() - begun <= 1.05 + 1.0
    assert "no violation found within the time limit" in found.out

"""What refutes: equations that move too fast, values that no jump assigns, runs that go far."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli import run

FOLLOWED = """
mode Driver() { write analog real x; diff { d(x) == 1; } inv { x <= 5 } }
mode Driven() { write analog real y; read analog real x; PART }
agent P() { write analog real x; init { x = 0; } mode top = Driver(); }
agent Q() { write analog real y; read analog real x; init { y = 0; } mode top = Driven(); }
agent System() { private analog real x, y; agent p = P(); agent q = Q(); }
"""

TURNS = """
mode Rest() { }
mode Top() {
  write discrete int turn; private analog real t = 0;
  diff { d(t) == 1; }
  inv { t <= 2 }
  mode a = Rest();
  trans from init to a;
  trans from a to a when t >= 1 do { turn PART; t = 0; }
}
agent System() { write discrete int turn; init { turn = 0; } mode top = Top(); }
"""

FAR = """
mode Up() { write analog real x; diff { PART } inv { x <= 4 } }
mode Down() { write analog real x; diff { d(x) == -1; } inv { x >= -5 } }
mode Top() {
  write analog real x;
  mode a = Up(); mode b = Down();
  trans from init to a;
  trans from a to b when x >= 3;
  trans from b to a when x <= 1;
}
agent System() { write analog real x; init { x = 0; } mode top = Top(); }
"""


def verdict(folder: Path, text: str, detailed: str, simple: str, *options: str) -> int:
    """The exit code of comparing the system whose `PART` is one text with that of another."""
    paths = []
    for name, part in (("detailed", detailed), ("simple", simple)):
        path = folder / f"{name}.charon"
        path.write_text(text.replace("PART", part), encoding="utf-8")
        paths.append(str(path))
    return run(["refine", paths[0], "--against", paths[1], *options])


def test_an_equation_moves_faster_than_the_flow_allows(tmp_path: Path) -> None:
    bounds = "diff { d(y) in [0, 2]; }"
    assert verdict(tmp_path, FOLLOWED, "alge { y == 3*x; }", bounds) == 10
    assert verdict(tmp_path, FOLLOWED, "alge { y == 2*x; }", bounds) != 10


@pytest.mark.slow
def test_a_value_that_no_jump_assigns(tmp_path: Path) -> None:
    assert verdict(tmp_path, TURNS, "= 2", "in [0, 1]") == 10
    assert verdict(tmp_path, TURNS, "= 1 - turn", "in [0, 1]") != 10
    twice = TURNS.replace("t >= 1", "t >= 0")  # one jump is matched by two at once
    assert verdict(tmp_path, twice, "= turn + 2", "= turn + 1", "--time-limit", "3") != 10


def test_runs_go_as_far_as_is_asked_for(tmp_path: Path) -> None:
    pair = ("d(x) == x + 1;", "d(x) in [0, 5];")
    assert verdict(tmp_path, FAR, *pair, "--horizon", "9") == 5
    assert verdict(tmp_path, FAR, *pair, "--horizon", "20") == 10


def test_a_reset_that_differs_is_shown_with_the_state_after_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verdict(tmp_path, TURNS, "= 2", "= 1") == 10
    assert "turn' = 2" in capsys.readouterr().out


def test_a_made_abstraction_can_take_the_place_of_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, made = tmp_path / "model.charon", str(tmp_path / "made.charon")
    model.write_text(FAR.replace("PART", "d(x) == 4 - x;"), encoding="utf-8")
    assert run(["abstract", str(model), "--widen", "0.5", "-o", made]) == 0
    assert "does not show" not in capsys.readouterr().out
    assert run(["refine", str(model), "--against", made]) == 0
    model.write_text(TURNS.replace("PART", "= 2"), encoding="utf-8")
    assert run(["abstract", str(model), "--drop", "t", "-o", made]) == 0
    assert run(["refine", str(model), "--against", made]) == 0


TOUCHED = """
mode Up() { write analog real x; write discrete int n; diff { d(x) == FLOW; } inv { INSIDE } }
mode Down() { write analog real x; write discrete int n; diff { d(x) == -1; } inv { AFTER } }
mode Top() {
  write analog real x; write discrete int n;
  mode a = Up(); mode b = Down();
  trans from init to a;
  PART
}
agent System() {
  write analog real x; write discrete int n; init { x = 0; n = 0; } mode top = Top();
}
"""
BEYOND = "trans from a to b when x >= 1 do { n = 1; }"


@pytest.mark.parametrize(
    ("flow", "inside", "after"),
    [
        ("1", "x < 1", "true"),
        ("1", "x <= 1 - 1e-12", "true"),
        ("1", "x <= 1", "x > 1"),
        ("10*(1 - x)", "true", "true"),
    ],
)
@pytest.mark.parametrize("urgent", ["", "urgent "])
def test_edges_that_are_never_taken_refute_nothing(
    tmp_path: Path, flow: str, inside: str, after: str, urgent: str
) -> None:
    """The simulator takes them within its tolerance."""
    text = TOUCHED.replace("FLOW", flow).replace("INSIDE", inside).replace("AFTER", after)
    assert verdict(tmp_path, text, f"{urgent}{BEYOND}", "", "--time-limit", "2") != 10


def test_an_edge_that_is_taken_refutes(tmp_path: Path) -> None:
    text = TOUCHED.replace("FLOW", "1").replace("INSIDE", "x <= 1").replace("AFTER", "true")
    assert verdict(tmp_path, text, BEYOND, "") == 10
    assert verdict(tmp_path, text, f"urgent {BEYOND}", "") == 10


DRIVEN = """
mode Top() { write analog real x, u; diff { PART d(u) == 5; } inv { u <= 5 } }
agent System() { write analog real x, u; init { x = 0; u = 0; } mode top = Top(); }
"""


def test_a_run_without_transitions_has_no_jumps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verdict(tmp_path, DRIVEN, "d(x) == u;", "d(x) in [-1, 1];") == 10
    assert "a run of 0 jumps" in capsys.readouterr().out

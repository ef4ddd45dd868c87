"""Runs that touch an invariant, or need two boundaries to be one, falsify nothing without a proof."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import deadline, verify
from workbench.models.load import load
from workbench.models.verdict import Falsified, Verdict

PARABOLA = "d(x) == v; d(v) == -0.6;", "x = -0.3; v = 0.6;"
"""x touches 0 from below at t = 1; v is negative afterwards."""
RISING = "d(x) == 1; d(v) == 0;", "x = 0; v = 0;"


def decide(
    folder: Path,
    flow: tuple[str, str],
    inv: str,
    edge: str,
    target: str,
    claim: str,
    method: str = "simulation",
) -> Verdict:
    path = folder / "model.charon"
    path.write_text(
        f"""
        mode Flow() {{ write analog real x, v; diff {{ {flow[0]} }} inv {{ {inv} }} }}
        mode Rest() {{ write analog real x, v; diff {{ d(x) == 0; d(v) == 0; }} inv {{ {target} }} }}
        mode Top() {{
          write analog real x, v;
          mode a = Flow();
          mode b = Rest();
          trans from init to a;
          {edge}
        }}
        agent System() {{
          private analog real x, v;
          init {{ {flow[1]} }}
          mode top = Top();
          assert "claim" {{ {claim} }}
        }}
        """,
        encoding="utf-8",
    )
    automaton = load(path).automaton
    return verify(Task(automaton, automaton.properties[0], deadline(1)), method)


def leave(guard: str, do: str = "x = 3*x;") -> str:
    return f"trans from a to b when {guard} do {{ {do} }}"


IMPOSSIBLE = {
    "touched": (PARABOLA, "x < 0", "", "true", "v >= 0"),
    "nearly touched": (PARABOLA, "x <= -0.0000000000001", "", "true", "v >= 0"),
    "left at its strict boundary": (RISING, "x < 1", leave("x >= 1"), "true", "x <= 2"),
    "guard beyond": (RISING, "x <= 1", leave("x >= 1.000000001"), "true", "x <= 2"),
    "strict target": (RISING, "x <= 1", leave("x >= 1"), "x > 3", "x <= 2"),
    "target beyond": (RISING, "x <= 1", leave("x >= 1"), "x >= 3.000000001", "x <= 2"),
    "two invariants apart": (
        RISING,
        "x <= 1",
        leave("true", "v = 5;"),
        "x >= 1.000000001",
        "v <= 2",
    ),
    "two invariants, one strict": (RISING, "x < 1", leave("true", "v = 5;"), "x >= 1", "v <= 2"),
    "two invariants that are touched": (
        PARABOLA,
        "x <= 0",
        leave("true", "v = -5;"),
        "x >= 0.0000000000001",
        "v >= -2",
    ),
    "strict start": (RISING, "x > 0", "", "true", "x <= 2"),
}
POSSIBLE = {
    "not reached": (PARABOLA, "x < 0.0001", "", "true", "v >= 0"),
    "other side of the boundary": (RISING, "x <= 1", leave("x >= 1"), "true", "x <= 2"),
    "scaled boundary": (RISING, "2*x <= 2", leave("x >= 1"), "x <= 3", "x <= 2"),
    "target told by the guard": (RISING, "x <= 1", leave("x >= 1", "v = 5;"), "x >= 1", "v <= 2"),
    "target of numbers": (RISING, "x <= 1", leave("x >= 1", "x = 3;"), "x >= 3", "x <= 2"),
    "target of a choice": (RISING, "x <= 1", leave("x >= 1", "x in [1, 3];"), "x <= 3", "x <= 2"),
    "two invariants share it": (RISING, "x <= 1", leave("true", "v = 5;"), "x >= 1", "v <= 2"),
    "two invariants by the reset": (
        RISING,
        "x <= 1",
        leave("true", "x = 3*x;"),
        "2*x >= 6",
        "x <= 2",
    ),
    "start on a boundary": (RISING, "x >= 0", "", "true", "x <= 2"),
    "along a boundary": (RISING, "v >= 0", "", "true", "x <= 2"),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_no_run_does_falsifies_nothing(name: str, tmp_path: Path) -> None:
    for method in ("simulation", "flowpipe"):
        verdict = decide(tmp_path, *IMPOSSIBLE[name], method)
        assert not isinstance(verdict, Falsified), method


@pytest.mark.parametrize("name", POSSIBLE)
def test_boundaries_that_runs_keep_are_no_obstacle(name: str, tmp_path: Path) -> None:
    assert isinstance(decide(tmp_path, *POSSIBLE[name]), Falsified)

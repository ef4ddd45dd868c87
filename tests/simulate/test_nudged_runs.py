"""Rounding that is stretched by resets makes no counterexample."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.models.load import load
from workbench.models.trace import Trace
from workbench.simulate.nudged_run import NUDGE, nudged_run, written_values
from workbench.simulate.recipe import Recipe, repeat
from workbench.simulate.run import prepare
from workbench.simulate.search.counterexample import confirm
from workbench.simulate.search.objective import Objective

STRETCHED = """
mode Wait() {
  write analog real c, x, y;
  diff { d(c) == 1; d(x) == 0; d(y) == 0; }
  inv { c <= 1 }
}
mode Top() {
  write analog real c, x, y;
  mode wait = Wait();
  trans from init to wait;
  trans #stretch from wait to wait when c >= 1 do { c = 0; x = 3*x - 2*y; }
}
agent Stretch() {
  private analog real c, x, y;
  init { c = 0; y in [0.1, 1]; x = y + OFF; }
  mode top = Top();
  assert "together" { x <= 2 && x >= -2 }
}
"""


@pytest.mark.parametrize(("off", "broken"), [("0", False), ("0.001", True), ("-0.001", True)])
@pytest.mark.parametrize("start", [0.1, 0.7])
def test_only_what_the_model_does_is_confirmed(
    tmp_path: Path, off: str, broken: bool, start: float
) -> None:
    """x := 3x - 2y keeps x = y, and carries away every state beside it: in floating point all
    runs violate the property, exactly only those that begin off the line do."""
    path = tmp_path / "stretched.charon"
    path.write_text(STRETCHED.replace("OFF", off))
    automaton = load(path).automaton
    objective = Objective(automaton, automaton.properties[0])
    recipe = Recipe(until=60.0 if not broken else 9.0, initial={"y": start})
    trace = objective.run(recipe)
    assert objective.score(recipe, trace).margin < 0.0
    assert bool(confirm(objective, recipe)) == broken


def test_a_nudged_run_takes_the_same_decisions() -> None:
    prepared = prepare(load("platoon_paper").automaton)
    recipe = Recipe(until=8.0, seed=3)

    def last(trace: Trace) -> dict[str, float]:
        return {n: float(v) for n, v in trace.final().items()}

    plain = repeat(prepared, recipe)
    beside = nudged_run(prepared, recipe.with_decisions(plain.decisions), NUDGE, 1000)
    assert [e.name for e in plain.jumps] == [e.name for e in beside.jumps]
    assert plain.final() != beside.final()
    assert last(plain) == pytest.approx(last(beside), rel=1e-9)


@pytest.mark.parametrize(
    ("first", "flow", "reset", "exact"),
    [
        ("m = 2", "0", "1", True),
        ("m = 0.1", "0", "1", False),  # floating point has no 0.1
        ("m = 2", "0", "0.1", False),
        ("m = 2", "0", "m + 1", False),
        ("m = 2", "0.5", "1", False),
        ("m in [1, 2]", "0", "1", False),
    ],
)
def test_only_numbers_that_are_written_and_never_rounded_stay(
    tmp_path: Path, first: str, flow: str, reset: str, exact: bool
) -> None:
    path = tmp_path / "modes.charon"
    path.write_text(
        f"""mode Wait() {{ write analog real c, m; diff {{ d(c) == 1; d(m) == {flow}; }} }}
        mode Top() {{
          write analog real c, m; mode wait = Wait(); trans from init to wait;
          trans #next from wait to wait when c >= 1 do {{ c = 0; m = {reset}; }}
        }}
        agent A() {{
          private analog real c, m; init {{ c = 0; {first}; }} mode top = Top();
          assert "few" {{ m <= 9 }}
        }}"""
    )
    prepared = prepare(load(path).automaton)
    written = written_values(prepared, next(prepared.starts()).location)
    assert written == ({"m": 2} if exact else {})

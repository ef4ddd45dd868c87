"""Runs that violate a claim, and are doubtful for reasons that a run beside or a sooner end lacks."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from workbench.models.automaton import (
    Automaton,
    Constraint,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import equal, external, variable
from workbench.models.load import load
from workbench.simulate.monitoring.run_check import RunCheck
from workbench.simulate.run import prepare
from workbench.simulate.search.falsification import Budget, Options, Outcome, falsify
from workbench.simulate.stepping.externs import provided

PLAIN = Options(rigorous=())

ROOMS = """
mode On() {
  write analog real x; read analog real l, r;
  diff { d(x) == 0.1*(l - x) + 0.1*(r - x) + 0.05*(5 - x) + 1.5; } inv { x <= 21 }
}
mode Off() {
  write analog real x; read analog real l, r;
  diff { d(x) == 0.1*(l - x) + 0.1*(r - x) + 0.05*(5 - x); } inv { x >= 19 }
}
mode Switched() {
  write analog real x; read analog real l, r; mode on = On(); mode off = Off();
  trans from init to off; trans from off to on when x <= 19; trans from on to off when x >= 21;
}
agent Room() {
  write analog real x; read analog real l, r; init { x in [20, 20.2]; } mode top = Switched();
}
agent House() {
  private analog real x[1..3];
  agent a = Room() [ x, l, r := x[1], x[2], x[3] ];
  agent b = Room() [ x, l, r := x[2], x[1], x[3] ];
  agent c = Room() [ x, l, r := x[3], x[1], x[2] ];
  assert "cool" { x[1] <= MOST }
}
system House() until 20;
"""


def model(tmp_path: Path, text: str) -> Automaton:
    path = tmp_path / "model.charon"
    path.write_text(text)
    return load(path).automaton


def search(automaton: Automaton, budget: int) -> Outcome:
    return falsify(automaton, automaton.properties[0], Budget(budget), PLAIN)


@pytest.mark.parametrize("most", ["20.5", "20.9"])
def test_equal_starts_do_not_hide_a_violation(tmp_path: Path, most: str) -> None:
    """From equal starts all rooms switch at once, which is doubtful; beside them it is not."""
    automaton = model(tmp_path, ROOMS.replace("MOST", most))
    found = search(automaton, 15).found
    assert found is not None
    assert not RunCheck(prepare(automaton)).problems(found.trace, found.recipe.inputs)
    times = [event.time for event in found.trace.jumps]
    assert len(set(times)) == len(times)


def test_what_rooms_keep_is_not_falsified(tmp_path: Path) -> None:
    assert search(model(tmp_path, ROOMS.replace("MOST", "21.01")), 60).found is None


SWITCHED = """
mode Charge() {
  write analog real v, m; diff { d(v) == 100 - v; d(m) == 0; } inv { v <= 12 && m == FIRST }
}
mode Drain() { write analog real v, m; diff { d(v) == 50; d(m) == 0; } inv { v >= 11 && m == 1 } }
mode Top() {
  write analog real v, m; mode charge = Charge(); mode drain = Drain();
  trans from init to charge;
  trans #hop from charge to drain when v >= 12 do { m = 1; }
}
agent A() {
  private analog real v, m; init { v = 0; m = FIRST; } mode top = Top();
  assert "low" { v <= MOST }
}
system A() until 1;
"""


@pytest.mark.parametrize("most", ["11.9", "13"])
def test_numbers_that_the_model_gives_have_no_error(tmp_path: Path, most: str) -> None:
    """The number of a mode is kept by an equation: it must not be moved to see what rounding does,
    and after the hop the equation holds because it is about numbers alone."""
    automaton = model(tmp_path, SWITCHED.replace("MOST", most).replace("FIRST", "2"))
    assert search(automaton, 5).found is not None


def test_errors_that_grow_after_a_violation_do_not_hide_it(tmp_path: Path) -> None:
    """x := 1.5 x - 0.5 y stretches what rounding leaves of x - y; at t = 20, where w passes its
    bound, that is still nothing, at t = 60 it is more than the violation."""
    automaton = model(
        tmp_path,
        """mode Wait() {
          write analog real c, x, y, w;
          diff { d(c) == 1; d(x) == 0; d(y) == 0; d(w) == 0.00001; } inv { c <= 1 }
        }
        mode Top() {
          write analog real c, x, y, w; mode wait = Wait(); trans from init to wait;
          trans #stretch from wait to wait when c >= 1 do { c = 0; x = 1.5*x - 0.5*y; }
        }
        agent A() {
          private analog real c, x, y, w;
          init { c = 0; y = 0.1; x = y; w = 0; } mode top = Top();
          assert "kept" { w + x - y <= 0.0002 }
        }
        system A() until 60;""",
    )
    found = search(automaton, 5).found
    assert found is not None
    assert found.time == pytest.approx(20.0, abs=0.1)


def test_a_function_from_outside_is_repeated_at_two_tolerances() -> None:
    """x' = -f(x) has no series: two runs of one method at one tolerance would agree on the errors
    that carry x = exp(-t) below 0, and on those alone."""
    x = variable("x")

    def falling(least: Fraction) -> HybridAutomaton:
        flow = Constraint("x", Range.exactly(-external("f", x)))
        claim = Property("above", x >= least)
        start = (Initial("a", equal(x, 1)),)
        places = (Location("a", (flow,)),)
        return HybridAutomaton("m", (Variable("x"),), places, (), start, properties=(claim,))

    models = (falling(Fraction(1, 100)), falling(Fraction(0)))
    with provided({"f": lambda value: value}):
        broken, kept = (falsify(m, m.properties[0], Budget(2), PLAIN).found for m in models)
    assert kept is None and broken is not None
    first, second = (confirmation.how for confirmation in broken.confirmations)
    assert first.startswith("repeated with the Adams method at rtol 1e-11:")
    assert second.startswith("repeated with the Adams method at rtol 1e-10:")

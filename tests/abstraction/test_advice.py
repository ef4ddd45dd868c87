"""Hints say what can help: more time where it ran out, doubts where runs were doubtful."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import pytest

from workbench.abstraction.advice import MORE_TIME, after_all
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import deadline, verify
from workbench.models.automaton import Automaton
from workbench.models.load import load
from workbench.models.verdict import Effort, Unknown

TOUCHED = """
mode Fly() { write analog real x, y, z; diff { d(x) == y; d(y) == -2; d(z) == 0; } }
mode Bad() { write analog real x, y, z; diff { d(x) == 0; d(y) == 0; d(z) == 1; } }
mode Top() {
  write analog real x, y, z;
  mode fly = Fly(); mode bad = Bad();
  trans from init to fly;
  trans #hit from fly to bad when x > 1;
}
agent A() {
  private analog real x, y, z;
  init { x = 0; y = 2; z = 0; }
  mode top = Top();
  assert "never bad" { z <= 0.5 }
}
system A() until 6;
"""


@pytest.fixture
def touched(tmp_path: Path) -> Automaton:
    path = tmp_path / "touched.charon"
    path.write_text(TOUCHED)
    return load(path).automaton


def unknown(automaton: Automaton, method: str, limit: float, **options: object) -> Unknown:
    task = Task(automaton, automaton.properties[0], limit, options=options)
    verdict = verify(task, method)
    assert isinstance(verdict, Unknown)
    return verdict


@pytest.mark.parametrize("method", ["template", "nonlinear", "flowpipe", "simulation", "quadratic"])
def test_more_time_is_advised_only_where_it_ran_out(touched: Automaton, method: str) -> None:
    patient = unknown(touched, method, deadline(3600.0))
    assert "--time-limit" not in patient.advice
    over = time.monotonic() - 0.01
    assert unknown(touched, method, over).advice.startswith(MORE_TIME)


def test_doubts_about_runs_are_a_reason(touched: Automaton) -> None:
    verdict = unknown(touched, "simulation", deadline(3600.0))
    assert verdict.reason.startswith("no confirmed violation in ")
    assert "`hit` at t = 1 may only touch its guard" in verdict.reason
    assert "falsify --enclose" in verdict.advice


def test_auto_advises_no_method_that_it_tried(touched: Automaton) -> None:
    claim = touched.properties[0]
    task = Task(touched, claim, deadline(3600.0))
    tried = [
        Unknown(claim.name, name, "no proof", "try another --method", Effort())
        for name in ("template", "abstraction")
    ]
    assert after_all(task, tried[:1], ()) == "simplify the model or the property"
    assert after_all(task, tried, ()) == "give predicates (--predicate)"
    assert after_all(task, tried, {"template"}) == f"{MORE_TIME}, or give predicates (--predicate)"


def test_auto_advises_a_bound_where_runs_are_followed_for_ever(touched: Automaton) -> None:
    claim = touched.properties[0]
    tried = [Unknown(claim.name, "flowpipe", "no end", "bound the time", Effort())]
    bounded = Task(touched, claim, deadline(3600.0), options={"horizon": Fraction(6)})
    assert "--horizon" not in after_all(bounded, tried, ())

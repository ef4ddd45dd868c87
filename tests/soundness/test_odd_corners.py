"""Rare constructs, each in a model that a method once ended on with an error of its own."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import deadline, verify
from workbench.models.load import load
from workbench.models.verdict import Falsified, Unknown, Verdict, Verified


def decided(path: Path, text: str, method: str, horizon: Fraction | None = None) -> Verdict:
    path.write_text(text if horizon is None else f"{text}\nsystem Main until {horizon};")
    automaton = load(path).automaton
    return verify(Task(automaton, automaton.properties[0], deadline(20)), method)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tmp_path / "model.charon"


DECAY = """
const real p in [1, 2];
mode Rise() { write analog real x; diff { d(x) == 1; } inv { x <= 1 } }
mode Fall() { write analog real x; diff { d(x) == -p*x; } }
mode Top() {
  write analog real x;
  mode rise = Rise();
  mode fall = Fall();
  trans from init to rise;
  trans from rise to fall when x >= 1;
}
agent Main() { private analog real x = 0; mode top = Top(); assert "claim" { CLAIM } }
"""


def test_a_parameter_may_multiply_variables_only_later_on_a_path(model: Path) -> None:
    safe = decided(model, DECAY.replace("CLAIM", "x <= 1.5"), "flowpipe", Fraction(5))
    assert isinstance(safe, Verified)
    low = DECAY.replace("CLAIM", "time <= 2 || x >= 0.2")  # e^-2 < 0.2 where p = 2
    assert not isinstance(decided(model, low, "flowpipe", Fraction(3)), Verified)


PASSING = """
mode Rise() { write analog real x; diff { d(x) == 1; } inv { x <= 1 } }
mode Top() {
  write analog real x;
  mode passed = Rise();
  mode rest = Rise();
  trans from init to passed;
  urgent trans from passed to rest;
  trans from rest to passed when x >= 1 do { x = 0; }
}
agent Main() { private analog real x = 0; mode top = Top(); assert "claim" { CLAIM } }
"""


def test_no_time_passes_where_an_urgent_exit_is_always_open(model: Path) -> None:
    assert isinstance(decided(model, PASSING.replace("CLAIM", "x <= 1.5"), "history"), Verified)
    broken = PASSING.replace("CLAIM", "x <= 0.5")
    assert isinstance(decided(model, broken, "history"), Unknown | Falsified)


COUNTER = """
mode Wait() { write analog real clock; diff { d(clock) == 1; } inv { clock <= 1 } }
mode Top() {
  write analog real clock;
  write discrete int k;
  mode wait = Wait();
  trans from init to wait;
  trans #up from wait to wait when clock >= 1 && k <= 0 do { clock = 0; k = k + 1; }
  trans #down from wait to wait when clock >= 1 && k >= 1 do { clock = 0; k = -1; }
}
agent Main() {
  private analog real clock = 0;
  private discrete int k = 0;
  mode top = Top();
  assert "claim" { CLAIM }
}
"""


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("max(k, -k) <= 1", Verified),
        ("max(k, -k) <= 0", Falsified),
        ("abs(k) <= 0.5 || clock <= 2", Verified),
    ],
)
def test_claims_with_pieces_about_counters(model: Path, claim: str, kind: type[Verdict]) -> None:
    verdict = decided(model, COUNTER.replace("CLAIM", claim), "rectangular")
    assert isinstance(verdict, kind)

"""Rates that are bounded on one side only: a variable may move fast, but not in no time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import verify
from workbench.models.load import load
from workbench.models.verdict import Falsified, Unknown, Verdict

MODEL = """
mode Falling() {{ write analog real x; diff {{ d(x) <= 1; }} inv {{ {inv} }} }}
agent Drop() {{
  private analog real x;
  init {{ x = 0; }}
  mode top = Falling();
  assert "claim" {{ {claim} }}
}}
system Drop() until 1;
"""


def decided(folder: Path, claim: str, inv: str = "x <= 50") -> Verdict:
    path = folder / "drop.charon"
    path.write_text(MODEL.format(claim=claim, inv=inv))
    automaton = load(str(path)).automaton
    task = Task(automaton, automaton.properties[0], time.monotonic() + 20)
    return verify(task, "rectangular")


@pytest.mark.parametrize("claim", ["x >= -100", "x >= -1000000"])
def test_the_unbounded_side_is_refuted_by_a_run_that_takes_time(tmp_path: Path, claim: str) -> None:
    verdict = decided(tmp_path, claim)
    assert isinstance(verdict, Falsified)
    assert 0 < verdict.trace.outcome.time <= 1


def test_the_bounded_side_is_not_refuted(tmp_path: Path) -> None:
    assert isinstance(decided(tmp_path, "x <= 1"), Unknown)

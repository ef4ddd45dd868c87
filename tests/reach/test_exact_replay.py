"""Violations on boundaries and behind choices: found and repeated exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import deadline, verify
from workbench.models.load import load
from workbench.models.verdict import Falsified, Verdict

MODEL = """
mode Run() {{ write analog real x, y; diff {{ d(x) == 1; d(y) == 0; }} }}
mode Top() {{
  write analog real x, y;
  mode run = Run();
  trans from init to run;
  {edge}
}}
agent A() {{ private analog real x = 0, y = 0; mode top = Top(); assert "p" {{ {claim} }} }}
"""

URGENT = "urgent trans from run to run when x >= 1 do { x = 0; }"
CORNER = "urgent trans from run to run when x >= 1 && y <= 0 do { x = 0; y = 1; }"
CHOICE = "trans from run to run when x >= 1 do { x in [0, 1]; y = 2*x + 1; x = 0; }"
RANGE = "trans from run to run when x >= 1 do { x in [0, 1]; y in [x, x + 1]; x = 0; }"
TWO = "trans from run to run when x >= 1 do { x in [0, 1]; let z = x; y in [z, z]; x = z + y; }"


def decide(folder: Path, edge: str, claim: str) -> Verdict:
    path = folder / "model.charon"
    path.write_text(MODEL.format(edge=edge, claim=claim))
    automaton = load(path).automaton
    return verify(Task(automaton, automaton.properties[0], deadline(20)), "rectangular")


@pytest.mark.parametrize(
    ("edge", "claim", "when"),
    [
        (URGENT, "x < 1", 1),
        (CORNER, "x < 1", 1),
        (CHOICE, "y <= 2", 1),
        (CHOICE, "y < 3", 1),
        (RANGE, "y <= 1.9", 1),
        (TWO, "y <= 0.5", 1),
    ],
)
def test_what_is_violated(tmp_path: Path, edge: str, claim: str, when: int) -> None:
    found = decide(tmp_path, edge, claim)
    assert isinstance(found, Falsified), found
    assert found.confirmations[0].rigorous
    assert found.trace.outcome.time >= when


@pytest.mark.parametrize(
    ("edge", "claim"), [(URGENT, "x <= 1"), (CHOICE, "y <= 3"), (RANGE, "y <= 2")]
)
def test_what_is_not_is_never_falsified(tmp_path: Path, edge: str, claim: str) -> None:
    found = decide(tmp_path, edge, claim)
    assert not isinstance(found, Falsified), found

"""Urgent edges are taken in the limit of their guards, also where a guard jumps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.slow import slow_but
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import deadline, strategy
from workbench.models.load import load
from workbench.models.trace import Ending
from workbench.models.verdict import Verified
from workbench.simulate.run import simulate

MODEL = """
mode Rising() {{ write analog real y; diff {{ d(y) == 1; }} inv {{ y <= 1 }} }}
mode Resting() {{ write analog real y; diff {{ d(y) == 0; }} }}
mode Run() {{
  write analog real y; readwrite discrete bool hit;
  mode w = Rising();
  mode v = Resting();
  trans from init to w;
  urgent trans from w to v when {guard} do {{ hit = true; }}
}}
agent A() {{
  private analog real y; private discrete bool hit;
  init {{ y = 0; hit = false; }}
  mode top = Run();
  assert "never" {{ !hit }}
}}
"""

TAKEN = ("y > 1", "y*y > 1", "sign(y - 1) > 0.5", "(y > 1 ? 2 : 0) > 1")
GUARDS = (*TAKEN, "floor(-y) < -1")


@pytest.mark.parametrize("guard", slow_but([TAKEN[0], TAKEN[2]], GUARDS))
def test_an_edge_that_is_taken_at_the_limit_is_never_excluded(guard: str, tmp_path: Path) -> None:
    """All the guards hold where y > 1, which y = 1, the last state of `w`, is a limit of."""
    path = tmp_path / "model.charon"
    path.write_text(MODEL.format(guard=guard))
    automaton = load(path).automaton
    if guard in TAKEN:  # the simulator takes it too
        assert simulate(automaton, until=2.0).outcome.ending is Ending.VIOLATION
    for method in ("nonlinear", "flowpipe", "template", "quadratic"):
        task = Task(automaton, automaton.properties[0], deadline(1))
        assert not isinstance(strategy(method).attempt(task), Verified), method

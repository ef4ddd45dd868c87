"""Jumps that take no time, there and back across a surface: sets do not grow by them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from workbench.abstraction.strategies.flowpipe import FlowpipeStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.models.load import load
from workbench.models.verdict import Falsified, Verdict, Verified

PIECEWISE = """
mode Lin() {{
  write analog real x, v;
  diff {{ d(x) == v; d(v) == -2*x - 2*v; }}
  inv {{ {surface} <= 0.5 }}
}}
mode Lo() {{
  write analog real x, v;
  diff {{ d(x) == v; d(v) == -1; }}
  inv {{ {surface} >= 0.5 }}
}}
mode Top() {{
  write analog real x, v;
  mode lin = Lin();
  mode lo = Lo();
  trans from init to lo;
  trans from lin to lo when {surface} >= 0.5;
  trans from lo to lin when {surface} <= 0.5;
}}
agent Plant() {{
  private analog real x, v;
  init {{ x = 2; v = 1; }}
  mode top = Top();
  assert "x" {{ x <= {bound} }}
}}
system Plant() until 3;
"""


def judged(folder: Path, surface: str, bound: str) -> Verdict:
    (folder / "plant.charon").write_text(PIECEWISE.format(surface=surface, bound=bound))
    automaton = load(folder / "plant.charon").automaton
    task = Task(automaton, automaton.properties[0], time.monotonic() + 60)
    return FlowpipeStrategy().attempt(task)


@pytest.mark.parametrize("surface", ["x + v", "x", "2*x + 3*v"])
def test_both_sides_of_a_surface_are_closed(surface: str, tmp_path: Path) -> None:
    """The highest point, 2.5, is reached before the surface is crossed."""
    assert isinstance(judged(tmp_path, surface, "2.55"), Verified)


def test_the_twin_is_falsified(tmp_path: Path) -> None:
    assert isinstance(judged(tmp_path, "x + v", "2.4"), Falsified)

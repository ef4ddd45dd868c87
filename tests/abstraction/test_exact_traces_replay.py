"""Counterexamples of exact methods carry recipes: the simulator makes the same runs again."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import deadline, verify
from workbench.models.load import load
from workbench.models.trace import Ending
from workbench.models.verdict import Falsified
from workbench.simulate.recipe import read_recorded, repeat
from workbench.simulate.search.objective import focused

ONE_MODE = """
mode Run() {{ write analog real x, y; diff {{ d(x) == 1; d(y) == 0; }} }}
mode Top() {{
  write analog real x, y;
  mode run = Run();
  trans from init to run;
  {edge}
}}
agent A() {{ private analog real x = 0, y = 0; mode top = Top(); assert "p" {{ {claim} }} }}
"""

LANDINGS = {
    "dependent resets": ("x in [0, 1]; y = 2*x + 1; x = 0;", "y <= 2"),
    "the end of a range": ("x in [0, 1]; y = 2*x + 1; x = 0;", "y < 3"),
    "a range of a range": ("x in [0, 1]; y in [x, x + 1]; x = 0;", "y <= 1.9"),
    "a range that is a point": ("x in [0, 1]; let z = x; y in [z, z]; x = z + y;", "y <= 0.5"),
}

PENDULUM = """
mode Up() {{ write analog real x; write discrete real k; diff {{ d(x) in [1/2, 1]; }}
  inv {{ x <= 3 }} }}
mode Down() {{ write analog real x; write discrete real k; diff {{ d(x) in [-2, -1]; }}
  inv {{ x >= 0 }} }}
mode Top() {{
  write analog real x; write discrete real k;
  mode up = Up();
  mode down = Down();
  trans from init to up do {{ k in [1, 2]; }}
  trans #turn from up to down when x >= 2;
  trans from down to up when x <= 1 do {{ k in [k, k + 1]; }}
}}
agent A() {{
  private analog real x in [0, 1]; private discrete real k;
  mode top = Top();
  assert "p" {{ {claim} }}
}}
"""

FALLING = """
mode Fall() { write analog real h, v; diff { d(h) == v; d(v) == -10; } }
mode Top() { write analog real h, v; mode fall = Fall(); trans from init to fall; }
agent A() { private analog real h in [4, 5], v in [-1, 0]; mode top = Top();
  assert "p" { h >= 0 } }
"""


def replayed(folder: Path, text: str, method: str) -> None:
    """Decide the claim of a text, and make the run of its counterexample again."""
    path = folder / "model.charon"
    path.write_text(text)
    model = load(path).automaton
    found = verify(Task(model, model.properties[0], deadline(30)), method)
    assert isinstance(found, Falsified), found
    trace, recipe, sha256 = read_recorded(found.recording)
    assert recipe is not None
    assert sha256 == model.sha256
    again = repeat(focused(model, model.properties[0]), recipe)
    assert again.outcome.ending is Ending.VIOLATION, again.outcome.sentence
    names = [event.name for event in again.jumps]
    assert names == [event.name for event in trace.jumps]
    assert again.end <= trace.end + 1e-5


@pytest.mark.parametrize("case", LANDINGS)
def test_resets_land_where_the_trace_does(tmp_path: Path, case: str) -> None:
    resets, claim = LANDINGS[case]
    edge = f"trans from run to run when x >= 1 do {{ {resets} }}"
    replayed(tmp_path, ONE_MODE.format(edge=edge, claim=claim), "rectangular")


@pytest.mark.parametrize("claim", ["x <= 2.9", "k <= 2.5", "k <= 3.5", "x >= 0.1 || k <= 3"])
def test_edges_are_taken_when_the_trace_takes_them(tmp_path: Path, claim: str) -> None:
    replayed(tmp_path, PENDULUM.format(claim=claim), "rectangular")


def test_polynomial_flows(tmp_path: Path) -> None:
    replayed(tmp_path, FALLING, "exact")

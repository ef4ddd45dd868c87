"""The abstract states that the author's predicates make, before anything is learned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import run_here
from tests.support.slow import slow_but

WALK = """
mode Walking() {{ write analog real x, y; diff {{ d(x) == 1; d(y) == -1; }} inv {{ x <= 4 }} }}
agent Walk() {{
  private analog real x, y;
  init {{ x = 0; y in [5, 6]; }}
  mode top = Walking();
  {predicates}
  assert "high" {{ y >= 0.5 }}
}}
"""


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    path = tmp_path / "walk.charon"
    path.write_text(WALK.format(predicates="predicate { x >= 2; y >= 3 }"))
    return path


def states(page: Path) -> list[dict[str, Any]] | None:
    text = page.read_text()
    begin = text.index('{"schema":"charon-workbench/report/2"')
    data, _ = json.JSONDecoder().raw_decode(text[begin:])
    given = data["properties"][0]["given"]
    return None if given is None else given["states"]


def test_a_report_draws_what_refinement_begins_with(walk: Path) -> None:
    page = walk.with_suffix(".html")
    assert run_here("report", walk, "-o", page).code == 0
    found = states(page)
    assert found is not None
    # x and y are independent in cells: y below 1/2 is reached in whole cells, by no run.
    assert any(state["bad"] for state in found)
    said = {text for state in found for text in state["cell"]}
    assert {"x >= 2", "x <= 2", "y >= 3", "y <= 3"} <= said
    assert "before refinement" in page.read_text()


def test_a_model_without_predicates_has_none(walk: Path) -> None:
    walk.write_text(WALK.format(predicates=""))
    page = walk.with_suffix(".html")
    run_here("report", walk, "-o", page)
    assert states(page) is None


@pytest.mark.parametrize("learns", slow_but([False], [True, False]))
def test_refinement_can_be_left_out(walk: Path, learns: bool, tmp_path: Path) -> None:
    graph = tmp_path / "graph.json"
    option = "--refine" if learns else "--no-refine"
    found = run_here("verify", walk, "--method", "abstraction", option, "--graph", graph)
    assert found.code == (0 if learns else 5)
    cells = json.loads(graph.read_text())["states"]
    assert any(state["bad"] for state in cells) is not learns
    if not learns:
        assert "hint: let it learn predicates" in found.out


def test_only_abstraction_learns(walk: Path) -> None:
    found = run_here("verify", walk, "--no-refine")
    assert found.code == 2 and "needs the method abstraction" in found.err

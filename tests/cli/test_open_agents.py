"""What is assumed about the surroundings of an agent that is not a whole system."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

TEXT = """
mode L() {
  write analog real x;
  readwrite discrete real level;
  diff { d(x) == level - x; }
}
mode T() {
  write analog real x;
  readwrite discrete real level;
  mode a = L();
  trans from init to a;
}
agent Plant() {
  write analog real x = 0;
  readwrite discrete real level = 1;
  mode top = T();
  assert "below" { x <= 2 }
}
"""
SAID = "nothing outside the model changes level"


@pytest.fixture
def plant(tmp_path: Path) -> Path:
    path = tmp_path / "plant.charon"
    path.write_text(TEXT)
    return path


def test_a_proof_about_an_open_agent_says_what_it_assumes(
    workbench: Run, plant: Path, tmp_path: Path
) -> None:
    proof = tmp_path / "proof.json"
    result = workbench("verify", plant, "--certificate", proof)
    assert result.code == 0
    assert f"  assuming that {SAID}\n" in result.out
    assert SAID in workbench("verify", plant, "--json").data["assumptions"]
    assert f"  assuming that {SAID}\n" in workbench("recheck", plant, proof).out
    assert workbench("recheck", plant, proof, "--json").data["assumptions"] == [SAID]


def test_a_report_marks_the_assumption_as_unproved(
    workbench: Run, plant: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert workbench("report", plant, "-o", page, "--runs", 1).code == 0
    text = page.read_text()
    assert SAID in text
    assert "unproved" in text


def test_a_closed_system_assumes_nothing_of_the_kind(workbench: Run) -> None:
    result = workbench("verify", "leaky_tank", "-p", "flow within capacity")
    assert result.code == 0
    assert "assuming" not in result.out

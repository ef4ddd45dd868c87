"""What `workbench simulate --validated` writes: columns with bounds, a band, an exit code."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from math import exp
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

DECAY = """
mode Fall() { write analog real x; diff { d(x) == -x; } inv { x >= 1 } }
mode Rise() { write analog real x; read discrete real limit; diff { d(x) == x; } inv { x <= limit } }
mode Top() {
  write analog real x; write discrete real limit;
  mode fall = Fall(); mode rise = Rise();
  trans from init to fall;
  trans #low from fall to rise when x <= 1;
  trans #high from rise to fall when x >= limit do { limit = limit/3 + 1; }
}
agent A() { private analog real x = 2; private discrete real limit = 4/3; mode top = Top(); }
"""
KINK = """
mode M() { write analog real x; diff { d(x) == x > 0 ? -1 : 1; } }
agent A() { private analog real x = 1; mode top = M(); }
"""


@pytest.fixture
def decay(tmp_path: Path) -> Path:
    path = tmp_path / "decay.charon"
    path.write_text(DECAY)
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text())))


def test_bounds_in_the_table_enclose_the_solution(
    workbench: Callable[..., Any], decay: Path, tmp_path: Path
) -> None:
    table, picture = tmp_path / "run.csv", tmp_path / "run.svg"
    result = workbench(
        "simulate", decay, "--until", 0.6, "--validated", "--csv", table, "--plot", picture,
        "--plot-vars", "x,x:limit",
    )  # fmt: skip
    assert result.code == 0 and "0 jumps proved" in result.out
    rows = rows_of(table)
    assert list(rows[0]) == [
        "time", "location", "x", "limit", "x.lower", "x.upper", "limit.lower", "limit.upper",
    ]  # fmt: skip
    for row in rows:
        exact = 2 * exp(-float(row["time"]))
        assert float(row["x.lower"]) <= exact <= float(row["x.upper"])
        assert float(row["x.upper"]) - float(row["x.lower"]) < 0.5
        assert float(row["limit.lower"]) <= 4 / 3 <= float(row["limit.upper"])
    drawn = ElementTree.fromstring(picture.read_text())
    bands = [e for e in drawn.iter() if e.get("class", "").startswith("band")]
    assert len(bands) == 2
    again = workbench("simulate", decay, "--until", 0.6, "--compare", table)
    assert again.code == 0 and "no variable differs" in again.out


def test_a_boundary_with_a_held_value_is_crossed(
    workbench: Callable[..., Any], decay: Path
) -> None:
    """From 2 to 1 in log 2, to 4/3 in log 4/3, back to 1, to 4/9 + 1 in log 13/9, and so on."""
    proof = workbench("simulate", decay, "--until", 3, "--validated", "--json")
    assert proof.code == 0 and proof.data["outcome"] == "ok"
    assert proof.data["validated"]["complete"]
    assert len(proof.data["validated"]["jumps"]) > 5


def test_bounds_of_the_run_that_was_followed(
    workbench: Callable[..., Any], decay: Path, tmp_path: Path
) -> None:
    table = tmp_path / "runs.csv"
    words = ("--until", 0.5, "--runs", 2, "--seed", 3, "--validated", "--csv", table)
    assert workbench("simulate", decay, *words).code == 0
    bounded = {row["seed"] for row in rows_of(table) if row["x.lower"]}
    assert bounded == {"3"}


def test_a_proof_that_gives_up_is_unknown(workbench: Callable[..., Any], tmp_path: Path) -> None:
    path, table = tmp_path / "kink.charon", tmp_path / "kink.csv"
    path.write_text(KINK)
    words = ("simulate", path, "--until", 3, "--sliding", "--validated")
    result = workbench(*words, "--csv", table)
    assert result.code == 5 and "gave up" in result.out
    assert workbench(*words, "--json").data["outcome"] == "incomplete"
    rows = rows_of(table)
    assert rows[0]["x.lower"] and not rows[-1]["x.lower"]
    assert workbench(*words[:-1], "--compare", table).code == 0

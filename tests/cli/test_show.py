"""`workbench show`: tree, locations, picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.dom import minidom

import pytest

Run = Callable[..., Any]
GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def test_the_tree_of_a_model(workbench: Run, ball: Path) -> None:
    result = workbench("show", ball)
    assert result.code == 0
    assert result.out.splitlines() == [
        "agent Ball",
        "├─ private real height = 10",
        "├─ private real speed = 0",
        "├─ mode BallTop",
        "│  ├─ mode falling = Falling",
        "│  │  ├─ d(height) == speed",
        "│  │  ├─ d(speed) == -9.81",
        "│  │  └─ inv height >= 0",
        "│  ├─ trans from init to falling",
        "│  └─ trans #bounce from falling to falling when height <= 0 && speed < 0 "
        "do { speed = -0.75*speed }",
        '└─ assert "stays low": height <= 11',
    ]


def test_the_tree_as_json_has_the_same_lines(workbench: Run, ball: Path) -> None:
    data = workbench("show", ball, "--json").data
    assert data["schema"] == "workbench.show/1"
    assert data["tree"]["text"] == "agent Ball"
    texts = [child["text"] for child in data["tree"]["children"]]
    assert texts[-1] == 'assert "stays low": height <= 11'


def test_replicated_agents_are_shown_once_unless_all_are_wanted(workbench: Run) -> None:
    short = workbench("show", "fischer").out
    assert "agents process[2] to process[3] likewise (2 more)" in short
    full = workbench("show", "fischer", "--all").out
    assert "likewise" not in full
    assert full.count("= Process") == 3


def test_flat_locations_are_listed_up_to_the_limit(workbench: Run) -> None:
    everything = workbench("show", "platoon_paper", "--locations")
    assert everything.code == 0
    names = [line for line in everything.out.splitlines() if not line.startswith(" ")]
    assert names == ["optimal", "previous"]
    cut = workbench("show", "platoon_paper", "--locations", "--limit", "1")
    assert [line for line in cut.out.splitlines() if not line.startswith(" ")] == ["optimal"]
    assert "--limit 1" in cut.err


def test_many_agents_are_listed_without_building_their_product(workbench: Run) -> None:
    data = workbench("show", "fischer", "-P", "n=12", "--locations", "--limit", "5", "--json").data
    assert len(data["locations"]) == 5
    assert data["complete"] is False


def test_locations_as_json(workbench: Run, ball: Path) -> None:
    (place,) = workbench("show", ball, "--locations", "--json").data["locations"]
    assert place["name"] == "falling"
    assert place["flows"] == ["d(height) == speed", "d(speed) == -9.81"]
    assert place["invariant"] == ["height >= 0"]
    assert place["edges"][0]["resets"] == ["speed = -0.75*speed"]


def test_a_spaceex_model(workbench: Run, spaceex_ball: Path) -> None:
    result = workbench("show", spaceex_ball)
    assert result.code == 0
    assert "location falling" in result.out
    assert "initially in falling" in result.out


def test_the_picture_is_well_formed_and_complete(workbench: Run, tmp_path: Path) -> None:
    picture = tmp_path / "platoon.svg"
    result = workbench("show", "platoon_paper", "--svg", picture)
    assert (result.code, result.out) == (0, "")
    assert str(picture) in result.err
    texts = _texts(picture.read_text())
    for word in ("optimal", "previous", "#close", "#far", "velFirst → velFront", "controller"):
        assert any(word in text for text in texts), word


def test_the_picture_may_go_to_standard_output(workbench: Run, ball: Path) -> None:
    result = workbench("show", ball, "--svg", "-")
    assert result.out.startswith("<svg ")
    assert workbench("show", ball, "--svg", "-", "--json").code == 2


def test_pictures_are_the_same_every_time(process: Run) -> None:
    seeds = [{"PYTHONHASHSEED": seed} for seed in ("1", "2")]
    first, second = (process("show", "platoon_paper", "--svg", "-", env=env).out for env in seeds)
    assert first == second != ""


@pytest.mark.parametrize("name", ["platoon_paper", "leaky_tank", "simplex_pendulum", "fischer"])
def test_trees_match_the_golden_files(workbench: Run, name: str) -> None:
    """The models are copies, so that the library may change."""
    shown = workbench("show", GOLDEN / f"{name}.charon").out
    assert shown == (GOLDEN / f"{name}.tree.txt").read_text()


def test_a_folder_is_no_place_for_a_picture(workbench: Run, ball: Path, tmp_path: Path) -> None:
    result = workbench("show", ball, "--svg", tmp_path)
    assert result.code == 2
    assert "directory" in result.err
    missing = workbench("show", ball, "--svg", tmp_path / "no" / "x.svg")
    assert missing.code == 2


def _texts(svg: str) -> list[str]:
    """The character data of every text element."""
    document = minidom.parseString(svg)
    return [
        "".join(node.data for node in _walk(element) if node.nodeType == node.TEXT_NODE)
        for element in document.getElementsByTagName("text")
    ]


def _walk(element: Any) -> list[Any]:
    found = []
    for child in element.childNodes:
        found.append(child)
        found += _walk(child)
    return found

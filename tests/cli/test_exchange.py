"""`workbench import` and `workbench export`, and source text written from automata."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.models.load import load

Run = Callable[..., Any]


def test_spaceex_becomes_source_that_loads_to_the_same_automaton(
    workbench: Run, spaceex_ball: Path, tmp_path: Path
) -> None:
    written = tmp_path / "mine.charon"
    result = workbench(
        "import", spaceex_ball, "--config", spaceex_ball.with_suffix(".cfg"), "-o", written
    )
    assert (result.code, result.out) == (0, "")
    old, new = load(spaceex_ball).automaton, load(written).automaton
    assert new.variables == old.variables
    assert new.horizon == old.horizon == 5
    assert [p.condition for p in new.properties] == [p.condition for p in old.properties]
    (before,), (after,) = old.components, new.components
    assert after.locations == before.locations
    assert [(e.source, e.target, e.guard, e.resets) for e in after.edges] == [
        (e.source, e.target, e.guard, e.resets) for e in before.edges
    ]
    assert "height" not in written.read_text()
    assert "x in [10, 10.2];" in written.read_text()


def test_import_to_json_keeps_the_fingerprint(
    workbench: Run, spaceex_ball: Path, tmp_path: Path
) -> None:
    written = tmp_path / "mine.json"
    data = workbench("import", spaceex_ball, "-o", written, "--json").data
    assert data["schema"] == "workbench.import/1"
    assert load(written).automaton.sha256 == data["model_sha256"]
    assert load(written).automaton == load(spaceex_ball).automaton


def test_import_prints_without_an_output_file(workbench: Run, spaceex_ball: Path) -> None:
    result = workbench("import", spaceex_ball)
    assert result.code == 0
    assert result.out.startswith("mode ")
    assert workbench("import", spaceex_ball, "--json").data["text"] == result.out


@pytest.mark.parametrize(
    "name", ["bouncing_ball", "thermostat_timer", "navigation", "arch_plaa01", "arch_plad01"]
)
def test_one_agent_written_as_source_loads_to_an_equal_automaton(
    workbench: Run, tmp_path: Path, name: str
) -> None:
    written = tmp_path / "flat.charon"
    assert workbench("export", name, "--to", "charon", "-o", written).code == 0
    old, new = load(name).automaton, load(written).automaton
    for part in ("variables", "inputs", "parameters", "locations", "edges", "properties"):
        assert getattr(new, part) == getattr(old, part), part
    assert new.horizon == old.horizon


@pytest.mark.parametrize("name", ["platoon_paper", "leaky_tank", "simplex_pendulum"])
def test_a_product_written_as_source_has_the_same_locations(
    workbench: Run, tmp_path: Path, name: str
) -> None:
    """Names are spelled differently; counts and the shape of the graph are the same."""
    written = tmp_path / "flat.charon"
    assert workbench("export", name, "--to", "charon", "-o", written).code == 0
    listed = []
    for model in (name, written):
        data = workbench("show", model, "--locations", "--json").data
        assert data["complete"]
        listed.append(
            [(len(p["edges"]), len(p["flows"]), len(p["invariant"])) for p in data["locations"]]
        )
    assert listed[0] == listed[1]


def test_export_to_json_round_trips(workbench: Run, ball: Path, tmp_path: Path) -> None:
    written = tmp_path / "ball.json"
    assert workbench("export", ball, "--to", "json", "-o", written).code == 0
    json.loads(written.read_text())
    assert load(written).automaton == load(ball).automaton
    assert workbench("check", written).code == 0


def test_export_to_spaceex_writes_model_and_configuration(
    workbench: Run, ball: Path, tmp_path: Path
) -> None:
    written = tmp_path / "out.xml"
    result = workbench("export", ball, "--to", "spaceex", "-o", written)
    assert result.code == 0
    assert written.with_suffix(".cfg").exists()
    again = load(written).automaton
    assert [v.name for v in again.variables] == ["height", "speed"]
    assert len(again.properties) == 1


def test_the_model_being_read_is_not_overwritten(workbench: Run, spaceex_ball: Path) -> None:
    before = spaceex_ball.read_bytes()
    for arguments in (
        ["import", spaceex_ball, "-o", spaceex_ball],
        ["export", spaceex_ball, "--to", "json", "-o", spaceex_ball],
        ["import", spaceex_ball, "-o", spaceex_ball.parent / "." / "ball.xml"],
    ):
        result = workbench(*arguments)
        assert result.code == 2
        assert "being read" in result.err
    assert spaceex_ball.read_bytes() == before


def test_import_of_what_is_not_there(workbench: Run, tmp_path: Path, spaceex_ball: Path) -> None:
    assert workbench("import", tmp_path / "no.xml").code == 3
    result = workbench("import", spaceex_ball, "--config", tmp_path / "no.cfg")
    assert result.code == 3
    assert "no.cfg" in result.err


def test_an_entity_bomb_is_rejected(workbench: Run, tmp_path: Path) -> None:
    path = tmp_path / "bomb.xml"
    path.write_text('<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><sspaceex>&b;</sspaceex>')
    assert workbench("import", path).code == 3

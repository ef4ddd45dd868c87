"""Loading by reference: files of every kind, agents in them, library names, and nonsense."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest
from charon_texts import HIGHWAY

from workbench.models.catalogue import entries
from workbench.models.interchange.json_model import to_json
from workbench.models.load import load
from workbench.models.source import ModelError

SPACEEX = """<?xml version="1.0" encoding="iso-8859-1"?>
<sspaceex xmlns="http://www-verimag.imag.fr/xml-namespaces/sspaceex" version="0.2" math="SpaceEx">
  <component id="ramp">
    <param name="x" type="real" d1="1" d2="1" local="false" dynamics="any" controlled="true" />
    <location id="1" name="up"><invariant>x &lt;= 10</invariant><flow>x' == 1</flow></location>
  </component>
</sspaceex>
"""


def refused(reference: str | Path, **options: object) -> ModelError:
    with pytest.raises(ModelError) as caught:
        load(reference, **options)  # type: ignore[arg-type]
    return caught.value


@pytest.fixture
def highway(tmp_path: Path) -> Path:
    path = tmp_path / "highway.charon"
    path.write_text(HIGHWAY, encoding="utf-8")
    return path


def test_a_charon_file(highway: Path) -> None:
    model = load(highway)
    assert model.name == "highway"
    assert model.agent is not None
    assert model.agent.definition == "Highway"
    assert model.sources == {str(highway): HIGHWAY}
    assert load(str(highway)).automaton.sha256 == model.automaton.sha256


def test_an_agent_of_a_file(highway: Path) -> None:
    by_colon = load(f"{highway}:Distance")
    by_name = load(highway, agent="Distance")
    assert by_colon.automaton == by_name.automaton
    assert [i.name for i in by_colon.automaton.inputs] == ["velFirst", "velOther"]
    missing = refused(f"{highway}:Distanse")
    assert missing.diagnostics[0].hint == "did you mean `Distance`?"


def test_parameters_are_applied(highway: Path) -> None:
    model = load(highway, parameters={"amin": Fraction(-2)})
    low = model.automaton.components[0].locations[0].flow_of("velFirst").low
    assert low is not None
    assert low.constant == -2


def test_an_agent_whose_parameters_have_no_values(highway: Path) -> None:
    error = refused(highway, agent="Front")
    assert error.diagnostics[0].code == "argument-count"
    values = {"amin": Fraction(-1), "amax": Fraction(1)}
    assert load(highway, agent="Front", parameters=values).automaton.variables[0].name == "vel"


def test_spaceex_with_and_without_its_configuration(tmp_path: Path) -> None:
    path = tmp_path / "ramp.xml"
    path.write_text(SPACEEX)
    assert load(path).automaton.components[0].locations[0].name == "up"
    (tmp_path / "ramp.cfg").write_text('system = ramp\ninitially = "x == 2"\n')
    model = load(path)
    assert model.agent is None
    (start,) = model.automaton.initial_sets()
    assert str(start.condition) == "x == 2"


def test_json_files(tmp_path: Path, highway: Path) -> None:
    original = load(highway).automaton
    path = tmp_path / "highway.json"
    path.write_text(json.dumps(to_json(original)))
    assert load(path).automaton.sha256 == original.sha256


def test_library_models_by_name() -> None:
    name = entries()[0].name
    assert load(name).agent is not None
    error = refused(name + "x")
    assert name in (error.diagnostics[0].hint or "")


@pytest.mark.parametrize(
    "name", ["", "   ", "a\0b", "no/such/file.charon", "nothing_like_it_at_all"]
)
def test_references_to_nothing(name: str) -> None:
    assert refused(name).diagnostics[0].code == "file-not-found"


def test_references_to_what_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "folder.charon").mkdir()
    assert refused(tmp_path).diagnostics[0].code == "unreadable-file"
    assert refused(tmp_path / "notes.txt").diagnostics[0].code == "unknown-format"
    assert refused(tmp_path / "folder.charon").diagnostics[0].code == "unreadable-file"
    assert refused(tmp_path / ("x" * 5000 + ".charon")).diagnostics[0].code == "unreadable-file"


def test_a_name_without_its_suffix_is_completed_in_the_hint(highway: Path) -> None:
    error = refused(str(highway.with_suffix("")))
    assert "highway.charon" in (error.diagnostics[0].hint or "")


@pytest.mark.parametrize(
    "data",
    [b"\xff\xfe\x00m\x00o", b"agent A\0() {}", "agent Größe".encode("latin-1"), b"\x00" * 100],
)
def test_files_that_are_no_text(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bad.charon"
    path.write_bytes(data)
    assert refused(path).diagnostics[0].code == "not-utf-8"


def test_a_byte_order_mark_is_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "marked.charon"
    path.write_bytes(b"\xef\xbb\xbf" + HIGHWAY.encode())
    assert load(path).automaton.sha256


def test_choosing_an_agent_needs_a_charon_file(tmp_path: Path) -> None:
    path = tmp_path / "ramp.xml"
    path.write_text(SPACEEX)
    assert refused(path, agent="X").diagnostics[0].code == "not-applicable"
    assert refused(f"{path}:X").diagnostics[0].code == "not-applicable"


def test_fifo_and_devices_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe.charon"
    os.mkfifo(path)
    assert refused(path).diagnostics[0].code == "unreadable-file"

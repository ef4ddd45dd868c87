"""Models of others that cannot start: proofs about them would be empty."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.models.interchange.json_model import to_json
from workbench.models.load import load
from workbench.models.source import ModelError

MODEL = """<?xml version="1.0" encoding="iso-8859-1"?>
<sspaceex xmlns="http://www-verimag.imag.fr/xml-namespaces/sspaceex" version="0.2" math="SpaceEx">
<component id="sys">
<param name="x" type="real" local="false" d1="1" d2="1" dynamics="any" />
<location id="1" name="a"><invariant>x &gt;= 0</invariant><flow>x' == 1</flow></location>
</component>
</sspaceex>
"""


def spaceex(folder: Path, initially: str) -> Path:
    path = folder / "model.xml"
    path.write_text(MODEL)
    (folder / "model.cfg").write_text(
        f'system = "sys"\ninitially = "{initially}"\nforbidden = "x >= 10"\n'
    )
    return path


def test_an_empty_initial_set_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no initial state: `x >= 2` and `x <= 1`") as caught:
        load(spaceex(tmp_path, "x >= 2 & x <= 1"))
    assert caught.value.diagnostics[0].code == "empty-initial-set"


def test_a_start_outside_the_invariant_is_told(tmp_path: Path) -> None:
    model = load(spaceex(tmp_path, "x >= -2 & x <= -1"))
    assert [w.code for w in model.warnings] == ["starts-outside-invariant"]


def test_the_same_for_json(tmp_path: Path) -> None:
    model = load(spaceex(tmp_path, "x >= 1 & x <= 2"))
    assert not model.warnings
    path = tmp_path / "model.json"
    path.write_text(json.dumps(to_json(model.automaton)))
    assert not load(path).warnings
    path.write_text(path.read_text().replace("x >= 1 && x <= 2", "x >= 2 && x <= 1"))
    with pytest.raises(ModelError, match="no initial state"):
        load(path)

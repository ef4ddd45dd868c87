"""Proofs by induction as files: accepted as made, rejected when changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.abstraction.refinement.flat import Settings
from workbench.abstraction.refinement.induction import Induction, place_of, prove_by_induction
from workbench.abstraction.refinement.induction_file import (
    AnyLength,
    check_induction,
    encode_induction,
)
from workbench.abstraction.refinement.time_left import Allotment
from workbench.models.certificates.judgement import Rejected
from workbench.models.load import load
from workbench.models.model import Model
from workbench.models.source import ModelError

LINE = """
mode AnyTop() { write analog real x; diff { d(x) in [-1, 1]; } inv { x >= 0 && x <= 9 } }
agent Any() { write analog real x; init { x in [0, 9]; } mode top = AnyTop(); }
mode NextTop() {
  write analog real x;
  read analog real before;
  diff { d(x) in [-1, 1]; }
  inv { x >= 0 && x <= LIMIT && x >= before - 20 }
}
agent Next() {
  write analog real x;
  read analog real before;
  init { x in [0, LIMIT]; }
  mode top = NextTop();
  assert "inside" { x <= BOUND }
}
agent Step() {
  write analog real x;
  private analog real before;
  ASSUME
  agent first = Any() [ x := before ];
  agent next = Next();
  CLAIM
}
"""


def line(
    folder: Path, agent: str, limit: int = 9, bound: int = 9, claim: str = "", assume: str = ""
) -> Model:
    text = LINE.replace("LIMIT", str(limit)).replace("BOUND", str(bound))
    path = folder / f"line{limit}{bound}{len(claim)}{len(assume)}.charon"
    path.write_text(text.replace("CLAIM", claim).replace("ASSUME", assume), encoding="utf-8")
    return load(path, agent=agent)


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Model, Induction]:
    folder = tmp_path_factory.mktemp("line")
    step, contract = line(folder, "Step"), line(folder, "Any")
    return (
        step,
        contract,
        prove_by_induction(step, contract, Settings(allotment=Allotment.of_seconds(20.0))),
    )


def test_accepted_as_made(proved: tuple[Model, Model, Induction]) -> None:
    step, contract, found = proved
    assert found.holds and found.horizon is None
    judgement = check_induction(step, contract, encode_induction(found))
    assert isinstance(judgement, AnyLength)
    assert judgement.place == "first"
    assert judgement.properties == ("inside",)


def test_other_models_and_changed_files_are_rejected(
    proved: tuple[Model, Model, Induction], tmp_path: Path
) -> None:
    step, contract, found = proved
    text = encode_induction(found)
    others = [
        (line(tmp_path, "Step", limit=8), contract),
        (step, line(tmp_path, "Next")),
        (contract, contract),
    ]
    for own, other in others:
        assert isinstance(check_induction(own, other, text), Rejected)
    raw = json.loads(text)
    damaged = [
        {**raw, "properties": []},
        {**raw, "properties": [{}]},
        {**raw, "properties": "none"},
        {**raw, "refinement": {}},
        {**raw, "refinement": {**raw["refinement"], "evidence": []}},
        {**raw, "refinement": {**raw["refinement"], "observed": []}},
        {**raw, "schema": "other"},
        {"schema": raw["schema"]},
        [],
    ]
    for wrong in damaged:
        assert isinstance(check_induction(step, contract, json.dumps(wrong)), Rejected), wrong
    twice = text.replace('"properties"', '"properties": [], "properties"', 1)
    for wrong_text in ("{", twice, "\ufeff" + text, text.encode("utf-16")):
        assert isinstance(check_induction(step, contract, wrong_text), Rejected)


def test_what_does_not_carry_over_is_not_proved(tmp_path: Path) -> None:
    contract = line(tmp_path, "Any")
    assert not prove_by_induction(line(tmp_path, "Step", limit=12), contract, Settings()).holds
    tight = line(tmp_path, "Step", bound=5)
    found = prove_by_induction(tight, contract, Settings(allotment=Allotment.of_seconds(3.0)))
    assert found.proof.holds and not found.holds


def test_side_conditions_are_checked(tmp_path: Path) -> None:
    contract = line(tmp_path, "Any")
    assert place_of(line(tmp_path, "Step"), contract) == "first"
    with pytest.raises(ModelError, match="assumption"):
        place_of(line(tmp_path, "Step", assume="read analog real u; assume { u >= 0 }"), contract)
    with pytest.raises(ModelError, match="no part"):
        place_of(contract, contract)

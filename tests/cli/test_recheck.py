"""`workbench recheck`: what a certificate covers, hostile files, and the end of patience."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

GROWING = """
mode Growing() {
  write analog real x, y;
  diff { d(x) == 100*x - 3*y; d(y) == 2*x + 99*y; }
}
agent Pair() {
  private analog real x in [-1, 1];
  private analog real y in [-1, 1];
  mode top = Growing();
  assert "small" { x <= 1000 }
}
system Pair() until 1/50;
"""


@pytest.fixture
def proved(workbench: Run, tmp_path: Path) -> tuple[Path, Path]:
    """A model until 1/50, and a certificate up to 1/100."""
    path, proof = tmp_path / "growing.charon", tmp_path / "proof.json"
    path.write_text(GROWING)
    asked = ("--method", "flowpipe", "--horizon", "1/100", "--certificate", proof)
    assert workbench("verify", path, *asked).code == 0
    return path, proof


def changed(proof: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    document = json.loads(proof.read_text())
    change(document)
    path = proof.with_name("changed.json")
    path.write_text(json.dumps(document))
    return path


def test_a_certificate_for_a_shorter_time_decides_nothing(
    workbench: Run, proved: tuple[Path, Path]
) -> None:
    result = workbench("recheck", *proved)
    assert result.code == 5
    assert "ACCEPTED" not in result.out
    assert "only up to 1/100; the time up to 1/50 is asked for" in result.out
    assert "--horizon 1/100" in result.out
    data = workbench("recheck", *proved, "--json").data
    assert data["outcome"] == "not covered"
    assert (data["horizon"], data["asked_horizon"]) == ("1/100", "1/50")
    assert "1/100" in data["why"]


@pytest.mark.parametrize("asked", ["1/100", "1/200"])
def test_less_may_be_asked_for(workbench: Run, proved: tuple[Path, Path], asked: str) -> None:
    result = workbench("recheck", *proved, "--horizon", asked)
    assert result.code == 0
    assert "up to 1/100: ACCEPTED" in result.out
    assert workbench("recheck", *proved, "--horizon", asked, "--json").data["outcome"] == "accepted"


def test_no_more_than_is_proved_may_be_asked_for(workbench: Run, proved: tuple[Path, Path]) -> None:
    assert workbench("recheck", *proved, "--horizon", "0.011").code == 5


def test_a_bounded_time_is_not_all_time(workbench: Run, tmp_path: Path) -> None:
    path, proof = tmp_path / "endless.charon", tmp_path / "proof.json"
    path.write_text(GROWING.replace("system Pair() until 1/50;", "system Pair();"))
    asked = ("--method", "flowpipe", "--horizon", "1/100", "--certificate", proof)
    assert workbench("verify", path, *asked).code == 0
    result = workbench("recheck", path, proof)
    assert result.code == 5
    assert "all time is asked for" in result.out


def test_a_stay_in_which_states_grow_beyond_measure_is_refused(
    workbench: Run, proved: tuple[Path, Path]
) -> None:
    path, proof = proved
    longer = changed(proof, lambda d: d["nodes"][0].update(stay=str(1 << 40)))
    result = workbench("recheck", path, longer, "--horizon", "1/100")
    assert result.code == 10
    assert "grow too much" in result.out


def test_steps_beyond_the_series_are_refused(workbench: Run, proved: tuple[Path, Path]) -> None:
    path, proof = proved

    def lengthen(document: dict[str, Any]) -> None:
        document["nodes"][0].update(
            stages=[{"length": str(1 << 30), "count": 2}],
            stay=str(1 << 40),
            scale={"x": 1000, "y": -1000},
        )

    assert workbench("recheck", path, changed(proof, lengthen)).code == 10


def test_lengths_with_very_many_digits_are_refused(
    workbench: Run, proved: tuple[Path, Path]
) -> None:
    path, proof = proved

    def refine(document: dict[str, Any]) -> None:
        stages = [{"length": f"1/{10**3900 + k}", "count": 1} for k in range(6)]
        document["nodes"][0].update(stages=stages)

    result = workbench("recheck", path, changed(proof, refine))
    assert result.code == 10
    assert "too many digits" in result.out


def test_the_end_of_patience_decides_nothing(workbench: Run, proved: tuple[Path, Path]) -> None:
    result = workbench("recheck", *proved, "--time-limit", "1e-6")
    assert result.code == 5
    assert "UNKNOWN: the check did not end within 1e-06 s" in result.out
    data = workbench("recheck", *proved, "--time-limit", "1e-6", "--json").data
    assert data["outcome"] == "not decided"


def test_a_field_that_is_there_twice_is_refused(workbench: Run, proved: tuple[Path, Path]) -> None:
    path, proof = proved
    text = proof.read_text().replace('"bits":', '"degree": 3, "bits":', 1)
    twice = proof.with_name("twice.json")
    twice.write_text(text)
    result = workbench("recheck", path, twice)
    assert result.code == 10
    assert "'degree' is there twice in the object of 'location', 'entry'" in result.out


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_other_encodings_are_refused(
    workbench: Run, proved: tuple[Path, Path], encoding: str
) -> None:
    path, proof = proved
    other = proof.with_name("other.json")
    other.write_bytes(proof.read_text().encode(encoding))
    result = workbench("recheck", path, other)
    assert result.code == 10
    assert "REJECTED at format" in result.out

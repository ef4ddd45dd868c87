"""Certificates that stand alone on the command line: both halves, one half, and for Coq; and the
problem in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

TANK = """
mode Fill() { write analog real level; diff { d(level) in [1, 2]; } inv { level <= 10 } }
mode Drain() { write analog real level; diff { d(level) in [-2, -1]; } inv { level >= 2 } }
mode Top() {
  write analog real level;
  mode fill = Fill(); mode drain = Drain();
  trans from init to fill;
  trans from fill to drain when level >= 8;
  trans from drain to fill when level <= 4;
}
agent Tank() {
  private analog real level in [4, 5];
  mode top = Top();
  assert "in range" { level >= 1 && level <= 11 }
  assert "lower" { level <= 9 }
}
"""


@pytest.fixture
def proved(workbench: Run, tmp_path: Path) -> tuple[Path, Path]:
    """A model, and a certificate of a property."""
    path, proof = tmp_path / "tank.charon", tmp_path / "proof.json"
    path.write_text(TANK)
    asked = ("-p", "in range", "--method", "rectangular", "--certificate", proof)
    assert workbench("verify", path, *asked).code == 0
    return path, proof


def changed(proof: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    data = json.loads(proof.read_text())
    change(data)
    path = proof.with_name("changed.json")
    path.write_text(json.dumps(data))
    return path


def test_both_halves_are_checked(workbench: Run, proved: tuple[Path, Path]) -> None:
    result = workbench("recheck", *proved)
    assert result.code == 0 and "'in range' for all time: ACCEPTED" in result.out
    assert "the problem is the model's: it was lowered again, and is the same" in result.out
    assert "the evidence proves it: the kernel, whose soundness is proved in Coq" in result.out
    data = workbench("recheck", *proved, "--json").data
    assert (data["outcome"], data["problem"], data["checked_by"]) == (
        "accepted",
        "compared",
        "kernel",
    )


def test_one_half_without_the_model(workbench: Run, proved: tuple[Path, Path]) -> None:
    _, proof = proved
    result = workbench("recheck", proof)
    assert result.code == 5
    assert "ACCEPTED" not in result.out and "UNKNOWN" in result.out
    assert "of which model it is was not checked" in result.out
    data = workbench("recheck", proof, "--json").data
    assert (data["outcome"], data["problem"]) == ("accepted in part", "not checked")


def test_a_half_that_is_wrong_is_named(workbench: Run, proved: tuple[Path, Path]) -> None:
    path, proof = proved

    def nothing_is_bad(data: dict[str, Any]) -> None:
        data["document"]["problem"][0][0][3] = []

    def no_proof(data: dict[str, Any]) -> None:
        data["document"]["evidence"] = [[], []]

    result = workbench("recheck", path, changed(proof, nothing_is_bad))
    assert result.code == 10
    assert "REJECTED at problem: bad states of fill are not the model's" in result.out
    for arguments in ((path,), ()):
        result = workbench("recheck", *arguments, changed(proof, no_proof))
        assert result.code == 10 and "REJECTED at evidence" in result.out
    result = workbench("recheck", changed(proof, lambda data: data.pop("names")))
    assert (
        result.code == 10 and "REJECTED at format: certificate: there is no 'names'" in result.out
    )


def test_what_cannot_be_checked_alone_says_why(workbench: Run, proved: tuple[Path, Path]) -> None:
    path, proof = proved
    result = workbench("recheck", path)
    assert result.code == 10 and "not JSON" in result.out
    result = workbench("recheck", "tank")
    assert result.code == 2 and "name a model and a certificate" in result.err
    assert workbench("recheck", proof, "--horizon", "1").code == 2
    old = proof.with_name("old.json")
    asked = ("-p", "in range", "--method", "flowpipe", "--horizon", "1/10", "--certificate", old)
    assert workbench("verify", path, *asked).code == 0
    result = workbench("recheck", old)
    assert result.code == 2 and "says nothing without the model" in result.err
    result = workbench("export-proof", path, old)
    assert result.code == 2 and "the kernel does not know such proofs yet" in result.err
    assert workbench("recheck", path, old, "--horizon", "1/10").code == 0


def test_a_proof_for_coq(workbench: Run, proved: tuple[Path, Path]) -> None:
    path, proof = proved
    target = path.with_name("proof.v")
    result = workbench("export-proof", path, proof, "-o", target)
    assert result.code == 0 and "coqc" in result.err
    text = target.read_text()
    assert "state 0: level" in text and "location 1: drain" in text
    assert text.splitlines()[-1].startswith("Theorem verified : safe model.")
    assert workbench("export-proof", path, proof).out == text
    wrong = changed(proof, lambda data: data.update(property="lower"))
    result = workbench("export-proof", path, wrong, "-o", path.with_name("wrong.v"))
    assert result.code == 10 and "REJECTED at problem" in result.out
    assert not path.with_name("wrong.v").exists()


def test_the_problem_in_words(workbench: Run, proved: tuple[Path, Path]) -> None:
    path, proof = proved
    result = workbench("show", path, "--problem", "-p", "lower")
    assert result.code == 0
    assert "bad where\n    level <= 10\n    level > 9" in result.out
    data = workbench("show", path, "--problem", "-p", "in range", "--json").data
    certificate = json.loads(proof.read_text())
    assert data["complete"] is True
    assert data["problem"] == certificate["document"]["problem"]
    assert data["names"] == certificate["names"]
    assert workbench("show", path, "--problem").code == 2
    assert workbench("show", path, "-p", "lower").code == 2
    assert workbench("show", path, "--problem", "--locations").code == 2
    result = workbench("show", path, "--problem", "-p", "lower", "--limit", "1")
    assert "not taken in, so no run may enter: drain" in result.out

"""A certificate as a file for Coq: it compiles by itself, and spoiled it does not."""

from __future__ import annotations

import copy
import shutil
import subprocess
from pathlib import Path

import pytest

import workbench
from tests.certificates.test_standalone import plain
from workbench.api.rechecking import coq_proof
from workbench.models.certificates.certificate import encode
from workbench.models.certificates.standalone import certificate_text
from workbench.models.kernel.coq_text import proof_file
from workbench.models.verdict import Verified

WITHOUT = "no proof was compiled"
LAST = "Theorem verified : safe model. Proof."


def compiles(folder: Path, text: str) -> bool:
    if shutil.which("coqc") is None:
        pytest.skip(f"{WITHOUT}, for there is no Coq: apt-get install coq")
    (folder / "proof.v").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["coqc", "-q", "proof.v"], cwd=folder, capture_output=True, text=True, timeout=600
    )
    return done.returncode == 0


def test_the_last_line_is_the_theorem() -> None:
    for name in ("locations", "ellipsoids"):
        text = proof_file(plain(name)[1]["document"], ["A note with *) in it."])
        assert text.splitlines()[-1].startswith(LAST)
        assert "with ') in it" in text
        assert "Require Import" not in text and "From Kernel" not in text


def test_it_compiles_alone_and_spoiled_it_does_not(tmp_path: Path) -> None:
    _, data = plain("locations")
    assert compiles(tmp_path, proof_file(data["document"]))
    spoiled = copy.deepcopy(data["document"])
    spoiled["problem"][0][0][3] = [[]]  # all states of the first location are bad
    assert not compiles(tmp_path, proof_file(spoiled))


@pytest.mark.slow
def test_every_proof_that_the_kernel_accepts_compiles(tmp_path: Path) -> None:
    for name in ("clock and exits", "cells and splits", "ellipsoids", "quadratic functions"):
        assert compiles(tmp_path, proof_file(plain(name)[1]["document"])), name


@pytest.mark.slow
def test_the_platoon(tmp_path: Path) -> None:
    model = workbench.load("platoon")
    verdict = model.verify("no collision")["no collision"]
    assert verdict.certificate is not None
    text = model.coq_proof(verdict.certificate.encode())
    assert "state 0: dist" in text
    assert compiles(tmp_path, text)
    number = next(line for line in text.splitlines() if line.startswith("[(Location"))
    assert not compiles(tmp_path, text.replace(number, number.replace("-1", "-2", 1)))


def test_what_is_not_accepted_is_not_written() -> None:
    model = workbench.load("leaky_tank")
    verdict = model.verify("flow within capacity")["flow within capacity"]
    text = verdict.certificate
    assert text is not None and text.startswith('{"schema": "charon-workbench/certificate/2"')
    assert model.coq_proof(text.encode()).splitlines()[-1].startswith(LAST)
    other = workbench.load("leaky_tank_low")
    with pytest.raises(workbench.RequestError, match="another model"):
        other.coq_proof(text.encode())
    with pytest.raises(workbench.RequestError, match="rejected at format"):
        model.coq_proof(b"{}")


def test_certificates_of_the_other_form_are_written_too() -> None:
    model = workbench.load("leaky_tank")
    verdict = model.verify("flow within capacity")["flow within capacity"]
    assert isinstance(verdict.decision, Verified)
    before = encode(verdict.decision.certificate)
    assert verdict.certificate is not None
    after = model.coq_proof(verdict.certificate.encode())
    assert coq_proof(model.loaded, before.encode()) == after
    assert certificate_text(model.automaton, verdict.decision.certificate) == verdict.certificate

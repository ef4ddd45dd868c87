"""`workbench verify --method ...`: methods that are asked for by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

VAN_DER_POL = """
mode Oscillating() {{
  write analog real x, y;
  diff {{ d(x) == y; d(y) == (1 - x^2)*y - x; }}
}}
agent Oscillator() {{
  private analog real x in [1.25, 1.3];
  private analog real y in [2.35, 2.4];
  mode top = Oscillating();
  assert "low" {{ y <= {most} }}
}}
"""


def model(folder: Path, text: str) -> Path:
    path = folder / "model.charon"
    path.write_text(text)
    return path


@pytest.mark.slow
def test_a_nonlinear_flowpipe_and_its_certificate(workbench: Run, tmp_path: Path) -> None:
    path = model(tmp_path, VAN_DER_POL.format(most="2.75"))
    proof = tmp_path / "proof.json"
    asked = ("verify", path, "--method", "nonlinear", "--horizon", "1/2")
    result = workbench(*asked, "--certificate", proof)
    assert result.code == 0
    assert "VERIFIED up to time 1/2 (nonlinear" in result.out
    assert workbench("recheck", path, proof, "--horizon", "1/2").code == 0
    assert json.loads(workbench("recheck", path, proof, "--json").out)["horizon"] == "1/2"
    tight = model(tmp_path, VAN_DER_POL.format(most="2.35"))
    refused = workbench("recheck", tight, proof)
    assert refused.code != 0 and "another model" in refused.out + refused.err
    undecided = workbench("verify", tight, "--method", "nonlinear", "--horizon", "1/2")
    assert undecided.code == 5
    assert "the flowpipe meets bad states at time 0 of 0.5" in undecided.out


def test_a_nonlinear_flowpipe_without_a_horizon_says_what_to_do(
    workbench: Run, tmp_path: Path
) -> None:
    path = model(tmp_path, VAN_DER_POL.format(most="2.75"))
    result = workbench("verify", path, "--method", "nonlinear", "--time-limit", "2")
    assert result.code == 5
    assert "--horizon" in result.out

"""Saturations, dead zones and conditional values are proved with exact evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli import run

TEXT = """
mode Top() {{ write analog real x; diff {{ {flow} }} inv {{ x >= -2 && x <= 2 }} }}
agent System() {{ write analog real x; init {{ x in [-2, 2]; }} mode top = Top(); }}
"""


@pytest.mark.parametrize(
    ("flow", "low", "high"),
    [
        ("1 - max(-1, min(1, 3*x))", "0", "2"),
        ("(x > 1 ? 1 - x : 0) + (x < -1 ? -1 - x : 0)", "-1", "1"),
        ("-2*sign(x) + x", "-2", "2"),
        ("-x + (x > 0 ? 1 : -1)", "-1", "1"),
        ("abs(x) - 1", "-1", "1"),
    ],
)
def test_bounds_of_piecewise_flows(tmp_path: Path, flow: str, low: str, high: str) -> None:
    detailed, simple, proof = (str(tmp_path / n) for n in ("c.charon", "a.charon", "p.json"))
    Path(detailed).write_text(TEXT.format(flow=f"d(x) == {flow};"), encoding="utf-8")
    Path(simple).write_text(TEXT.format(flow=f"d(x) in [{low}, {high}];"), encoding="utf-8")
    assert run(["refine", detailed, "--against", simple, "--certificate", proof]) == 0
    assert run(["recheck", detailed, proof, "--against", simple]) == 0
    text = Path(simple).read_text(encoding="utf-8").replace(f", {high}]", f", {high} - 1/10]")
    Path(simple).write_text(text, encoding="utf-8")
    assert run(["refine", detailed, "--against", simple, "--time-limit", "3"]) != 0
    assert run(["recheck", detailed, proof, "--against", simple]) == 10

"""What is not observed need not be the same on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli import run

TEXT = """
mode Top() { write analog real x; private analog real z = 0; diff { d(x) == 1; d(z) == RATE; } }
agent Part() { write analog real x; init { x = 0; } mode top = Top(); }
agent Closed() { private analog real x; agent p = Part(); }
agent Open() { write analog real x; agent p = Part(); }
"""


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    """Two systems whose parts differ in a variable of their own."""
    for rate in ("1", "2"):
        text = TEXT.replace("RATE", rate)
        (tmp_path / f"rate{rate}.charon").write_text(text, encoding="utf-8")
    return str(tmp_path / "rate1.charon"), str(tmp_path / "rate2.charon")


@pytest.mark.parametrize("agent", ["Closed", "Open", "Part"])
@pytest.mark.parametrize("how", [(), ("--flat",)])
def test_variables_of_parts_are_not_compared(
    pair: tuple[str, str], agent: str, how: tuple[str, ...], tmp_path: Path
) -> None:
    detailed, simple = (f"{path}:{agent}" for path in pair)
    proof = str(tmp_path / "proof.json")
    assert run(["refine", detailed, "--against", simple, "--certificate", proof, *how]) == 0
    assert run(["recheck", detailed, proof, "--against", simple]) == 0


def test_what_is_asked_for_is_compared(pair: tuple[str, str]) -> None:
    detailed, simple = (f"{path}:Closed" for path in pair)
    assert run(["refine", detailed, "--against", simple, "--observe", "p.z"]) == 10
    assert run(["refine", detailed, "--against", simple, "--observe", "x"]) == 0


def test_names_that_the_systems_do_not_have(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    detailed, simple = (f"{path}:Closed" for path in pair)
    for option, value in (
        ("--observe", "q"),
        ("--witness", "nope = x"),
        ("--witness", "x = x"),
    ):
        assert run(["refine", detailed, "--against", simple, option, value]) == 2
        assert f"{option}: {value.split()[0]}:" in capsys.readouterr().err

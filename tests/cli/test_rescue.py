"""What might still have helped: said by every verb, and kept by every format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.models.load import load

CAR = """
mode Drive() { write analog real gap, speed; diff { d(gap) == -speed; d(speed) == 0; } }
agent Car(real brake = 8) {
  private analog real gap, speed;
  init { gap = 50; speed = 20; }
  mode top = Drive();
  assert "no crash" { gap > 0 } rescue { d(speed) == speed > 0 ? -brake : 0; }
}
"""


@pytest.fixture
def car(tmp_path: Path) -> Path:
    path = tmp_path / "car.charon"
    path.write_text(CAR)
    return path


def test_every_verb_says_when_it_was_too_late(workbench: Callable, car: Path) -> None:
    said = "safety was lost at t = 1.25, the last instant"
    assert said in workbench("verify", car).out
    assert said in workbench("falsify", car).out
    data = workbench("falsify", car, "--json").data
    assert data["safety_lost"]["time"] == pytest.approx(1.25, abs=1e-6)
    assert data["safety_lost"]["state"] == pytest.approx({"gap": 25, "speed": 20}, abs=1e-4)
    assert "1.25 before the violation, at gap = 25, speed = 20" in workbench("verify", car).out
    page = car.with_suffix(".html")
    workbench("report", car, "-o", page)
    assert "Safety was lost at t = 1.25" in page.read_text()


def test_formats_keep_it(workbench: Callable, car: Path) -> None:
    first = load(str(car)).automaton.properties[0].rescue
    assert [c.variable for c in first] == ["speed"]
    for form in ("json", "charon"):
        path = car.with_name(f"again.{'json' if form == 'json' else 'charon'}")
        assert workbench("export", car, "--to", form, "-o", path).code == 0
        assert load(str(path)).automaton.properties[0].rescue == first


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ("d(speed) <= 0;", "rescue-range"),
        ("d(sped) == 0;", "unknown-name"),
        ("d(speed) == true;", "must be a"),
        ("d(brake) == 1;", "not-assignable"),
    ],
)
def test_mistakes_are_told(workbench: Callable, car: Path, wrong: str, code: str) -> None:
    car.write_text(CAR.replace("d(speed) == speed > 0 ? -brake : 0;", wrong))
    found = workbench("check", car)
    assert found.code == 3 and code in found.err


def test_the_word_is_a_name_elsewhere(workbench: Callable, car: Path) -> None:
    car.write_text(CAR.replace("brake", "rescue"))
    assert workbench("check", car).code == 0

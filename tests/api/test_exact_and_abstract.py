"""Formulas for what is reached, and simpler systems, as values."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench

FALLING = """
agent Ball() {
  private analog real height in [5, 10];
  private analog real speed = 0;
  mode top = Falling();
  assert "above ground" { height >= 0 }
}
mode Falling() {
  write analog real height, speed;
  diff { d(height) == speed; d(speed) == -2; }
  inv { height >= -100 }
}
"""


def test_a_formula_is_a_value() -> None:
    model = workbench.load(FALLING)
    found = model.exact(time=3)
    assert found.is_verified and found.trust.startswith("verified")
    # height - t^2 < 0 for some t <= 3: below 9 it falls that far.
    assert found.at({"height": 8.9, "speed": 0}) and not found.at({"height": "9.1", "speed": 0})
    assert "height" in str(found) and found.data["formula"] == str(found)
    picture = found.svg("height", "speed", ranges={"height": (0, 12), "speed": (-1, 1)})
    assert picture.startswith("<svg")


def test_what_a_formula_cannot_be_asked() -> None:
    model = workbench.load(FALLING)
    with pytest.raises(workbench.RequestError, match="location"):
        model.exact(location="Rising")
    found = model.exact(time=3)
    with pytest.raises(ValueError, match="at: values are needed for speed"):
        found.at({"height": 1})
    with pytest.raises(ValueError, match="at: height: nan is not a finite number"):
        found.at({"height": float("nan"), "speed": 0})
    with pytest.raises(ValueError, match="two different names"):
        found.svg("height", "height", at={"speed": 0})
    with pytest.raises(workbench.RequestError, match="derivative"):
        workbench.load("leaky_tank").exact("level <= 0")
    with pytest.raises(workbench.ModelError):
        model.exact("height <=")


def test_a_simpler_system_is_proved_and_comes_back_as_a_model(tmp_path: Path) -> None:
    model = workbench.load("leaky_tank")
    made = model.abstract(interval=["level"])
    assert made.holds and made.obligations > 0 and made.why == ""
    loose = workbench.load(made.save(tmp_path / "loose.charon"))
    assert loose.variables and model.refine(loose).holds
    assert workbench.load(made.save(tmp_path / "loose.json")).variables == made.variables
    assert repr(made).startswith("<Abstraction refined by leaky_tank")
    assert "<svg" in made._repr_html_()
    with pytest.raises(TypeError, match="no truth value"):
        bool(made)


def test_what_cannot_be_left_out() -> None:
    model = workbench.load("leaky_tank")
    with pytest.raises(workbench.RequestError, match="say what to leave out"):
        model.abstract()
    with pytest.raises(workbench.RequestError, match="widen: a margin is not negative"):
        model.abstract(widen=-1)
    with pytest.raises(workbench.RequestError, match="widen: .*not a finite number"):
        model.abstract(widen=float("inf"))
    with pytest.raises((workbench.RequestError, workbench.ModelError), match="lvl"):
        model.abstract(interval=["lvl"])


def test_a_proof_of_less_than_is_asked_does_not_count() -> None:
    endless = workbench.load(FALLING)
    proof = endless.verify(horizon=1, time_limit=30)[0]
    assert proof.is_verified and proof.horizon == 1 and proof.recheck()
    assert proof.certificate is not None
    found = endless.recheck(proof.certificate.encode())
    assert not found and found.outcome == "not covered" and "only up to 1" in found.why
    assert endless.recheck(proof.certificate.encode(), horizon="1/2")

"""The verbs `refine`, `abstract` and `recheck --against` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.cli import run

WORKED = str(Path(__file__).with_name("worked.charon"))


def test_refines_writes_a_certificate_that_is_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proof = tmp_path / "proof.json"
    pair = [f"{WORKED}:Gentle", "--against", f"{WORKED}:Any"]
    assert run(["refine", *pair, "--certificate", str(proof)]) == 0
    assert "REFINES" in capsys.readouterr().out
    assert run(["recheck", pair[0], str(proof), *pair[1:]]) == 0
    assert "ACCEPTED" in capsys.readouterr().out
    assert run(["recheck", f"{WORKED}:Hard", str(proof), *pair[1:]]) == 10
    capsys.readouterr()
    assert run(["recheck", pair[0], str(proof)]) == 2
    assert "--against" in capsys.readouterr().err
    proof.write_text("{}", encoding="utf-8")
    assert run(["recheck", pair[0], str(proof), *pair[1:]]) == 10


def test_refuted_shows_the_run_and_both_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["refine", f"{WORKED}:Hard", "--against", f"{WORKED}:Any"]) == 10
    shown = capsys.readouterr().out
    assert "REFUTED" in shown
    assert "detailed:" in shown
    assert "d(vel) in [-2, 3]" in shown


def test_not_proved_names_the_obligation_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    pair = [f"{WORKED}:Idle", "--against", f"{WORKED}:Any"]
    assert run(["refine", *pair, "--json"]) == 5
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == "workbench.refine/1"
    assert data["outcome"] == "not proved"
    assert {f["obligation"] for f in data["failures"]} == {"interface"}


def test_a_hidden_speed_is_bounded_by_its_reachable_set(tmp_path: Path) -> None:
    text = """
    mode DecayingTop() {
      write analog real x;
      private analog real v = 1;
      diff { d(x) == v; d(v) == -v; }
    }
    mode BoundedTop(real high) { write analog real x; diff { d(x) in [0, high]; } }
    agent Decaying() { write analog real x; init { x = 0; } mode top = DecayingTop(); }
    agent Bounded() { write analog real x; init { x = 0; } mode top = BoundedTop(1); }
    agent Slower() { write analog real x; init { x = 0; } mode top = BoundedTop(0.99); }
    """
    path = tmp_path / "speeds.charon"
    path.write_text(text, encoding="utf-8")
    assert run(["refine", f"{path}:Decaying", "--against", f"{path}:Bounded"]) == 0
    assert run(["refine", f"{path}:Decaying", "--against", f"{path}:Slower"]) == 10


def test_inputs_refute_only_as_far_as_they_are_assumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
    mode FollowTop() { read analog real u; write analog real y; diff { d(y) == u - y; } }
    mode BoundedTop(real most) {
      read analog real u;
      write analog real y;
      diff { d(y) in [-most, most]; }
    }
    agent Any() {
      read analog real u; write analog real y; init { y = 0; } mode m = FollowTop();
    }
    agent Small() {
      read analog real u; write analog real y; init { y = 0; } mode m = FollowTop();
      assume { u <= 10 && u >= -10 }
    }
    agent Resting() {
      read analog real u; write analog real y; init { y = 0; } mode m = FollowTop();
      assume { u <= y && u >= -y }
    }
    agent Bounded() {
      read analog real u; write analog real y; init { y = 0; } mode m = BoundedTop(9);
    }
    agent Loose() {
      read analog real u; write analog real y; init { y = 0; } mode m = BoundedTop(20);
    }
    """
    path = tmp_path / "inputs.charon"
    path.write_text(text, encoding="utf-8")

    def verdict(detailed: str, simple: str = "Bounded") -> int:
        return run(["refine", f"{path}:{detailed}", "--against", f"{path}:{simple}"])

    assert verdict("Any") == 10
    assert "cannot be matched after time 0" in capsys.readouterr().out
    assert verdict("Small") == 10
    capsys.readouterr()
    assert verdict("Small", "Loose") == 0
    assert "in surroundings that keep what it assumes: u <= 10" in capsys.readouterr().out
    assert verdict("Resting") == 0


def test_a_witness_for_a_hidden_variable(tmp_path: Path) -> None:
    text = """
    mode OneTop() { write analog real x; diff { d(x) == 2; } }
    agent One() { write analog real x; init { x = 1; } mode top = OneTop(); }
    mode TwoTop() {
      write analog real x;
      private analog real half = 1/2;
      diff { d(x) == 2; d(half) == 1; }
      inv { x == 2*half }
    }
    agent Two() { write analog real x; init { x = 1; } mode top = TwoTop(); }
    """
    path = tmp_path / "halves.charon"
    path.write_text(text, encoding="utf-8")
    pair = [f"{path}:One", "--against", f"{path}:Two"]
    assert run(["refine", *pair, "--witness", "half = x/2"]) == 0
    assert run(["refine", *pair, "--witness", "half = x"]) != 0
    assert run(["refine", *pair, "--witness", "half = x*x"]) == 2
    assert run(["refine", *pair, "--witness", "half = z"]) == 2
    assert run(["refine", *pair, "--map", "nonsense"]) == 2
    assert run(["refine", *pair, "--map", "a=b"]) == 3


def test_abstract_writes_a_model_that_is_refined(tmp_path: Path) -> None:
    made = tmp_path / "made.charon"
    assert run(["abstract", "thermostat_timer", "--drop", "temp", "-o", str(made)]) == 0
    assert run(["check", str(made)]) == 0
    assert run(["abstract", "thermostat_timer"]) == 2
    assert run(["abstract", "thermostat_timer", "--drop", "nobody"]) == 3
    assert run(["abstract", "thermostat_timer", "--widen", "-1"]) == 2


def test_abstract_writes_json_and_says_how_to_compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, text = str(tmp_path / "made.json"), str(tmp_path / "made.charon")
    assert run(["abstract", "leaky_tank", "--timed", "level", "-o", plain]) == 0
    assert "a clock" in capsys.readouterr().out
    assert json.loads(Path(plain).read_text(encoding="utf-8"))["kind"] == "automaton"
    assert run(["check", plain]) == 0
    capsys.readouterr()
    assert run(["abstract", "bouncing_ball", "--drop", "velocity", "-o", text]) == 0
    assert "--observe height" in capsys.readouterr().out
    assert run(["refine", "bouncing_ball", "--against", text, "--observe", "height"]) == 0


def test_abstract_claims_no_more_than_refine(tmp_path: Path) -> None:
    """The equations of the charger follow a load that others choose."""
    made = tmp_path / "made.charon"
    assert run(["abstract", "battery_charger", "--interval", "charge", "-o", str(made)]) == 5
    assert not made.exists()


def test_a_platoon_of_any_length(capsys: pytest.CaptureFixture[str]) -> None:
    step, contract = "platoon_any_length:Step", "platoon_any_length:Vehicle"
    assert run(["refine", step, "--against", contract, "--inductive", "--time-limit", "120"]) == 0
    shown = capsys.readouterr().out
    assert "any number of steps" in shown
    assert "'no collision': VERIFIED" in shown
    assert run(["refine", contract, "--against", contract, "--inductive"]) == 3


def test_a_platoon_of_any_length_by_the_papers_law(capsys: pytest.CaptureFixture[str]) -> None:
    """With gains that let nothing grow it is proved; with the printed ones nothing is."""
    step, contract = "platoon_endless:Step", "platoon_endless:Vehicle"
    asked = ["--against", contract, "--inductive", "--time-limit", "120"]
    assert run(["refine", step, *asked]) == 0
    shown = capsys.readouterr().out
    assert "'no collision': VERIFIED" in shown and "'keeps the promise': VERIFIED" in shown
    printed = ["-P", "k2=3", "-P", "k3=3", "--time-limit", "20"]
    assert run(["refine", step, "--against", contract, "--inductive", *printed]) != 0
    assert "NOT PROVED" in (shown := capsys.readouterr().out) or "REFUTED" in shown

"""How runs are made, as a value: one by one, in workers, proved, compared and made again."""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path

import pytest

import workbench

SWITCH = """
agent Lamp() {
  private analog real heat in [0, 1];
  private bool lit = true;
  private enum {calm, angry} mood = calm;
  mode top = Burning();
  assert "cool" { heat <= 3 }
}
mode Burning() {
  write analog real heat;
  diff { d(heat) == 1; }
}
"""


@pytest.fixture(scope="module")
def lamp() -> workbench.Model:
    return workbench.load(SWITCH)


def test_nothing_is_made_before_it_is_asked_for(lamp: workbench.Model) -> None:
    how = lamp.simulation(3, until=2, seed=5)
    assert list(how.seeds) == [5, 6, 7] and how.until == 2 and how.notes == ()
    (alone,) = lamp.simulate(until=2, seed=6, switching="random", level="random")
    assert how.run(6).final == alone.final
    told = list(how.summaries(how.seeds))
    assert [one.seed for one in told] == [5, 6, 7]
    assert told[1].final["heat"] == alone.final["heat"]


def test_a_run_is_proved_and_compared(lamp: workbench.Model, tmp_path: Path) -> None:
    (low,) = lamp.simulate(until=2, initial={"heat": 0})
    (high,) = lamp.simulate(until=2, initial={"heat": "1/2"})
    proof = low.validated()
    assert proof.is_complete and not proof.is_bad and str(proof).startswith("validated until t = 2")
    assert proof.boxes[-1].bounds["heat"][0] <= 2 <= proof.boxes[-1].bounds["heat"][1]
    assert low.compared(high).largest == pytest.approx(0.5)
    assert low.compared(low.save(tmp_path / "low.csv")).largest == 0.0
    assert math.isnan(low[0:0.5].compared(high[1:2]).largest)
    with pytest.raises(workbench.RequestError, match="nothing can be compared: one run has `"):
        low.compared(workbench.load("leaky_tank").simulate(1)[0])
    (hot,) = lamp.simulate(until=5, initial={"heat": 0})
    assert hot.violated == ("cool",) and hot.validated().is_bad


@pytest.mark.parametrize("form", ["svg", "html", "png", "pdf"])
def test_runs_are_saved_as_pictures(lamp: workbench.Model, tmp_path: Path, form: str) -> None:
    runs, path = lamp.simulate(until=4, runs=2), tmp_path / f"runs.{form}"
    if form in ("png", "pdf") and find_spec("matplotlib") is None:
        with pytest.raises(workbench.RequestError, match="pip install matplotlib"):
            runs.save(path, "heat")
        return
    content = runs.save(path, "heat").read_bytes()
    assert content.startswith(
        {"svg": b"<svg", "html": b"<!doc", "png": b"\x89PNG"}.get(form, b"%PDF")
    )


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"until": -1}, "until: a run cannot end at -1"),
        ({"until": math.nan}, "until: nan"),
        ({"until": math.inf}, "until: inf"),
        ({"runs": -1}, "runs: -1 is not at least 0"),
        ({"rtol": 0}, "rtol: 0 is not between"),
        ({"atol": math.nan}, "atol: nan is not a finite number"),
        ({"method": "euler"}, "method: 'euler' is none of adams, taylor"),
        ({"switching": "soon"}, "switching: 'soon' is none of earliest"),
        ({"level": "top"}, "level: 'top' is none of low"),
        ({"script": [0.5, 1.5]}, "script: decisions are numbers"),
        ({"initial": {"hat": 1}}, "initial: there is no variable 'hat'; did you mean 'heat'"),
        ({"initial": {"heat": math.nan}}, "initial: heat: nan is not a finite number"),
        ({"initial": {"heat": "1e400"}}, "initial: heat: 1e400 is too large"),
        ({"initial": {"heat": "warm"}}, "initial: heat: 'warm' is not a number"),
        ({"initial": {"heat": None}}, "initial: heat: a number is expected, not None"),
        ({"initial": {"lit": 3}}, "initial: lit is true or false, not 3"),
        ({"initial": {"lit": []}}, "initial: lit is true or false"),
        ({"initial": {"mood": "happy"}}, "initial: there is no value 'happy'"),
        ({"location": "Dark"}, "location: there is no initial location 'Dark'"),
        ({"inputs": {"wind": 1}}, "inputs: there is no input 'wind'"),
        ({"own_clocks": True, "synchronous": True}, "own_clocks: agents have one clock or many"),
        ({"own_clocks": True, "script": [0.5]}, "own_clocks: this does not go together"),
    ],
)
def test_choices_that_make_no_sense(
    lamp: workbench.Model, choices: dict[str, object], says: str
) -> None:
    with pytest.raises(workbench.RequestError) as caught:
        lamp.simulate(**choices)  # type: ignore[arg-type]
    assert says in str(caught.value)


def test_what_is_no_formula_is_told_with_its_place(lamp: workbench.Model) -> None:
    with pytest.raises(workbench.ModelError, match="heart"):
        lamp.simulation(formula="always[0,2](heart < 3)")
    assert lamp.looks_ahead("always[0,2](heat < 3)") == 2
    (note,) = lamp.simulation(until=1, formula="always[0,2](heat < 3)").notes
    assert "looks up to t = 2" in note


def test_runs_of_files(lamp: workbench.Model, tmp_path: Path) -> None:
    (run,) = lamp.simulate(until=2)
    path = run.save(tmp_path / "run.json")
    assert lamp.replay(path).final == run.final == lamp.replay(run, "taylor").final
    longer = lamp.recorded(path, until=2.5)
    assert longer.run(run.seed).end == 2.5
    other = workbench.load(SWITCH.replace("== 1", "== 2"))
    with pytest.raises(workbench.RequestError, match="it is no run of"):
        other.replay(path)
    with pytest.raises(workbench.RequestError, match="cannot read"):
        lamp.replay(tmp_path / "none.json")
    path.write_text("{}")
    with pytest.raises(workbench.ModelError, match=r"run\.json"):
        lamp.replay(path)

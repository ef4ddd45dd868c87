"""Other processes: results travel between a user's own, and work starts those of the workbench."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import workbench
from workbench.build import Agent, Mode, Real, always

TANK = """
agent Tank(real rate = 1) {
  private analog real level = 6;
  mode top = Draining(rate);
  assert "never negative" { level >= 0 }
  assert "stays up" { level >= 5 }
}
mode Draining(real rate) {
  write analog real level;
  diff { d(level) == -rate*level; }
}
"""


def travelled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 (made here)


@pytest.fixture(scope="module")
def tank() -> workbench.Model:
    found = workbench.load(TANK, rate="0.5")
    found.simulate(1)  # what is prepared for this process stays here
    return found


def test_models_travel(tank: workbench.Model) -> None:
    other = travelled(tank)
    assert other.sha256 == tank.sha256 and other.parameters == tank.parameters
    assert other.simulate(1)[0].final == tank.simulate(1)[0].final
    assert other.with_parameters(rate=2).parameters["rate"] == 2
    assert str(other.show()) == str(tank.show())
    assert copy.deepcopy(tank).sha256 == tank.sha256
    library = travelled(workbench.load("leaky_tank"))
    assert library.with_parameters(low=4).settings["low"] == 4


def test_models_made_in_python_travel() -> None:
    level = Real("level")
    agent = Agent(
        "Tank", Mode("draining", level.d == -level), always("up", level >= 0), initial={level: 6}
    )
    assert travelled(workbench.load(agent)).with_parameters().properties == ("up",)


def test_results_travel(tank: workbench.Model, tmp_path: Path) -> None:
    runs = tank.simulate(2, runs=2)
    again = travelled(runs)
    assert again == runs and again[1].why("0.1").location == "Draining"
    assert again[0].validated().is_complete
    proved, broken = travelled(tank.verify())
    assert proved.recheck() and broken.recheck() and proved.invariant is not None
    assert broken.counterexample.replay().violated == ("stays up",)
    search = travelled(tank.falsify("never negative", budget=2)[0].search)
    assert search.simulations == 2 and search.closest() is not None
    assert travelled(tank.refine(tank)).recheck()
    assert travelled(tank.simulation(2, until="0.1")).run(1).end == 0.1
    report = travelled(tank.report(None, "stays up", runs=1, until=1))
    assert report.save(tmp_path / "tank.html").stat().st_size > 1000


def test_functions_from_outside_travel_by_their_names() -> None:
    text = """extern real pull(real); agent A() { write real x = 1; mode top = M(); }
    mode M() { write real x; diff { d(x) == -pull(x); } }"""
    other = travelled(workbench.load(text, externs={"pull": abs}))
    assert other.simulate(1)[0].final["x"] < 0.4
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(workbench.load(text, externs={"pull": lambda x: x}))


def decided(text: str) -> list[str]:
    """What a daemon comes to, with as many processes as it likes."""
    model = workbench.load(text)
    how = model.simulation(4, until=1)
    endings = {summary.ending for summary in how.summaries(how.seeds, workers=2)}
    return [model.verify(jobs=4, time_limit=60).outcome, *endings]


def test_workers_of_a_pool_do_without_workers_of_their_own() -> None:
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(decided, (TANK,)) == ["falsified", "violation"]


def test_a_script_is_not_run_again_by_workers(tmp_path: Path) -> None:
    script = tmp_path / "plain.py"
    script.write_text(
        "import workbench\n"
        "print('begun')\n"
        f"how = workbench.load({TANK!r}).simulation(6, until=1)\n"
        "print(len(list(how.summaries(how.seeds, workers=2))))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("begun\n6\n", "")

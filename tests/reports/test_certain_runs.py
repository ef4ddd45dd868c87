"""Runs end where rounding takes over, and not before; what is wrong is still caught."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.report_models import heater
from workbench.abstraction.verification_settings import VerificationSettings
from workbench.models.checker.covers import Region
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.linear import Form
from workbench.models.load import load
from workbench.models.model import Model
from workbench.models.trace import Ending, Trace
from workbench.reports.analysis import Settings, analyse
from workbench.reports.claims.claimed_set import polyhedral_set
from workbench.reports.crosscheck.certain_runs import AGREEMENT, certain, stays
from workbench.reports.crosscheck.contradictions import CrossCheck, cross_check
from workbench.reports.data.report import report_data
from workbench.reports.simulated_runs import METHOD, simulated, steadied
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Taylor

SADDLE = """
mode Saddle() {
  write analog real x, y;
  diff { d(x) == y; d(y) == 25*x; }
}
agent Line() {
  private analog real x, y;
  init { y in [0.1, 1]; x = -y/5; }
  mode top = Saddle();
  assert "small" { y >= -0.5 && y <= 2 }
}
"""


@pytest.fixture(scope="module")
def saddle(tmp_path_factory: pytest.TempPathFactory) -> Model:
    path = tmp_path_factory.mktemp("saddle") / "saddle.charon"
    path.write_text(SADDLE)
    return load(path)


def on_the_line(low: str, high: str) -> PolyhedralProof:
    """x = -y/5 with y in an interval: closed under the flow if the interval reaches down to 0."""
    x, y = Form({"x": Fraction(5)}), Form({"y": Fraction(1)})
    rows = (
        x + y,
        Form({}) - x - y,
        y - Form({}, Fraction(high)),
        Form({}, Fraction(low)) - y,
    )
    return PolyhedralProof((Region("Saddle", rows, ((1,) * 4,)),), ())


def checked(model: Model, proof: PolyhedralProof, traces: list[Trace]) -> CrossCheck:
    horizons = {"small": math.inf}
    return cross_check(model.automaton, traces, {"small": polyhedral_set(proof)}, horizons)


def test_no_engine_is_convicted_by_rounding(saddle: Model) -> None:
    """The stable line is proved to be kept, and computed runs leave it: both are right."""
    whole = [simulate(saddle.automaton, until=20, method=METHOD, stop_on_violation=False)]
    assert not checked(saddle, on_the_line("0", "1"), whole).consistent, "the run alone strays"
    runs = [run.trace for run in simulated(saddle.automaton, 8, 0, 20.0)]
    found = checked(saddle, on_the_line("0", "1"), runs)
    assert found.consistent, found.contradictions[0].sentence
    for trace in runs:
        assert trace.outcome.ending is Ending.UNCERTAIN and 2 < trace.end < 8
        assert trace.outcome.time == trace.end


@pytest.mark.parametrize(
    "wrong",
    [
        on_the_line("0", "0.9"),  # too small at the start
        on_the_line("0.0001", "1"),  # left after two seconds, while runs are still certain
        on_the_line("0.04", "1"),
    ],
)
def test_a_wrong_set_is_caught_while_runs_are_certain(
    saddle: Model, wrong: PolyhedralProof
) -> None:
    runs = [run.trace for run in simulated(saddle.automaton, 8, 0, 20.0)]
    assert not checked(saddle, wrong, runs).consistent


def test_stable_runs_are_followed_to_the_end() -> None:
    for run in simulated(heater().automaton, 8, 0, 40.0):
        assert run.trace.outcome.ending is Ending.HORIZON


def test_equal_runs_are_made_once(tmp_path: Path) -> None:
    path = tmp_path / "fixed.charon"
    path.write_text(SADDLE.replace("y in [0.1, 1]", "y = 1"))
    assert len(simulated(load(path).automaton, 24, 0, 3.0)) == 1


def test_runs_that_jump_at_other_times_part_at_the_jump() -> None:
    """A second computation that goes another way: only what they share is left."""
    automaton = heater().automaton
    first = simulate(automaton, until=10, method=METHOD)
    jump = first.jumps[0]
    edges = tuple(e for e in automaton.edges if e.source != jump.source)
    second = simulate(replace(automaton, edges=edges), until=10, method=METHOD)
    cut = certain(first, second)
    assert cut.end == jump.time and not cut.jumps
    assert [s.location for s in cut.segments] == [jump.source] * len(cut.segments)
    assert cut.final()["x"] == first.before(jump.time)["x"]


@settings(max_examples=30, deadline=None)
@given(st.floats(1e-12, 1e-3), st.floats(19, 20))
def test_a_cut_run_is_the_run_up_to_the_cut(error: float, start: float) -> None:
    """A second run from a state that is a little off: whatever is kept is kept unchanged."""
    automaton = heater().automaton
    first = simulate(automaton, until=12, method=METHOD, initial={"x": start})
    nearby = min(max(start + error, 19.0), 20.0)
    second = simulate(automaton, until=12, method=Taylor(1e-9, 1e-12), initial={"x": nearby})
    cut = certain(first, second)
    assert (cut is first) == (cut.outcome.ending is not Ending.UNCERTAIN)
    if abs(nearby - start) > 2 * AGREEMENT * 20:
        assert cut.end == 0.0
    assert cut.end <= first.end
    for i in range(21):
        t = cut.end * i / 20
        assert cut.before(t)["x"] == first.before(t)["x"]
    kept = len(cut.segments)
    assert [s.location for s in cut.segments] == [s.location for s in first.segments[:kept]]
    assert cut.events == first.events[: len(cut.events)]
    assert len(list(stays(cut))) == len(cut.jumps) + 1


STRETCHED = """
mode Wait() {
  write analog real c, x, y;
  diff { d(c) == 1; d(x) == 0; d(y) == 0; }
  inv { c <= 1 }
}
mode Top() {
  write analog real c, x, y;
  mode wait = Wait();
  trans from init to wait;
  trans #stretch from wait to wait when c >= 1 do { c = 0; x = 3*x - 2*y; }
}
agent Stretch() {
  private analog real c, x, y;
  init { c = 0; y in [0.1, 1]; x = y; }
  mode top = Top();
  assert "together" { x <= BOUND }
}
"""


@pytest.mark.parametrize(("bound", "overall"), [("2", "verified"), ("0.5", "falsified")])
def test_rounding_that_resets_stretch_convicts_nobody(
    tmp_path: Path, bound: str, overall: str
) -> None:
    """x = y is kept by x := 3x - 2y, but not in floating point: both computations of a run
    round alike, and only one from a state beside it tells."""
    path = tmp_path / "stretched.charon"
    path.write_text(STRETCHED.replace("BOUND", bound))
    model = load(path)
    settings = Settings(VerificationSettings(time_limit=30.0), runs=8, until=60.0)
    found = analyse(model, "stretched", model.automaton.properties, settings)
    data = report_data(found)
    assert data["properties"][0]["verdict"]["outcome"] == overall
    assert found.check.consistent, found.check.contradictions[0].sentence


def test_what_is_wrong_is_caught_beside_the_run_too(tmp_path: Path) -> None:
    path = tmp_path / "stretched.charon"
    path.write_text(STRETCHED.replace("BOUND", "2"))
    automaton = load(path).automaton
    wide = simulated(automaton, 6, 0, 60.0)
    runs = [steadied(automaton, run).trace for run in wide]
    assert all(5 < trace.end < 40 for trace in runs)
    for low, high, right in (("0", "1", True), ("0", "0.9", False)):
        x = Form({"x": Fraction(1)})
        rows = (x - Form({}, Fraction(high)), Form({}, Fraction(low)) - x)
        proof = PolyhedralProof((Region("wait", rows, ((1, 1),)),), ())
        found = cross_check(automaton, runs, {"together": polyhedral_set(proof)}, {})
        assert found.consistent == right


def test_stable_runs_are_steady() -> None:
    automaton = heater().automaton
    for run in simulated(automaton, 8, 0, 20.0):
        assert steadied(automaton, run).trace is run.trace

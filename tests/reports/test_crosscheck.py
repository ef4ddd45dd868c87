"""Fault injection: whatever is wrong with a claimed set, the runs must tell."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.report_models import heater
from workbench.models.checker.covers import Region
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.evidence.quadratic import Ellipsoid, QuadraticInvariant
from workbench.models.linear import Form
from workbench.models.load import load
from workbench.models.trace import Trace
from workbench.reports.claims.claimed_set import ellipsoid_set, polyhedral_set
from workbench.reports.crosscheck.contradictions import cross_check
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams

MODEL = heater()


@pytest.fixture(scope="module")
def trace() -> Trace:
    return simulate(MODEL.automaton, until=10, method=Adams(1e-9, 1e-12))


def box(location: str, low: int | str, high: int | str) -> Region:
    x = Form({"x": Fraction(1)})
    below, above = x - Form({}, Fraction(high)), Form({}, Fraction(low)) - x
    return Region(location, (below, above), ((1, 1),))


def proof(*regions: Region) -> PolyhedralProof:
    return PolyhedralProof(regions, ())


RIGHT = proof(box("on", 18, 22), box("off", 18, 22))


def test_a_right_invariant_is_not_contradicted(trace: Trace) -> None:
    found = cross_check(
        MODEL.automaton, [trace], {"warm": polyhedral_set(RIGHT)}, {"warm": math.inf}
    )
    assert found.consistent
    margins = found.runs[0]
    assert margins.sets["warm"].value == pytest.approx(0, abs=1e-7)
    assert margins.properties["warm"].value == pytest.approx(8, abs=1e-6)


@pytest.mark.parametrize(
    "wrong",
    [
        proof(box("on", 18, "21.5"), box("off", 18, 22)),
        proof(box("on", 18, 22), box("off", "18.001", 22)),
        proof(box("on", 18, 22)),  # `off` is claimed never to be entered
        proof(box("on", 21, 22), box("on", 18, "19.9"), box("off", 18, 22)),  # a gap inside
    ],
)
def test_a_wrong_region_is_caught_with_the_place(trace: Trace, wrong: PolyhedralProof) -> None:
    found = cross_check(MODEL.automaton, [trace], {"warm": polyhedral_set(wrong)}, {})
    assert not found.consistent
    place = found.contradictions[0].place
    assert place is not None and place.location in ("on", "off")
    state = trace.before(place.time)["x"], trace.at(place.time)["x"]
    assert any(float(x) == pytest.approx(float(place.values["x"]), abs=1e-6) for x in state)
    assert "leaves the polyhedral invariant" in found.contradictions[0].sentence


def test_a_union_of_cells_counts_as_one_set(trace: Trace) -> None:
    halves = proof(box("on", 18, 20), box("on", 20, 22), box("off", 18, "19.5"), box("off", 19, 22))
    found = cross_check(MODEL.automaton, [trace], {"warm": polyhedral_set(halves)}, {})
    assert found.consistent


def test_faces_that_a_run_touches_are_named_and_the_others_have_a_margin(trace: Trace) -> None:
    wide = proof(box("on", "17.5", 22), box("off", "17.5", 22))
    margin = cross_check(MODEL.automaton, [trace], {"warm": polyhedral_set(wide)}, {}).runs[0].sets
    found = margin["warm"]
    assert [place.predicate for place in found.touched] == ["x ≤ 22"]
    assert found.touched[0].values["x"] == pytest.approx(22, abs=1e-6)
    assert found.rest is not None and found.rest.value == pytest.approx(0.5, abs=1e-6)
    assert found.rest.place is not None and found.rest.place.predicate == "x ≥ 17.5"


def test_a_run_that_touches_every_face_keeps_no_distance(trace: Trace) -> None:
    found = cross_check(MODEL.automaton, [trace], {"warm": polyhedral_set(RIGHT)}, {})
    margin = found.runs[0].sets["warm"]
    assert {place.predicate for place in margin.touched} == {"x ≤ 22", "x ≥ 18"}
    assert margin.rest is not None and margin.rest.value == math.inf


def test_a_run_that_left_a_set_touches_nothing(trace: Trace) -> None:
    wrong = proof(box("on", 18, "21.5"), box("off", 18, 22))
    margin = cross_check(MODEL.automaton, [trace], {"warm": polyhedral_set(wrong)}, {}).runs[0]
    assert margin.sets["warm"].broken and not margin.sets["warm"].touched


def test_a_region_without_predicates_has_no_border(trace: Trace) -> None:
    whole = proof(Region("on", (), ((),)), Region("off", (), ((),)))
    found = cross_check(MODEL.automaton, [trace], {"warm": polyhedral_set(whole)}, {})
    assert found.consistent and found.runs[0].sets["warm"].value == math.inf


def test_ellipsoids(trace: Trace) -> None:
    def around(radius: str) -> QuadraticInvariant:
        shape = ((1 / Fraction(radius) ** 2,),)
        body = Ellipsoid(shape, (Fraction(20),), {})
        return QuadraticInvariant(("x",), ("on", "off"), (body,))

    right = cross_check(MODEL.automaton, [trace], {"warm": ellipsoid_set(around("2.01"))}, {})
    assert right.consistent
    wrong = cross_check(MODEL.automaton, [trace], {"warm": ellipsoid_set(around("1.9"))}, {})
    assert not wrong.consistent


def test_a_broken_property_that_was_verified_is_a_contradiction() -> None:
    model = heater(bound=21)
    run = simulate(model.automaton, until=10, stop_on_violation=False)
    silent = cross_check(model.automaton, [run], {}, {})
    assert silent.consistent
    assert silent.runs[0].properties["warm"].broken
    loud = cross_check(model.automaton, [run], {}, {"warm": math.inf})
    assert [c.claim for c in loud.contradictions] == ["warm"]
    early = cross_check(model.automaton, [run], {}, {"warm": 0.1})
    assert early.consistent, "the proof says nothing about the time at which the run breaks it"


def test_a_counterexample_that_breaks_nothing_is_a_contradiction(trace: Trace) -> None:
    found = cross_check(MODEL.automaton, [trace], {}, {}, {0: "warm"})
    assert "does not break it" in found.contradictions[0].sentence


def test_runs_may_stray_by_arithmetic_only(trace: Trace) -> None:
    barely = proof(box("on", 18, "21.99999999"), box("off", 18, 22))
    found = cross_check(MODEL.automaton, [trace], {"warm": polyhedral_set(barely)}, {})
    assert found.consistent
    assert found.runs[0].sets["warm"].value == pytest.approx(-1e-8, rel=0.2)


def test_a_run_without_states_is_not_tested() -> None:
    empty = replace(MODEL.automaton, initial=())
    run = simulate(empty, until=1)
    found = cross_check(empty, [run], {"warm": polyhedral_set(RIGHT)}, {})
    assert found.consistent and found.runs[0].sets["warm"].value is None


LAMP = """
mode LampTop() {
  write analog real x;
  write discrete enum { red, green } light;
  write discrete bool lit;
  mode dark = Dark();
  mode bright = Dark();
  trans from init to dark;
  trans #switch from dark to bright when x >= 1 do { light = green; lit = true; }
}
mode Dark() {
  write analog real x;
  write discrete enum { red, green } light;
  write discrete bool lit;
  diff { d(x) == 1; }
  inv { x <= 3 }
}
agent Lamp() {
  private analog real x = 0;
  private discrete enum { red, green } light = red;
  private discrete bool lit = false;
  mode top = LampTop();
  assert "red" { light == red }
  assert "never blue" { light == red || light == green }
  assert "unlit" { !lit }
}
"""


def test_enumerations_and_truth_values_are_seen(tmp_path: Path) -> None:
    """A counterexample by an enumeration breaks its property; what holds is not broken."""
    path = tmp_path / "lamp.charon"
    path.write_text(LAMP, encoding="utf-8")
    automaton = load(path).automaton
    run = simulate(automaton, until=2, method=Adams(1e-9, 1e-12), stop_on_violation=False)
    found = cross_check(automaton, [run], {}, {}, {0: "red"})
    assert found.consistent
    margins = found.runs[0].properties
    assert margins["red"].broken and margins["unlit"].broken
    assert not margins["never blue"].broken
    calm = simulate(automaton, until=0.5, method=Adams(1e-9, 1e-12))
    wrong = cross_check(automaton, [calm], {}, {}, {0: "red"})
    assert not wrong.consistent, "said to be a counterexample, but it is none"

"""The worked cases of the refinement checker give their verdicts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from thermostats import heater, one_room, simple_heater

from workbench.abstraction.refinement.flat import Settings, refine
from workbench.abstraction.refinement.outcome import NotProved, Refines, Refuted
from workbench.abstraction.refinement.proof_tree import Proof, prove_refinement
from workbench.models.automaton import HybridAutomaton
from workbench.models.load import load

WORKED = Path(__file__).with_name("worked.charon")


def compare(detailed: str, abstract: str) -> Proof:
    return prove_refinement(load(WORKED, agent=detailed), load(WORKED, agent=abstract), Settings())


def test_r0_the_heater_refines_its_bounds() -> None:
    outcome = refine(heater(), simple_heater(), ("x",), Settings())
    assert isinstance(outcome, Refines)
    assert outcome.judgement.assumed == 0


@pytest.mark.parametrize(
    ("change", "kind", "state"),
    [
        ({"on": "(40-x)/2"}, "flow", {"x": 18, "d(x)": 11}),
        ({"stop": "x >= 20"}, "guard", {"x": 20}),
        ({"reset": "x-1"}, "reset", {"x": Fraction(43, 2)}),
        ({"init": "x >= 18 && x <= 20"}, "initial", {"x": 18}),
        ({"on_invariant": "x >= 18 && x <= 23"}, "invariant", {"x": 23}),
        ({"on": "5-x^2/100"}, "flow", {"x": 21, "d(x)": Fraction(59, 100)}),
    ],
    ids=["R1", "R2", "R3", "R4", "R5", "R8"],
)
def test_wrong_heaters_are_refuted_by_a_run(
    change: dict[str, str], kind: str, state: dict[str, Fraction]
) -> None:
    detailed, abstract = heater(**change), simple_heater()  # type: ignore[arg-type]
    outcome = refine(detailed, abstract, ("x",), Settings())
    assert isinstance(outcome, Refuted)
    assert outcome.trace.segments
    failures = [f for f in outcome.failures if f.kind == kind]
    assert failures, [f.kind for f in outcome.failures]
    assert set(state) <= set(failures[0].state)


def test_r6_an_additional_global_variable_is_a_difference() -> None:
    wider = heater(variables=("x", "y"))
    outcome = refine(simple_heater(), wider, ("x", "y"), Settings(refute=False))
    assert isinstance(outcome, NotProved)
    assert outcome.failures[0].kind == "interface"
    assert "y" in outcome.failures[0].why


def test_r7_needs_the_reachable_set_and_is_not_refuted() -> None:
    detailed = heater(on_invariant="x <= 22", off_invariant="x >= 18")
    without = refine(detailed, simple_heater(), ("x",), Settings(reach=False))
    assert isinstance(without, NotProved)
    assert {f.kind for f in without.failures} == {"flow"}
    outcome = refine(detailed, simple_heater(), ("x",), Settings())
    assert isinstance(outcome, Refines)
    assert outcome.judgement.reach > 0


def test_r9_a_polynomial_flow_rests_on_two_methods() -> None:
    outcome = refine(heater(on="6-x^2/100"), simple_heater(), ("x",), Settings())
    assert isinstance(outcome, Refines)
    assert outcome.judgement.assumed == 1


def test_r10_jumps_are_matched_by_doing_nothing() -> None:
    outcome = refine(heater(), one_room(), ("x",), Settings())
    assert isinstance(outcome, Refines)
    assert set(outcome.certificate.places.values()) == {"room"}


def test_r11_one_room_does_not_refine_the_two_modes() -> None:
    outcome = refine(one_room(), simple_heater(), ("x",), Settings())
    assert not isinstance(outcome, Refines)
    assert {"initial", "flow"} <= {f.kind for f in outcome.failures}


def test_r12_ticking_refines_idling_but_not_the_other_way() -> None:
    assert compare("Tick", "Idle").holds
    other = compare("Idle", "Tick")
    assert isinstance(other.outcome, Refuted)
    assert other.outcome.mismatch.time > 1


@pytest.mark.slow
def test_r13_resuming_and_restarting_differ_both_ways() -> None:
    assert isinstance(compare("Resuming", "Restarting").outcome, Refuted)
    assert isinstance(compare("Restarting", "Resuming").outcome, NotProved | Refuted)


def test_r14_without_the_group_transition() -> None:
    assert compare("Ungrouped", "Restarting").holds
    assert isinstance(compare("Restarting", "Ungrouped").outcome, Refuted)


def test_r15_a_swinging_front_car() -> None:
    gentle = compare("Gentle", "Any")
    assert gentle.holds
    assert isinstance(gentle.outcome, Refines)
    assert gentle.outcome.judgement.assumed == 0
    assert isinstance(compare("Hard", "Any").outcome, Refuted)


def test_a_location_map_is_searched() -> None:
    outcome = refine(_renamed(), simple_heater(), ("x",), Settings())
    assert isinstance(outcome, Refines)
    assert outcome.certificate.places == {"warming": "ON", "cooling": "OFF"}


def test_a_given_location_map_is_kept() -> None:
    swapped = Settings({"warming": "OFF", "cooling": "ON"}, refute=False)
    assert isinstance(refine(_renamed(), simple_heater(), ("x",), swapped), NotProved)


def _renamed() -> HybridAutomaton:
    names = {"ON": "warming", "OFF": "cooling"}
    plain = heater()
    return replace(
        plain,
        locations=tuple(replace(x, name=names[x.name]) for x in plain.locations),
        edges=tuple(
            replace(e, source=names[e.source], target=names[e.target]) for e in plain.edges
        ),
        initial=tuple(replace(i, location=names[i.location]) for i in plain.initial),
    )

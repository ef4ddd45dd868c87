"""Abstractions made by construction: the checker proves them again, and they lose something."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from thermostats import heater

from workbench.abstraction.refinement.flat import Settings, refine
from workbench.abstraction.refinement.makers import (
    merged,
    with_interval_flows,
    with_wider_guards,
    without_variables,
)
from workbench.abstraction.refinement.outcome import Refines
from workbench.abstraction.refinement.timed import CLOCK, durations, timed, with_clock
from workbench.models.agents.composition import explicit
from workbench.models.automaton import HybridAutomaton
from workbench.models.catalogue import find
from workbench.models.load import load
from workbench.models.source import ModelError

QUIET = Settings(refute=False, reach=False)


def names(automaton: HybridAutomaton) -> tuple[str, ...]:
    return tuple(v.name for v in automaton.variables)


def proved(detailed: HybridAutomaton, made: HybridAutomaton, settings: Settings = QUIET) -> bool:
    return isinstance(refine(detailed, made, names(made), settings), Refines)


def test_interval_flows_have_the_bounds_of_the_invariant() -> None:
    made = with_interval_flows(heater(), ["x"])
    on = made.location("ON").flow_of("x")
    assert on.low is not None
    assert on.high is not None
    assert (on.low.constant, on.high.constant) == (Fraction(9, 5), Fraction(11, 5))
    assert proved(heater(), made)
    assert not proved(made, heater())


def test_wider_guards() -> None:
    made = with_wider_guards(heater(), Fraction(1, 2))
    assert proved(heater(), made)
    assert not proved(made, heater())


def test_wider_guards_are_not_urgent() -> None:
    """Where only the wider guard holds the original lets time pass."""
    urgent = heater()
    urgent = replace(urgent, edges=tuple(replace(e, urgent=True) for e in urgent.edges))
    made = with_wider_guards(urgent, Fraction(1, 2))
    assert not any(e.urgent for e in made.edges)
    assert proved(urgent, made)


def test_merged_locations_are_one() -> None:
    made, places = merged(heater(), ["ON", "OFF"], "either")
    assert [x.name for x in made.locations] == ["either"]
    assert places == {"ON": "either", "OFF": "either"}
    outcome = refine(heater(), made, ("x",), Settings(places, refute=False, reach=False))
    assert isinstance(outcome, Refines)
    assert outcome.judgement.assumed == 0


def test_timed_abstraction_bounds_how_long_things_take() -> None:
    clocked = with_clock(heater())
    made = timed(clocked, "x")
    assert names(made) == (CLOCK,)
    outcome = refine(
        clocked, made, (CLOCK,), Settings(refute=False, regions=durations(clocked, "x"))
    )
    assert isinstance(outcome, Refines)
    assert outcome.judgement.reach > 0
    # From 18.5 to the guard at 21.5 at a rate of at most 2.2; the start at 20 is nearer.
    guard = str(made.edges_from("ON")[0].guard)
    assert "15/22" in guard


@pytest.mark.parametrize(
    "model", ["thermostat_timer", "bouncing_ball", "platoon_paper", "infusion_pump"]
)
def test_every_variable_of_library_models_can_be_dropped(model: str) -> None:
    assert find(model) is not None
    original = explicit(load(model).automaton)
    for name in names(original):
        made = without_variables(original, [name])
        assert name not in names(made)
        outcome = refine(original, made, names(made), QUIET)
        assert isinstance(outcome, Refines), (name, outcome)


def test_unknown_names_are_named() -> None:
    with pytest.raises(ModelError, match="no variable y"):
        without_variables(heater(), ["y"])
    with pytest.raises(ModelError, match="no location nowhere"):
        merged(heater(), ["ON", "nowhere"], "x")

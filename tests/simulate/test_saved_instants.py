"""A run goes on from any of its instants as it did: an instant is all that the run is."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import islice
from random import Random

import pytest

from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.expression import ONE, equal, variable
from workbench.models.load import load
from workbench.simulate.inputs.signals import Signal, Steps
from workbench.simulate.loop.advance import follow, instants
from workbench.simulate.loop.begin import begin
from workbench.simulate.loop.instant import Instant, Scenario
from workbench.simulate.loop.past import newest_first
from workbench.simulate.place import Prepared
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.run import prepare, simulate
from workbench.simulate.stepping.methods import Adams

POLICIES = [Policy(), Policy(Switching.LATEST, Level.HIGH), Policy.random()]


@cache
def prepared(name: str) -> Prepared:
    return prepare(load(name).automaton)


def first(name: str, policy: Policy, seed: int, until: float = 6.0, whole: bool = True) -> Instant:
    scenario = Scenario.of(prepared(name), until, Adams(), policy, {}, Random(seed), whole=whole)
    return begin(scenario, {}, None, {}, scenario.first_decisions())


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    "name", ["battery_charger", "bouncing_ball", "platoon", "thermostat_timer"]
)
def test_a_run_goes_on_from_random_instants_as_it_did(name: str, whole: bool) -> None:
    for seed, policy in enumerate(POLICIES):
        saved = list(instants(first(name, policy, seed, whole=whole)))
        some = Random(seed).sample(saved, min(3, len(saved)))
        straight = repr(follow(first(name, policy, seed, whole=whole)))
        assert [repr(follow(now)) for now in some] == [straight] * len(some)


def test_who_goes_ahead_first_does_not_matter() -> None:
    """Random numbers are drawn when a run first asks for them."""
    policy = Policy.random()
    seen = list(islice(instants(first("thermostat_timer", policy, 4, until=20.0)), 6))
    ahead = [repr(follow(now)) for now in reversed(seen)]
    straight = simulate(prepared("thermostat_timer"), until=20.0, policy=policy, seed=4)
    assert ahead == [repr(straight)] * 6
    assert len(straight.decisions) > seen[-1].decided > 0


X, U = variable("x"), variable("u")


def with_an_input(*edges: Edge) -> HybridAutomaton:
    """x rises; in `a` up to the input u, in `b` from there on."""
    rises = (Constraint("x", Range.exactly(ONE)),)
    return HybridAutomaton(
        "fed",
        (Variable("x"),),
        (Location("a", rises, (), X <= U), Location("b", rises, (), X >= U - 9)),
        edges,
        (Initial("a", equal(X, -50)),),
        inputs=(Input("u", low=Fraction(-50), high=Fraction(50)),),
    )


@pytest.mark.parametrize(
    ("edges", "policy", "signals"),
    [
        (
            (Edge("a", "b", X >= U), Edge("b", "a", X <= U)),
            Policy(Switching.RANDOM, Level.RANDOM, dwell=1.0),
            {},
        ),
        (  # a last chance, to which the run goes back
            (Edge("a", "b", U >= 2, name="go"),),
            Policy(Switching.LATEST),
            {"u": Steps((0.0, 51.0), (2.0, 1.5))},
        ),
    ],
)
def test_inputs_and_ways_back_belong_to_an_instant(
    edges: tuple[Edge, ...], policy: Policy, signals: dict[str, Signal]
) -> None:
    ready = prepare(with_an_input(*edges), inputs=signals)
    scenario = Scenario.of(ready, 90.0, Adams(), policy, signals, Random(7))
    begun = begin(scenario, {}, None, {}, scenario.first_decisions())
    straight = follow(begun)
    assert straight.jumps
    saved = list(instants(begun))
    some = saved[:: len(saved) // 8 + 1]
    assert {repr(follow(now)) for now in some} == {repr(straight)}


def test_what_follows_changes_nothing_of_an_instant() -> None:
    saved = list(instants(first("platoon", Policy.random(), 1)))
    before = [(now.time, dict(now.values), dict(now.stay.enabled), now.past.work) for now in saved]
    follow(saved[0])
    assert [(n.time, dict(n.values), dict(n.stay.enabled), n.past.work) for n in saved] == before
    with pytest.raises(AttributeError):
        saved[0].time = 1.0  # type: ignore[misc]


def test_instants_share_their_past() -> None:
    """To keep all of them costs about as much as to keep the last."""
    saved = list(instants(first("thermostat_timer", Policy(), 0, until=20.0)))
    last = set(map(id, newest_first(saved[-1].past.events)))
    assert len(last) > 30
    assert all(set(map(id, newest_first(now.past.events))) <= last for now in saved)


def test_an_instant_of_a_long_run_can_be_shown() -> None:
    *_, last = instants(first("thermostat_timer", Policy(), 0, until=1000.0, whole=False))
    assert last.past.logged > 2000
    assert repr(last) == f"<t = {last.time:.10g} in `{last.place.name}`, {last.past!r}>"

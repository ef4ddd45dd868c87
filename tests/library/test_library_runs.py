"""Simulated runs of the library's models agree with the verdicts that are expected of them."""

from __future__ import annotations

from itertools import product

import pytest

from workbench.models.catalogue import Entry, Verdict, entries
from workbench.models.load import load
from workbench.models.trace import Ending
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.run import prepare, simulate

EVERY_POLICY = [Policy(when, which) for when, which in product(Switching, Level)]
EXPENSIVE = ("bumper_cars",)


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(e, marks=pytest.mark.slow if e.name in EXPENSIVE else (), id=e.name)
        for e in entries()
    ],
)
def test_no_run_violates_a_safe_property(entry: Entry) -> None:
    """Each way of resolving what the model leaves open, with two seeds."""
    automaton = load(entry.name).automaton
    until = 10.0 if automaton.horizon is None else min(30.0, float(automaton.horizon))
    prepared = prepare(automaton)
    safe = {e.name for e in entry.expectations if e.verdict is Verdict.SAFE}
    for seed, policy in product(range(2), EVERY_POLICY):
        run = simulate(prepared, until=until, policy=policy, seed=seed, dense=False)
        assert run.outcome.ending is not Ending.EMPTY_INITIAL
        violated = run.outcome.name if run.outcome.ending is Ending.VIOLATION else None
        assert violated not in safe, run.outcome.sentence


@pytest.mark.parametrize(
    ("name", "claim", "first", "last"),
    [
        ("arch_plaa01_tight", "BND24", 5, 20),
        ("battery_charger_deep", "healthy", 13, 320),
        ("bouncing_ball_lively", "never above its start", 2.3, 2.6),
        ("brusselator_tight", "y bounded", 2.5, 3.5),
        ("bumper_cars_ghosts", "no overlap", 8.8, 8.81),
        ("corridor_robot_crash", "crash", 2.9, 3.4),
        ("leaky_tank_low", "level between the marks", 1.82, 1.83),
        ("luminous_cell_loud", "signal bounded", 9, 15),
        ("platoon_figure10_late", "no early switch", 8.1996, 8.1998),
        ("spiral_cars", "cars apart", 9.802, 9.803),
        ("torricelli_tank_early", "lasts long enough", 1.99999, 2.00001),
        ("two_link_arm_stretched", "elbow bent", 0.3, 0.7),
        ("van_der_pol_tight", "y bounded", 6, 7),
    ],
)
def test_twins_fail_when_their_comments_say(
    name: str, claim: str, first: float, last: float
) -> None:
    """Runs from the lowest values; what is claimed fails within the stated times."""
    automaton = load(name).automaton
    policy = Policy(Switching.EARLIEST, Level.LOW)
    outcome = simulate(automaton, until=400.0, policy=policy, dense=False).outcome
    assert (outcome.ending, outcome.name) == (Ending.VIOLATION, claim)
    assert first <= outcome.time <= last


def test_saturated_platoon_collides_from_the_stated_state() -> None:
    automaton = load("platoon_saturated").automaton
    outcome = simulate(
        automaton,
        until=5.0,
        policy=Policy(level=Level.LOW),
        initial={"dist": 20, "velFirst": 15, "velOther": 25, "follower.acc": 0},
        dense=False,
    ).outcome
    assert (outcome.ending, outcome.name) == (Ending.VIOLATION, "no collision")
    assert outcome.time == pytest.approx(1.95, abs=0.01)


def test_unclamped_platoon_collides_driving_backwards() -> None:
    run = simulate(
        load("platoon_unclamped").automaton,
        until=10.0,
        policy=Policy(level=Level.LOW),
        initial={"dist": 20, "velFirst": 15, "velOther": 25, "follower.acc": 0},
    )
    assert (run.outcome.ending, run.outcome.name) == (Ending.VIOLATION, "no collision")
    assert run.outcome.time == pytest.approx(5.2, abs=0.02)
    end = dict(zip(run.segments[-1].flowing, run.segments[-1].final, strict=True))
    assert end["velFirst"] < 0 and end["velOther"] < 0


def test_nominal_platoon_comes_as_close_as_stated() -> None:
    """From the worst first state, with the front braking hard: 6.14 m."""
    run = simulate(
        load("platoon_standstill").automaton,
        until=20.0,
        policy=Policy(level=Level.LOW),
        initial={"dist": 20, "velFirst": 15, "velOther": 25, "follower.acc": 0},
    )
    ends = [s.final[s.flowing.index("dist")] for s in run.segments if "dist" in s.flowing]
    closest = min(ends)
    assert closest == pytest.approx(6.145, abs=0.005)

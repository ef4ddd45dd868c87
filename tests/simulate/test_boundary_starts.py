"""Conditions one part of which lies exactly on its boundary at the start, or after a reset."""

from __future__ import annotations

import math

import pytest

from workbench.models.automaton import (
    Constraint,
    Edge,
    EventKind,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    PropertyKind,
    Range,
    Variable,
)
from workbench.models.expressions.text import parse_expression as text
from workbench.models.trace import Ending, Trace
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams, Method, Taylor

BOTH = pytest.mark.parametrize("method", [Adams(), Taylor()], ids=["adams", "taylor"])


def flowing(place: str, x: str, y: str, invariant: str = "true") -> Location:
    rates = (("x", x), ("y", y))
    flows = tuple(Constraint(n, Range.exactly(text(rate))) for n, rate in rates)
    return Location(place, flows, invariant=text(invariant))


def started(
    start: str, *places: Location, edges: tuple[Edge, ...] = (), bad: str = "false"
) -> HybridAutomaton:
    return HybridAutomaton(
        "tested",
        (Variable("x"), Variable("y")),
        places,
        edges,
        (Initial(places[0].name, text(start)),),
        properties=(Property("bad", text(bad), PropertyKind.FORBIDDEN),),
    )


FORBIDDEN = {
    "turning back": ("1 - 2*time", "0", "x >= 0 && time >= 0.5", 0.5),
    "falling": ("-9.81", "x", "x <= 0 && y <= -1", math.sqrt(2 / 9.81)),
    "rising": ("1", "1", "x >= 0 && y >= 1", 1.0),
    "resting": ("0", "1", "x >= 0 && y >= 1", 1.0),
    "resting in a flow": ("0*y", "1", "x <= 0 && y >= 1", 1.0),
    "curved": ("sin(time)", "1", "x >= 0 && y >= 1", 1.0),
    "rooted": ("1", "1", "sqrt(1 + x) >= 1 && y >= 1", 1.0),
    "either": ("1", "1", "x >= 0 && y >= 1 || x <= -1", 1.0),
    "leaving": ("-1", "1", "x >= 0 && y >= 1", None),
    "strictly at rest": ("0*y", "1", "x > 0 && y >= 1", None),
    "at the start": ("-1", "1", "x >= 0 && y <= 0", 0.0),
}


@BOTH
@pytest.mark.parametrize("case", FORBIDDEN)
def test_violations_that_start_on_a_boundary(case: str, method: Method) -> None:
    """The part on its boundary counted as false for the whole first step."""
    x, y, bad, when = FORBIDDEN[case]
    model = started("x == 0 && y == 0", flowing("on", x, y), bad=bad)
    run = simulate(model, until=3.0, method=method)
    if when is None:
        assert run.outcome.ending is Ending.HORIZON
    else:
        assert run.outcome.ending is Ending.VIOLATION
        assert run.outcome.time == pytest.approx(when, abs=1e-6)


@BOTH
def test_violations_that_start_on_a_boundary_after_a_reset(method: Method) -> None:
    resets = (Constraint("x", Range.exactly(text("0"))), Constraint("y", Range.exactly(text("0"))))
    again = Edge("on", "on", text("y >= 2"), resets, urgent=True, name="again")
    place = flowing("on", "1", "1", "y <= 2")
    bad = "x >= 0 && x <= 1.5 && y >= 1 && time >= 2"
    run = simulate(
        started("x == 1 && y == 0", place, edges=(again,), bad=bad), until=5.0, method=method
    )
    assert run.outcome.ending is Ending.VIOLATION
    assert run.outcome.time == pytest.approx(3.0, abs=1e-6)


@BOTH
def test_crossing_guards_that_start_on_a_boundary(method: Method) -> None:
    """A ball that was at rest at the start fell through the floor."""
    bounce = Edge(
        "on",
        "on",
        text("x <= 0 && y <= 0"),
        (Constraint("y", Range.exactly(text("-0.5*y"))),),
        urgent=True,
        event=EventKind.CROSSING,
        name="bounce",
    )
    model = started("x == 5 && y == 0", flowing("on", "y", "-9.81"), edges=(bounce,))
    run = simulate(model, until=2.5, method=method)
    first, second = (e.time for e in run.jumps[:2])
    assert first == pytest.approx(math.sqrt(10 / 9.81), abs=1e-6)
    assert second == pytest.approx(2 * math.sqrt(10 / 9.81), abs=1e-5)


def urgently(start: str, x: str, guard: str, *, y: str = "0") -> Trace:
    leave = Edge("on", "off", text(guard), urgent=True, name="leave")
    model = started(start, flowing("on", x, y), flowing("off", "0", "0"), edges=(leave,))
    return simulate(model, until=3.0)


@pytest.mark.parametrize(
    ("guard", "taken"),
    [
        ("x <= 0", True),
        ("x < 0", False),
        ("x == 0", True),
        ("x <= 0 && y <= 0", True),
        ("x <= 0 && y > 0", False),
        ("x*x <= 0 || y >= 1", True),
        ("abs(x) <= 0", True),
        ("x <= y", True),
        ("x <= -1e-14", False),
    ],
)
def test_urgent_edges_enabled_at_the_start(guard: str, taken: bool) -> None:
    """The flow leaves the guard at once, but no time may pass while it holds."""
    run = urgently("x == 0 && y == 0", "1", guard)
    assert [e.time for e in run.jumps] == ([0.0] if taken else [])


def test_a_violation_comes_before_an_urgent_edge_at_the_start() -> None:
    leave = Edge("on", "off", text("x <= 0"), urgent=True, name="leave")
    places = flowing("on", "1", "0"), flowing("off", "0", "0")
    run = simulate(started("x == 0 && y == 0", *places, edges=(leave,), bad="x <= 0"), until=3.0)
    assert (run.outcome.ending, run.outcome.time) == (Ending.VIOLATION, 0.0)


def reset_to(value: str, guard: str, other: str = "y") -> Trace:
    """x runs from 1 to 5, is reset (with y), and goes on, unless an urgent edge is enabled."""
    resets = (
        Constraint("x", Range.exactly(text(value))),
        Constraint("y", Range.exactly(text(other))),
    )
    edges = (
        Edge("on", "off", text(guard), urgent=True, name="leave"),
        Edge("on", "on", text("x >= 5"), resets, urgent=True, name="reset"),
    )
    places = flowing("on", "1", "1", "x <= 5"), flowing("off", "0", "0")
    return simulate(started("x == 1 && y == 7", *places, edges=edges), until=6.0)


@pytest.mark.parametrize(
    ("value", "guard", "taken"),
    [
        ("0", "x <= 0", True),
        ("0", "x <= 0 && y >= 11.5", False),
        ("0", "x <= 0 && y >= 10.5", True),
        ("0", "x <= 0 && y != 5", True),
        ("-1", "x <= 0 && x >= -2", True),
        ("0.5", "x <= 0", False),
    ],
)
def test_urgent_edges_enabled_after_a_reset(value: str, guard: str, taken: bool) -> None:
    run = reset_to(value, guard)
    names = [e.name for e in run.jumps]
    assert names == (["reset", "leave"] if taken else ["reset"])
    assert [e.time for e in run.jumps] == pytest.approx([4.0] * len(names))


def test_what_an_event_left_inexact_enables_nothing_at_once() -> None:
    """A guard that was just reached, and is left by the flow, is not taken again because of a
    value that was reset beside it."""
    bounce = Edge(
        "on",
        "on",
        text("x <= 0 && y <= 100"),
        (Constraint("y", Range.exactly(text("0 - y"))),),
        urgent=True,
        name="bounce",
    )
    run = simulate(
        started("x == 1 && y == -1", flowing("on", "y", "0"), edges=(bounce,)), until=3.0
    )
    assert [e.time for e in run.jumps] == [pytest.approx(1.0)]
    assert run.outcome.ending is Ending.HORIZON


def test_an_edge_without_end_at_one_instant_is_a_livelock() -> None:
    again = Edge(
        "on", "on", text("x <= 0"), (Constraint("x", Range.exactly(text("0*x"))),), urgent=True
    )
    run = simulate(started("x == 0 && y == 0", flowing("on", "1", "0"), edges=(again,)), until=3.0)
    assert (run.outcome.ending, run.outcome.time) == (Ending.LIVELOCK, 0.0)

"""Taylor series at poles and at the edges of domains, which no series notices by itself."""

from __future__ import annotations

import math
from unittest.mock import patch

import pytest

from workbench.models.automaton import (
    Constraint,
    Edge,
    EventKind,
    HybridAutomaton,
    Initial,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.expression import TRUE, conjunction, equal, variable
from workbench.models.expressions.text import parse_expression
from workbench.models.trace import Ending, EventType, Trace
from workbench.simulate.run import simulate
from workbench.simulate.stepping import engine
from workbench.simulate.stepping.methods import Taylor


def run(flows: dict[str, tuple[str, str]], guard: str = "", until: float = 3.0) -> Trace:
    """Flows and starts of variables; at a guard everything comes to rest."""
    names = tuple(flows)
    moving = tuple(Constraint(n, Range.exactly(parse_expression(f))) for n, (f, _) in flows.items())
    rest = tuple(Constraint(n, Range.exactly(parse_expression("0"))) for n in names)
    start = conjunction(*(equal(variable(n), parse_expression(s)) for n, (_, s) in flows.items()))
    kind = EventKind.BILATERAL if guard.startswith("bilateral ") else EventKind.UNILATERAL
    edges = ()
    if guard:
        condition = parse_expression(guard.removeprefix("bilateral "))
        edges = (Edge("on", "off", condition, urgent=True, name="e", event=kind),)
    places = (Location("on", moving, (), TRUE), Location("off", rest, (), TRUE))
    automaton = HybridAutomaton(
        "tested", tuple(map(Variable, names)), places, edges, (Initial("on", start),)
    )
    return simulate(automaton, until=until, method=Taylor())


ENDS: dict[str, tuple[str, str, float]] = {
    "a tank runs empty": ("-sqrt(x)", "1", 2.0),
    "a power comes to rest": ("-x^(3/4)", "1", 4.0),
    "a power below the tolerance": ("-x^(9/10)", "1", 10.0),
    "a pole of the state": ("-1/x", "1", 0.5),
    "a pole of a high power": ("-1/x^3", "1", 0.25),
    "a pole of time": ("1/(1-time)", "0", 1.0),
    "a double pole of time": ("1/(1-time)^2", "0", 1.0),
    "a power of time": ("(1-time)^(-20)", "0", 1.0),
    "a tangent": ("tan(time)", "0", math.pi / 2),
    "an arc sine": ("1 + 0*asin(x)", "0", 1.0),
    "an arc cosine": ("acos(2*x - 1) - 2*time + 3*x", "1/2", 0.5),
    "a logarithm": ("-1 + 0*log(x)", "1", 1.0),
    "an explosion": ("x^2", "1", 1.0),
}


@pytest.mark.parametrize("name", ENDS)
def test_no_series_goes_beyond_the_end_of_the_solution(name: str) -> None:
    rate, start, end = ENDS[name]
    trace = run({"x": (rate, start)}, until=12.0)
    assert trace.outcome.ending in (Ending.NOT_FINITE, Ending.STEP_TOO_SMALL)
    if name != "an arc cosine":
        assert trace.end == pytest.approx(end, rel=1e-3)


@pytest.mark.parametrize("name", ENDS)
def test_the_compiled_core_ends_where_the_reference_does(name: str) -> None:
    rate, start, _ = ENDS[name]
    compiled = run({"x": (rate, start)}, until=12.0)
    with patch.object(engine, "_core", None):
        reference = run({"x": (rate, start)}, until=12.0)
    assert (reference.outcome, reference.counts) == (compiled.outcome, compiled.counts)


@pytest.mark.parametrize(
    ("rate", "start", "value"),
    [
        ("sqrt(x) + 1", "0", None),  # begins on the edge, and leads inside
        ("sqrt(time)", "0", 2 / 3 * 3**1.5),
        ("sqrt(x - 1) + 1", "1", None),
        ("sqrt(x)", "0", 0.0),  # rests on the edge
        ("1/(1 + time^2)", "0", math.atan(3)),
        ("sin(time - 3/2)/(time - 3/2)", "0", 2 * 1.3246835311721197),  # one point has no value
        ("log(1 + time)", "0", 4 * math.log(4) - 3),
    ],
)
def test_regular_flows_are_followed(rate: str, start: str, value: float | None) -> None:
    trace = run({"x": (rate, start)})
    assert trace.outcome.ending is Ending.HORIZON
    if value is not None:
        assert trace.at(3.0)["x"] == pytest.approx(value, rel=1e-5, abs=1e-5)


GAPS: dict[str, tuple[str, float]] = {
    "1/(1 + time^3)": (
        "0",
        math.log(4) / 3 - math.log(7) / 6 + (math.atan(5 / math.sqrt(3)) + math.pi / 6) / math.sqrt(3),
    ),
    "2 - x^3": ("0", 2 ** (1 / 3)),
    "2 - (x - 1)^5": ("1", 1 + 2 ** (1 / 5)),
}  # fmt: skip
"""Flows of whose series most terms are nothing, their starts, and where they are at time 3."""


@pytest.mark.parametrize("rate", GAPS)
def test_terms_that_are_nothing_tell_nothing_of_those_to_come(rate: str) -> None:
    start, value = GAPS[rate]
    compiled = run({"x": (rate, start)})
    assert compiled.at(3.0)["x"] == pytest.approx(value, rel=1e-5)
    with patch.object(engine, "_core", None):
        reference = run({"x": (rate, start)})
    assert (reference.final(), reference.counts) == (compiled.final(), compiled.counts)


LINE = {"x": ("0", "2"), "y": ("-1", "1")}


@pytest.mark.parametrize(
    ("flows", "guard", "time"),
    [
        (
            {"x": ("0.87*x - 0.89*y - 0.21", "-0.49"), "y": ("-0.51*x - 0.9*y - 0.88", "-0.19")},
            "x/(y + 0.39) > 1.5",
            0.863954,
        ),
        (
            {"x": ("0.737*x + 0.591*y - 0.809", "0.648"), "y": ("-0.421*x - 0.064*y - 0.984", "0.926")},
            "x/(y + 0.649) < 0.186",
            1.278003,
        ),
        ({"x": ("0.3*sin(time)", "2"), "y": ("-0.2", "1")}, "bilateral 1/(y + 0.689) < 0.573", 8.445),
        (LINE, "1/y < -1", 1.0),
        (LINE, "bilateral x/y < -1", 1.0),
        (LINE, "atan(1/y) < -1", 1.0),
        (LINE, "exp(-1/y) > 5", 1.0),
        (LINE, "1/y^3 <= -1/8", 1.0),
        (LINE, "log(y) <= -20", 1 - math.exp(-20)),
        (LINE, "log(y) + x <= -28", 1 - math.exp(-30)),
        (LINE, "tan(y + 1) > 0", 2 - math.pi / 2),
    ],
)  # fmt: skip
def test_guards_that_become_true_at_a_pole(
    flows: dict[str, tuple[str, str]], guard: str, time: float
) -> None:
    trace = run(flows, guard, until=12.0)
    jumps = [e.time for e in trace.events if e.type is EventType.JUMP]
    assert jumps == [pytest.approx(time, abs=1e-6)]


def test_a_guard_at_the_edge_is_found_every_time() -> None:
    condition = parse_expression("log(x) <= -20")
    place = Location("on", (Constraint("x", Range.exactly(parse_expression("-1"))),), (), TRUE)
    again = (Constraint("x", Range.exactly(parse_expression("1"))),)
    edge = Edge("on", "on", condition, again, urgent=True, name="e")
    begins = (Initial("on", equal(variable("x"), parse_expression("1"))),)
    automaton = HybridAutomaton("tested", (Variable("x"),), (place,), (edge,), begins)
    trace = simulate(automaton, until=5.5, method=Taylor())
    jumps = [e.time for e in trace.events if e.type is EventType.JUMP]
    assert jumps == [pytest.approx(k * (1 - math.exp(-20)), abs=1e-9) for k in range(1, 6)]

"""Flows that jump, bend or come to the edge of a domain, against their integrals."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.models.automaton import (
    TIME,
    Constraint,
    HybridAutomaton,
    Initial,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.expression import TRUE, Expression, equal, lookup, variable
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.expressions.text import parse_expression
from workbench.models.trace import Ending, Trace
from workbench.simulate.locking import HeldBranches, lock
from workbench.simulate.run import simulate
from workbench.simulate.stepping.calculator import Calculator
from workbench.simulate.stepping.methods import Adams, Method, Taylor

X, Y, T = variable("x"), variable("y"), variable(TIME)
METHODS: list[Method] = [Adams(), Taylor()]
POINTS = tuple(map(Fraction, ("0", "1", "1.01", "3", "4")))
VALUES = tuple((Fraction(v),) for v in (0, 5, 0, 2, 1))
LINES = Table("lines", (POINTS,), VALUES)
STEPS = Table("steps", (POINTS,), VALUES, Interpolation.PREVIOUS)
SHEET = Table(
    "sheet",
    ((Fraction(0), Fraction(1), Fraction(3)), (Fraction(-1), Fraction(2))),
    tuple((Fraction(a), Fraction(b)) for a, b in ((1, 2), (-3, 5), (4, 0))),
)


def run(rate: Expression | str, until: float, method: Method, start: str = "0") -> Trace:
    """x' = rate from a start."""
    flow = parse_expression(rate) if isinstance(rate, str) else rate
    place = Location("on", (Constraint("x", Range.exactly(flow)),), (), TRUE)
    begins = (Initial("on", equal(X, parse_expression(start))),)
    automaton = HybridAutomaton("tested", (Variable("x"),), (place,), (), begins)
    return simulate(automaton, until=until, method=method)


def harmonic(until: float) -> float:
    """Where s' = floor(s) + 1 leads from 0: the n-th unit takes 1 / n."""
    n = 1
    while until > 1 / n:
        until, n = until - 1 / n, n + 1
    return n - 1 + until * n


WAVES = 4 * 2 / 3 + (1 - math.cos(15 - 4 * math.pi)) / 3
ANGLES = sum(
    (3 * b * b / 2 - 2 * math.pi * k * b) - (3 * a * a / 2 - 2 * math.pi * k * a)
    for k, a, b in [
        (0, 0.0, math.pi / 3),
        (1, math.pi / 3, math.pi),
        (2, math.pi, 5 * math.pi / 3 if 5 * math.pi / 3 < 5 else 5.0),
    ]
)
FLOWS: dict[str, tuple[Expression | str, float]] = {
    "floor of time": ("floor(time/2)", 4.0),
    "short floors": ("floor(time + 0.01) - floor(time)", 0.05),
    "floor of the state": ("floor(x) + 1", harmonic(5.0)),
    "floor of both": ("floor(x + time)", harmonic(5.0) - 5.0),
    "steps": (lookup(STEPS, T), 3.05),
    "lines": (lookup(LINES, T), 7.015),
    "lines, beyond both ends": (lookup(LINES, 2 * T - 3), (6.015 + 3.0) / 2),
    "kinks and floors": ("abs(sin(3*time)) + max(0, time - 2.5) - floor(time/2)", WAVES - 0.875),
    "angle": ("atan2(sin(3*time), cos(3*time))", ANGLES),
    "angle without a cut": ("atan2(time - 2.5, 1)", 0.0),
    "angle of the origin": ("cos(atan2(0*time, 0*time))", 5.0),
    "root of a distance": ("sqrt(abs(time - 2.5))", 4 / 3 * 2.5**1.5),
    "power of a distance": ("abs(time - 2.5)^(1/3)", 3 / 2 * 2.5 ** (4 / 3)),
    "root of a positive part": ("sqrt(max(0, time - 2.5))", 2 / 3 * 2.5**1.5),
}


@pytest.mark.parametrize("method", METHODS, ids=["adams", "taylor"])
@pytest.mark.parametrize("name", FLOWS)
def test_integral(name: str, method: Method) -> None:
    rate, exact = FLOWS[name]
    trace = run(rate, 5.0, method)
    assert trace.outcome.ending is Ending.HORIZON
    assert trace.at(5.0)["x"] == pytest.approx(exact, rel=1e-5, abs=2e-5)


@pytest.mark.parametrize("method", METHODS, ids=["adams", "taylor"])
def test_starts_on_a_break_go_either_way(method: Method) -> None:
    assert run("floor(x)", 0.5, method, "1").at(0.5)["x"] == pytest.approx(1.5, abs=1e-8)
    down = run("-floor(x) - 1", 0.5, method, "2")  # -3 at once, and -2 below 2
    assert down.at(0.5)["x"] == pytest.approx(1.0, abs=1e-6)
    falling = run(-1 - lookup(STEPS, X), 0.01, method, "1.01")  # -1, and -6 below the break
    assert falling.at(0.01)["x"] == pytest.approx(1.0 - (0.01 - 0.01 / 6), abs=1e-7)


@pytest.mark.parametrize("method", METHODS, ids=["adams", "taylor"])
def test_steps_that_lead_onto_each_other_chatter(method: Method) -> None:
    trace = run("-2*floor(x) - 1", 3.0, method, "1/2")
    assert trace.outcome.ending is Ending.CHATTERING and trace.end == pytest.approx(0.5, abs=1e-6)


@given(st.floats(-2, 5), st.floats(-3, 4), st.floats(-2, 5), st.floats(-3, 4))
def test_pieces_of_tables_equal_them_in_their_cells(a: float, b: float, x: float, y: float) -> None:
    """The piece held at (a, b) is the table wherever no condition has changed."""
    for table, node in ((LINES, lookup(LINES, X)), (SHEET, lookup(SHEET, X, Y))):
        locked = lock({"f": node}, ["x", "y"])
        held = HeldBranches(locked, {}, {})
        here, there = {TIME: 0.0, "x": a, "y": b}, {TIME: 0.0, "x": x, "y": y}
        pieces = held(here)
        assert not any(pieces[f"branch {k}"] for k in range(len(locked.conditions)))
        found = Calculator([locked.flows["f"], *locked.conditions], {}, {})(pieces | there)
        if not any(found[1:]):
            exact = table(*(Fraction(there[n]) for n in ("x", "y")[: table.dimension]))
            assert found[0] == pytest.approx(float(exact), abs=1e-9)

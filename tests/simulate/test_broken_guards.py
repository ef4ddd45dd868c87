"""Guards that jump, bend, or have no value everywhere, on the way x = t: when they first hold is
known from their formulas."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from workbench.models.automaton import EventKind
from workbench.models.expressions.expression import Expression, equal, lookup, variable
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.expressions.text import parse_expression as parse
from workbench.simulate.stepping import engine
from workbench.simulate.stepping.methods import Adams, Method, Taylor
from workbench.simulate.stepping.program import Program, Watched, compile_program
from workbench.simulate.stepping.reference import core as reference
from workbench.simulate.stepping.stretch import Stop, Stretch

X = variable("x")
METHODS: list[Method] = [Adams(), Taylor(), Adams(rtol=1e-9, atol=1e-12)]
NEVER = math.inf


def table(pairs: dict[str, int], how: Interpolation = Interpolation.LINEAR) -> Table:
    points = tuple(map(Fraction, pairs))
    return Table("t", (points,), tuple((Fraction(v),) for v in pairs.values()), how)


HILL = lookup(table({"0": 0, "2": 5, "4": 0}), X)
PEAK = lookup(table({"0": 0, "1": 0, "1.005": 5, "1.01": 0, "4": 1}), X)
STEPS = lookup(table({"0": 0, "1": 5, "1.01": 0, "3": 2}, Interpolation.PREVIOUS), X)
TRIANGLES = lookup(table({"0": 0, "1": 1, "2": 0, "3": 1, "4": 0}), X)
SHEET = lookup(
    Table(
        "sheet",
        ((Fraction(0), Fraction(1), Fraction(2)), (Fraction(0), Fraction(3))),
        tuple((Fraction(a), Fraction(b)) for a, b in ((0, 0), (4, 0), (0, 0))),
    ),
    X,
    X / 2,
)  # 4 x (1 - x / 6) up to x = 1

GUARDS: dict[str, tuple[Expression, float]] = {
    "up a hill": (HILL >= 4, 1.6),
    "down a hill": ((HILL <= 4) & (X >= 2), 2.4),
    "a peak": (PEAK >= Fraction(9, 2), 1.0045),
    "a step up": (STEPS >= 4, 1.0),
    "a step down": ((STEPS <= 4) & parse("x >= 1.005"), 1.01),
    "a later step": (equal(STEPS, 2), 3.0),
    "two coordinates": (SHEET >= 3, 3 - math.sqrt(9 - 4.5)),
    "no step so high": (STEPS >= 6, NEVER),
    "bends and a slab": ((TRIANGLES >= Fraction(1, 2)) & parse("abs(x - 2.75) <= 0.1"), 2.65),
    "floor": (parse("floor(x) >= 2"), 2.0),
    "cut from above": (parse("atan2(2 - x, -1) <= -3"), 2.0),
    "cut from below": (parse("atan2(x - 2, -1) >= 3"), 2.0),
    "whole turn": (parse("atan2(sin(x), cos(x)) <= -3.1"), math.pi),
    "no cut on the right": (parse("atan2(x - 2, 1) >= 3"), NEVER),
    "root begins": (parse("sqrt(x - 2) <= 0.5"), 2.0),
    "root begins and rises": (parse("sqrt(x - 2) >= 0.5"), 2.25),
    "root equals": (equal(parse("sqrt(x - 2)"), parse("0.5")), 2.25),
    "root and slab": (parse("sqrt(x - 2) >= 0 && x < 2.5"), 2.0),
    "short root": (parse("sqrt(1e-8 - (x - 2)^2) >= 0"), 1.9999),
    "cube root begins": (parse("(x - 2)^(1/3) <= 0.01"), 2.0),
    "logarithm begins": (parse("log(x - 2) < -3"), 2.0),
    "arc sine begins": (parse("asin(x - 2) <= -0.5"), 1.0),
    "arc cosine begins": (parse("acos(x - 3) > 3"), 2.0),
    "arc sine never": (parse("asin(x + 2) <= 5"), NEVER),
    "pole": (parse("1/(x - 2) >= 100"), 2.0),
    "steep pole": (parse("1/(x - 2) >= 1e6"), 2.0),
    "quotient": (parse("x/(x - 2) >= 30"), 2.0),
    "before the pole": (parse("1/(x - 2) <= -100"), 1.99),
    "tangent": (parse("tan(x) <= -1000"), math.pi / 2),
    "high power": (parse("(x - 2)^18 <= 1e-18"), 1.9),
}


def program(guard: Expression, kind: EventKind, touch: bool) -> Program:
    return compile_program(
        flowing=["x"], held=[], flows=[parse("1")], watches=[Watched(guard, kind, False, touch)]
    )


def stretches(compiled: Program, method: Method, until: float = 5.0) -> list[Stretch]:
    return [
        engine.advance(compiled, method, 0.0, [0.0], [], until, [0]),
        reference.advance(compiled, method, 0.0, [0.0], [], until, [0]),
    ]


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("kind", list(EventKind))
@pytest.mark.parametrize("name", GUARDS)
def test_first_time(name: str, kind: EventKind, method: Method) -> None:
    guard, due = GUARDS[name]
    for found in stretches(program(guard, kind, True), method):
        if due == NEVER:
            assert found.stop is Stop.END
        else:
            assert found.stop is Stop.EVENT and found.t == pytest.approx(due, abs=3e-6)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize(
    "name", ["a step up", "cut from above", "root begins", "pole", "tangent", "floor"]
)
def test_edges_are_taken_where_their_guards_hold(name: str, method: Method) -> None:
    """A guard that jumps holds on one side only; what is no edge stays on the other."""
    guard, due = GUARDS[name]
    for found in stretches(program(guard, EventKind.UNILATERAL, True), method):
        assert due <= found.t <= due + 1e-13 and found.values[0] >= 0.0
        assert found.times[-1] == found.t and found.x[0] == pytest.approx(found.t, abs=1e-15)
    for found in stretches(program(guard, EventKind.UNILATERAL, False), method):
        assert due - 1e-13 <= found.t <= due and not found.values[0] > 0.0

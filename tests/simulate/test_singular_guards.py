"""Error control before guards at which a derivative of the flow is not finite."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import pytest

from workbench.models.automaton import EventKind
from workbench.models.expressions.expression import (
    Expression,
    Op,
    constant,
    divide,
    function,
    variable,
)
from workbench.simulate.stepping.engine import advance
from workbench.simulate.stepping.methods import Adams, Method, Taylor
from workbench.simulate.stepping.program import compile_program
from workbench.simulate.stepping.stretch import Stop, Stretch

X, Y = variable("x"), variable("y")
LEFT = 5 - X
SQRT, LOG = function(Op.SQRT, LEFT), function(Op.LOG, LEFT)

# y' as a function of x = t, and the integral of it from 0 to the guard at x = 5.
INTEGRALS = {
    "square root": (SQRT, 2 / 3 * 5**1.5),
    "cube root": (function(Op.EXP, LOG / 3), 3 / 4 * 5 ** (4 / 3)),
    "three halves": (LEFT * SQRT, 2 / 5 * 5**2.5),
    "logarithm": (LOG, 5 * math.log(5) - 5),
    "pole": (divide(1, SQRT), 2 * 5**0.5),
    "arc": (function(Op.ACOS, X / 5), 5.0),
}


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("name", INTEGRALS)
@pytest.mark.parametrize("method", [Adams, Taylor])
def test_tolerance_holds_at_the_guard(method: type[Adams | Taylor], name: str, rtol: float) -> None:
    """Before: 100 to 1000 times the tolerance with Adams, whose estimate looks back only."""
    rate, exact = INTEGRALS[name]
    found = _stretch([constant(1), rate], X >= 5, method(rtol=rtol, atol=rtol / 1000))
    assert found.stop is Stop.EVENT and found.t == pytest.approx(5.0, abs=1e-9)
    assert found.x[1] == pytest.approx(exact, rel=20 * rtol)
    assert found.counts.beyond == 0 and found.counts.singular == 0


def test_hand_of_an_arm_leaves_its_workspace_cheaply() -> None:
    """Angle and root of the workspace end at radius 2, with derivatives that are not finite."""
    random, square = Random(3), X * X + Y * Y
    elbow = function(Op.ACOS, (square - 2) / 2)
    for _ in range(50):
        speed = Fraction(random.randint(50, 150), 100)
        flows = [speed * (1 + elbow / 10), function(Op.SQRT, 4 - square) / 5]
        start = (0.5, random.uniform(-0.5, 0.5))
        found = _stretch(flows, square >= 4, Adams(1e-4, 1e-6), start)
        tight = _stretch(flows, square >= 4, Taylor(1e-11, 1e-13), start)
        assert found.t == pytest.approx(tight.t, rel=5e-4)
        assert found.counts.evaluations <= 60
        assert found.counts.beyond == 0 and found.counts.singular == 0


def test_smooth_flows_are_not_measured() -> None:
    """A flow that is smooth everywhere costs two evaluations for each step, as ever."""
    smooth = _stretch([constant(1), function(Op.COS, X)], X >= 5, Adams())
    tame = _stretch([constant(1), divide(function(Op.COS, X), X + 20)], X >= 5, Adams())
    for found, more in ((smooth, 0), (tame, 6)):
        tries = found.counts.steps + found.counts.rejected
        assert found.counts.evaluations <= 6 + 1 + found.counts.steps + tries + more


def test_dense_output_is_continuous_where_errors_were_measured() -> None:
    found = _stretch([constant(1), SQRT], X >= 5, Adams())
    place, before = 0, None
    for i, degree in enumerate(found.degrees):
        rows = found.coefficients[place : place + 2 * (degree + 1)]
        place += 2 * (degree + 1)
        c, h = rows[degree + 1 :], found.times[i + 1] - found.times[i]
        if before is not None:
            assert c[0] == pytest.approx(before, rel=1e-12)
        before = sum(a * h**k for k, a in enumerate(c))
    assert before == pytest.approx(found.x[1], rel=1e-12)


def test_time_of_an_event_that_hangs_on_a_root() -> None:
    """A body falls as sqrt: z' = -sqrt(5 - x) reaches -7 where (5 - x)^1.5 = 5^1.5 - 10.5."""
    guard = (X >= 5) | (Y <= -7)
    found = _stretch([constant(1), -SQRT], guard, Adams(rtol=1e-6, atol=1e-9))
    exact = 5 - (5**1.5 - Fraction(21, 2)) ** (2 / 3)
    assert found.t == pytest.approx(exact, rel=1e-5)


def _stretch(
    flows: list[Expression],
    guard: Expression,
    method: Method,
    start: tuple[float, float] = (0.0, 0.0),
) -> Stretch:
    program = compile_program(
        flowing=["x", "y"], held=[], flows=flows, watches=[(guard, EventKind.UNILATERAL)]
    )
    return advance(program, method, 0.0, start, [], 100.0, [0])

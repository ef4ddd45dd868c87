"""Ranges of expressions against samples; the compiled core is compared elsewhere."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.expressions.expression import (
    Expression,
    add,
    conditional,
    constant,
    divide,
    function,
    lookup,
    maximum,
    minimum,
    multiply,
    power,
    subtract,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.table import Interpolation, Table
from workbench.simulate.stepping.calculator import Calculator
from workbench.simulate.stepping.reference.interval import enclose
from workbench.simulate.stepping.tape import TapeBuilder

X, Y = variable("x"), variable("y")
SMALL = st.fractions(-3, 3, max_denominator=8)
LINE = Table("l", (tuple(map(Fraction, (-2, 0, 1))),), ((0,), (4,), (-1,)))  # type: ignore[arg-type]
STEPS = Table(
    "s",
    ((Fraction(-1), Fraction(1)),),
    ((Fraction(3),), (Fraction(5),)),
    Interpolation.PREVIOUS,
)
UNARY = [
    Op.SIN,
    Op.COS,
    Op.TAN,
    Op.ATAN,
    Op.ASIN,
    Op.ACOS,
    Op.EXP,
    Op.LOG,
    Op.SQRT,
    Op.ABSOLUTE,
    Op.SIGN,
    Op.FLOOR,
]


def expressions() -> st.SearchStrategy[Expression]:
    leaves = st.sampled_from([X, Y]) | SMALL.map(constant)

    def grow(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        pairs = st.tuples(inner, inner)
        return st.one_of(
            pairs.map(lambda p: add(*p)),
            pairs.map(lambda p: subtract(*p)),
            pairs.map(lambda p: multiply(*p)),
            pairs.map(lambda p: minimum(*p)),
            pairs.map(lambda p: maximum(*p)),
            pairs.map(lambda p: divide(*p)),
            pairs.map(lambda p: function(Op.ATAN2, *p)),
            st.tuples(st.sampled_from(UNARY), inner).map(lambda p: function(*p)),
            inner.map(lambda e: lookup(LINE, e)),
            inner.map(lambda e: lookup(STEPS, e)),
            inner.map(lambda e: power(e, 3)),
            inner.map(lambda e: power(e, Fraction(3, 2))),
            st.tuples(inner, inner, inner).map(lambda p: conditional(p[0] <= p[1], p[1], p[2])),
        )

    return st.recursive(leaves, grow, max_leaves=8)


@settings(max_examples=300)
@given(
    expressions(), st.floats(-4, 4), st.floats(0, 3), st.floats(-4, 4), st.floats(0, 3), st.data()
)
def test_samples_lie_in_the_range(
    e: Expression, x: float, dx: float, y: float, dy: float, data: st.DataObject
) -> None:
    builder = TapeBuilder(["x", "y"], [])
    tape = builder.tape(e)
    low = [0.0] * builder.count
    for register, value in builder.constants.items():
        low[register] = value
    high = list(low)
    low[1], high[1], low[2], high[2] = x, x + dx, y, y + dy
    gaps = [False] * builder.count
    enclose(tape.instructions, low, high, gaps, builder.tables)
    found = low[tape.outputs[0]], high[tape.outputs[0]]
    calculate = Calculator([e], {}, {})
    for _ in range(5):
        u, v = data.draw(st.floats(0, 1)), data.draw(st.floats(0, 1))
        value = calculate({"x": x + u * dx, "y": y + v * dy})[0]
        if value == value:
            slack = 1e-9 * (1.0 + abs(value))
            assert found[0] - slack <= value <= found[1] + slack, (str(e), u, v)


ROOT = power(X, Fraction(3, 2))


@pytest.mark.parametrize(
    "e",
    [
        conditional(constant(-2) <= ROOT, ROOT, X),
        conditional(ROOT < constant(-2), constant(7), X),
        maximum(ROOT, constant(-5)),
        minimum(function(Op.LOG, X), constant(50)),
    ],
    ids=str,
)
def test_what_has_no_value_somewhere_decides_nothing_there(e: Expression) -> None:
    """Of x in [-1, 4] a root or logarithm exists only in part; the rest counts, too."""
    builder = TapeBuilder(["x"], [])
    tape = builder.tape(e)
    low = [0.0] * builder.count
    for register, value in builder.constants.items():
        low[register] = value
    high = list(low)
    low[1], high[1] = -1.0, 4.0
    enclose(tape.instructions, low, high, [False] * builder.count, builder.tables)
    calculate = Calculator([e], {}, {})
    for k in range(11):
        value = calculate({"x": k / 2 - 1})[0]
        if value == value:
            assert low[tape.outputs[0]] <= value <= high[tape.outputs[0]]


@pytest.mark.parametrize(
    ("e", "low", "high"),
    [
        (function(Op.SIN, X), 0.0, 1.0),
        (function(Op.COS, X), -1.0, 1.0),
        (X * X - X, -3.2, 10.24),
        (function(Op.SQRT, X), 0.0, 3.2**0.5),
    ],
    ids=str,
)
def test_ranges_on_zero_to_just_over_pi(e: Expression, low: float, high: float) -> None:
    builder = TapeBuilder(["x"], [])
    tape = builder.tape(e)
    lows = [0.0] * builder.count
    highs = list(lows)
    highs[1] = 3.2
    enclose(tape.instructions, lows, highs, [False] * builder.count, builder.tables)
    assert lows[tape.outputs[0]] == pytest.approx(low, abs=0.06)
    assert highs[tape.outputs[0]] == pytest.approx(high, abs=0.06)

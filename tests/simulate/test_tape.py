"""The tape against exact evaluation, and its Taylor series against the functions."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.expressions.evaluation import EvaluationError, evaluate
from workbench.models.expressions.expression import (
    Expression,
    add,
    conditional,
    constant,
    divide,
    external,
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
from workbench.models.source import ModelError
from workbench.simulate.stepping.calculator import Calculator
from workbench.simulate.stepping.reference.tape import execute, extend_series, sensitivity
from workbench.simulate.stepping.tape import TapeBuilder

X, Y = variable("x"), variable("y")
SMALL = st.fractions(-3, 3, max_denominator=8)


def expressions() -> st.SearchStrategy[Expression]:
    leaves = st.sampled_from([X, Y]) | SMALL.map(constant)

    def grow(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        pairs = st.tuples(inner, inner)
        unary = st.sampled_from([Op.SIN, Op.COS, Op.ATAN, Op.ABSOLUTE, Op.FLOOR, Op.SIGN])
        return st.one_of(
            pairs.map(lambda p: add(*p)),
            pairs.map(lambda p: subtract(*p)),
            pairs.map(lambda p: multiply(*p)),
            pairs.map(lambda p: minimum(*p)),
            pairs.map(lambda p: maximum(*p)),
            pairs.map(lambda p: divide(*p)),
            st.tuples(unary, inner).map(lambda p: function(*p)),
            st.tuples(inner, st.integers(2, 4)).map(lambda p: power(p[0], p[1])),
            st.tuples(inner, inner, inner).map(lambda p: conditional(p[0] <= p[1], p[1], p[2])),
        )

    return st.recursive(leaves, grow, max_leaves=12)


@given(expressions(), SMALL, SMALL)
def test_values_agree_with_exact_evaluation(e: Expression, x: Fraction, y: Fraction) -> None:
    try:
        expected = float(evaluate(e, {"x": x, "y": y}))
    except EvaluationError:
        return
    found = Calculator([e], {}, {})({"x": float(x), "y": float(y)})[0]
    jumps = any(n in str(e) for n in ("floor", "sign", "<=", "/"))
    if jumps and not math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9):
        return  # a rounding error on the edge of a jump or next to a pole
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_common_parts_are_computed_once() -> None:
    builder = TapeBuilder(["x"], [])
    square = X * X
    tape = builder.tape(square + 1, function(Op.SIN, X * X) + square)
    assert sum(i[0] == 2 for i in tape.instructions) == 1


def test_long_sums_need_no_recursion() -> None:
    total = add(*(variable("x") * Fraction(i, 7) for i in range(1, 5_000)))
    value = Calculator([total], {}, {})({"x": 1.0})[0]
    assert value == pytest.approx(sum(range(1, 5_000)) / 7)


def test_unknown_names_are_diagnostics() -> None:
    with pytest.raises(ModelError, match="no value here"):
        TapeBuilder(["x"], []).tape(Y)


def test_undefined_operations_are_not_numbers() -> None:
    root, log, pole = function(Op.SQRT, X), function(Op.LOG, X), divide(1, X)
    assert math.isnan(Calculator([root], {}, {})({"x": -1.0})[0])
    assert Calculator([log, pole], {}, {})({"x": 0.0}) == [-math.inf, math.inf]


STEP = Table(
    "s", ((Fraction(0), Fraction(1)),), ((Fraction(3),), (Fraction(5),)), Interpolation.PREVIOUS
)
LINE = Table("l", ((Fraction(0), Fraction(2)),), ((Fraction(0),), (Fraction(4),)))
PLANE = Table(
    "p",
    ((Fraction(0), Fraction(2)), (Fraction(0), Fraction(1), Fraction(3))),
    (
        (Fraction(0), Fraction(1), Fraction(2)),
        (Fraction(5), Fraction(-1), Fraction(4)),
    ),
)


@given(st.fractions(-1, 4, max_denominator=16), st.fractions(-1, 4, max_denominator=16))
def test_tables(x: Fraction, y: Fraction) -> None:
    cells = [lookup(STEP, X), lookup(LINE, X), lookup(PLANE, X, Y)]
    exact = [STEP(x), LINE(x), PLANE(x, y)]
    found = Calculator(cells, {}, {})({"x": float(x), "y": float(y)})
    assert found == pytest.approx([float(v) for v in exact])


SMOOTH = [
    function(Op.SIN, X * X + 1),
    function(Op.COS, 2 * X),
    function(Op.TAN, X * Fraction(1, 2)),
    function(Op.EXP, -X) * X,
    function(Op.LOG, X + 2),
    function(Op.SQRT, X + 2),
    function(Op.ASIN, X * Fraction(1, 4)),
    function(Op.ACOS, X * Fraction(1, 4) - Fraction(1, 8)),
    function(Op.ATAN, X * X - X),
    function(Op.ATAN2, X + 1, 2 - X * X * Fraction(1, 4)),
    divide(X + 1, X * X + 2),
    power(X + 2, Fraction(7, 3)),
    power(X + 2, -3),
    power(X, 5),
    maximum(X + 1, -X - 2),
    lookup(PLANE, X + Fraction(1, 2), X + Fraction(1, 4)),
]


@pytest.mark.parametrize("e", SMOOTH, ids=str)
def test_series_reproduce_the_function(e: Expression) -> None:
    """Taylor coefficients at 0.2 sum to the value at 0.2 + h, and are exact derivatives."""
    builder = TapeBuilder(["x"], [])
    tape = builder.tape(e)
    at, h, order = 0.2, 0.05, 16
    registers = [0.0] * builder.count
    for register, value in builder.constants.items():
        registers[register] = value
    series = [[r, *([0.0] * 24)] for r in registers]
    series[1][0], series[1][1] = at, 1.0
    for k in range(order):
        extend_series(tape.instructions, series, k, builder.tables, (), builder.degrees)
    total = sum(series[tape.outputs[0]][k] * h**k for k in range(order))
    expected = Calculator([e], {}, {})({"x": at + h})[0]
    assert total == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("e", SMOOTH, ids=str)
def test_sensitivity_is_the_slope(e: Expression) -> None:
    builder = TapeBuilder(["x"], [])
    tape = builder.tape(e)
    registers = [0.0] * builder.count
    for register, value in builder.constants.items():
        registers[register] = value
    registers[1] = 0.3
    execute(tape.instructions, registers, builder.tables, ())
    spread, noise = [0.0] * builder.count, [0.0] * builder.count
    spread[1] = 1e-6
    sensitivity(tape.instructions, registers, spread, noise, builder.tables)
    calculate = Calculator([e], {}, {})
    slope = (calculate({"x": 0.3 + 1e-6})[0] - calculate({"x": 0.3 - 1e-6})[0]) / 2
    assert spread[tape.outputs[0]] >= abs(slope) * 0.999


def test_externals_are_called_with_all_arguments() -> None:
    e = external("f", X, Y + 1) * 2
    assert Calculator([e], {}, {"f": lambda a, b: a - b})({"x": 5.0, "y": 1.0}) == [6.0]


@settings(max_examples=30)
@given(st.lists(SMALL, min_size=1, max_size=4))
def test_degrees_are_those_of_polynomials(values: list[Fraction]) -> None:
    builder = TapeBuilder(["x"], ["y"])
    e = add(*(power(X, i + 1) * (v or 1) for i, v in enumerate(values))) * Y
    tape = builder.tape(e, function(Op.SIN, X))
    assert builder.degrees[tape.outputs[0]] == len(values)
    assert builder.degrees[tape.outputs[1]] == 99

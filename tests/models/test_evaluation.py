from __future__ import annotations

import math
import operator
from fractions import Fraction

import pytest
from expression_strategies import GRID, LINE, STEPS, constants, number, variables
from hypothesis import given
from hypothesis import strategies as st

from workbench.models.expressions.evaluation import (
    EvaluationError,
    evaluate,
    evaluate_number,
    exact_operation,
    holds,
)
from workbench.models.expressions.expression import (
    Expression,
    at_location,
    conditional,
    conjunction,
    disjunction,
    divide,
    equal,
    external,
    function,
    lookup,
    power,
    symbol,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.text import parse_expression

F = Fraction
x, y = variable("x"), variable("y")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1/3 + 1/6", F(1, 2)),
        ("x^3 - 2*x/7", F(21, 8) + F(9, 8) - F(3, 7) - F(3, 8)),
        ("x^-2", F(4, 9)),
        ("(x - x)^0", F(1)),
        ("sqrt(x + 3/4)", F(3, 2)),
        ("(27/8)^(2/3) + 0*x", F(9, 4)),
        ("abs(-x) + sign(-x) + floor(-x)", F(3, 2) - 1 - 2),
        ("min(x, 1) + max(x, 7)", F(8)),
        ("exp(x - x) + sin(0*x) + cos(0*x) + log(x/x) + atan2(0*x, x)", F(2)),
        ("x > 1 ? 10 : 1/(x - x)", F(10)),
        ("(1 + x/10^30)^3 - 1 > 0 ? 1 : 0", F(1)),
    ],
)
def test_exact_results(text: str, expected: Fraction) -> None:
    found = evaluate(parse_expression(text), {"x": F(3, 2)})
    assert type(found) is Fraction
    assert found == expected


@pytest.mark.parametrize("op", sorted({"sin", "cos", "tan", "exp", "log", "asin", "acos", "atan"}))
def test_transcendental_functions_are_those_of_the_platform(op: str) -> None:
    for at in (F(1, 3), 0.7):
        found = evaluate(function(Op(op), x), {"x": at})
        assert type(found) is float
        assert found == pytest.approx(getattr(math, op)(float(at)), rel=1e-15)
    both = evaluate(function(Op.ATAN2, x, y), {"x": F(1), "y": F(-2)})
    assert both == math.atan2(1, -2)


def test_large_numbers_keep_their_logarithm() -> None:
    big = function(Op.LOG, x)
    assert evaluate(big, {"x": F(10) ** 1000}) == pytest.approx(1000 * math.log(10))
    assert evaluate(big, {"x": 1 + F(1, 10**30)}) == pytest.approx(1e-30)


def test_conditions() -> None:
    assert holds(conjunction(x <= 1, equal(variable("m"), symbol("red"))), {"x": 1, "m": "red"})
    assert not holds(equal(variable("b"), x <= 1), {"b": True, "x": 2})
    assert holds(variable("b"), {"b": True})
    place = at_location("car", "drive")
    assert holds(place, {}, occupied={"car": "drive"})
    assert not holds(place, {}, occupied={"car": "stop"})


def test_evaluation_goes_only_as_far_as_needed() -> None:
    inverse = divide(1, x)
    zero = {"x": F(0)}
    assert not holds(conjunction(x > 0, inverse > 1), zero)
    assert holds(disjunction(x <= 0, inverse > 1), zero)
    assert evaluate(conditional(x > 0, inverse, 7), zero) == 7
    with pytest.raises(EvaluationError):
        holds(conjunction(inverse > 1, x > 0), zero)
    calls: list[object] = []
    guarded = conditional(x > 0, external("f", x), 0)
    assert evaluate(guarded, zero, {"f": calls.append}) == 0
    assert not calls


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1/(x - x)", "division by zero"),
        ("(x - x)^-1", "negative power"),
        ("(-x)^0.5", "fractional power"),
        ("sqrt(-x)", "square root"),
        ("log(x - x)", "logarithm"),
        ("log(-x)", "logarithm"),
        ("asin(x + 1)", "outside"),
        ("exp(1000*x)", "range"),
        ("10^(10^9*x)", "large"),
        ("unknown + x", "no value is given"),
        ("f(x)", "no function is given"),
        ("x + (x < 1)", "a number is needed"),
        ("x && x < 1", "a truth value is needed"),
        ("x == red", "cannot be compared"),
        ('at("car", "drive")', "where the component is"),
        ("forall i in 1..3 : x > i", "no value"),
        ("exp(x)*10^400", "range"),
    ],
)
def test_what_has_no_value_is_named(text: str, words: str) -> None:
    expression = parse_expression(text, symbols={"red"}, externals={"f"})
    with pytest.raises(EvaluationError, match=words) as caught:
        evaluate(expression, {"x": F(2)})
    assert isinstance(caught.value.expression, Expression)


def test_the_part_to_blame_is_named() -> None:
    with pytest.raises(EvaluationError) as caught:
        evaluate(parse_expression("1 + sin(2/(x - 1))"), {"x": 1})
    assert caught.value.expression == parse_expression("2/(x - 1)")


def test_external_functions() -> None:
    call = external("hypot", x, y)
    assert evaluate(call, {"x": 3, "y": 4}, {"hypot": math.hypot}) == 5.0
    assert evaluate(external("n"), {}, {"n": lambda: 3}) == F(3)
    with pytest.raises(EvaluationError, match="ZeroDivisionError"):
        evaluate(external("bad"), {}, {"bad": lambda: 1 // 0})
    for strange in (math.nan, math.inf, None, [1]):
        with pytest.raises(EvaluationError):
            evaluate(external("bad"), {}, {"bad": lambda value=strange: value})


def test_values_must_be_finite_numbers() -> None:
    with pytest.raises(EvaluationError):
        evaluate(x + 1, {"x": math.nan})
    with pytest.raises(EvaluationError):
        evaluate(x * x, {"x": 1e200})
    with pytest.raises(EvaluationError):
        evaluate_number(x, {"x": True})


def test_tables() -> None:
    assert evaluate(lookup(LINE, x), {"x": F(1)}) == F(3) - F(4) / 3
    assert [evaluate(lookup(LINE, x), {"x": v}) for v in (-9, -1, 2, 9)] == [0, 0, -1, -1]
    assert [evaluate(lookup(STEPS, x), {"x": F(v)}) for v in ("-1", "0.99", "1", "5")] == [
        2,
        2,
        5,
        5,
    ]
    # Bilinear: halfway between the four corners of the first cell.
    middle = evaluate(lookup(GRID, x, y), {"x": F(1, 2), "y": F(1, 2)})
    assert middle == (F(0) + 1 + 2 - 3) / 4
    assert evaluate(lookup(LINE, x), {"x": 0.5}) == 3.0
    assert type(evaluate(lookup(LINE, x), {"x": 0.5})) is float


@given(
    number(
        ("add", "multiply", "subtract", "negative", "scaled", "square", "min", "max", "abs"),
        constants | variables,
    ),
    st.fractions(-5, 5, max_denominator=9),
)
def test_exact_arithmetic_agrees_with_a_direct_reading_of_the_text(
    expression: Expression, at: Fraction
) -> None:
    """An independent evaluator: Python's own operators, applied node by node."""
    values = dict.fromkeys(
        ("x", "y", "x'", "follower.acc", "car[3].x", "vel[-1]", "min", "in", "time"), at
    )

    def read(node: Expression) -> Fraction:
        args = [read(arg) for arg in node.args]
        match node.op:
            case Op.CONSTANT:
                return node.constant
            case Op.VARIABLE:
                return at
            case Op.ADD:
                return sum(args, F(0))
            case Op.MULTIPLY:
                return math.prod(args, start=F(1))
            case Op.POWER:
                return operator.pow(args[0], int(args[1]))
            case Op.MINIMUM:
                return min(args)
            case Op.MAXIMUM:
                return max(args)
            case Op.ABSOLUTE:
                return abs(args[0])
        raise AssertionError(node.op)

    assert evaluate(expression, values) == read(expression)


def test_exact_operation() -> None:
    node = function(Op.SQRT, x)
    assert exact_operation(node, (F(9, 4),)) == F(3, 2)
    assert exact_operation(node, (F(2),)) is None
    assert exact_operation(node, (F(-1),)) is None
    assert exact_operation(power(x, y), (F(0), F(-1))) is None
    assert exact_operation(power(x, y), (F(2), F(10**9))) is None

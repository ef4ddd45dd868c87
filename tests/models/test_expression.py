from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
from fractions import Fraction

import pytest

from workbench.models.expressions.algebra import (
    affine_form,
    degree,
    differentiate,
    disjunctive_normal_form,
    is_total,
    linear_cases,
    negation_normal_form,
    polynomial_form,
    simplify,
    without_piecewise,
)
from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.expression import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Expression,
    add,
    at_location,
    compare,
    conditional,
    conjunction,
    constant,
    disjunction,
    divide,
    function,
    lookup,
    maximum,
    minimum,
    multiply,
    negation,
    power,
    symbol,
    variable,
)
from workbench.models.expressions.literals import MAX_CONSTANT_BITS, ExpressionTooLargeError
from workbench.models.expressions.operators import Op
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.table import Table
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import conjuncts, free_variables, postorder, substitute
from workbench.models.source import Span

x, y, z = variable("x"), variable("y"), variable("z")


def test_constants_are_exact() -> None:
    assert constant(Fraction("0.1")).constant == Fraction(1, 10)
    with pytest.raises(TypeError, match="not exact"):
        constant(0.1)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        x + 0.5  # type: ignore[operator]


def test_sums_and_products_are_flat_with_their_constants_gathered() -> None:
    assert add(add(x, 1), add(y, 2)) == add(x, y, 3)
    assert multiply(2, multiply(x, 3), y) == multiply(6, x, y)
    assert add() == ZERO and multiply() == ONE
    assert add(x, 0) is x and multiply(1, x) is x
    assert x - x != ZERO  # like terms are left to simplification


def test_subtraction_keeps_a_sum_together() -> None:
    assert x - (y + z) == add(x, multiply(-1, add(y, z)))
    assert multiply(-1, -x) == x


def test_a_factor_zero_is_kept_because_the_rest_may_be_undefined() -> None:
    product = multiply(0, function(Op.LOG, x))
    assert product.op is Op.MULTIPLY
    assert free_variables(product) == {"x"}


def test_division() -> None:
    assert x / 4 == multiply(Fraction(1, 4), x)
    assert divide(x, 0).op is Op.DIVIDE
    assert divide(6, 4).constant == Fraction(3, 2)


def test_powers_of_constants() -> None:
    assert power(2, 10).constant == 1024
    assert power(2, -1).constant == Fraction(1, 2)
    assert power(0, 0).op is Op.POWER and power(0, -1).op is Op.POWER
    assert power(2, Fraction(1, 2)).op is Op.POWER
    assert power(x, 1) is x
    assert power(2, 10**12).op is Op.POWER


def test_comparisons_and_connectives() -> None:
    assert compare(Op.LESS, 1, 2) == TRUE
    a, b = x <= 1, y <= 2
    assert conjunction(a, conjunction(b, a)) == conjunction(a, b)
    assert conjunction() == TRUE and disjunction() == FALSE
    assert conjunction(a, FALSE) == FALSE and disjunction(a, TRUE) == TRUE
    assert negation(negation(a)) is a
    assert conjuncts(a & b) == (a, b) and conjuncts(TRUE) == () and conjuncts(a) == (a,)
    assert conditional(TRUE, x, y) is x
    assert conditional(a, True, False).args[1:] == (TRUE, FALSE)


def test_number_one_is_not_true() -> None:
    assert ONE != TRUE and ZERO != FALSE
    assert len({ONE, TRUE, variable("1")}) == 3


def test_expressions_have_no_truth_value() -> None:
    with pytest.raises(TypeError, match="truth value"):
        bool(x <= 1)
    with pytest.raises(TypeError):
        0 <= x <= 1  # noqa: B015


def test_immutable() -> None:
    with pytest.raises(AttributeError):
        x.value = "y"  # type: ignore[misc]
    with pytest.raises((AttributeError, TypeError)):
        del x.value  # type: ignore[misc]
    assert copy.deepcopy(x + 1) == x + 1


def test_expressions_travel_between_processes_however_deep_they_are() -> None:
    table = Table("t", ((Fraction(0), Fraction(1)),), ((Fraction(0),), (Fraction(2),)))
    for one in (x, (lookup(table, x) + 1 <= y) | at_location("a", "b"), symbol("red")):
        again = pickle.loads(pickle.dumps(one))  # noqa: S301 (made here)
        assert again == one and hash(again) == hash(one)
    placed = pickle.loads(pickle.dumps(x.at(Span("f", 1, 1, 1, 2))))  # noqa: S301
    assert placed.span == Span("f", 1, 1, 1, 2)
    deep = x
    for _ in range(20_000):
        deep = function(Op.SIN, deep)
    again = pickle.loads(pickle.dumps(deep))  # noqa: S301
    assert again.depth == deep.depth and hash(again) == hash(deep)
    shared = x
    for _ in range(60):  # two to the sixtieth leaves, if what is shared were not
        shared = function(Op.SIN, shared) * shared
    assert pickle.loads(pickle.dumps(shared)) == shared  # noqa: S301


def test_spans_take_no_part_in_equality() -> None:
    placed = x.at(Span("f", 1, 1, 1, 2))
    assert placed == x and hash(placed) == hash(x) and placed.span is not None


def test_substitution_is_simultaneous_and_canonical() -> None:
    assert substitute(x - y, {"x": y, "y": x}) == y - x
    assert substitute(x * y + 1, {"x": constant(2), "y": constant(3)}) == constant(7)
    assert substitute((x <= 1) & (y <= 2), {"x": ZERO}) == (y <= 2)


def test_constants_too_large() -> None:
    big = constant(1 << (MAX_CONSTANT_BITS - 1))
    with pytest.raises(ExpressionTooLargeError):
        constant(1 << MAX_CONSTANT_BITS)
    with pytest.raises(ExpressionTooLargeError):
        multiply(big, big)
    with pytest.raises(ExpressionTooLargeError):
        add(big, big)
    with pytest.raises(ExpressionTooLargeError):
        multiply(*[constant(Fraction(10**100))] * 100)


def test_sharing_costs_nothing_to_compare() -> None:
    def shared() -> Expression:
        e = x
        for _ in range(200):
            e = function(Op.SIN, e) + function(Op.COS, e)
        return e

    one, other = shared(), shared()
    assert one == other and one is not other
    assert sum(1 for _ in postorder(one)) == 601
    assert free_variables(one) == {"x"}


@pytest.mark.slow
def test_a_hundred_thousand_terms() -> None:
    names = [variable(f"v{i}") for i in range(100_000)]
    assert len(add(*(multiply(3, v) for v in names)).args) == 100_000


LONG = 100_000
DEPTHS = [3_000, pytest.param(100_000, marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def long_sum() -> Expression:
    return add(*(multiply(i + 1, variable(f"x{i}")) for i in range(LONG)), 5)


@pytest.mark.slow
def test_long_sum(long_sum: Expression) -> None:
    again = add(*(multiply(i + 1, variable(f"x{i}")) for i in range(LONG)), 5)
    assert again == long_sum and hash(again) == hash(long_sum)
    assert again != add(long_sum, 1)
    assert differentiate(long_sum, "x7") == constant(8)
    assert simplify(long_sum) == long_sum
    form = affine_form(long_sum)
    assert form is not None and form.constant == 5 and form.coefficients["x99"] == 100
    assert len(polynomial_form(long_sum, max_terms=LONG + 1) or {}) == LONG + 1
    ones = {f"x{i}": Fraction(1) for i in range(LONG)}
    assert evaluate(long_sum, ones) == LONG * (LONG + 1) // 2 + 5


@pytest.mark.slow
def test_long_conjunction() -> None:
    parts = [variable(f"x{i}") <= i for i in range(LONG)]
    whole = conjunction(*parts)
    assert negation_normal_form(negation(whole)).op is Op.OR
    assert disjunctive_normal_form(whole) == (tuple(parts),)
    assert evaluate(whole, {f"x{i}": 0 for i in range(LONG)}) is True


def _nest(kind: str, depth: int) -> Expression:
    e: Expression = x
    flag: Expression = x <= 0
    for i in range(depth):
        match kind:
            case "sum":
                e = z * (e + y)
            case "function":
                e = function(Op.SIN, e)
            case "minus":
                e = 1 - e
            case "quotient":
                e = divide(e, z)
            case "power":
                e = power(e, y)
            case "extremum":
                e = minimum(e, y) if i % 2 else maximum(e, z)
            case "condition":
                e = conditional(flag, e, y)
            case "boolean":
                flag = conjunction(flag, y <= i) if i % 2 else disjunction(flag, z <= i)
            case _:
                flag = negation(conjunction(flag, x <= i))
    return e if e is not x else flag


NUMERIC = ("sum", "function", "minus", "quotient", "extremum", "condition", "power")


@pytest.mark.slow
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", NUMERIC)
def test_deep_numbers(kind: str, depth: int) -> None:
    deep = _nest(kind, depth)
    assert deep.depth > depth
    assert deep == _nest(kind, depth)
    assert len(to_text(deep)) > depth
    if depth <= 3_000:
        assert parse_expression(to_text(deep)) == deep
    simplify(deep)
    affine_form(deep)
    is_total(deep)
    assert substitute(deep, {"nothing": ONE}) is deep
    if kind != "power":  # its value is beyond all bounds
        small = {"x": 0, "y": Fraction(0), "z": 1}
        if kind in ("minus", "extremum", "condition", "quotient", "function"):
            evaluate(deep, small)
    assert isinstance(differentiate(deep, "x"), Expression)
    gc.collect()


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", ["boolean", "negation"])
def test_deep_conditions(kind: str, depth: int) -> None:
    deep = _nest(kind, depth)
    assert deep == _nest(kind, depth)
    assert len(to_text(deep)) > depth
    assert negation_normal_form(negation(deep)).depth > 1
    evaluate(deep, {"x": 1, "y": 0, "z": 0})
    simplify(deep)


def test_piecewise_conditions_stay_bounded() -> None:
    deep = _nest("extremum", 300)
    with pytest.raises(ExpressionTooLargeError):
        without_piecewise(deep <= 1, max_cases=20)
    with pytest.raises(ExpressionTooLargeError):
        linear_cases(conjunction(*((x <= i) | (y <= i) for i in range(30))), 500)


def test_degree_of_a_deep_polynomial() -> None:
    assert degree(_nest("minus", 3_000)) == 1


@pytest.mark.slow
def test_dropping_very_deep_expressions_does_not_crash() -> None:
    script = (
        "from workbench.models.expressions.expression import *\n"
        "e = variable('x')\n"
        "for i in range(1_000_000): e = function(Op.SIN, e)\n"
        "del e\n"
        "print('done')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr

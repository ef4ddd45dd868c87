from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from expression_strategies import GRID, LINE, POLYNOMIAL, condition, number
from hypothesis import given
from hypothesis import strategies as st

from workbench.models.expressions.algebra import (
    NormalFormTooLargeError,
    NotDifferentiableError,
    PolynomialTooLargeError,
    affine_form,
    degree,
    differentiate,
    disjunctive_normal_form,
    from_affine,
    from_polynomial,
    is_affine,
    is_total,
    lie_derivative,
    linear_cases,
    linear_constraint,
    negation_normal_form,
    polynomial_form,
    simplify,
    without_piecewise,
)
from workbench.models.expressions.evaluation import (
    EvaluationError,
    Scalar,
    evaluate,
    evaluate_number,
    holds,
)
from workbench.models.expressions.expression import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Expression,
    add,
    boolean,
    compare,
    conditional,
    conjunction,
    constant,
    disjunction,
    divide,
    equal,
    external,
    function,
    lookup,
    multiply,
    negation,
    power,
    variable,
)
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import postorder

x, y, z = variable("x"), variable("y"), variable("z")
NAMES = ("x", "y", "z")
plain = st.sampled_from(NAMES).map(variable)
small = st.integers(-6, 6).map(lambda n: constant(Fraction(n, 2)))
leaves = plain | plain | small
EXACT = (*POLYNOMIAL, "divide", "min", "max", "abs", "if", "lookup", "map")
TOTAL = (*POLYNOMIAL, "min", "max", "abs", "if")
polynomials = number(POLYNOMIAL, leaves)
exact_numbers = number(EXACT, leaves)
affine_conditions = condition(
    ("add", "subtract", "negative", "min", "max", "abs", "if"), leaves, depth=3
)
points = st.fixed_dictionaries({name: st.fractions(-5, 5, max_denominator=8) for name in NAMES})


def value(expression: Expression, point: dict[str, Fraction]) -> Scalar | None:
    """The value at a point, None where there is none."""
    try:
        return evaluate(expression, point)
    except EvaluationError:
        return None


# Derivatives


@given(polynomials, points)
def test_derivatives_of_polynomials_are_limits_of_differences(
    expression: Expression, point: dict[str, Fraction]
) -> None:
    step = Fraction(1, 10**60)
    after = evaluate_number(expression, point | {"x": point["x"] + step})
    before = evaluate_number(expression, point | {"x": point["x"] - step})
    slope = evaluate_number(differentiate(expression, "x"), point)
    assert abs((after - before) / (2 * step) - slope) < Fraction(1, 10**20)


@given(exact_numbers, points)
def test_derivatives_of_piecewise_rational_functions(
    expression: Expression, point: dict[str, Fraction]
) -> None:
    """Where left and right difference agree, the derivative is their common value."""
    step = Fraction(1, 10**60)
    middle = value(expression, point)
    after = value(expression, point | {"x": point["x"] + step})
    before = value(expression, point | {"x": point["x"] - step})
    if middle is None or after is None or before is None:
        return
    assert isinstance(middle, Fraction) and isinstance(after, Fraction)
    assert isinstance(before, Fraction)
    right, left = (after - middle) / step, (middle - before) / step
    scale = 1 + abs(left) + abs(middle)
    if abs(right - left) > Fraction(1, 10**20) * scale:
        return  # a kink, a jump, or too steep to tell
    slope = evaluate_number(differentiate(expression, "x"), point)
    assert abs(slope - (left + right) / 2) <= Fraction(1, 10**15) * scale


@pytest.mark.parametrize(
    "text",
    [
        "sin(x)*cos(2*x)",
        "tan(x/3)",
        "exp(-x^2)",
        "log(x + 3)",
        "sqrt(x^2 + 1)",
        "asin(x/5) + acos(x/4)",
        "atan(x*y)",
        "atan2(x, y) + atan2(y, x)",
        "x^y",
        "y^x",
        "x^x",
        "x^-2.5",
        "abs(x - 2)^3",
        "1/(x*sin(x))",
        "(x + y)/(x - y)",
        "x*x*x*x*sin(x)*x*x*x*x*cos(x)*x",
        "min(x, y, x^2) + max(sin(x), cos(x))",
        "x > 1 ? sin(x) : x",
        "floor(x)*x + sign(x)*x^2",
    ],
)
def test_derivatives_against_differences(text: str) -> None:
    expression = parse_expression(text)
    slope = differentiate(expression, "x")
    for at in (0.37, 1.3, 1.9):
        step = 1e-5
        after, before = (
            evaluate_number(expression, {"x": at + h, "y": 0.7}) for h in (step, -step)
        )
        expected = (float(after) - float(before)) / (2 * step)
        found = float(evaluate_number(slope, {"x": at, "y": 0.7}))
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6), (text, at, str(slope))


@pytest.mark.parametrize("at", [Fraction(-2), Fraction(-1, 2), Fraction(1), Fraction(3)])
def test_derivatives_of_tables(at: Fraction) -> None:
    step = Fraction(1, 1000)
    for expression in (
        lookup(LINE, x * 2 + 1),
        lookup(GRID, x, y),
        lookup(GRID, y, x),
        lookup(GRID, x, x + y),
    ):
        for other in (Fraction(-2), Fraction(1, 4), Fraction(5, 2)):
            point = {"x": at + Fraction(1, 7), "y": other}
            after = evaluate_number(expression, point | {"x": point["x"] + step})
            before = evaluate_number(expression, point | {"x": point["x"] - step})
            slope = evaluate_number(differentiate(expression, "x"), point)
            assert abs((after - before) / (2 * step) - slope) < Fraction(1, 50)


def test_table_slope_is_zero_outside_and_right_sided_on_the_grid() -> None:
    slope = differentiate(lookup(LINE, x), "x")
    assert evaluate(slope, {"x": -5}) == 0 and evaluate(slope, {"x": 9}) == 0
    assert evaluate(slope, {"x": -1}) == 2
    assert evaluate(slope, {"x": Fraction(1, 2)}) == Fraction(-4, 3 / Fraction(2))


def test_what_has_no_derivative_is_refused() -> None:
    with pytest.raises(NotDifferentiableError, match="external") as caught:
        differentiate(x * external("noise", x), "x")
    assert caught.value.expression == external("noise", x)
    with pytest.raises(NotDifferentiableError):
        differentiate(x <= 1, "x")
    assert differentiate(external("noise", y), "x") == ZERO
    assert differentiate(conditional(external("f", x) > 0, x, 2 * x), "x").op is Op.IF


def test_lie_derivative() -> None:
    energy = x**2 + y**2
    assert simplify(lie_derivative(energy, {"x": y, "y": -x})) == ZERO


def test_a_long_product_has_a_derivative_of_reasonable_size() -> None:
    factors = [x + i for i in range(2_000)]
    slope = differentiate(multiply(*factors), "x")
    assert sum(len(node.args) for node in postorder(slope)) < 100_000
    short = multiply(*factors[:12])
    at = {"x": Fraction(1, 2)}
    total = sum(
        math.prod((at["x"] + j for j in range(12) if j != i), start=Fraction(1)) for i in range(12)
    )
    assert evaluate(differentiate(short, "x"), at) == total


# Simplification


@given(exact_numbers, points)
def test_simplification_changes_neither_value_nor_domain(
    expression: Expression, point: dict[str, Fraction]
) -> None:
    assert value(simplify(expression), point) == value(expression, point)


@given(condition(EXACT, leaves), points)
def test_simplified_conditions_are_equivalent(
    expression: Expression, point: dict[str, Fraction]
) -> None:
    before = value(expression, point)
    if before is not None:
        assert value(simplify(expression), point) == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0*x", "0"),
        ("0*log(x)", "0*log(x)"),
        ("log(x) - log(x)", "0*log(x)"),
        ("x - x", "0"),
        ("x^0", "1"),
        ("(1/x)^0", "(1/x)^0"),
        ("sqrt(4)*x", "2*x"),
        ("sqrt(2)*x", "sqrt(2)*x"),
        ("sqrt(-4)", "sqrt(-4)"),
        ("8^(1/3)", "2"),
        ("x*x*y*x^2", "x^4*y"),
        ("5 - (x + 1)", "4 - x"),
        ("x/x", "x/x"),
        ("!(x < y)", "x >= y"),
        ("x <= x", "true"),
        ("1/x <= 1/x", "1/x <= 1/x"),
        ("min(3, x, 2, x)", "min(x, 2)"),
        ("a ? x : x", "x"),
        ("1/x > 0 ? y : y", "1/x > 0 ? y : y"),
        ("a ? true : false", "a"),
    ],
)
def test_simplification(text: str, expected: str) -> None:
    assert str(simplify(parse_expression(text))) == expected


def test_totality() -> None:
    assert is_total(x**2 + function(Op.SIN, y))
    assert not is_total(x + divide(1, y))
    assert not is_total(power(x, -1)) and not is_total(power(x, y))


# Polynomials and affine forms


@given(polynomials, points)
def test_polynomial_form_has_the_same_values(
    expression: Expression, point: dict[str, Fraction]
) -> None:
    form = polynomial_form(expression)
    assert form is not None and all(form.values())
    total = sum(
        (c * math.prod((point[n] ** k for n, k in m), start=Fraction(1)) for m, c in form.items()),
        Fraction(0),
    )
    assert total == evaluate(expression, point)
    assert polynomial_form(from_polynomial(form)) == form


@given(polynomials)
def test_degree_is_the_growth_along_rays(expression: Expression) -> None:
    """The (n+1)-th differences of a polynomial of degree n along a line vanish, and the
    n-th do not for almost every line."""
    n = degree(expression)
    assert n is not None
    if n > 12:
        return

    def along(t: int) -> Fraction:
        line = {"x": Fraction(37 * t, 11), "y": Fraction(-53 * t + 1, 7), "z": Fraction(91 * t, 13)}
        found = evaluate(expression, line)
        assert isinstance(found, Fraction)
        return found

    differences = [along(t) for t in range(n + 3)]
    for _ in range(n):
        differences = [b - a for a, b in pairwise(differences)]
    assert len(set(differences)) == 1
    if n > 0:
        assert differences[0] != 0


def test_what_is_no_polynomial() -> None:
    for text in ("sin(x)", "1/x", "x^0.5", "2^x", "x^-1", "0*log(x)", "abs(x)", "x < y"):
        assert polynomial_form(parse_expression(text)) is None
    assert polynomial_form(parse_expression("sqrt(4)*x/min(2, 3)")) == {(("x", 1),): 1}
    assert polynomial_form(ZERO) == {} and degree(ZERO) == 0


@pytest.mark.parametrize(
    "text",
    ["(a+b+c+d+e+f+g+h)^50", "(x+1)^100000", "(a+b)^5000*(c+d)^5000", "(2*x)^1000000"],
)
def test_expansion_is_bounded(text: str) -> None:
    expression = parse_expression(text)
    with pytest.raises(PolynomialTooLargeError):
        polynomial_form(expression)
    assert affine_form(expression) is None


def test_repeated_squaring_is_bounded() -> None:
    e = x + y + z + 1
    for _ in range(30):
        e = e * e + x
    with pytest.raises(PolynomialTooLargeError):
        polynomial_form(e)


def test_large_exponents_of_single_terms_are_fine() -> None:
    assert polynomial_form(parse_expression("(x*y)^1000000 - x")) == {
        (("x", 1000000), ("y", 1000000)): 1,
        (("x", 1),): -1,
    }


@given(number(("add", "subtract", "negative", "scaled", "multiply"), leaves), points)
def test_affine_form_is_exact_and_found_whenever_there_is_one(
    expression: Expression, point: dict[str, Fraction]
) -> None:
    form = affine_form(expression)
    n = degree(expression)
    assert n is not None
    assert (form is not None) == (n <= 1) == is_affine(expression)
    if form is not None:
        total = form.constant + sum(c * point[n] for n, c in form.coefficients.items())
        assert total == evaluate(expression, point)
        assert affine_form(from_affine(*form)) == form


def test_affine_form_needs_every_part_to_be_defined() -> None:
    assert affine_form(parse_expression("0*log(x) + y")) is None
    assert affine_form(parse_expression("0/x")) is None
    assert affine_form(parse_expression("(x + 1)^2 - x^2")) == ({"x": Fraction(2)}, 1)
    assert affine_form(parse_expression("(3*x + y)/(2 - 5)*sqrt(9)")) == (
        {"x": Fraction(-3), "y": Fraction(-1)},
        0,
    )


def test_affine_form_of_shared_parts_is_linear_in_time() -> None:
    e = x
    for _ in range(300):
        e = (e + y) / 2 + (e + y) / 2
    form = affine_form(e)
    assert form is not None and form.coefficients == {"x": 1, "y": 300}


# Linear constraints


@given(condition(("add", "subtract", "negative"), leaves, depth=1), points)
def test_linear_constraints_say_the_same(
    comparison: Expression, point: dict[str, Fraction]
) -> None:
    if comparison.op not in COMPARISONS:
        return
    constraint = linear_constraint(comparison)
    assert constraint is not None
    assert constraint.relation in (Op.LESS, Op.LESS_EQUAL, Op.EQUAL, Op.NOT_EQUAL)
    for one in (constraint, constraint.normalised()):
        assert holds(one.expression, point) == holds(comparison, point)
        assert one.truth is None or one.truth == holds(comparison, point)


def test_normalised_constraints_agree_for_multiples() -> None:
    one = linear_constraint(2 * x - y / 3 <= 5)
    other = linear_constraint(parse_expression("-12*x + 2*y >= -30"))
    assert one is not None and other is not None
    assert one.normalised() == other.normalised()
    assert one.normalised().coefficients == (("x", 6), ("y", -1))
    left, right = linear_constraint(equal(x - y, 0)), linear_constraint(equal(y, x))
    assert left is not None and right is not None
    assert left.normalised() == right.normalised()


def test_non_linear_comparisons_have_no_linear_constraint() -> None:
    assert linear_constraint(x * y <= 1) is None
    assert linear_constraint(x + y) is None
    assert linear_constraint(function(Op.SIN, x) <= 1) is None


# Boolean normal forms


@given(condition(TOTAL, leaves), points)
def test_negation_normal_form(expression: Expression, point: dict[str, Fraction]) -> None:
    for formula in (expression, negation(expression)):
        normal = negation_normal_form(formula)
        assert holds(normal, point) == holds(formula, point)
        inside = [node for node in postorder(normal) if node.op is Op.NOT]
        assert all(node.args[0].op in (Op.VARIABLE, Op.AT, Op.EXTERNAL) for node in inside)


@given(condition(("add", "subtract"), leaves, depth=3), points)
def test_disjunctive_normal_form(expression: Expression, point: dict[str, Fraction]) -> None:
    try:
        cases = disjunctive_normal_form(expression, 500)
    except NormalFormTooLargeError:
        return
    assert any(all(holds(lit, point) for lit in case) for case in cases) == holds(expression, point)


@given(affine_conditions, points)
def test_linear_cases_cover_exactly_the_condition(
    expression: Expression, point: dict[str, Fraction]
) -> None:
    try:
        assert holds(without_piecewise(expression, 300), point) == holds(expression, point)
        cases = linear_cases(expression, 300)
    except NormalFormTooLargeError:
        return
    assert cases is not None
    inside = any(all(holds(c.expression, point) for c in case) for case in cases)
    assert inside == holds(expression, point)
    assert all(c.relation is not Op.NOT_EQUAL for case in cases for c in case)


def test_normal_forms_of_truth_values() -> None:
    assert disjunctive_normal_form(TRUE) == ((),)
    assert disjunctive_normal_form(FALSE) == ()
    assert linear_cases(TRUE) == ((),)
    assert linear_cases(conjunction(x < 1, x >= 1)) == ()
    assert linear_cases(variable("flag")) is None
    assert linear_cases(x * y <= 1) is None
    on, off = variable("on"), variable("off")
    iff = compare(Op.EQUAL, negation(on), off)
    assert negation_normal_form(iff) == disjunction(
        conjunction(negation(on), off), conjunction(on, negation(off))
    )
    assert negation_normal_form(compare(Op.NOT_EQUAL, on, boolean(True))) == negation(on)


def test_normal_forms_are_bounded() -> None:
    wide = conjunction(*((variable(f"a{i}") <= 0) | (variable(f"b{i}") <= 0) for i in range(40)))
    with pytest.raises(NormalFormTooLargeError):
        disjunctive_normal_form(wide)
    with pytest.raises(NormalFormTooLargeError):
        linear_cases(
            add(*(function(Op.ABSOLUTE, variable(f"v{i}")) for i in range(40))) <= ONE, 500
        )

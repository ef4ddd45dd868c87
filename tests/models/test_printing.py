from __future__ import annotations

from fractions import Fraction

import pytest
from expression_strategies import (
    EXTERNALS,
    POLYNOMIAL,
    SYMBOLS,
    TABLES,
    condition,
    conditions,
    constants,
    numbers,
    polynomials,
    surface_conditions,
    surface_numbers,
)
from hypothesis import given
from hypothesis import strategies as st

from workbench.models.expressions.dialect import SPACEEX
from workbench.models.expressions.expression import (
    Expression,
    add,
    at_location,
    compare,
    conditional,
    conjunction,
    constant,
    divide,
    equal,
    function,
    multiply,
    negation,
    power,
    symbol,
    variable,
)
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.operators import Op
from workbench.models.expressions.printing import number_text, to_text
from workbench.models.expressions.text import parse_expression
from workbench.models.language.parse import parse_source

x, y, z = variable("x"), variable("y"), variable("z")


def parsed(text: str) -> Expression:
    return parse_expression(text, symbols=SYMBOLS, tables=TABLES, externals=EXTERNALS)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (x - y, "x - y"),
        (x - (y + z), "x - (y + z)"),
        (5 - x, "5 - x"),
        (-x - 5, "-x - 5"),
        (x / 8, "x/8"),
        (-x / 8, "-x/8"),
        (x * Fraction(1, 10), "0.1*x"),
        (x * Fraction(3, 7), "3/7*x"),
        (x * Fraction(-3, 4) * y, "-0.75*x*y"),
        (constant(Fraction(1, 3)), "1/3"),
        (constant(Fraction(-1, 3)), "-1/3"),
        (x + Fraction(1, 3), "x + 1/3"),
        (x - Fraction(1, 3), "x - 1/3"),
        (-(x**2), "-x^2"),
        ((-x) ** 2, "(-x)^2"),
        (constant(-2) ** x, "(-2)^x"),
        (x**-2, "x^-2"),
        (x ** Fraction(1, 3), "x^(1/3)"),
        (power(x, power(y, z)), "x^y^z"),
        (power(power(x, y), z), "(x^y)^z"),
        (x ** (2 * y), "x^(2*y)"),
        (-divide(x, y), "-(x/y)"),
        (divide(-x, y), "-x/y"),
        (x * divide(y, z), "x*(y/z)"),
        (divide(x, y) * z, "x/y*z"),
        (divide(x, y * z), "x/(y*z)"),
        (divide(x, y) / 3, "x/y/3"),
        (x - divide(y, z), "x - y/z"),
        (2 * (x + 1), "2*(x + 1)"),
        (-(x + 1), "-(x + 1)"),
        (function(Op.SIN, x + 1), "sin(x + 1)"),
        (negation(x <= y), "!(x <= y)"),
        (negation(variable("b")), "!b"),
        (conjunction(x <= y, negation(y < z)), "x <= y && !(y < z)"),
        ((x <= 1) & (y <= 1) | (z <= 1), "x <= 1 && y <= 1 || z <= 1"),
        ((x <= 1) & ((y <= 1) | (z <= 1)), "x <= 1 && (y <= 1 || z <= 1)"),
        (conditional(x <= 0, y, conditional(z <= 0, x, y)), "x <= 0 ? y : z <= 0 ? x : y"),
        (conditional(x <= 0, y, z) + 1, "(x <= 0 ? y : z) + 1"),
        (equal(variable("m"), symbol("red")), "m == red"),
        (compare(Op.EQUAL, variable("b"), x <= y), "b == (x <= y)"),
        (at_location("f.c", "s{u=b}"), 'at("f.c", "s{u=b}")'),
        (variable("car[3].x'"), "car[3].x'"),
        (variable("two words"), "`two words`"),
        (variable("true"), "`true`"),
    ],
)
def test_reads_as_one_would_write_it(expression: Expression, text: str) -> None:
    assert to_text(expression) == text
    assert parsed(text) == expression


@given(numbers)
def test_numbers_parse_back(expression: Expression) -> None:
    assert parsed(to_text(expression)) == expression


@given(conditions)
def test_conditions_parse_back(expression: Expression) -> None:
    assert parsed(to_text(expression)) == expression
    quoted = to_text(expression, quote_symbols=True)
    assert parse_expression(quoted, tables=TABLES, externals=EXTERNALS) == expression


@given(surface_numbers)
def test_indices_and_sums_parse_back(expression: Expression) -> None:
    assert parsed(to_text(expression)) == expression


@given(surface_conditions)
def test_quantifiers_parse_back(expression: Expression) -> None:
    assert parsed(to_text(expression)) == expression


@given(conditions)
def test_spaceex_spelling_parses_back(expression: Expression) -> None:
    text = to_text(expression, SPACEEX)
    again = parse_expression(
        text, symbols=SYMBOLS, tables=TABLES, externals=EXTERNALS, dialect=SPACEEX
    )
    assert again == expression


@given(polynomials)
def test_no_needless_brackets_around_names_and_numbers(expression: Expression) -> None:
    text = to_text(expression)
    assert "((" not in text or text.count("((") <= text.count("^") + text.count("*")
    for name in ("x", "y"):
        assert f"({name})" not in text


def test_decimals_are_exact_and_short() -> None:
    assert number_text(Fraction(1, 10)) == "0.1"
    assert number_text(Fraction(-5, 4)) == "-1.25"
    assert number_text(Fraction(1, 10**6)) == "0.000001"
    assert number_text(Fraction(1, 10**7)) == "1/10000000"
    assert number_text(Fraction(2, 3)) == "2/3"


@pytest.mark.parametrize(
    "value",
    [10**399, 10**400, -(10**400), 7**1500, -(3**5000), Fraction(3**800, 7**900)],
)
def test_very_long_numbers_parse_back(value: Fraction | int) -> None:
    for expression in (constant(value), value * x, x + value, power(constant(value), x)):
        assert parsed(to_text(expression)) == expression


@pytest.mark.slow
def test_long_and_deep_expressions() -> None:
    long = add(*(multiply(i, variable(f"x{i}")) for i in range(100_000)), 1)
    assert parsed(to_text(long)) == long
    deep = x
    for i in range(50_000):
        deep = function(Op.SIN, deep + i)
    assert parsed(to_text(deep)) == deep


def test_text_of_shared_parts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.models.expressions.printing.MAX_PIECES", 100_000)
    shared = x
    for _ in range(60):  # 2**60 occurrences of x
        shared = function(Op.SIN, shared) + function(Op.COS, shared)
    with pytest.raises(ExpressionTooLargeError):
        to_text(shared)


LANGUAGE_LEAVES = st.sampled_from(["x", "yy", "a_1"]).map(variable) | constants
LANGUAGE_OPERATIONS = (*POLYNOMIAL, "divide", "power", "min", "max", "function", "if", "noise")


@given(condition(LANGUAGE_OPERATIONS, LANGUAGE_LEAVES))
def test_the_language_reads_the_same_expression(expression: Expression) -> None:
    """Two parsers, written apart, agree on every printed condition."""
    text = f"agent A() {{ assert {{ {to_text(expression)} }} }}"
    (agent,) = parse_source(text, "printed.charon").definitions
    (claim,) = agent.items
    assert claim.condition == expression

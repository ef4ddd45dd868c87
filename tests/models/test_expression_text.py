from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.models.expressions.dialect import CHARON, SPACEEX, Dialect
from workbench.models.expressions.expression import (
    Expression,
    at_location,
    boolean,
    conditional,
    conjunction,
    constant,
    divide,
    equal,
    external,
    function,
    maximum,
    minimum,
    negation,
    power,
    symbol,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.text import MAX_NESTING, parse_expression
from workbench.models.source import ModelError, Span

a, b, c, x, y = (variable(n) for n in "abcxy")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-x^2", -(x**2)),
        ("2^-1", constant(Fraction(1, 2))),
        ("2^-x^2", power(2, -(x**2))),
        ("x^y^2", power(x, power(y, 2))),
        ("-x*y", -x * y),
        ("a - b - c", a - b - c),
        ("a - (b - c)", a - (b - c)),
        ("a / b / c", divide(divide(a, b), c)),
        ("a / b * c", divide(a, b) * c),
        ("a * b / 4", a * b / 4),
        ("a + b * c ^ 2", a + b * c**2),
        ("0.1", constant(Fraction(1, 10))),
        ("1e-3*x", x / 1000),
        (".5 + 1.", constant(Fraction(3, 2))),
        ("a < b && b < c || x >= y", ((a < b) & (b < c)) | (x >= y)),
        ("!a < b", negation(a < b)),
        ("!a && b", conjunction(negation(a), b)),
        ("a ? b : c ? x : y", conditional(a, b, conditional(c, x, y))),
        ("a ? b ? x : y : c", conditional(a, conditional(b, x, y), c)),
        ("a || b ? x : y", conditional(a | b, x, y)),
        ("(a ? x : y) + 1", conditional(a, x, y) + 1),
        ("min(a, b, 1) + max(x, y)", minimum(a, b, 1) + maximum(x, y)),
        ("atan2(sin(x), -cos(y))", function(Op.ATAN2, function(Op.SIN, x), -function(Op.COS, y))),
        ("noise(x, 1)", external("noise", x, 1)),
        ("mode == red", equal(variable("mode"), symbol("red"))),
        ('mode == "red"', equal(variable("mode"), symbol("red"))),
        ("true", boolean(True)),
        (
            "follower.acc + car[3].x' - vel[-1]",
            variable("follower.acc") + variable("car[3].x'") - variable("vel[-1]"),
        ),
        ("car [ 3 ] . x", variable("car[3].x")),
        ('at("a.b", "m|n")', at_location("a.b", "m|n")),
        ("at + in", variable("at") + variable("in")),
        ("`2 words`", variable("2 words")),
        ("x\n+\ty\r\n", x + y),
    ],
)
def test_grammar(text: str, expected: Expression) -> None:
    assert parse_expression(text, symbols={"red"}, externals={"noise"}) == expected


def test_indices_that_are_no_numbers_make_a_selection() -> None:
    made = parse_expression("car[i + 1].wheel[2].x")
    assert made.op is Op.SELECT
    assert made.value == (("car", True), ("wheel", True), ("x", False))
    assert made.args == (variable("i") + 1, constant(2))


def test_quantifiers_reach_as_far_as_possible() -> None:
    made = parse_expression("forall i in 1..n - 1 : v[i] > 0 && a")
    assert made.op is Op.FORALL and made.value == "i"
    low, high, body = made.args
    assert (low, high) == (constant(1), variable("n") - 1)
    assert body.op is Op.AND
    total = parse_expression("1 + (sum i in 1..3 : v[i]) * 2")
    assert total.op is Op.ADD


def test_spaceex_spelling() -> None:
    made = parse_expression("0 <= x <= 5 & y = 1 | x' := 2 && a", dialect=SPACEEX)
    left = conjunction(constant(0) <= x, x <= 5, equal(y, 1))
    assert made == left | conjunction(equal(variable("x'"), 2), a)
    assert parse_expression("5 >= x > y > 1", dialect=SPACEEX) == conjunction(
        constant(5) >= x, x > y, y > 1
    )


def test_every_node_knows_its_place() -> None:
    made = parse_expression("x +\n sin(y)*2", file="f", line=10, column=5)
    assert made.span == Span("f", 10, 5, 11, 10)
    product = made.args[1]
    assert product.span == Span("f", 11, 2, 11, 10)
    assert product.args[1].span == Span("f", 11, 2, 11, 8)
    assert made.args[0].span == Span("f", 10, 5, 10, 6)


@pytest.mark.parametrize(
    ("text", "code", "column", "words"),
    [
        ("", "syntax", 1, "expected an expression"),
        ("x +", "syntax", 4, "the end"),
        ("(x", "syntax", 3, "expected ')'"),
        ("x)", "syntax", 2, "found ')'"),
        ("2x", "syntax", 2, "2*x"),
        ("a = b", "syntax", 3, "=="),
        ("a & b", "syntax", 3, "&&"),
        ("a and b", "syntax", 3, "&&"),
        ("x ** 2", "syntax", 4, "x^2"),
        ("a < b < c", "chained-comparison", 7, "&&"),
        ("a + !b", "syntax", 5, "parentheses"),
        ("sin(x, y)", "argument-count", 1, "1 argument"),
        ("min()", "argument-count", 1, "min"),
        ("sni(x)", "unknown-function", 1, "sin"),
        ("a ? b", "syntax", 6, "':'"),
        ("1e999999999", "number-too-large", 1, "exponent"),
        ("1" * 401, "number-too-large", 1, "digits"),
        ("1 + 10^4000 * 10^4000 + x", "number-too-large", 13, "bits"),
        ("x \x00", "syntax", 3, "\\x00"),
        ("é", "syntax", 1, "é"),
        ('at("a")', "syntax", 7, "','"),
        ('"open', "syntax", 1, "never closed"),
        ("`\\q`", "syntax", 1, "escape"),
        ("v[1", "syntax", 4, "']'"),
        ("forall in : x", "syntax", 11, "'in'"),
    ],
)
def test_mistakes_are_explained(text: str, code: str, column: int, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_expression(text)
    (found,) = caught.value.diagnostics
    assert (found.code, found.span and found.span.column) == (code, column), found
    assert words in caught.value.render()


SIGNS = ["(", ")", "[", "]", "+", "-", "*", "/", "^", "<", "<=", "==", "=", "&&", "&", "||", "|"]
SIGNS += ["!", "?", ":", ",", "..", ".", "'", "x", "y.z", "a[1]", "sin", "min", "at", "forall"]
SIGNS += ["sum", "in", "true", "1", "2.5", "1e9", '"m"', "`q`", '"', "`", "\\", "#", "\n", " ", "é"]


def outcome(text: str, dialect: Dialect) -> Expression | str:
    """The expression, or the message of the diagnostic."""
    try:
        return parse_expression(text, dialect=dialect)
    except ModelError as error:
        assert all(d.span is not None for d in error.diagnostics)  # noqa: PT017
        return error.render()


@given(st.lists(st.sampled_from(SIGNS), max_size=25), st.sampled_from(["", " "]))
@example(["forall", "i", "in", "1", "..", ")"], " ")
def test_any_text_gives_an_expression_or_a_diagnostic(signs: list[str], gap: str) -> None:
    for dialect in (CHARON, SPACEEX):
        found = outcome(gap.join(signs), dialect)
        assert isinstance(found, Expression) or "error:" in found


@given(st.text(max_size=40))
def test_any_characters_give_an_expression_or_a_diagnostic(text: str) -> None:
    found = outcome(text, CHARON)
    assert isinstance(found, Expression) or "error:" in found


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("(" * 2_000_000, "nesting-too-deep"),
        ("sin(" * 200_000 + "x" + ")" * 200_000, "nesting-too-deep"),
        ("x+" * 15_000_000, "text-too-long"),
        *(
            pytest.param(text, "nesting-too-deep", marks=pytest.mark.slow)
            for text in ("!" * 200_000 + "b", "2^" * 200_000 + "x", "a?" * 200_000)
        ),
    ],
)
def test_hostile_texts_are_refused(text: str, code: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_expression(text)
    assert caught.value.diagnostics[0].code == code
    assert len(caught.value.render()) < 2_000


def test_nesting_up_to_the_limit() -> None:
    text = "(" * MAX_NESTING + "x" + ")" * MAX_NESTING
    assert parse_expression(text) == x

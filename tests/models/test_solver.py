"""The solver's door: answers agree with enumeration, witnesses with exact evaluation."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.automaton import BOOL, INT, enumeration
from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.expression import (
    Expression,
    add,
    compare,
    conjunction,
    constant,
    disjunction,
    equal,
    external,
    function,
    lookup,
    maximum,
    minimum,
    multiply,
    negation,
    variable,
)
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.expressions.text import parse_expression
from workbench.models.language.questions import decide
from workbench.models.smt.solver import (
    Limits,
    Session,
    Unknown,
    Unsatisfiable,
    Witness,
    satisfiable,
)

X, Y = variable("x"), variable("y")
SMALL = range(-3, 4)
IN_SMALL = conjunction(
    *(compare(op, v, b) for v in (X, Y) for op, b in ((Op.GREATER_EQUAL, -3), (Op.LESS_EQUAL, 3)))
)


def numbers() -> st.SearchStrategy[Expression]:
    leaves = st.sampled_from([X, Y]) | st.integers(-3, 3).map(constant)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(add, inner, inner),
            st.builds(multiply, st.integers(-2, 2).map(constant), inner),
            st.builds(multiply, inner, inner),
            st.builds(minimum, inner, inner),
            st.builds(maximum, inner, inner),
            st.builds(lambda a: function(Op.ABSOLUTE, a), inner),
            st.builds(lambda a: function(Op.SIGN, a), inner),
            st.builds(lambda a: function(Op.FLOOR, multiply(Fraction(1, 2), a)), inner),
        ),
        max_leaves=5,
    )


def conditions() -> st.SearchStrategy[Expression]:
    atoms = st.builds(compare, st.sampled_from(sorted(COMPARISONS)), numbers(), numbers())
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.builds(conjunction, inner, inner),
            st.builds(disjunction, inner, inner),
            st.builds(negation, inner),
        ),
        max_leaves=4,
    )


@settings(max_examples=120)
@given(conditions())
def test_answers_agree_with_enumeration_of_small_integers(condition: Expression) -> None:
    whole = conjunction(IN_SMALL, condition)
    points = ({"x": Fraction(a), "y": Fraction(b)} for a, b in product(SMALL, SMALL))
    expected = any(evaluate(whole, point) is True for point in points)
    answer = satisfiable(whole, {"x": INT, "y": INT})
    if isinstance(answer, Unknown):
        return
    assert isinstance(answer, Witness) is expected
    if isinstance(answer, Witness):
        assert answer.exact
        values = {"x": Fraction(0), "y": Fraction(0)} | dict(answer.values)
        assert evaluate(whole, values) is True  # type: ignore[arg-type]


Z = variable("z")
linear_comparisons = st.builds(
    lambda op, factors, bound: compare(
        op, add(*(multiply(a, v) for a, v in zip(factors, (X, Y, Z), strict=True))), constant(bound)
    ),
    st.sampled_from([Op.LESS, Op.LESS_EQUAL, Op.GREATER, Op.GREATER_EQUAL, Op.EQUAL]),
    st.tuples(*[st.integers(-2, 2)] * 3),
    st.integers(-2, 2),
)


@settings(max_examples=400)
@given(st.lists(st.tuples(linear_comparisons, st.booleans()), max_size=7))
def test_linear_conjunctions_agree_with_the_solver(parts: list[tuple[Expression, bool]]) -> None:
    condition = conjunction(*(negation(p) if is_negated else p for p, is_negated in parts))
    quick = decide(condition, {})
    if quick is None:  # a negated equation is none
        assert any(p.op is Op.EQUAL and is_negated for p, is_negated in parts)
        return
    assert isinstance(quick, Witness) == isinstance(satisfiable(condition), Witness)
    if isinstance(quick, Witness):
        values = dict.fromkeys("xyz", Fraction(0)) | dict(quick.values)
        assert evaluate(condition, values) is True  # type: ignore[arg-type]


def test_linear_conjunctions_leave_everything_else_alone() -> None:
    others = (
        "x*x <= 1",
        "x <= 1 || y <= 1",
        "x != 1",
        "!(x <= 1 && y <= 1)",
        "1/x <= 1",
        "0/x < 1",
    )
    for text in (*others, "(x > 0) == (y > 0)", "sin(x) <= 2"):
        assert decide(parse_expression(text), {}) is None
    assert decide(parse_expression("n > 0 && n < 1"), {"n": INT}) is None
    assert decide(parse_expression("b == true"), {"b": BOOL}) is None


def test_linear_conjunctions_that_grow_are_left_to_the_solver() -> None:
    draw = Random(1)
    names = [variable(f"x{i}") for i in range(6)]
    sums = [
        add(*(multiply(draw.randint(1, 9) * (-1) ** draw.randint(0, 1), v) for v in names))
        for _ in range(30)
    ]
    assert decide(conjunction(*(compare(Op.LESS_EQUAL, s, constant(1)) for s in sums)), {}) is None


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("x > 1 && x < 1", False),
        ("x*x < 0", False),
        ("x^2 == 2", True),
        ("x^3 + y^3 <= -1 && x >= 0 && y >= 0", False),
        ("x >= 0 && sqrt(x) == 3 && x != 9", False),
        ("1/x > 2 && x > 1", False),
        ("x == 0 || 1/x > 2 && x < 0", True),
        ("(x > 0 ? 1 : 2) == 2 && x > 1", False),
        ("sin(x) > 3/2", False),
        ("exp(x) <= 0", False),
        ('at("c", "on") && !at("c", "on")', False),
    ],
)
def test_decided_questions(text: str, holds: bool) -> None:
    answer = satisfiable(parse_expression(text))
    assert isinstance(answer, Witness if holds else Unsatisfiable)


def test_irrational_witnesses_are_marked() -> None:
    answer = satisfiable(parse_expression("x*x == 2 && x > 0"))
    assert isinstance(answer, Witness)
    assert not answer.exact
    value = answer.values["x"]
    assert isinstance(value, Fraction)
    assert abs(value * value - 2) < Fraction(1, 1000)


def test_a_model_that_rests_on_an_unknown_function_is_unknown() -> None:
    assert satisfiable(parse_expression("sin(x) > 0")) == Unknown("it depends on `sin`")
    noise = compare(Op.GREATER, external("noise", X), 1)
    assert satisfiable(noise) == Unknown("it depends on `noise`")
    assert satisfiable(conjunction(noise, negation(noise))) == Unsatisfiable()


def test_a_condition_that_holds_only_where_it_has_no_value_is_unknown() -> None:
    assert isinstance(satisfiable(parse_expression("x == 0 && 1/x > 2")), Unknown)


def test_booleans_and_enumerations() -> None:
    symbols = frozenset({"red", "green", "blue"})
    types = {"b": BOOL, "light": enumeration("red", "green"), "other": enumeration("green", "blue")}

    def ask(text: str) -> object:
        return satisfiable(parse_expression(text, symbols=symbols), types)

    answer = ask("b && light == other")
    assert answer == Witness({"b": True, "light": "green", "other": "green"}, True)
    assert ask("light != red && light != green") == Unsatisfiable()
    assert ask("light == blue") == Unsatisfiable()


@pytest.mark.parametrize("interpolation", list(Interpolation))
@pytest.mark.parametrize("at", [Fraction(n, 2) for n in range(-3, 12)])
def test_tables_mean_what_they_evaluate_to(interpolation: Interpolation, at: Fraction) -> None:
    axis = (Fraction(0), Fraction(1), Fraction(4))
    table = Table("t", (axis,), ((Fraction(2),), (Fraction(-1),), (Fraction(5),)), interpolation)
    there = equal(X, at)
    assert isinstance(satisfiable(conjunction(there, equal(lookup(table, X), table(at)))), Witness)
    wrong = compare(Op.NOT_EQUAL, lookup(table, X), table(at))
    assert satisfiable(conjunction(there, wrong)) == Unsatisfiable()


def test_limits_end_hard_questions() -> None:
    hard = parse_expression("x^7 + y^9 - x^5*y^3 == 12345/7 && x^11 - y^8 == 17/3 && x*y^2 > 5")
    answer = satisfiable(hard, limits=Limits(resources=1_000, milliseconds=500))
    assert isinstance(answer, Unknown | Witness)


def test_a_session_answers_independent_questions() -> None:
    session = Session()
    low, high = parse_expression("x < 0"), parse_expression("x > 1")
    assert isinstance(session.satisfiable(low), Witness)
    assert isinstance(session.satisfiable(high), Witness)
    assert session.satisfiable(conjunction(low, high)) == Unsatisfiable()
    assert isinstance(session.satisfiable(low), Witness)


def test_a_conflict_leaves_out_what_is_not_to_blame() -> None:
    parts = [parse_expression(t) for t in ("y > 0", "x <= 1", "y < 9", "x >= 2")]
    assert Session().conflict(parts) == (1, 3)
    assert Session().conflict(parts[:3]) is None


def test_deep_conditions_need_no_recursion() -> None:
    deep: Expression = X
    for _ in range(3_000):
        deep = function(Op.ABSOLUTE, add(deep, 1))
    assert isinstance(satisfiable(compare(Op.LESS, deep, 0)), Unsatisfiable | Unknown)

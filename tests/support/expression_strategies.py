"""Hypothesis strategies for expressions, by the sort of value they yield."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from hypothesis import strategies as st

from workbench.models.expressions.expression import (
    Expression,
    add,
    at_location,
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
    maximum,
    minimum,
    multiply,
    negation,
    power,
    symbol,
    variable,
)
from workbench.models.expressions.operators import FUNCTIONS_OF_ONE, Op
from workbench.models.expressions.table import Interpolation, Table

F = Fraction
LINE = Table("ramp", ((F(-1), F(1, 2), F(2)),), ((F(0),), (F(3),), (F(-1),)))
STEPS = Table("steps", ((F(0), F(1)),), ((F(2),), (F(5),)), Interpolation.PREVIOUS)
GRID = Table(
    "map",
    ((F(0), F(1), F(3)), (F(-1), F(2))),
    ((F(0), F(1)), (F(2), F(-3)), (F(5), F(1, 3))),
)
TABLES = {table.name: table for table in (LINE, STEPS, GRID)}
SYMBOLS = frozenset({"red", "green"})
EXTERNALS = frozenset({"noise", "gain"})
NAMES = ("x", "y", "x'", "follower.acc", "car[3].x", "vel[-1]", "min", "in", "time")
ODD_NAMES = ("true", "forall", "2x", "a b", "Größe", "quote`d", 'a"b', "tab\tbed", "\ud800", "")

fractions = st.one_of(
    st.integers(-20, 20).map(Fraction),
    st.builds(Fraction, st.integers(), st.integers(1, 1000)),  # quicker to draw than st.fractions
    st.sampled_from([F(1, 10), F(-1, 8), F(1, 3), F(-7, 30), F(10**30, 7), F(1, 10**6)]),
)
constants = fractions.map(constant)
variables = st.sampled_from(NAMES).map(variable)
odd_variables = st.sampled_from(ODD_NAMES).map(variable)


POLYNOMIAL = ("add", "multiply", "subtract", "negative", "scaled", "square")
OTHERS = (
    "divide",
    "power",
    "min",
    "max",
    "function",
    "atan2",
    "lookup",
    "map",
    "noise",
    "gain",
    "if",
)
COMPARISON_OPS = tuple(Op(s) for s in ("<", "<=", ">", ">=", "==", "!="))


@st.composite
def number(
    draw: st.DrawFn,
    operations: tuple[str, ...] = POLYNOMIAL + OTHERS,
    leaves: st.SearchStrategy[Expression] = constants | variables,
    depth: int = 4,
) -> Expression:
    """An expression that yields a number, of bounded depth."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(leaves)

    def part() -> Expression:
        return draw(number(operations, leaves, depth - 1))

    def parts() -> list[Expression]:
        return [part() for _ in range(draw(st.integers(1, 3)))]

    def choice() -> Expression:
        return conditional(draw(condition(operations, leaves, depth - 1)), part(), part())

    makers: dict[str, Callable[[], Expression]] = {
        "add": lambda: add(*parts()),
        "multiply": lambda: multiply(*parts()),
        "subtract": lambda: part() - part(),
        "negative": lambda: -part(),
        "scaled": lambda: part() / draw(fractions.filter(bool)),
        "square": lambda: power(part(), draw(st.integers(0, 3))),
        "divide": lambda: divide(part(), part()),
        "power": lambda: power(part(), part()),
        "min": lambda: minimum(*parts()),
        "max": lambda: maximum(*parts()),
        "function": lambda: function(draw(st.sampled_from(sorted(FUNCTIONS_OF_ONE))), part()),
        "atan2": lambda: function(Op.ATAN2, part(), part()),
        "lookup": lambda: lookup(draw(st.sampled_from([LINE, STEPS])), part()),
        "map": lambda: lookup(GRID, part(), part()),
        "noise": lambda: external("noise", *parts()),
        "gain": lambda: external("gain"),
        "if": choice,
        "sum": lambda: _quantified(Op.SUM, part(), part(), part()),
        "select": lambda: _select(part() + variable("i")),
        "abs": lambda: function(Op.ABSOLUTE, part()),
    }
    return makers[draw(st.sampled_from(operations))]()


@st.composite
def condition(
    draw: st.DrawFn,
    operations: tuple[str, ...] = POLYNOMIAL + OTHERS,
    leaves: st.SearchStrategy[Expression] = constants | variables,
    depth: int = 4,
    others: tuple[Expression, ...] = (),
) -> Expression:
    """An expression that yields a truth value, of bounded depth; `others` are atoms that
    may occur besides comparisons."""

    def part() -> Expression:
        return draw(condition(operations, leaves, depth - 1, others))

    def parts() -> list[Expression]:
        return [part() for _ in range(draw(st.integers(1, 3)))]

    if depth <= 1 or draw(st.integers(0, 2)) == 0:
        if others and draw(st.booleans()):
            return draw(st.sampled_from(others))
        left, right = (draw(number(operations, leaves, max(0, depth - 1))) for _ in range(2))
        return compare(draw(st.sampled_from(COMPARISON_OPS)), left, right)
    makers: dict[str, Callable[[], Expression]] = {
        "and": lambda: conjunction(*parts()),
        "or": lambda: disjunction(*parts()),
        "not": lambda: negation(part()),
        "if": lambda: conditional(part(), part(), part()),
        "same": lambda: equal(part(), part()),
    }
    return makers[draw(st.sampled_from(sorted(makers)))]()


ATOMS = (
    boolean(True),
    boolean(False),
    variable("ready"),
    variable("a.on"),
    *(equal(variable("colour"), symbol(s)) for s in sorted(SYMBOLS)),
    at_location("follower.controller", "safety{untrusted=base}"),
)

polynomials = number(POLYNOMIAL)
numbers = number(leaves=constants | variables | odd_variables)
conditions = condition(others=ATOMS)


def _select(index: Expression) -> Expression:
    return Expression(Op.SELECT, (index,), (("car", True), ("x", False)))


def _quantified(op: Op, low: Expression, high: Expression, body: Expression) -> Expression:
    return Expression(op, (low, high, body), "i")


surface_numbers = number((*POLYNOMIAL, "sum", "select"))
surface_conditions = st.builds(
    _quantified,
    st.just(Op.FORALL),
    surface_numbers,
    surface_numbers,
    condition((*POLYNOMIAL, "sum", "select"), depth=3),
)

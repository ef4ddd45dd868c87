"""Models made in Python say what Python says: whatever is built of operators means the same as text,
and the text loads to the same model."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

import workbench
from workbench.build import Agent, Mode, Real, Term, always, choose, enter, maximum, minimum, never
from workbench.build.terms import term
from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.text import parse_expression

X, Y = Real("x"), Real("y")

Made: TypeAlias = Callable[[Any, Any], Any]
"""Something that Python makes of x and y: a term of terms, a number of numbers."""


def _least(*values: Any) -> Any:
    return minimum(*values) if any(isinstance(v, Term) for v in values) else min(values)


def _greatest(*values: Any) -> Any:
    return maximum(*values) if any(isinstance(v, Term) for v in values) else max(values)


def _chosen(condition: Any, then: Any, otherwise: Any) -> Any:
    if isinstance(condition, Term):
        return choose(condition, then, otherwise)
    return then if condition else otherwise


def _not(condition: Any) -> Any:
    return ~condition if isinstance(condition, Term) else not condition


# Much quicker to draw than `st.fractions`.
NUMBERS = st.builds(Fraction, st.integers(-100, 100), st.integers(1, 20))
DIVISORS = st.builds(Fraction, st.integers(1, 100), st.integers(-20, -1) | st.integers(1, 20))
FORMS: tuple[Callable[[Made, Made, Made, Fraction], Made], ...] = (
    lambda a, b, c, k: lambda x, y: a(x, y) + b(x, y),
    lambda a, b, c, k: lambda x, y: a(x, y) - b(x, y),
    lambda a, b, c, k: lambda x, y: a(x, y) * b(x, y),
    lambda a, b, c, k: lambda x, y: a(x, y) / k,
    lambda a, b, c, k: lambda x, y: a(x, y) ** 2,
    lambda a, b, c, k: lambda x, y: -a(x, y),
    lambda a, b, c, k: lambda x, y: abs(a(x, y)),
    lambda a, b, c, k: lambda x, y: _least(a(x, y), b(x, y)),
    lambda a, b, c, k: lambda x, y: _greatest(a(x, y), b(x, y), x),
    lambda a, b, c, k: lambda x, y: _chosen(c(x, y), a(x, y), b(x, y)),
)
COMPARED: tuple[Callable[[Made, Made], Made], ...] = (
    lambda a, b: lambda x, y: a(x, y) < b(x, y),
    lambda a, b: lambda x, y: a(x, y) <= b(x, y),
    lambda a, b: lambda x, y: a(x, y) > b(x, y),
    lambda a, b: lambda x, y: a(x, y) >= b(x, y),
)
JOINED: tuple[Callable[[Made, Made], Made], ...] = (
    lambda a, b: lambda x, y: a(x, y) & b(x, y),
    lambda a, b: lambda x, y: a(x, y) | b(x, y),
    lambda a, b: lambda x, y: _not(a(x, y)),
)


@cache
@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> Made:
    if depth == 0 or draw(st.booleans()):
        number = draw(NUMBERS)
        return draw(st.sampled_from([lambda x, y: x, lambda x, y: y, lambda x, y: number]))
    smaller = expressions(depth - 1)
    form, divisor = draw(st.sampled_from(FORMS)), draw(DIVISORS)
    return form(draw(smaller), draw(smaller), draw(conditions(depth - 1)), divisor)


@cache
@st.composite
def conditions(draw: st.DrawFn, depth: int = 2) -> Made:
    if depth == 0 or draw(st.booleans()):
        inner = expressions(depth)
        return draw(st.sampled_from(COMPARED))(draw(inner), draw(inner))
    smaller = conditions(depth - 1)
    return draw(st.sampled_from(JOINED))(draw(smaller), draw(smaller))


@given(st.one_of(expressions(), conditions()), NUMBERS, NUMBERS)
def test_operators_mean_what_they_mean_in_python(made: Made, x: Fraction, y: Fraction) -> None:
    expected = made(x, y)
    built = term(made(X, Y))
    values = {"x": x, "y": y}
    assert evaluate(built.expression, values) == expected
    assert evaluate(parse_expression(built.text), values) == expected


@settings(max_examples=30)
@given(
    st.tuples(expressions(), expressions()),
    st.lists(st.tuples(conditions(), expressions()), max_size=3),
    conditions(),
    st.tuples(NUMBERS, NUMBERS).map(sorted),
    st.booleans(),
)
def test_models_come_out_as_the_text_that_loads_to_them(
    flows: tuple[Made, Made],
    jumps: list[tuple[Made, Made]],
    claimed: Made,
    bounds: list[Fraction],
    is_nested: bool,
) -> None:
    modes = [Mode(f"m{k}", X.d == flows[0](X, Y), Y.d == flows[1](X, Y)) for k in range(3)]
    ways = [
        modes[k].to(modes[(k + 1) % 3], term(when(X, Y)), {X: value(X, Y)}, name=f"way{k}")
        for k, (when, value) in enumerate(jumps)
    ]
    top = Mode("top", *modes, enter(modes[0]), *ways)
    if is_nested:
        top = Mode("outer", top, enter(top))
    claims = always("kept", term(claimed(X, Y))), never("avoided", X > 1000)
    first = {X: (bounds[0], bounds[1]), Y: 0}
    agent = Agent("Made", top, *claims, initial=first, until=3)
    text = agent.charon()
    built, written = workbench.load(agent), workbench.load(text)
    assert built.sha256 == written.sha256
    assert workbench.load(workbench.formatted(text)).sha256 == written.sha256
    assert built.properties == ("kept", "avoided") and built.automaton.horizon == 3

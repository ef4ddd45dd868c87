"""Conditions of several cases, where one case takes over from another, against exact truth."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    conjunction,
    constant,
    equal,
    negation,
    variable,
)
from workbench.models.expressions.text import parse_expression as text
from workbench.models.trace import Ending, Trace
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams, Method, Taylor

BOTH = pytest.mark.parametrize("method", [Adams(), Taylor()], ids=["adams", "taylor"])
X, Y = variable("x"), variable("y")
UNTIL = 4


def moving(
    invariant: Expression,
    guard: Expression | None = None,
    start: tuple[Fraction, Fraction] = (Fraction(-1), Fraction(0)),
    rates: tuple[int, int] = (1, 0),
) -> HybridAutomaton:
    """A point on a straight line, until an urgent edge makes it rest."""
    places = []
    for place, given_rates, holds in (("on", rates, invariant), ("off", (0, 0), TRUE)):
        flows = tuple(
            Constraint(n, Range.exactly(constant(r)))
            for n, r in zip("xy", given_rates, strict=True)
        )
        places.append(Location(place, flows, invariant=holds))
    edges = () if guard is None else (Edge("on", "off", guard, urgent=True, name="leave"),)
    begin = conjunction(equal(X, constant(start[0])), equal(Y, constant(start[1])))
    return HybridAutomaton(
        "seams", (Variable("x"), Variable("y")), tuple(places), edges, (Initial("on", begin),)
    )


INVARIANTS = [
    "y <= max(3, x)",
    "y <= min(3, abs(x) + 2)",
    "(x <= 1 && y < 3) || (x >= 1 && y < 9)",
    "(x < 1 && y < 3) || (x >= 1 && y < 9)",
    "(2*x <= 2 && y < 3) || (x >= 1 && y < 9)",
    "(x - y <= 1 && y < 3) || (y - x <= -1 && y < 9)",
    "x < 1 ? x < 3 : x < 9",
    "abs(x) <= 1 ? y < 3 : y < 9",
    "(x < 1 ? 3 : 9) >= y",
    "(x < 1 ? x < 0 ? 3 : 4 : 9) >= y",
    "!(x < 1 && y > 3) && !(x >= 1 && y > 9)",
    "x <= 1 || x >= 1",
    "x^2 <= 1 || x^2 >= 1",
]


@BOTH
@pytest.mark.parametrize("invariant", INVARIANTS)
def test_invariants_that_never_fail(invariant: str, method: Method) -> None:
    run = simulate(moving(text(invariant)), until=5.0, method=method)
    assert run.outcome.ending is Ending.HORIZON


NEVER = [
    "!(min(x, 1) < 5)",
    "!(abs(x) > -1)",
    "x > 1 && x < 1",
    "x >= 1 && x < 1",
    "x == 1 && x > 1",
    "x != 1 && x == 1",
    "2*x > 2 && 3*x < 3",
    "!(x < 1 || x >= 1)",
    "!(x < 1 ? y < 3 : y < 9)",
    "!((x < 1 ? 2 : 3) >= 1)",
    "sin(x) > y && sin(x) < y",
]


@BOTH
@pytest.mark.parametrize("guard", NEVER)
def test_guards_that_never_hold(guard: str, method: Method) -> None:
    run = simulate(moving(TRUE, text(guard)), until=5.0, method=method)
    assert not run.jumps


@BOTH
@pytest.mark.parametrize(
    ("guard", "when"),
    [
        ("x >= 1 && x <= 1", 2.0),
        ("!(x < 1 ? y < 3 : x < 2)", 3.0),
        ("!(min(x, 1) < 1)", 2.0),
        ("max(x, 0) >= 1 && abs(y) <= 1", 2.0),
        ("(x < 1 ? 0 : x) >= 1", 2.0),
    ],
)
def test_guards_that_hold_at_a_seam(guard: str, when: float, method: Method) -> None:
    run = simulate(moving(TRUE, text(guard)), until=5.0, method=method)
    assert [e.time for e in run.jumps] == [pytest.approx(when)]


@BOTH
@pytest.mark.parametrize(
    ("invariant", "blocked"),
    [
        ("x <= 1 || y >= 2", None),  # through the corner
        ("x <= 1 || y > 2", None),  # closed on one side: at the corner it holds
        ("x < 1 || y >= 2.5", 2.0),
        ("x <= 1 || y >= 2.5", 2.0),
        ("x < 1 || x > 1", 2.0),
    ],
)
def test_corners(invariant: str, blocked: float | None, method: Method) -> None:
    """Two parts change at the same instant."""
    run = simulate(moving(text(invariant), rates=(1, 1)), until=5.0, method=method)
    if blocked is None:
        assert run.outcome.ending is Ending.HORIZON
    else:
        assert run.outcome.ending is Ending.BLOCKED
        assert run.outcome.time == pytest.approx(blocked)


def test_an_undefined_part_is_still_violated() -> None:
    """Both sides of a surface without a value are violated, not neither."""
    root = "sqrt(1 - x)"
    run = simulate(moving(text(f"({root} <= 1 && y < 3) || ({root} > 1 && y < 9)")), until=5.0)
    assert run.outcome.ending is Ending.BLOCKED
    assert run.outcome.time == pytest.approx(2.0)


# Random conditions: all truths change at multiples of 1/4 at most.

HALVES = st.integers(-4, 4).map(lambda n: Fraction(n, 2))
TERMS = ["x", "y", "x - y", "abs(x)", "min(x, y)", "max(x, y)", "(x < {c} ? y : x)", "-2*x"]
OPERATORS = ["<", "<=", ">", ">="]


@st.composite
def conditions(draw: st.DrawFn, depth: int = 2) -> str:
    shape = draw(st.sampled_from(["atom", "and", "or", "not", "if"])) if depth else "atom"
    if shape == "atom":
        term = draw(st.sampled_from(TERMS)).format(c=draw(HALVES))
        return f"({term} {draw(st.sampled_from(OPERATORS))} {draw(HALVES)})"
    parts = [draw(conditions(depth=depth - 1)) for _ in range(3)]
    if shape == "not":
        return f"!{parts[0]}"
    if shape == "if":
        return f"({parts[0]} ? {parts[1]} : {parts[2]})"
    return f"({parts[0]} {'&&' if shape == 'and' else '||'} {parts[1]})"


STARTS = st.tuples(HALVES, HALVES)
RATES = st.tuples(st.integers(-1, 1), st.integers(-1, 1))


def states(
    start: tuple[Fraction, Fraction], rates: tuple[int, int]
) -> Iterator[tuple[Fraction, bool, dict[str, Fraction]]]:
    """The times at which truths may change, and those between; which are which; the states."""
    for k in range(8 * UNTIL):
        t = Fraction(k, 8)
        yield t, k % 2 == 0, {n: s + r * t for n, s, r in zip("xy", start, rates, strict=True)}


def may_hold(condition: Expression, state: dict[str, Fraction]) -> bool:
    """Whether it holds in some state close by."""
    near = [Fraction(n, 1000) for n in (-5, -1, 0, 1, 5)]
    return any(
        bool(evaluate(condition, {"x": state["x"] + dx, "y": state["y"] + dy}))
        for dx, dy in product(near, near)
    )


def first(
    condition: Expression, start: tuple[Fraction, Fraction], rates: tuple[int, int]
) -> tuple[float | None, set[float]]:
    """When a condition first holds (or, between such times, when that begins), and the times
    before at which it nearly does."""
    nearly: set[float] = set()
    for t, is_seam, state in states(start, rates):
        if evaluate(condition, state):
            return float(t if is_seam else t - Fraction(1, 8)), nearly
        if is_seam and may_hold(condition, state):
            nearly.add(float(t))
    return None, nearly


def agrees(found: float | None, when: float | None, nearly: set[float]) -> bool:
    """Whether a time is right; a touched invariant is tested a millionth of the run later."""
    if found is None:
        return when is None
    allowed = nearly if when is None else {*nearly, when}
    return any(abs(found - t) < 2e-6 * UNTIL for t in allowed)


def jump_time(run: Trace) -> float | None:
    return run.jumps[0].time if run.jumps else None


@settings(deadline=None, max_examples=150)
@given(conditions(), STARTS, RATES)
def test_random_guards(
    guard: str, start: tuple[Fraction, Fraction], rates: tuple[int, int]
) -> None:
    """An urgent edge is taken when its guard first holds; before that only where the state is
    within tolerance of it."""
    condition = text(guard)
    when, nearly = first(condition, start, rates)
    for method in (Adams(), Taylor()):
        run = simulate(moving(TRUE, condition, start, rates), until=UNTIL - 0.3, method=method)
        assert agrees(jump_time(run), when, nearly), (guard, when, run.outcome.sentence)


@settings(deadline=None, max_examples=150)
@given(conditions(), STARTS, RATES)
def test_random_invariants(
    invariant: str, start: tuple[Fraction, Fraction], rates: tuple[int, int]
) -> None:
    """A run blocks when its invariant first fails, before that only where it fails within
    tolerance."""
    condition = text(invariant)
    when, nearly = first(negation(condition), start, rates)
    if when == 0.0:
        return
    for method in (Adams(), Taylor()):
        run = simulate(moving(condition, None, start, rates), until=UNTIL - 0.3, method=method)
        found = None if run.outcome.ending is Ending.HORIZON else run.outcome.time
        assert agrees(found, when, nearly), (invariant, when, run.outcome.sentence)

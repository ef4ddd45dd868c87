"""Initial ranges whose ends depend on other values, and first values of any kind: all of the
set is drawn and searched."""

from __future__ import annotations

from fractions import Fraction

import pytest

from workbench.models.automaton import (
    BOOL,
    INT,
    Constraint,
    HybridAutomaton,
    Initial,
    Location,
    Parameter,
    Property,
    Range,
    Variable,
    enumeration,
)
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    constant,
    equal,
    negation,
    symbol,
    variable,
)
from workbench.simulate.policy import Level, Policy
from workbench.simulate.run import prepare, simulate
from workbench.simulate.search.falsification import Budget, Options, falsify

X, V, W, B, N, F, C = map(variable, ("x", "v", "w", "b", "n", "f", "c"))
UNIT = (X >= Fraction(1, 2)) & (X <= Fraction(3, 2))
HALF, SHORT = Fraction(1, 2), Options(until=1.0)
COLOURS = enumeration("red", "green", "blue")


def resting(condition: Expression, claim: Expression) -> HybridAutomaton:
    kinds = {"x": None, "v": None, "w": None, "n": INT, "f": BOOL, "c": COLOURS}
    variables = tuple(Variable(n, *([t] if t else [])) for n, t in kinds.items())
    rests = tuple(Constraint(n, Range.exactly(constant(0))) for n in "xvw")
    return HybridAutomaton(
        "ranges",
        variables,
        (Location("a", rests, (), TRUE),),
        (),
        (Initial("a", condition),),
        parameters=(Parameter("b", low=HALF, high=Fraction(3, 2)),),
        properties=(Property("p", claim),),
    )


CASES = {
    "a parameter": (UNIT & (V >= -B) & (V <= B), lambda v, b: (-b, b)),
    "a variable": (UNIT & (V >= -X) & (V <= X), lambda v, b: (-v["x"], v["x"])),
    "the other way round": (UNIT & (-X <= V) & (X >= V), lambda v, b: (-v["x"], v["x"])),
    "not around zero": (UNIT & (V >= X - 1) & (V <= 2 * X), lambda v, b: (v["x"] - 1, 2 * v["x"])),
    "half a constant": (UNIT & (V >= 0) & (V <= B * X), lambda v, b: (0, b * v["x"])),
    "a definition": (
        UNIT & equal(W, X + 1) & (V >= 0) & (V <= W),
        lambda v, b: (0, v["x"] + 1),
    ),
    "a sum": (UNIT & (V + X <= 3) & (2 * V - X >= 0), lambda v, b: (v["x"] / 2, 3 - v["x"])),
}


@pytest.mark.parametrize("name", CASES)
def test_random_starts_fill_the_range(name: str) -> None:
    condition, ends = CASES[name]
    prepared = prepare(resting(condition, TRUE))
    shares = []
    for seed in range(40):
        run = simulate(prepared, until=0.0, policy=Policy.random(), seed=seed)
        values = run.final()
        low, high = ends(values, run.parameters["b"])
        assert low - 1e-9 <= values["v"] <= high + 1e-9
        shares.append((values["v"] - low) / (high - low))
    assert min(shares) < 0.15 and max(shares) > 0.85
    assert sum(shares) / len(shares) == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize("name", CASES)
def test_levels_are_shares_of_the_range(name: str) -> None:
    condition, ends = CASES[name]
    for level, share in ((Level.LOW, 0.0), (Level.MID, 0.5), (Level.HIGH, 1.0)):
        run = simulate(resting(condition, TRUE), until=0.0, policy=Policy(level=level))
        values = run.final()
        low, high = ends(values, run.parameters["b"])
        assert values["v"] == pytest.approx(low + share * (high - low))


@pytest.mark.parametrize(
    ("condition", "most"),
    [
        (CASES["a parameter"][0], Fraction(3, 2)),
        (CASES["a variable"][0], Fraction(3, 2)),
        (CASES["not around zero"][0], Fraction(3)),
        (CASES["half a constant"][0], Fraction(9, 4)),
        (CASES["a sum"][0], Fraction(5, 2)),
    ],
)
def test_the_search_reaches_the_ends_and_no_further(condition: Expression, most: Fraction) -> None:
    """`most` is the greatest value of v in the set."""
    bad = resting(condition, V <= most - Fraction(1, 100))
    found = falsify(bad, bad.properties[0], Budget(200), SHORT).found
    assert found is not None and found.time == 0.0
    safe = resting(condition, V <= most)
    assert falsify(safe, safe.properties[0], Budget(40), SHORT).found is None


def test_ranges_that_depend_on_each_other_still_start() -> None:
    loop = UNIT & (V <= W) & (W <= V + 1) & (V >= W - 1) & (W >= 0) & (W <= 2)
    prepared = prepare(resting(loop, TRUE))
    for seed in range(10):
        values = simulate(prepared, until=0.0, policy=Policy.random(), seed=seed).final()
        assert values["w"] - 1 - 1e-9 <= values["v"] <= values["w"] + 1e-9


def test_an_empty_range_is_left_for_another_point() -> None:
    """v in [x, 0.6] is empty for most x in [0.5, 1.5]."""
    prepared = prepare(resting(UNIT & (V >= X) & (V <= Fraction(6, 10)), TRUE))
    values = simulate(prepared, until=0.0, policy=Policy.random(), seed=3).final()
    assert 0.5 <= values["x"] <= values["v"] + 1e-9 and values["v"] <= 0.6 + 1e-9


def test_discrete_values_that_may_begin_anyhow_are_drawn() -> None:
    prepared = prepare(resting(UNIT & (N >= 0) & (N <= 3), TRUE))
    runs = [simulate(prepared, until=0.0, policy=Policy.random(), seed=s) for s in range(40)]
    starts = [run.final() for run in runs]
    assert {s["f"] for s in starts} == {False, True}
    assert {s["c"] for s in starts} == {"red", "green", "blue"}
    assert {s["n"] for s in starts} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("claim", "name", "value"),
    [
        (negation(F), "f", True),
        (negation(equal(C, symbol("blue"))), "c", "blue"),
        (negation(equal(C, symbol("green"))), "c", "green"),
        (N <= 2, "n", 3),
    ],
)
def test_discrete_values_are_searched(claim: Expression, name: str, value: object) -> None:
    model = resting(UNIT & (N >= 0) & (N <= 3), claim)
    found = falsify(model, model.properties[0], Budget(200), SHORT).found
    assert found is not None
    assert found.recipe.initial[name] == value and found.trace.final()[name] == value

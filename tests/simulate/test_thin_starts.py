"""Starts in thin initial sets: all of the set is drawn, reproducibly, and searched."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.automaton import (
    Constraint,
    HybridAutomaton,
    Initial,
    Location,
    Parameter,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.affine import linear_constraint
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    conjunction,
    constant,
    equal,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.trace import Ending
from workbench.simulate.policy import Level, Policy
from workbench.simulate.run import prepare, simulate
from workbench.simulate.search.falsification import Budget, Options, falsify
from workbench.simulate.start.polytope import polytope

X, Y, Z, P = map(variable, ("x", "y", "z", "p"))
BOX = (X >= 0) & (X <= 3) & (Y >= 0) & (Y <= 3) & (Z >= 0) & (Z <= 10)
RANDOM = Policy.random()


def resting(
    condition: Expression,
    invariant: Expression = TRUE,
    parameters: tuple[Parameter, ...] = (),
    properties: tuple[Property, ...] = (),
) -> HybridAutomaton:
    flows = tuple(Constraint(n, Range.exactly(constant(0))) for n in "xyz")
    return HybridAutomaton(
        "thin",
        tuple(map(Variable, "xyz")),
        (Location("a", flows, (), invariant),),
        (),
        (Initial("a", condition),),
        parameters=parameters,
        properties=properties,
    )


def starts(model: HybridAutomaton, count: int) -> list[dict[str, float]]:
    prepared = prepare(model)
    runs = [simulate(prepared, until=0.0, policy=RANDOM, seed=s) for s in range(count)]
    assert all(r.segments for r in runs), runs[0].outcome.sentence
    return [r.final() for r in runs]  # type: ignore[misc]


SETS = {
    "one equation": (BOX & equal(X + Y, 3), lambda v: v["x"] + v["y"] - 3),
    "two equations": (
        BOX & equal(X + Y, 3) & equal(X - Y + Z, 4),
        lambda v: abs(v["x"] + v["y"] - 3) + abs(v["x"] - v["y"] + v["z"] - 4),
    ),
    "a bound that hides in a definition": (
        BOX & equal(X + Y, 3) & equal(Z, 2 * X),
        lambda v: v["z"] - 2 * v["x"],
    ),
    "opposite inequalities": (BOX & (X + Y <= 3) & (X + Y >= 3), lambda v: v["x"] + v["y"] - 3),
    "a sliver": (
        BOX & (X + Y <= 3) & (X + Y >= 3 - Fraction(1, 10**6)),
        lambda v: max(abs(v["x"] + v["y"] - 3) - 1e-6, 0.0),
    ),
}


@pytest.mark.parametrize("name", SETS)
def test_random_starts_spread_over_the_set(name: str) -> None:
    """x is uniform on [0, 3] in each of them; before, all starts were equal."""
    condition, gap = SETS[name]
    found = starts(resting(condition), 120)
    assert all(abs(gap(v)) < 1e-9 for v in found)
    values = sorted(v["x"] for v in found)
    assert values[0] >= -1e-9 and values[-1] <= 3 + 1e-9
    worst = max(abs(x / 3 - (i + 0.5) / 120) for i, x in enumerate(values))
    assert worst < 0.18  # Kolmogorov-Smirnov, far beyond the 99.9 % quantile
    assert found[:5] == starts(resting(condition), 5)


def test_curved_equations_too() -> None:
    circle = BOX & equal(X * X + Y * Y, 4) & (X >= 1)
    found = starts(resting(circle), 30)
    assert all(v["x"] ** 2 + v["y"] ** 2 == pytest.approx(4, abs=1e-9) for v in found)
    assert max(v["x"] for v in found) - min(v["x"] for v in found) > 0.4
    both = BOX & equal(X + Y, 3) & equal(Z, X * Y) & (X * Y >= 2)
    found = starts(resting(both), 30)
    assert all(v["x"] * v["y"] == pytest.approx(v["z"], abs=1e-9) for v in found)
    assert max(v["x"] for v in found) - min(v["x"] for v in found) > 0.4


def test_equations_of_the_invariant_and_of_parameters_count() -> None:
    held = starts(resting(BOX, equal(X + Y, 3)), 10)
    assert len({round(v["x"], 6) for v in held}) == 10
    moved = resting(BOX & equal(X + Y, P), parameters=(Parameter("p", low=1, high=5),))  # type: ignore[arg-type]
    prepared = prepare(moved)
    for seed in range(10):
        run = simulate(prepared, until=0.0, policy=RANDOM, seed=seed)
        values = run.final()
        assert values["x"] + values["y"] == pytest.approx(run.parameters["p"], abs=1e-9)


def test_levels_given_values_and_empty_sets() -> None:
    model = resting(BOX & equal(X + Y, 3))
    middle = simulate(model, until=0.0).final()
    assert (middle["x"], middle["y"], middle["z"]) == pytest.approx((1.5, 1.5, 5.0))
    high = simulate(model, until=0.0, policy=Policy(level=Level.HIGH)).final()
    assert high["z"] == pytest.approx(10.0)
    fixed = simulate(model, until=0.0, policy=RANDOM, initial={"x": 1.0}).final()
    assert (fixed["x"], fixed["y"]) == (1.0, pytest.approx(2.0))
    empty = simulate(resting(BOX & equal(X + Y, 7)), until=0.0, policy=RANDOM)
    assert empty.outcome.ending is Ending.EMPTY_INITIAL


def test_a_run_is_repeated_from_its_decisions() -> None:
    model = resting(BOX & equal(X + Y, 3))
    run = simulate(model, until=0.0, policy=RANDOM, seed=5)
    again = Policy(level=Level.RANDOM, script=run.decisions)
    assert simulate(model, until=0.0, policy=again, seed=77).final() == run.final()


def test_falsification_searches_the_whole_set() -> None:
    """Only starts with x > 2.99, within 0.4 % of the set, are bad."""
    safe = Property("low", X <= Fraction(299, 100))
    model = resting(BOX & equal(X + Y, 3), properties=(safe,))
    assert falsify(model, safe, Budget(200), Options(until=1.0)).found is not None
    tame = resting(BOX & equal(X + Y, 2), properties=(safe,))
    assert falsify(tame, safe, Budget(60), Options(until=1.0)).found is None


# Polytopes


@st.composite
def polytopes(draw: st.DrawFn) -> list[Expression]:
    small = st.integers(-3, 3)

    def form() -> Expression:
        return draw(small) * X + draw(small) * Y + draw(small) * Z

    parts = [v >= -4 for v in (X, Y, Z)] + [v <= 4 for v in (X, Y, Z)]
    parts += [equal(form(), draw(small)) for _ in range(draw(st.integers(0, 2)))]
    parts += [form() <= draw(small) for _ in range(draw(st.integers(0, 3)))]
    return parts


@settings(max_examples=40, deadline=None)
@given(polytopes(), st.integers(0, 5))
def test_all_points_lie_inside(parts: list[Expression], seed: int) -> None:
    constraints = [c for p in parts if (c := linear_constraint(p)) is not None]
    constraints = [c for c in constraints if c.coefficients]
    found = polytope(("x", "y", "z"), constraints)
    if found is None:
        from workbench.models.smt.solver import Unsatisfiable, satisfiable

        whole = conjunction(*(c.expression for c in constraints))
        assert isinstance(satisfiable(whole), Unsatisfiable)
        return
    random = Random(seed)
    share = [random.random() for _ in range(found.dimension)]
    for point in (found.sample(random), found.at(share), found.end(-1), found.end(1)):
        for c in constraints:
            value = sum(float(a) * point[n] for n, a in c.coefficients) - float(c.bound)
            assert value <= 1e-9
            assert c.relation is not Op.EQUAL or abs(value) <= 1e-9
    assert found.share(found.at(share)) == pytest.approx(share, abs=1e-6)

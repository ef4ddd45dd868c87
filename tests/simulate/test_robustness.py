"""Robustness on the dense output, against fine sampling and against analytic answers."""

from __future__ import annotations

import math
from array import array
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.expression import Expression, conjunction, disjunction, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.text import parse_expression
from workbench.models.load import load
from workbench.models.trace import Ending, Outcome, Segment, Trace
from workbench.simulate.monitoring.margin import margin_tree
from workbench.simulate.monitoring.robustness import Robustness
from workbench.simulate.monitoring.unit_polynomial import critical_points, roots, value
from workbench.simulate.policy import Policy
from workbench.simulate.run import prepare, simulate

SAMPLES = 1500
coefficients = st.lists(st.floats(-3, 3).map(lambda v: round(v, 3)), min_size=1, max_size=7)


def polynomial_trace(**rows: list[list[float]]) -> Trace:
    """One segment of unit pieces; each variable has a polynomial for each piece."""
    names = tuple(rows)
    count = len(next(iter(rows.values())))
    degrees, flat = array("i"), array("d")
    for i in range(count):
        degree = max(len(rows[n][i]) for n in names) - 1
        degrees.append(degree)
        for n in names:
            flat.extend([*rows[n][i], *[0.0] * (degree + 1 - len(rows[n][i]))])
    final = array("d", [value(rows[n][-1], 1.0) for n in names])
    segment = Segment("here", names, array("d", range(count + 1)), degrees, flat, {}, final)
    outcome = Outcome(Ending.HORIZON, float(count), "done")
    return Trace("made", names, (segment,), (), outcome)


def least(condition: Expression, trace: Trace) -> float:
    return Robustness(lambda _: condition, {}).along(trace).margin


def sampled(condition: Expression, trace: Trace) -> float:
    """An independent oracle: margins by recursion, at many times."""
    worst = math.inf
    for i in range(SAMPLES + 1):
        t = trace.end * i / SAMPLES
        worst = min(worst, plain_margin(condition, trace.segments[0].valuation(t)))
    return worst


def plain_margin(e: Expression, values: dict[str, object]) -> float:
    if e.op is Op.AND:
        return min(plain_margin(a, values) for a in e.args)
    if e.op is Op.OR:
        return max(plain_margin(a, values) for a in e.args)
    if e.op is Op.NOT:
        return -plain_margin(e.args[0], values)
    left, right = (float(evaluate(a, values)) for a in e.args)  # type: ignore[arg-type]
    if e.op in (Op.LESS, Op.LESS_EQUAL):
        return right - left
    if e.op in (Op.GREATER, Op.GREATER_EQUAL):
        return left - right
    return -abs(left - right) if e.op is Op.EQUAL else abs(left - right)


@given(p=coefficients, n=st.integers(1, 3))
def test_roots_are_where_signs_change(p: list[float], n: int) -> None:
    p = [*p, float(n)]
    found = roots(p)
    assert all(abs(value(p, u)) < 1e-9 * (1 + sum(map(abs, p))) for u in found)
    grid = [i / 997 for i in range(998)]
    for a, b in pairwise(grid):
        if value(p, a) * value(p, b) < 0:
            assert any(a <= u <= b for u in found)


def test_roots_that_sampling_misses() -> None:
    # (u - 0.3)(u - 0.3001): two roots close together
    p = [0.3 * 0.3001, -0.6001, 1.0]
    assert roots(p) == pytest.approx([0.3, 0.3001], abs=1e-9)
    assert critical_points(p) == pytest.approx([0.30005])
    assert roots([0.0, 0.0]) == [] and roots([1.0]) == []
    touching = roots([0.25, -1.0, 1.0])  # (u - 1/2)^2
    assert touching and all(abs(u - 0.5) < 1e-6 for u in touching)


@settings(max_examples=40, deadline=None)
@given(x=st.lists(coefficients, min_size=1, max_size=2), y=coefficients, shape=st.integers(0, 5))
def test_agrees_with_fine_sampling(x: list[list[float]], y: list[float], shape: int) -> None:
    trace = polynomial_trace(x=x, y=[y] * len(x))
    condition = parse_expression(
        [
            "x <= 1",
            "x > y && y <= 2",
            "x >= y || y >= 1/2",
            "x^2 + x*y <= 2 && !(x < -1 || y > 5)",
            "min(x, y) >= -1 && max(x, 2*y) <= 3",
            "abs(x) <= 1 || x - y == 0",
        ][shape]
    )
    exact, approximate = least(condition, trace), sampled(condition, trace)
    assert exact <= approximate + 1e-9
    # between two samples a margin changes by at most its slope times the distance
    slope = 40.0 * (1 + sum(map(abs, y)) + max(sum(map(abs, p)) for p in x)) ** 2
    assert approximate - exact <= slope * trace.end / SAMPLES


def test_dip_between_steps_is_seen() -> None:
    """A dip of width 1/1000 that no end of a piece shows."""
    a = 0.4567
    dip = [a * a * 1e6 - 0.01, -2 * a * 1e6, 1e6]
    closest = Robustness(lambda _: variable("x") >= 0, {}).along(polynomial_trace(x=[dip]))
    assert closest.margin == pytest.approx(-0.01, rel=1e-6)
    assert closest.time == pytest.approx(a, abs=1e-7)


def test_least_of_a_disjunction_lies_at_a_crossing() -> None:
    """max(1 - 2t, 2t - 1) is least at t = 1/2, where neither has an extremum."""
    condition = parse_expression("x >= 0 || x <= 0")
    trace = polynomial_trace(x=[[1.0, -2.0]])
    closest = Robustness(lambda _: condition, {}).along(trace)
    assert closest.margin == pytest.approx(0.0, abs=1e-12)
    assert closest.time == pytest.approx(0.5)


def test_other_functions_are_followed_closely() -> None:
    condition = parse_expression("sin(x) + 1/(2 + x^2) >= 0")
    trace = polynomial_trace(x=[[0.0, 6.0, 1.0]])
    expected = sampled(condition, trace)
    assert least(condition, trace) == pytest.approx(expected, abs=1e-4)
    assert least(condition, trace) <= expected + 1e-9


def test_frozen_and_strict_conditions() -> None:
    trace = polynomial_trace(x=[[1.0, 1.0]])
    held = Segment(
        "here",
        ("x",),
        array("d", [0.0, 1.0]),
        array("i", [1]),
        array("d", [1.0, 1.0]),
        {"n": 0.0, "flag": 1.0},
        array("d", [2.0]),
    )
    trace = Trace("made", ("x", "n", "flag"), (held,), (), trace.outcome)
    assert least(parse_expression("n > 0"), trace) == -math.inf
    assert least(parse_expression("n >= 0"), trace) == 0.0
    assert least(parse_expression("n > 0 || x > 0"), trace) == 1.0
    assert least(parse_expression("flag"), trace) == math.inf
    assert least(parse_expression("!flag"), trace) == -math.inf


def test_margin_of_min_and_max_is_pulled_out() -> None:
    tree = margin_tree(parse_expression("5 - max(x, 2*min(y, z)) >= 0"))
    leaves = [str(leaf.expression) for leaf in tree.leaves]
    assert not any("min" in text or "max" in text for text in leaves)
    x, y, z = 1.0, 4.0, 2.0
    values = {"x": x, "y": y, "z": z}
    margins = [float(evaluate(leaf.expression, values)) for leaf in tree.leaves]  # type: ignore[arg-type]
    assert tree(margins) == 5 - max(x, 2 * min(y, z))


def test_property_margin_of_a_run_is_its_closest_approach() -> None:
    automaton = load("platoon_paper").automaton
    prepared = prepare(automaton)
    engine = Robustness.of_property(automaton, automaton.properties[0], prepared.symbols)
    for seed in range(3):
        trace = simulate(prepared, until=15.0, policy=Policy.random(), seed=seed)
        closest = engine.along(trace)
        rows = [values["dist"] for _, _, values in trace.samples(0.01)]
        assert closest.margin <= min(rows) + 1e-12  # type: ignore[type-var]
        assert closest.margin == pytest.approx(min(rows), abs=1e-2)  # type: ignore[type-var]
        assert trace.at(closest.time)["dist"] == pytest.approx(closest.margin)


def test_location_decides_what_can_be_violated() -> None:
    condition = conjunction(variable("x") >= 0, disjunction(variable("x") <= 9))
    trace = polynomial_trace(x=[[1.0, 1.0]])
    nowhere = Robustness(lambda name: parse_expression("true"), {})
    assert nowhere.along(trace).margin == math.inf
    assert least(condition, trace) == 1.0

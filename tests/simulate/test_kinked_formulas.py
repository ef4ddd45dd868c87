"""Formulas of time with jumps and kinks, fed as inputs: they are steps of the input."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.automaton import (
    TIME,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    conditional,
    constant,
    equal,
    variable,
)
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import substitute
from workbench.models.trace import Ending, EventType
from workbench.simulate.inputs.kinked_formula import KinkedFormula
from workbench.simulate.inputs.signals import Formula, Signal, Steps
from workbench.simulate.monitoring.run_check import RunCheck
from workbench.simulate.policy import Policy, Switching
from workbench.simulate.run import prepare, simulate

X, U, T = variable("x"), variable("u"), variable(TIME)
ALL_POLICIES = [Policy(s) for s in Switching]


def formula(text: str) -> Formula:
    return Formula(substitute(parse_expression(text), {"t": T}))


def changes(text: str, until: float = 10.0) -> list[float]:
    signal, found, t = KinkedFormula("u", formula(text), {}), [], 0.0
    while (t := signal.next_change(t, until)) < math.inf:
        found.append(t)
    return found


PI = math.pi
KINKS = {
    "t < 5 ? 1 : 0": [5.0],
    "t < 5 ? (t < 2 ? 1 : 2) : sin(t)": [2.0, 5.0],
    "min(t, 3)": [3.0],
    "abs(t*t - 2)": [math.sqrt(2)],
    "floor(t/4)": [4.0, 8.0],
    "t - 3*floor(t/3) < 1 ? 1 : 0": [1.0, 3.0, 4.0, 6.0, 7.0, 9.0],
    "floor(sqrt(t))": [1.0, 4.0, 9.0],
    "sign(cos(t))": [PI / 2, 3 * PI / 2, 5 * PI / 2],
    "max(sin(t), 0.99999)": [
        f(PI / 2 + 2 * PI * k)
        for k in (0, 1)
        for f in (lambda t: t - math.acos(0.99999), lambda t: t + math.acos(0.99999))
    ],
    "exp(t) > 100 || t < 1 ? 1 : 0": [1.0, math.log(100)],
    "sin(t)": [],
    "cos(t) <= -1.5 ? 1 : 0": [],
    "2 > 1 ? t : 0": [],
}


@pytest.mark.parametrize("text", KINKS)
def test_all_kinks_are_found(text: str) -> None:
    assert changes(text) == pytest.approx(KINKS[text], abs=1e-12)


def test_the_value_is_the_formula_between_its_kinks() -> None:
    text = "t - floor(t) < 0.5 ? sin(t) : max(t - 3, -t)"
    signal = KinkedFormula("u", formula(text), {})
    bare = KinkedFormula("v", Formula(T), {})
    assert bare.names == ()
    for i in range(100):
        t = 0.0501 * i
        whole = math.sin(t) if t - math.floor(t) < 0.5 else max(t - 3, -t)
        assert signal.value({TIME: t, **signal.held(t)}) == pytest.approx(whole, abs=1e-15)


def fed(invariant: Expression, edges: tuple[Edge, ...], rate: Expression) -> HybridAutomaton:
    """x, which flows in `a` as given, and rests in `b`."""
    flows = (Constraint("x", Range.exactly(rate)),)
    rests = (Constraint("x", Range.exactly(constant(0))),)
    return HybridAutomaton(
        "fed",
        (Variable("x"),),
        (Location("a", flows, (), invariant), Location("b", rests)),
        edges,
        (Initial("a", equal(X, 0)),),
        inputs=(Input("u", low=Fraction(-50), high=Fraction(50)),),
    )


@pytest.mark.parametrize("policy", ALL_POLICIES, ids=lambda p: p.switching.value)
def test_a_jump_of_a_formula_is_a_step(policy: Policy) -> None:
    """x = t must not exceed 5 u + 1, which falls from 6 to 1 at t = 4: the run leaves then."""
    model = fed(X <= 5 * U + 1, (Edge("a", "b", U <= 0, name="go"),), constant(1))
    inputs: dict[str, Signal] = {"u": formula("t < 4 ? 1 : 0")}
    run = simulate(model, until=10.0, inputs=inputs, policy=policy)
    assert [(e.name, e.time) for e in run.jumps] == [("go", 4.0)]
    assert run.outcome.ending is Ending.HORIZON and run.at(10.0)["x"] == pytest.approx(4.0)
    assert any(e.type is EventType.BOUNDARY and e.side == "beyond" for e in run.events)
    assert RunCheck(prepare(model, inputs=inputs)).problems(run, inputs) == []


def test_a_jump_that_leaves_no_way_blocks_with_its_values() -> None:
    model = fed(X <= 5 * U + 1, (), constant(1))
    run = simulate(model, until=10.0, inputs={"u": formula("t < 4 ? 1 : 0")})
    assert run.outcome.ending is Ending.BLOCKED and run.outcome.time == 4.0
    assert "`u` jumps from 1 to 0" in run.outcome.sentence


def test_integration_restarts_at_jumps_and_kinks() -> None:
    """The integral of a square wave and of a triangle, exact but for rounding."""
    wave = "t - floor(t) < 0.25 ? 1 : -1"
    run = simulate(fed(TRUE, (), U), until=7.3, inputs={"u": formula(wave)})
    exact = 7 * (0.25 - 0.75) + 0.25 - 0.05
    assert run.at(7.3)["x"] == pytest.approx(exact, abs=1e-9)
    assert {s.start for s in run.segments} >= {0.25, 1.0, 1.25, 2.0, 6.25}
    corner = simulate(fed(TRUE, (), U), until=7.0, inputs={"u": formula("abs(t - 3)")})
    assert corner.at(7.0)["x"] == pytest.approx(4.5 + 8.0, abs=1e-9)


bounds, signs = st.integers(-3, 3), st.sampled_from((-1, 0, 1))


@st.composite
def random_models(draw: st.DrawFn) -> HybridAutomaton:
    def half_plane() -> Expression:
        return draw(signs) * X + draw(signs) * U <= draw(bounds) + Fraction(1, 3)

    edges = (
        Edge("a", "b", half_plane(), name="ab", urgent=draw(st.booleans())),
        Edge("b", "a", half_plane(), name="ba"),
        Edge("a", "a", half_plane(), (Constraint("x", Range.exactly(U)),), name="aa"),
    )
    return fed(X * draw(signs) - U <= draw(bounds), edges, constant(draw(st.integers(-2, 2))))


@settings(max_examples=60, deadline=None)
@given(
    random_models(),
    st.lists(st.integers(-4, 4), min_size=1, max_size=5),
    st.sampled_from(ALL_POLICIES),
    st.integers(0, 3),
)
def test_the_same_run_as_with_steps(
    model: HybridAutomaton, levels: list[int], policy: Policy, seed: int
) -> None:
    """A step function written as a formula is fed like one written as steps."""
    times = [0.7 * (i + 1) for i in range(len(levels))]
    text: Expression = constant(levels[-1])
    for t, level in zip(reversed(times), [*reversed(levels[:-1]), 4], strict=True):
        text = conditional(T < constant(Fraction(t)), constant(level), text)
    steps = Steps((0.0, *times), (4.0, *map(float, levels)))
    written, given_steps = (
        simulate(model, until=4.5, inputs={"u": u}, policy=policy, seed=seed, max_jumps=60)
        for u in (Formula(text), steps)
    )
    assert [(e.name, e.type) for e in written.events] == [
        (e.name, e.type) for e in given_steps.events
    ]
    assert [e.time for e in written.events] == pytest.approx([e.time for e in given_steps.events])
    assert written.outcome.ending is given_steps.outcome.ending
    assert (
        RunCheck(prepare(model, inputs={"u": Formula(text)})).problems(
            written, {"u": Formula(text)}
        )
        == []
    )

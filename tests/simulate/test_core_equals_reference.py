"""The compiled core and the Python reference take the same decisions, bit for bit."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.automaton import EventKind
from workbench.models.expressions.expression import (
    Expression,
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
    negation,
    power,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.table import Interpolation, Table
from workbench.simulate.stepping import engine
from workbench.simulate.stepping.methods import Adams, Detection, Method, Taylor
from workbench.simulate.stepping.program import (
    Lipschitz,
    Program,
    Watched,
    compile_program,
    compile_values,
)
from workbench.simulate.stepping.reference import core as reference
from workbench.simulate.stepping.reference import point as reference_point
from workbench.simulate.stepping.stretch import Stretch

pytestmark = pytest.mark.skipif(not engine.is_compiled(), reason="the extension is not built")

KIND = EventKind.UNILATERAL
NAMES = ("x", "y", "z")
X, Y, Z, U, T = map(variable, (*NAMES, "u", "time"))
SMALL = st.fractions(-2, 2, max_denominator=5)
BEND = Table("bend", ((Fraction(-1), Fraction(0), Fraction(2)),), ((0,), (1,), (-1,)))  # type: ignore[arg-type]
SHEET = Table(
    "sheet",
    ((Fraction(-1), Fraction(1)), (Fraction(0), Fraction(2))),
    ((Fraction(0), Fraction(1)), (Fraction(2), Fraction(-1))),
)
STAIRS = Table(
    "stairs",
    ((Fraction(-1), Fraction(0), Fraction(1)),),
    ((Fraction(1),), (Fraction(-1),), (Fraction(2),)),
    Interpolation.PREVIOUS,
)


EXTERNALS = {
    "wave": lambda a, b: math.sin(a) - b / 4,
    "known": Lipschitz(lambda a: math.cos(3 * a), 3.0),
}


@st.composite
def terms(draw: st.DrawFn) -> Expression:
    a, b = draw(st.sampled_from([X, Y, Z, U, T])), draw(st.sampled_from([X, Y, Z]))
    k = draw(SMALL)
    make = draw(
        st.sampled_from(
            [
                lambda: a * k,
                lambda: a * b * k,
                lambda: function(Op.SIN, a + b) * k,
                lambda: function(Op.COS, a * k),
                lambda: function(Op.SQRT, a * a + 1) * k,
                lambda: divide(a, b * b + 1),
                lambda: function(Op.SQRT, a + 2) * k,
                lambda: function(Op.SQRT, k - b),
                lambda: function(Op.LOG, a + Fraction(5, 2)),
                lambda: divide(k, b),
                lambda: function(Op.ACOS, a * k),
                lambda: function(Op.ATAN, b) * k,
                lambda: function(Op.EXP, -(a * a)) * k,
                lambda: minimum(a, b) + k,
                lambda: maximum(a, k) * k,
                lambda: function(Op.ABSOLUTE, a),
                lambda: conditional(a <= b, a, b * k),
                lambda: lookup(BEND, a),
                lambda: lookup(SHEET, a, b),
                lambda: function(Op.ATAN2, a, b * b + 1),
                lambda: function(Op.ATAN2, a - k, b),
                lambda: lookup(STAIRS, a),
                lambda: power(a - k, Fraction(1, 3)),
                lambda: power(a, 18) * k,
                lambda: function(Op.TAN, a * k),
                lambda: function(Op.FLOOR, a * k),
                lambda: external("wave", a, b) * k,
                lambda: external("known", a),
                lambda: constant(k),
            ]
        )
    )
    return make()


@st.composite
def guards(draw: st.DrawFn) -> Expression:
    def atom() -> Expression:
        e, k = draw(terms()), draw(SMALL)
        return draw(st.sampled_from([e >= k, e <= k, e > k, equal(e, k)]))

    parts = [atom() for _ in range(draw(st.integers(1, 3)))]
    join = draw(st.sampled_from([conjunction, disjunction]))
    return join(*parts)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    flows = [draw(terms()) + draw(terms()) - variable(n) * Fraction(1, 4) for n in NAMES]
    kinds = st.sampled_from(list(EventKind))
    watches = [
        Watched(draw(guards()), draw(kinds), draw(st.booleans()), draw(st.booleans()))
        for _ in range(draw(st.integers(0, 3)))
    ]
    return compile_program(
        flowing=NAMES, held=["u"], flows=flows, watches=watches, externals=EXTERNALS
    )


METHODS: list[Method] = [
    Adams(),
    Adams(rtol=1e-3, atol=1e-5, max_order=3),
    Adams(rtol=1e-9, atol=1e-11, max_order=12),
    Taylor(),
    Adams(detection=Detection.INTERPOLATION),
    Adams(detection=Detection.ENDPOINT),
    Taylor(detection=Detection.INTERPOLATION),
]


def bits(stretch: Stretch) -> tuple[object, ...]:
    """Everything in a stretch with floating-point numbers as their bytes."""
    return (
        stretch.stop,
        stretch.t.hex(),
        stretch.fired,
        stretch.grazing,
        stretch.counts,
        *(
            [v.hex() if v == v else "nan" for v in part]
            for part in (stretch.x, stretch.values, stretch.tolerances, stretch.times)
        ),
        list(stretch.degrees),
        [v.hex() for v in stretch.coefficients],
    )


@settings(max_examples=max(100, settings.default.max_examples))
@given(
    programs(),
    st.sampled_from(METHODS),
    st.tuples(*[st.floats(-2, 2)] * 3),
    st.floats(-1, 1),
    st.floats(0.1, 6),
)
def test_same_bits(
    program: Program,
    method: Method,
    x: tuple[float, float, float],
    u: float,
    until: float,
) -> None:
    method = replace(method, max_steps=300)
    active = range(len(program.watches))
    slow = reference.advance(program, method, 0.0, x, [u], until, active)
    fast = engine.advance(program, method, 0.0, x, [u], until, active)
    assert bits(slow) == bits(fast)


HALVES = st.integers(-2, 2).map(lambda n: Fraction(n, 2))


@st.composite
def line_programs(draw: st.DrawFn) -> Program:
    """Straight lines, slow decay, and conditions whose boundaries they meet exactly."""

    def atom() -> Expression:
        e, k = draw(st.sampled_from([X, Y, Z, X - Y, X * Y, X + T])), draw(HALVES)
        return draw(
            st.sampled_from([e >= k, e <= k, e > k, e < k, equal(e, k), negation(equal(e, k))])
        )

    rates = [
        draw(st.sampled_from([constant(r) for r in (-1, 0, 1)] + [-variable(n)])) for n in NAMES
    ]
    kinds = st.sampled_from(list(EventKind))
    watches = []
    for _ in range(draw(st.integers(1, 3))):
        join = draw(st.sampled_from([conjunction, disjunction]))
        whole = join(*(atom() for _ in range(draw(st.integers(1, 3)))))
        watches.append(Watched(whole, draw(kinds), draw(st.booleans()), draw(st.booleans())))
    return compile_program(flowing=NAMES, held=["u"], flows=rates, watches=watches)


@settings(max_examples=max(200, settings.default.max_examples))
@given(
    line_programs(),
    st.sampled_from(METHODS),
    st.tuples(*[st.sampled_from([-1.0, -0.5, 0.0, 5e-16, 0.5, 1.0])] * 3),
)
def test_same_bits_on_boundaries(
    program: Program, method: Method, x: tuple[float, float, float]
) -> None:
    method = replace(method, max_steps=300)
    active = range(len(program.watches))
    slow = reference.advance(program, method, 0.0, x, [0.0], 3.0, active)
    fast = engine.advance(program, method, 0.0, x, [0.0], 3.0, active)
    assert bits(slow) == bits(fast)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("steep", [0.0, 1e-300])
def test_runs_of_no_length_and_steps_of_no_size(method: Method, steep: float) -> None:
    """Where no step is wanted, or none is small enough, both cores say so."""
    p = compile_program(
        flowing=["x", "y"], held=[], flows=[Y, divide(1, X)], watches=[(X >= 1, KIND)]
    )
    for until in (0.0, 1.0):
        slow = reference.advance(p, method, 0.0, [steep or 0.5, 1.0], [], until, [0])
        fast = engine.advance(p, method, 0.0, [steep or 0.5, 1.0], [], until, [0])
        assert bits(slow) == bits(fast)


@pytest.mark.slow
@settings(max_examples=max(40, settings.default.max_examples // 2))
@given(
    programs(),
    st.sampled_from(METHODS),
    st.tuples(*[st.floats(-2, 2)] * 3),
    st.lists(st.floats(1e-3, 1.5), min_size=1, max_size=8),
)
def test_same_bits_in_many_stretches(
    program: Program, method: Method, x: tuple[float, float, float], spans: list[float]
) -> None:
    """A stepper that is stopped and resumed, with its history kept."""
    method, t = replace(method, max_steps=100), 0.0
    slow = reference.Core(program, method, 0.0, x, [0.5])
    fast = engine.Stepper(program, method, 0.0, x, [0.5])
    for i, span in enumerate(spans):
        t += span
        active = [w for w in range(len(program.watches)) if (w + i) % 2]
        assert bits(slow.advance(t, active)) == bits(fast.advance(t, active))


@given(guards(), st.tuples(*[st.floats(-2, 2)] * 4), st.sampled_from([0.0, 1e-9, 1e-2, -1e-2]))
def test_same_truth_at_a_point(
    condition: Expression, x: tuple[float, float, float, float], rtol: float
) -> None:
    names = ("time", *NAMES, "u")
    given = dict(zip(names, (0.5, *x), strict=True))
    program = compile_program(
        flowing=NAMES,
        held=["u"],
        flows=[constant(0)] * 3,
        watches=[(condition, KIND)],
        externals=EXTERNALS,
    )
    atol = math.copysign(1e-9, rtol)
    slow = reference_point.holds(program, names, given, rtol, atol)
    assert engine.truth_of(program, names)(given, rtol, atol) is slow


@given(st.lists(terms(), min_size=1, max_size=5), st.tuples(*[st.floats(-2, 2)] * 4))
def test_same_values_at_a_point(
    expressions: list[Expression], x: tuple[float, float, float, float]
) -> None:
    names = (*NAMES, "u")
    given = dict(zip(("time", *names), (0.5, *x), strict=True))
    program = compile_values(names, expressions, {}, EXTERNALS)
    slow = reference_point.values(program, ("time", *names), given)
    fast = engine.values_of(program, ("time", *names))(given)
    assert [v.hex() for v in slow] == [v.hex() for v in fast]


def test_resuming_costs_no_restart() -> None:
    """x'' = -x in a hundred stretches: as accurate, and hardly more evaluations."""
    p = compile_program(flowing=["x", "y"], held=[], flows=[Y, -X], watches=[(X >= 2, KIND)])
    whole = engine.advance(p, Adams(), 0.0, [0.0, 1.0], [], 20.0, [0])
    stepper, work = engine.Stepper(p, Adams(), 0.0, [0.0, 1.0], []), 0
    for k in range(1, 41):
        part = stepper.advance(k * 0.5, [0])
        work += part.counts.evaluations
    assert part.x[0] == pytest.approx(math.sin(20), abs=1e-4)
    assert work < 1.5 * whole.counts.evaluations


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=9), st.floats(0.01, 5))
def test_dense_output_meets_at_the_joints(x: list[float], until: float) -> None:
    """Every piece ends where the next begins, to rounding."""
    names = [f"v{i}" for i in range(len(x))]
    flows = [variable(names[i - 1]) - variable(n) for i, n in enumerate(names)]
    p = compile_program(flowing=names, held=[], flows=flows, watches=[])
    found = engine.advance(p, Adams(), 0.0, x, [], until, [])
    place, n = 0, len(x)
    previous = list(x)
    for i, degree in enumerate(found.degrees):
        h = found.times[i + 1] - found.times[i]
        ends = []
        for j in range(n):
            c = found.coefficients[place : place + degree + 1]
            assert c[0] == pytest.approx(previous[j], rel=1e-12, abs=1e-12)
            ends.append(sum(c[k] * h**k for k in range(degree + 1)))
            place += degree + 1
        previous = ends
    assert previous == pytest.approx(list(found.x), rel=1e-12, abs=1e-12)

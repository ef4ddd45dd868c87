"""Event detection against analytic oracles: none missed, none overshot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random

import pytest

from workbench.models.automaton import (
    Constraint,
    Edge,
    EventKind,
    HybridAutomaton,
    Initial,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    Expression,
    conjunction,
    constant,
    disjunction,
    divide,
    equal,
    external,
    function,
    negation,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.trace import EventType
from workbench.simulate.run import Lipschitz, simulate
from workbench.simulate.stepping.engine import advance
from workbench.simulate.stepping.methods import Adams, Detection, Method, Taylor
from workbench.simulate.stepping.program import ExternalError, Program, compile_program
from workbench.simulate.stepping.stretch import Stop, Stretch

X, Y, V, H, T = map(variable, ("x", "y", "v", "h", "time"))
UNILATERAL, BILATERAL, CROSSING = EventKind.UNILATERAL, EventKind.BILATERAL, EventKind.CROSSING
METHODS = [Adams(), Taylor()]
BOTH = pytest.mark.parametrize("method", METHODS, ids=["adams", "taylor"])


def program(
    flows: dict[str, Expression],
    *guards: Expression,
    kind: EventKind = UNILATERAL,
    externals: dict[str, object] | None = None,
) -> Program:
    return compile_program(
        flowing=list(flows),
        held=[],
        flows=list(flows.values()),
        watches=[(g, kind) for g in guards],
        externals=externals,  # type: ignore[arg-type]
    )


def go(
    p: Program,
    x: Sequence[float],
    method: Method = METHODS[0],
    until: float = 100.0,
    active: Sequence[int] | None = None,
) -> Stretch:
    return advance(
        p, method, 0.0, x, [], until, range(len(p.watches)) if active is None else active
    )


FALL = {"h": V, "v": constant(Fraction(-981, 100))}
OSCILLATOR = {"x": Y, "y": -X}


@BOTH
def test_ball_hits_the_floor(method: Method) -> None:
    found = go(program(FALL, (H <= 0) & (V <= 0)), [3.0, 1.0], method)
    exact = (1.0 + math.sqrt(1.0 + 2 * 9.81 * 3.0)) / 9.81
    assert found.stop is Stop.EVENT
    assert found.t == pytest.approx(exact, abs=1e-10)
    assert 0.0 <= found.x[0] < 1e-9 and found.counts.beyond == 0


@BOTH
@pytest.mark.parametrize("level", [-0.999, -0.7, 0.0, 0.7, 0.95, 0.9999])
def test_oscillator_crossings(method: Method, level: float) -> None:
    """x = sin t reaches a level at asin(level), or after three quarters of a turn."""
    guard = X >= Fraction(level) if level > 0.5 else X <= Fraction(level)
    exact = math.asin(level) if level > 0.5 else math.pi - math.asin(level)
    tight = type(method)(rtol=1e-9, atol=1e-11)
    found = go(program(OSCILLATOR, guard), [0.0 if level > 0.5 else 1e-3, 1.0], tight)
    if level <= 0.5:  # started at x = 0.001: sin(t + a)
        amplitude = math.hypot(1e-3, 1.0)
        exact = math.pi - math.asin(level / amplitude) - math.atan2(1e-3, 1.0)
    assert found.t == pytest.approx(exact, abs=1e-7)
    assert found.counts.beyond == 0


def test_thin_post_is_never_missed() -> None:
    """A car on an arc of radius 5 meets a post of radius 0.05 after a random way."""
    random, px, py = Random(7), variable("px"), variable("py")
    gap = (X - px) ** 2 + (Y - py) ** 2 - Fraction(25, 10_000)
    angle = variable("angle")
    p = compile_program(
        flowing=["x", "y", "angle"],
        held=["px", "py"],
        flows=[function(Op.COS, angle), function(Op.SIN, angle), constant(Fraction(1, 5))],
        watches=[(gap <= 0, UNILATERAL)],
    )
    worst = 0
    for _ in range(100):
        way = random.uniform(1.0, 30.0)
        post = [5 * math.sin(way / 5), 5 - 5 * math.cos(way / 5)]
        found = advance(p, Adams(rtol=1e-4, atol=1e-6), 0.0, [0.0, 0.0, 0.0], post, 40.0, [0])
        chord = 2 * 5 * math.asin(0.05 / 10)
        assert found.stop is Stop.EVENT, way
        assert found.t == pytest.approx(way - chord, abs=0.03)
        assert found.counts.beyond == 0
        worst = max(worst, found.counts.evaluations)
    assert worst <= 60


def test_interpolation_misses_the_thin_post() -> None:
    """The comparison methods really are different: this is why extrapolation is needed."""
    random, missed = Random(7), 0
    angle, px, py = variable("angle"), variable("px"), variable("py")
    p = compile_program(
        flowing=["x", "y", "angle"],
        held=["px", "py"],
        flows=[function(Op.COS, angle), function(Op.SIN, angle), constant(Fraction(1, 5))],
        watches=[((X - px) ** 2 + (Y - py) ** 2 <= Fraction(25, 10_000), UNILATERAL)],
    )
    method = Adams(rtol=1e-4, atol=1e-6, detection=Detection.INTERPOLATION)
    for _ in range(50):
        way = random.uniform(1.0, 30.0)
        post = [5 * math.sin(way / 5), 5 - 5 * math.cos(way / 5)]
        missed += advance(p, method, 0.0, [0.0, 0.0, 0.0], post, 40.0, [0]).stop is Stop.END
    assert missed > 25


def corridor_oracle(starts: list[tuple[float, float]]) -> list[bool]:
    """Fixed-step Runge-Kutta with tiny steps: which robots hit the box."""
    import numpy as np

    s = np.array([[x, y, 0.0] for x, y in starts]).T
    hit = np.zeros(len(starts), bool)

    def f(s: np.ndarray) -> np.ndarray:
        return np.array([np.cos(s[2]), np.sin(s[2]), -s[1] - 0.4 * s[2]])

    h = 1e-3
    for _ in range(4000):
        a = f(s)
        b = f(s + h / 2 * a)
        c = f(s + h / 2 * b)
        d = f(s + h * c)
        s = s + h / 6 * (a + 2 * b + 2 * c + d)
        hit |= (s[0] >= 2.9) & (s[0] <= 3.1) & (s[1] <= -0.3)
    return list(hit)


@BOTH
def test_corridor_robot_hits_every_time(method: Method) -> None:
    """Five starts, a hundred perturbations each; the wall corner is 0.2 wide."""
    random = Random(3)
    starts = []
    for y0 in (0.62, 0.66, 0.70, 0.74, 0.78):
        for _ in range(100):
            r, a = 0.05 * math.sqrt(random.random()), random.uniform(0, 2 * math.pi)
            starts.append((r * math.cos(a), y0 + r * math.sin(a)))
    truth = corridor_oracle(starts)
    assert sum(truth) == 500
    heading = variable("heading")
    flows = {
        "x": function(Op.COS, heading),
        "y": function(Op.SIN, heading),
        "heading": -Y - Fraction(2, 5) * heading,
    }
    box = conjunction(X >= Fraction(29, 10), X <= Fraction(31, 10), Y <= Fraction(-3, 10))
    p = program(flows, box)
    loose = type(method)(rtol=1e-4, atol=1e-6)
    stops = [go(p, [x, y, 0.0], loose, until=10.0).stop for x, y in starts]
    assert stops.count(Stop.EVENT) == 500


@BOTH
def test_two_link_arm_stops_at_its_workspace(method: Method) -> None:
    """A servo follows the elbow angle acos((x^2 + y^2 - 2)/2), which exists within radius 2."""
    random = Random(11)
    elbow = function(Op.ACOS, (X * X + Y * Y - 2) * Fraction(1, 2))
    q, vx, vy = variable("q"), variable("vx"), variable("vy")
    p = compile_program(
        flowing=["x", "y", "q"],
        held=["vx", "vy"],
        flows=[vx, vy, 2 * (elbow - q)],
        watches=[(X * X + Y * Y >= 4, UNILATERAL)],
    )
    loose = type(method)(rtol=1e-4, atol=1e-6)
    total = 0
    for _ in range(100):
        x, y = random.uniform(-1, 1), random.uniform(-1, 1)
        a = random.uniform(0, 2 * math.pi)
        v = [math.cos(a), math.sin(a)]
        found = advance(p, loose, 0.0, [x, y, 0.5], v, 10.0, [0])
        tight = advance(p, Taylor(1e-11, 1e-13), 0.0, [x, y, 0.5], v, 10.0, [0])
        along = x * v[0] + y * v[1]
        exact = -along + math.sqrt(along**2 + 4 - x * x - y * y)
        assert found.stop is Stop.EVENT
        assert found.t == pytest.approx(exact, abs=1e-3)
        assert found.x[2] == pytest.approx(tight.x[2], rel=5e-4)
        assert found.counts.singular == 0 and found.counts.beyond == 0
        total += found.counts.evaluations
    if isinstance(method, Adams):
        assert total <= 60 * 100


@BOTH
def test_torricelli_tank_runs_dry(method: Method) -> None:
    """h' = -sqrt(h) from 1 is empty at t = 2; the root has no value below 0."""
    found = go(program({"h": -function(Op.SQRT, H)}, H <= 0), [1.0], method)
    assert found.stop is Stop.EVENT
    assert found.t == pytest.approx(2.0, abs=1e-3)
    assert found.counts.singular == 0 and found.x[0] >= 0.0


def test_two_roots_inside_one_step() -> None:
    """The parabola t - t^2/4 is above 0.99 only between t = 1.8 and 2.2; the steps are free
    to jump over that, and must not."""
    slope = constant(1) - T * Fraction(1, 2)
    found = go(program({"x": slope}, X >= Fraction(99, 100)), [0.0], until=4.0)
    assert found.t == pytest.approx(1.8, abs=1e-9)
    assert found.counts.steps <= 4
    later = go(program({"x": slope}, (X >= Fraction(99, 100)) & (T >= 2)), [0.0], until=4.0)
    assert later.t == pytest.approx(2.0, abs=1e-9)
    never = go(program({"x": slope}, (X >= Fraction(99, 100)) & (T >= 3)), [0.0], until=4.0)
    assert never.stop is Stop.END


@BOTH
def test_grazing_is_reported_as_such(method: Method) -> None:
    """The parabola touches 1 at t = 2 and does not cross."""
    p = program({"x": constant(1) - T * Fraction(1, 2)}, X >= 1)
    found = go(p, [0.0], method, until=4.0)
    assert found.stop is Stop.EVENT and found.grazing == (0,)
    assert found.t == pytest.approx(2.0, abs=1e-4)
    crossing = go(program({"x": constant(1) - T * Fraction(1, 2)}, X >= Fraction(1, 2)), [0.0])
    assert crossing.grazing == ()


@BOTH
def test_near_miss_is_no_event(method: Method) -> None:
    p = program({"x": constant(1) - T * Fraction(1, 2)}, X >= Fraction(10_001, 10_000))
    assert go(p, [0.0], method, until=4.0).stop is Stop.END


@BOTH
def test_kinds_of_events_land_on_their_side(method: Method) -> None:
    for kind, low, high in (
        (UNILATERAL, -1e-9, 0.0),
        (BILATERAL, -1e-9, 1e-5),
        (CROSSING, 0.0, 1e-5),
    ):
        found = go(program(OSCILLATOR, X >= Fraction(1, 2), kind=kind), [0.0, 1.0], method)
        assert found.stop is Stop.EVENT
        assert low <= found.x[0] - 0.5 <= high, kind
        if kind is CROSSING:
            assert found.x[0] > 0.5
        if kind is UNILATERAL:
            assert found.counts.beyond == 0


@BOTH
def test_rearmed_by_direction(method: Method) -> None:
    """A ball that starts on the floor, going up, comes back after 2v/g, not at once."""
    p = program(FALL, H <= 0)
    for speed in (5.0, 0.1, 1e-3):
        found = go(p, [0.0, speed], method)
        assert found.t == pytest.approx(2 * speed / 9.81, rel=1e-6)
    assert go(p, [0.0, -1.0], method).t == 0.0


@BOTH
def test_boolean_combinations(method: Method) -> None:
    """x = sin t, y = cos t."""
    inside = (X >= Fraction(1, 2)) & (Y <= Fraction(1, 2))
    found = go(program(OSCILLATOR, inside), [0.0, 1.0], method)
    assert found.t == pytest.approx(math.acos(0.5), abs=5e-6)
    either = disjunction(X <= Fraction(-1, 2), Y <= Fraction(-1, 2))
    found = go(program(OSCILLATOR, either), [0.0, 1.0], method)
    assert found.t == pytest.approx(math.acos(-0.5), abs=5e-6)
    neither = negation(disjunction(X > Fraction(-1, 2), Y < Fraction(1, 2)))
    found = go(program(OSCILLATOR, neither), [0.0, 1.0], method)
    assert found.t == pytest.approx(2 * math.pi - math.pi / 3, abs=1e-5)


@BOTH
def test_equality_and_time_dependent_guards(method: Method) -> None:
    tight = type(method)(rtol=1e-9, atol=1e-11)
    found = go(program(OSCILLATOR, equal(X, Y)), [0.0, 1.0], tight)
    assert found.t == pytest.approx(math.pi / 4, abs=1e-8)
    moving = go(program(OSCILLATOR, X >= 1 - T * Fraction(1, 10)), [0.0, 1.0], tight)
    root = next(t / 1e6 for t in range(10**6, 2 * 10**6) if math.sin(t / 1e6) >= 1 - t / 1e7)
    assert moving.t == pytest.approx(root, abs=2e-6)


@BOTH
@pytest.mark.parametrize(
    "piecewise",
    [
        function(Op.ABSOLUTE, X) >= Fraction(9, 10),
        function(Op.SIN, X * 3) <= Fraction(-1, 2),
        function(Op.EXP, X) * Y <= -1,
        divide(1, X * X + 1) <= Fraction(6, 10),
    ],
    ids=str,
)
def test_general_guards(method: Method, piecewise: Expression) -> None:
    """Transcendental and piecewise guards along x = sin t, y = cos t, by a fine scan."""
    from workbench.simulate.stepping.calculator import Calculator

    holds = Calculator([piecewise], {}, {})
    tight = type(method)(rtol=1e-8, atol=1e-10)
    exact = next(
        i / 20_000
        for i in range(1, 400_000)
        if holds({"x": math.sin(i / 20_000), "y": math.cos(i / 20_000)})[0]
    )
    found = go(program(OSCILLATOR, piecewise), [0.0, 1.0], tight, until=20.0)
    assert found.stop is Stop.EVENT
    assert found.t == pytest.approx(exact, abs=6e-5)
    assert found.counts.beyond == 0


def test_ties_are_all_reported_in_order() -> None:
    found = go(program(OSCILLATOR, X >= Fraction(1, 2), Y <= 2, X * 2 >= 1), [0.0, 1.0])
    assert found.fired == (1,)
    found = go(program(OSCILLATOR, X >= Fraction(1, 2), X * 2 >= 1), [0.0, 1.0])
    assert found.fired == (0, 1)


def test_failures_are_stops() -> None:
    explosion = go(program({"x": X * X}), [1.0], until=2.0)
    assert explosion.stop in (Stop.STEP_TOO_SMALL, Stop.NOT_FINITE)
    assert explosion.t == pytest.approx(1.0, abs=1e-3)
    stiff = go(program({"x": -10_000_000 * X}), [1.0], Adams(max_steps=5000), until=100.0)
    assert stiff.stop is Stop.STEP_LIMIT and stiff.counts.steps == 5000
    undefined = go(program({"x": divide(1, X)}), [0.0])
    assert undefined.stop is Stop.NOT_FINITE and undefined.t == 0.0
    assert go(program({"x": X}), [math.nan]).stop is Stop.NOT_FINITE
    jump = go(program({"x": divide(1, 1 - X)}), [0.0], until=5.0)
    assert jump.stop is not Stop.END


def test_horizon_of_zero_and_no_flow() -> None:
    p = program(OSCILLATOR, X >= 1)
    assert go(p, [0.0, 1.0], until=0.0).stop is Stop.END
    assert go(p, [2.0, 1.0], until=0.0).stop is Stop.EVENT
    clock = compile_program(flowing=[], held=[], flows=[], watches=[(T >= 3, UNILATERAL)])
    found = advance(clock, Adams(), 0.0, [], [], 10.0, [0])
    assert found.stop is Stop.EVENT and found.t == pytest.approx(3.0, abs=1e-12)


def test_external_functions_are_called_and_may_fail() -> None:
    flows = {"x": external("speed", X)}
    slow = program(flows, X >= 1, externals={"speed": lambda x: 1.0 + x})
    found = go(slow, [0.0], until=5.0)
    assert found.t == pytest.approx(math.log(2), abs=1e-5)

    def broken(x: float) -> float:
        raise RuntimeError("no signal")

    with pytest.raises(ExternalError, match=r"speed.*no signal"):
        go(program(flows, externals={"speed": broken}), [0.0])


@BOTH
@pytest.mark.parametrize("place", [0.7, 3.0, 57.3])
def test_a_spike_is_not_stepped_over(method: Method, place: float) -> None:
    """exp(-(1000 (x - p))^2) >= 1/2 is true for 1.7 milliseconds, and invisible from afar."""
    away = (X - Fraction(place)) * 1000
    found = go(
        program({"x": constant(1)}, function(Op.EXP, -away * away) >= Fraction(1, 2)), [0.0], method
    )
    assert found.stop is Stop.EVENT
    assert found.t == pytest.approx(place - math.sqrt(math.log(2)) / 1000, abs=1e-6)
    assert found.counts.steps < 100 and found.counts.beyond == 0


@BOTH
def test_fast_ripples_are_not_aliased(method: Method) -> None:
    """sin(200 x) first reaches 0.99 at x = asin(0.99)/200, whatever the step."""
    p = program({"x": constant(1)}, function(Op.SIN, X * 200) >= Fraction(99, 100))
    found = go(p, [0.0], method)
    assert found.t == pytest.approx(math.asin(0.99) / 200, abs=1e-8)


def test_guards_on_external_functions() -> None:
    """Nothing is known of an external function: it is watched at the ends of steps, and the
    event is then approached from one side by shorter and shorter steps."""
    p = program(
        {"x": constant(1)}, external("height", X) >= 2, externals={"height": lambda x: x * x}
    )
    found = go(p, [0.0], Adams(max_step=0.5))
    assert found.stop is Stop.EVENT and found.t == pytest.approx(math.sqrt(2), abs=1e-9)
    assert found.counts.beyond == 0


def bump(width: float) -> Callable[[float], float]:
    """Above 1/2 between 3 - width and 3 + width."""
    return lambda x: math.exp(-math.log(2.0) * ((x - 3.0) / width) ** 2)


def test_unknown_external_functions_are_looked_at_often() -> None:
    """Seen at one of a thousand looks; a narrower bump may be passed by."""
    model = rising(external("bump", X) >= Fraction(1, 2))
    trace = simulate(model, until=10.0, externs={"bump": bump(0.006)})
    found = next(e for e in trace.events if e.type is EventType.JUMP)
    assert found.time == pytest.approx(3.0 - 0.006, abs=1e-8)
    assert [e.side for e in trace.events if e.type is EventType.ENABLED] == ["checked"]


@BOTH
def test_external_functions_with_a_promise_are_never_overlooked(method: Method) -> None:
    """|bump'| <= sqrt(2 log 2 / e)/width."""
    width = 1e-5
    promised = Lipschitz(bump(width), math.sqrt(2 * math.log(2) / math.e) / width)
    model = rising(external("bump", X) >= Fraction(1, 2))
    trace = simulate(model, until=10.0, externs={"bump": promised}, method=method)
    found = next(e for e in trace.events if e.type is EventType.JUMP)
    assert found.time == pytest.approx(3.0 - width, abs=1e-8)
    assert [e.side for e in trace.events if e.type is EventType.ENABLED] == ["below"]


def rising(guard: Expression) -> HybridAutomaton:
    """x' = 1 from 0 on, and an urgent edge."""
    flow = (Constraint("x", Range.exactly(constant(1))),)
    return HybridAutomaton(
        "rising",
        (Variable("x"),),
        (Location("a", flow), Location("b", flow)),
        (Edge("a", "b", guard, urgent=True),),
        (Initial("a", equal(X, constant(0))),),
    )


def test_step_functions_that_jump_onto_zero() -> None:
    """floor(x) >= 0 becomes true at x = 0, where floor(x) is 0 and not beyond it."""
    p = program({"x": constant(1)}, function(Op.FLOOR, X) >= 0)
    found = go(p, [-1.5])
    assert found.stop is Stop.EVENT and found.t == pytest.approx(1.5, abs=1e-9)
    strict = go(program({"x": constant(1)}, function(Op.FLOOR, X) > 0), [-1.5])
    assert strict.stop is Stop.EVENT and strict.t == pytest.approx(2.5, abs=1e-9)

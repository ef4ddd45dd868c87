"""Validated runs against closed forms, exact rational runs, and models made to deceive them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import flint
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from workbench.models.automaton import (
    INT,
    Automaton,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    Expression,
    conjunction,
    constant,
    equal,
    variable,
)
from workbench.models.expressions.text import parse_expression as parse
from workbench.models.load import load
from workbench.models.trace import Ending
from workbench.simulate.inputs.signals import Lines, Signal, Steps
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.recipe import Recipe
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Taylor
from workbench.simulate.validated.balls import ball
from workbench.simulate.validated.validated_run import (
    TIGHT,
    ValidatedRun,
    describe,
    validate,
    validated_run,
)

FINE = 400
NEAR = Fraction(1, 10**25)


def exactly(**given: Expression | str | int | Fraction) -> tuple[Constraint, ...]:
    return tuple(Constraint(n, Range.exactly(_expression(e))) for n, e in given.items())


def _expression(given: Expression | str | int | Fraction) -> Expression:
    return given if isinstance(given, Expression) else parse(str(given))


def place(name: str, flows: Mapping[str, Any], invariant: str = "true") -> Location:
    return Location(name, exactly(**flows), (), parse(invariant))


def model(
    places: Sequence[Location],
    edges: Sequence[Edge],
    start: Mapping[str, Fraction | int | str],
    claims: Sequence[str] = (),
    **more: Any,
) -> HybridAutomaton:
    """A model that starts in its first place."""
    begins = conjunction(*(equal(variable(n), _expression(v)) for n, v in start.items()))
    return HybridAutomaton(
        "tested",
        tuple(Variable(n) for n in start),
        tuple(places),
        tuple(edges),
        (Initial(places[0].name, begins),),
        properties=tuple(Property(f"claim {i}", parse(c)) for i, c in enumerate(claims)),
        **more,
    )


def proof(
    automaton: Automaton, until: float, policy: Policy | None = None, **more: Any
) -> ValidatedRun:
    found = validated_run(automaton, Recipe(until, policy=policy or Policy(), **more))
    assert found is not None
    return found


small = st.fractions(-2, 2, max_denominator=8)
sizes = st.fractions(Fraction(1, 4), 2, max_denominator=8)


class Spiral:
    """x' = a x - b y, y' = b x + a y in closed form, at many digits."""

    def __init__(self, a: Fraction, b: Fraction):
        self.a, self.b = ball(a), ball(b)

    def __call__(self, x: Any, y: Any, t: Any) -> tuple[Any, Any]:
        growth, angle = (self.a * t).exp(), self.b * t
        return (
            growth * (x * angle.cos() - y * angle.sin()),
            growth * (x * angle.sin() + y * angle.cos()),
        )


@settings(max_examples=15, deadline=None)
@given(small, sizes, small, small, sizes, st.booleans(), small, small)
def test_jumps_of_random_spirals(a, b, x, y, level, urgent, p, q) -> None:
    """Whenever x reaches the level it is reset, affinely; every proved time is a sign change of
    the closed form, there is none before it, and the final state contains the true one."""
    assume(abs(x) < level)
    flows = {"x": f"({a})*x - ({b})*y", "y": f"({b})*x + ({a})*y"}
    resets = exactly(x=f"({p})/4*x - 1/16", y=f"y + ({q})/8*x")
    assume(abs(p) / 4 * level + Fraction(1, 16) < level)
    automaton = model(
        [place("on", flows, "true" if urgent else f"x <= {level}")],
        [Edge("on", "on", parse(f"x >= {level}"), resets, name="hit", urgent=urgent)],
        {"x": x, "y": y},
    )
    run = proof(automaton, 2.0)
    with flint.ctx.workprec(FINE):
        spiral, now = Spiral(a, b), Fraction(0)
        u, v = ball(x), ball(y)
        for jump in run.jumps:
            low, high = jump.time
            assert high - low < NEAR
            for k in range(1, 20):  # no crossing before
                t = ball((low - now) * k / 20)
                assert spiral(u, v, t)[0] < ball(level)
            assert spiral(u, v, ball(low - now - NEAR))[0] < ball(level)
            assert spiral(u, v, ball(high - now + NEAR))[0] > ball(level)
            u, v = spiral(u, v, ball(low - now).union(ball(high - now)))
            u, v, now = ball(p) / 4 * u - ball(1) / 16, v + ball(q) / 8 * u, low
        assert run.reached[0] >= now
        last = run.enclosures[-1]
        for share in (0, Fraction(1, 3), 1):
            t = last.start + share * (last.end - last.start)
            if t >= now:
                true = spiral(u, v, ball(t - now))
                for name, value in zip("xy", true, strict=True):
                    low, high = last.bounds[name]
                    assert ball(low) - NEAR_BALL() <= value <= ball(high) + NEAR_BALL()


def NEAR_BALL() -> Any:  # noqa: N802 - a constant at the working precision
    return ball(NEAR)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.fractions(Fraction(1, 4), 3, max_denominator=6), min_size=2, max_size=3),
    st.lists(st.fractions(1, 4, max_denominator=6), min_size=2, max_size=3),
)
def test_clocks_are_exact(rates, limits) -> None:
    """Clocks at rational rates, each reset at its limit, often at the same instant: proved times
    are those of exact arithmetic, with no width."""
    n = min(len(rates), len(limits))
    names = [f"c{i}" for i in range(n)]
    flows = {name: constant(rate) for name, rate in zip(names, rates, strict=False)}
    invariant = " && ".join(f"{m} <= {lim}" for m, lim in zip(names, limits, strict=False))
    edges = [
        Edge("on", "on", parse(f"{m} >= {limit}"), exactly(**{m: 0}), name=m)
        for m, limit in zip(names, limits, strict=False)
    ]
    automaton = model([place("on", flows, invariant)], edges, dict.fromkeys(names, 0))
    run = proof(automaton, 6.0)
    assert run.complete, run.gave_up
    expected = sorted(
        limit / rate * k
        for rate, limit in zip(rates, limits, strict=False)
        for k in range(1, 100)
        if limit / rate * k <= 6
    )
    times = [j.time for j in run.jumps]
    within = [t for t in expected if t < 6]
    assert [low for low, _ in times][: len(within)] == pytest.approx(within, abs=1e-30)
    assert all(low <= t <= high for (low, high), t in zip(times, expected, strict=False))


@settings(max_examples=25, deadline=None)
@given(
    st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=20),
    st.fractions(Fraction(11, 10), 3, max_denominator=10),
)
def test_logistic_growth_to_a_level(x, cap) -> None:
    """x' = x (cap - x): the time at which x is 1 is log((cap - x) / ((cap - 1) x)) / cap."""
    automaton = model(
        [place("on", {"x": f"x*({cap} - x)"}), place("off", {"x": 0})],
        [Edge("on", "off", parse("x >= 1"), name="full", urgent=True)],
        {"x": x},
    )
    run = proof(automaton, 30.0)
    assert run.jumps, run.gave_up
    low, high = run.jumps[0].time
    with flint.ctx.workprec(FINE):
        true = (ball((cap - x) / ((cap - 1) * x))).log() / ball(cap)
        assert ball(low) <= true <= ball(high)
    assert high - low < Fraction(1, 10**12)


@pytest.mark.parametrize("gap", [-6, -9, -12, -15, -18])
@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_near_tangency(gap: int, sign: int) -> None:
    """(t - 1)^2 + e = 0 for e = sign 10^gap: no crossing is proved unless there is one."""
    e = sign * Fraction(10) ** gap
    automaton = model(
        [place("on", {"x": "2*(time - 1)"}), place("off", {"x": 0})],
        [Edge("on", "off", parse("x <= 0"), name="touch", urgent=True)],
        {"x": 1 + e},
    )
    run = proof(automaton, 2.0)
    if sign >= 0:
        assert not run.jumps
    for jump in run.jumps:
        low, high = (t - 1 for t in jump.time)
        assert high < 0 and high**2 <= -e <= low**2
    if sign > 0 and run.complete:
        assert run.reached[0] >= 2


def test_two_guards_at_once() -> None:
    """Two different functions are zero at t = 1: whichever edge is taken, it is taken there."""
    automaton = model(
        [place("on", {"x": "1", "y": "-2*y^0"}, "x <= 1"), place("a", {}), place("b", {})],
        [
            Edge("on", "a", parse("x >= 1 && y <= 0"), name="both"),
            Edge("on", "b", parse("x >= 1"), name="one"),
        ],
        {"x": 0, "y": 2},
    )
    run = proof(automaton, 3.0)
    assert [j.time for j in run.jumps] in ([], [(1, 1)])
    assert run.complete, describe(run)


def test_a_guard_met_at_the_start() -> None:
    """1/10 is no float; exact numbers decide guard and invariant at t = 0."""
    automaton = model(
        [place("on", {"x": 1}, "x <= 1/10"), place("off", {"x": -1}, "x <= 1/10")],
        [Edge("on", "off", parse("x >= 1/10"), name="now", urgent=True)],
        {"x": Fraction(1, 10)},
    )
    run = proof(automaton, 1.0)
    assert run.complete and [j.time for j in run.jumps] == [(0, 0)]


def test_a_strict_guard_is_taken_after_its_boundary() -> None:
    automaton = model(
        [place("on", {"x": 1}), place("off", {"x": 0})],
        [Edge("on", "off", parse("x > 1"), name="beyond")],
        {"x": 0},
    )
    run = proof(automaton, 2.0)
    assert run.complete and run.jumps[0].time[0] > 1


def test_stiff_equations() -> None:
    """x' = -1000 (x - cos t): after the start x is near (10^6 cos t + 10^3 sin t)/(10^6 + 1)."""
    automaton = model(
        [place("on", {"x": "-1000*(x - cos(time))"})],
        [],
        {"x": Fraction(10**6, 10**6 + 1)},
    )
    run = proof(automaton, 0.05)
    assert run.complete
    with flint.ctx.workprec(FINE):
        last = run.enclosures[-1]
        t = ball(last.end)
        true = (10**6 * t.cos() + 1000 * t.sin()) / (10**6 + 1)
        assert ball(last.bounds["x"][0]) <= true <= ball(last.bounds["x"][1])


@pytest.mark.slow
def test_a_thousand_time_units_of_rotation() -> None:
    automaton = model([place("on", {"x": "y", "y": "-x"})], [], {"x": 1, "y": 0})
    run = proof(automaton, 1000.0)
    assert run.complete and max(run.widths.values()) < Fraction(1, 10**30)


class TestDeceptions:
    """Runs that are none."""

    def test_a_floor_falls_although_its_derivative_is_zero(self) -> None:
        automaton = model([place("on", {"x": -1}, "floor(x) >= 1")], [], {"x": "3/2"})
        free = model([place("on", {"x": -1})], [], {"x": "3/2"})
        run = validate(automaton, simulate(free, until=2.0, method=TIGHT))
        assert not run.complete and run.reached[1] <= Fraction(1, 2)
        assert "floor(x) >= 1" in (run.gave_up or "")

    def test_both_sides_of_a_kink_at_the_start(self) -> None:
        """y' = max(0, x) with x = t: y = t^2/2, although the derivative is 0 at the start."""
        for text in ("max(0, x)", "max(x, 0)", "(x + abs(x))/2", "x > 0 ? x : 0"):
            automaton = model([place("on", {"y": text, "x": 1})], [], {"y": 0, "x": 0})
            run = proof(automaton, 1.0)
            assert run.complete, run.gave_up
            low, high = run.enclosures[-1].bounds["y"]
            assert low <= Fraction(1, 2) <= high

    def test_a_discontinuity_that_attracts_is_not_passed(self) -> None:
        automaton = model([place("on", {"x": "x > 0 ? -1 : 1"})], [], {"x": 1})
        run = validate(automaton, simulate(automaton, until=2.0, method=TIGHT))
        assert run.reached[1] <= 1

    def test_a_discontinuity_that_is_crossed(self) -> None:
        automaton = model([place("on", {"x": "x > 1 ? 1/2 : 2"})], [], {"x": 0})
        run = proof(automaton, 2.0)
        assert run.complete, run.gave_up
        low, high = run.enclosures[-1].bounds["x"]
        assert low <= Fraction(7, 4) <= high

    def test_an_empty_inclusion(self) -> None:
        nothing = Location("on", (Constraint("x", Range(parse("1"), parse("-x"))),))
        automaton = model([nothing], [], {"x": 0})
        trace = simulate(automaton, until=1.0, method=TIGHT)
        assert trace.outcome.ending is Ending.BLOCKED
        assert validate(automaton, trace).reached == (0, 0)

    def test_an_input_that_leaves_its_assumption(self) -> None:
        automaton = model(
            [place("on", {"x": "u"})], [], {"x": 0}, ["x <= 1/2"],
            inputs=(Input("u", low=Fraction(0), high=Fraction(1)),),
            assumption=parse("u <= 1/4"),
        )  # fmt: skip
        inputs: dict[str, Signal] = {"u": Steps((0.0,), (1.0,))}
        run = proof(automaton, 1.0, inputs=inputs)
        assert run.violation is None and "u <= 0.25" in (run.gave_up or "")

    def test_whole_numbers_stay_whole(self) -> None:
        """Between 1/4 and 7/4 there is one whole number."""
        edge = Edge("on", "off", parse("time >= 1"), (Constraint("k", Range(parse("1/4"), parse("7/4"))),), name="pick", urgent=True)  # fmt: skip
        automaton = HybridAutomaton(
            "whole", (Variable("x"), Variable("k", INT)),
            (place("on", {"x": 1, "k": 0}), place("off", {"x": 1, "k": 0})), (edge,),
            (Initial("on", parse("x == 0 && k == 0")),),
            properties=(Property("one", parse("k == 0 || k == 1")),),
        )  # fmt: skip
        for level in (Level.LOW, Level.MID, Level.HIGH):
            run = proof(automaton, 2.0, Policy(level=level))
            assert run.violation is None


SINE = [place("on", {"x": "y", "y": "-x"})]


class TestViolations:
    """What is proved is violated, and what holds is never refuted."""

    @pytest.mark.parametrize(
        ("claim", "proved"),
        [
            ("x <= 1 - 1e-9", True),
            ("x < 1 - 1e-9", True),
            ("x <= 1", False),
            ("x <= 1 + 1e-9", False),
            ("x < 1 + 1e-15", False),
            ("x^2 + y^2 <= 1", False),
            ("x^2 + y^2 >= 1", False),
            ("x^2 + y^2 < 1 + 1e-12", False),
        ],
    )
    def test_a_sine(self, claim: str, proved: bool) -> None:
        automaton = model(SINE, [], {"x": 0, "y": 1}, [claim.replace("1e-", "1/10^")])
        run = validated_run(automaton, Recipe(3.0), automaton.properties[0])
        assert run is not None and (run.violation is not None) is proved

    @pytest.mark.parametrize(
        ("claim", "proved"),
        [("x <= 1/10", False), ("x < 1/10", True), ("x >= 1/10", False), ("x > 1/10", True)],
    )
    def test_a_first_state_on_the_bound(self, claim: str, proved: bool) -> None:
        """The float 0.1 is more than a tenth; the first state is not."""
        automaton = model([place("on", {"x": 0})], [], {"x": Fraction(1, 10)}, [claim])
        run = validated_run(automaton, Recipe(1.0), automaton.properties[0])
        assert run is not None and (run.violation is not None) is proved
        loose = HybridAutomaton(
            "loose", automaton.variables, automaton.locations, (),
            (Initial("on", parse("x >= 0 && x <= 1")),), properties=automaton.properties,
        )  # fmt: skip
        run = validated_run(loose, Recipe(1.0, initial={"x": 0.1}), loose.properties[0])
        assert run is not None and (run.violation is not None) is proved

    @pytest.mark.parametrize(
        ("claim", "proved"), [("x <= 1", False), ("x < 1", True), ("x < 1 + 1/10^30", False)]
    )
    def test_a_bound_met_at_the_horizon(self, claim: str, proved: bool) -> None:
        automaton = model([place("on", {"x": 1})], [], {"x": 0}, [claim], horizon=Fraction(1))
        run = validated_run(automaton, Recipe(1.0), automaton.properties[0])
        assert run is not None and (run.violation is not None) is proved

    def test_a_bound_met_only_at_the_instant_of_a_jump(self) -> None:
        automaton = model(
            [place("on", {"x": "1 + y", "y": "-y"}, "x <= 1")],
            [Edge("on", "on", parse("x >= 1"), exactly(x=0), name="hit")],
            {"x": 0, "y": "1/3"},
            ["x <= 1"],
        )
        run = validated_run(automaton, Recipe(5.0), automaton.properties[0])
        assert run is not None and run.violation is None and len(run.jumps) == 5

    @settings(max_examples=30, deadline=None)
    @given(small, small, sizes, st.sampled_from((9, 12, 15)), st.booleans())
    def test_quadratic_arcs(self, x, v, g, digits, above) -> None:
        """x + v t - g t^2/2 has its maximum x + v^2/(2 g): a bound just above it holds, one just
        below it does not."""
        assume(v > 0)
        bound = x + v**2 / (2 * g) + (1 if above else -1) * Fraction(1, 10**digits)
        automaton = model(
            [place("on", {"x": "v", "v": -g})], [], {"x": x, "v": v}, [f"x <= {bound}"]
        )
        run = validated_run(automaton, Recipe(float(2 * v / g)), automaton.properties[0])
        assert run is not None
        if above:
            assert run.violation is None
        elif digits == 9:
            assert run.violation is not None, describe(run)

    def test_signals_from_points(self) -> None:
        """An input that rises to its bound and falls: its integral over 2 is exactly 1."""
        signal: dict[str, Signal] = {"u": Lines((0.0, 1.0, 2.0), (0.0, 1.0, 0.0))}
        for claim, proved in (("x <= 1", False), ("x < 1", True), ("x <= 1 - 1/10^9", True)):
            automaton = model(
                [place("on", {"x": "u"})], [], {"x": 0}, [claim],
                inputs=(Input("u", low=Fraction(0), high=Fraction(1)),),
            )  # fmt: skip
            run = validated_run(automaton, Recipe(2.0, inputs=signal), automaton.properties[0])
            assert (run is not None and run.violation is None) or proved, claim
            if claim != "x < 1":
                assert run is not None and (run.violation is not None) is proved


LIBRARY = [
    "adaptive_cruise", "battery_charger", "bouncing_ball", "chasing_cars", "fischer",
    "infusion_pump", "leaky_tank", "luminous_cell", "navigation", "platoon_paper", "platoon_mild",
    "powertrain", "simplex_pendulum", "thermostat_timer",
]  # fmt: skip


@pytest.mark.parametrize("name", LIBRARY)
def test_library_events_agree_with_an_independent_run(name: str) -> None:
    automaton = load(name).automaton
    until = 8.0
    run = proof(automaton, until)
    assert run.complete, describe(run)
    other = simulate(automaton, until=until, method=Taylor(rtol=1e-12, atol=1e-13))
    assert [j.name for j in run.jumps] == [e.name for e in other.jumps]
    for jump, event in zip(run.jumps, other.jumps, strict=True):
        assert float(jump.time[0]) - 1e-8 <= event.time <= float(jump.time[1]) + 1e-8


@pytest.mark.parametrize("switching", list(Switching))
@pytest.mark.parametrize("level", list(Level))
def test_every_policy_can_be_followed(switching: Switching, level: Level) -> None:
    """Times, levels and values are chosen by the policy, and the proof follows them."""
    automaton = load("infusion_pump").automaton
    run = proof(automaton, 12.0, Policy(switching, level), seed=3)
    assert run.complete, describe(run)
    charger = load("battery_charger").automaton
    run = proof(charger, 60.0, Policy(switching, level), seed=3)
    assert run.complete, describe(run)
    trace = simulate(charger, until=60.0, method=TIGHT, policy=Policy(switching, level), seed=3)
    low, high = run.enclosures[-1].bounds["charge"]
    assert float(low) - 1e-8 <= trace.segments[-1].valuation(60.0)["charge"] <= float(high) + 1e-8


# A guard, and when it first holds on the way x = t.
JUMPING_GUARDS = {
    "atan2(2 - x, -1) <= -3": 2.0,
    "atan2(x - 2, -1) >= 3": 2.0,
    "atan2(sin(x), cos(x)) <= -3.1": 3.141592653589793,
    "atan2(x - 2, x - 2) >= 0": 2.0,
    "1/(x - 2) >= 100": 2.0,
    "(x - 2)/(x - 2)^2 >= 100": 2.0,
    "tan(x) <= -1000": 1.5707963267948966,
    "floor(x) >= 2": 2.0,
    "sign(x - 2) >= 1/2": 2.0,
    "sqrt(x - 2) <= 1/2": 2.0,
    "log(x - 2) <= -1": 2.0,
    "(x - 2)^(1/2) <= 1/2": 2.0,
    "(x - 2)^(1/3) <= 1/2": 2.0,
    "asin(x - 3) <= -1": 2.0,
}


@pytest.mark.parametrize("guard", JUMPING_GUARDS)
def test_nothing_is_claimed_beyond_a_jump_onto_an_urgent_guard(guard: str) -> None:
    """Rates of change tell nothing of a jump: both sides of a cut have the same."""
    automaton = model(
        [place("on", {"x": 1}), place("off", {"x": 0})],
        [Edge("on", "off", parse(guard), name="go", urgent=True)],
        {"x": 0},
    )
    run, due = proof(automaton, 5.0), Fraction(JUMPING_GUARDS[guard])
    assert run.reached[0] <= due + Fraction(1, 10**6) or len(run.jumps) == 1, describe(run)
    if run.jumps:
        low, high = run.jumps[0].time
        assert low <= due + Fraction(1, 10**6) and high >= due - Fraction(1, 10**9)

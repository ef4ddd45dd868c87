"""Runs of small automata whose behaviour is known by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from workbench.models.automaton import (
    BOOL,
    TIME,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    Property,
    Range,
    Variable,
    enumeration,
    primed,
)
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    conditional,
    conjunction,
    constant,
    disjunction,
    divide,
    equal,
    external,
    function,
    minimum,
    negation,
    symbol,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.load import load
from workbench.models.source import ModelError
from workbench.models.trace import Ending, EventType, Trace
from workbench.simulate.inputs.signals import Formula, Lines, Steps, from_csv, sine
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.run import prepare, simulate
from workbench.simulate.stepping import engine
from workbench.simulate.stepping.methods import Adams, Taylor

X, Y, V, H, U = map(variable, ("x", "y", "v", "h", "u"))


def flow(name: str, value: Expression | int) -> Constraint:
    value = constant(value) if isinstance(value, int) else value
    return Constraint(name, Range.exactly(value))


def between(name: str, low: Fraction | int, high: Fraction | int) -> Constraint:
    return Constraint(name, Range(constant(low), constant(high)))


def ball(*, naive: bool = False, restitution: Fraction = Fraction(4, 5)) -> HybridAutomaton:
    guard = H <= 0 if naive else conjunction(H <= 0, V <= 0)
    return HybridAutomaton(
        "ball",
        (Variable("h"), Variable("v")),
        (Location("fall", (flow("h", V), flow("v", constant(Fraction(-981, 100)))), (), H >= 0),),
        (Edge("fall", "fall", guard, (flow("v", -restitution * V),), name="bounce"),),
        (Initial("fall", equal(H, 1) & equal(V, 0)),),
    )


def clock(*edges: Edge, places: tuple[Location, ...]) -> HybridAutomaton:
    return HybridAutomaton(
        "clock", (Variable("x"),), places, edges, (Initial(places[0].name, equal(X, 0)),)
    )


# Events and accumulation


@pytest.mark.parametrize("method", [Adams(), Taylor()], ids=["adams", "taylor"])
@pytest.mark.parametrize("naive", [False, True])
def test_ball_events_are_exact_and_accumulate(method: Adams | Taylor, naive: bool) -> None:
    """Bounce k is at t1 (1 + 2 (e + ... + e^k)); they accumulate at t1 (1 + e)/(1 - e). The last
    ones are lower than numbers tell."""
    trace = simulate(ball(naive=naive), until=10.0, method=method)
    first = math.sqrt(2 / 9.81)
    expected, t, factor = [], first, 1.0
    for _ in trace.jumps:
        expected.append(t)
        factor *= 0.8
        t += 2 * first * factor
    times = [e.time for e in trace.jumps]
    assert times[:70] == pytest.approx(expected[:70], abs=1e-9)
    assert times == pytest.approx(expected, abs=1e-7)
    assert trace.outcome.ending is Ending.ZENO and trace.outcome.name == "bounce"
    assert trace.outcome.accumulation == pytest.approx(first * 9, abs=1e-6)
    assert trace.outcome.accumulation == pytest.approx(4.063713, abs=1e-6)
    assert trace.counts.beyond == 0
    lowest = min(trace.at(i * trace.end / 5000)["h"] for i in range(5001))
    assert lowest >= -1e-12  # rounding of the dense output only
    assert all(e.residual <= 1e-15 for e in trace.events)


def test_ball_that_does_not_accumulate() -> None:
    trace = simulate(ball(restitution=Fraction(1)), until=10.0)
    assert trace.outcome.ending is Ending.HORIZON
    assert len(trace.jumps) == math.floor((10.0 / math.sqrt(2 / 9.81) + 1) / 2)


def test_sliding_is_reported_as_chattering() -> None:
    model = HybridAutomaton(
        "relay",
        (Variable("x"),),
        (
            Location("above", (flow("x", -1),), (), X >= 0),
            Location("below", (flow("x", 1),), (), X <= 0),
        ),
        (
            Edge("above", "below", X <= 0, name="down"),
            Edge("below", "above", X >= 0, name="up"),
        ),
        (Initial("above", equal(X, 1)),),
    )
    trace = simulate(model, until=5.0)
    assert trace.outcome.ending is Ending.CHATTERING and "--sliding" in trace.outcome.sentence
    assert trace.end == pytest.approx(1.0, abs=1e-6)
    assert "down" in trace.outcome.sentence or "up" in trace.outcome.sentence


def test_discrete_loop_without_time() -> None:
    model = clock(
        Edge("a", "b", TRUE, urgent=True, name="go"),
        Edge("b", "a", TRUE, urgent=True, name="back"),
        places=(Location("a", (flow("x", 1),)), Location("b", (flow("x", 1),))),
    )
    trace = simulate(model, until=1.0)
    assert trace.outcome.ending is Ending.LIVELOCK and trace.outcome.time == 0.0
    assert "`go` (a to b) and `back` (b to a)" in trace.outcome.sentence


def test_urgent_guards_that_answer_each_other_are_a_livelock() -> None:
    """Both hold from x = 1 on: at t = 1 the run goes round for ever."""
    model = clock(
        Edge("a", "b", X >= 1, urgent=True, name="go"),
        Edge("b", "a", X >= 1, urgent=True, name="back"),
        places=(Location("a", (flow("x", 1),)), Location("b", (flow("x", 2),))),
    )
    trace = simulate(model, until=5.0)
    assert trace.outcome.ending is Ending.LIVELOCK
    assert trace.outcome.time == pytest.approx(1.0, abs=1e-9)
    assert "`go` (a to b) and `back` (b to a)" in trace.outcome.sentence
    assert "sliding" not in trace.outcome.sentence


# Switching


BAND = clock(
    Edge("a", "b", (X >= 1) & (X <= 3), name="go"),
    places=(Location("a", (flow("x", 1),), (), X <= 4), Location("b", (flow("x", 0),))),
)


def test_earliest_and_latest_switches() -> None:
    assert simulate(BAND, until=9.0).jumps[0].time == pytest.approx(1.0, abs=1e-9)
    latest = simulate(BAND, until=9.0, policy=Policy(Switching.LATEST))
    assert latest.jumps[0].time == pytest.approx(3.0, abs=1e-9)
    assert latest.outcome.completed and latest.final()["x"] == pytest.approx(3.0, abs=1e-9)


def test_random_switches_lie_in_the_guard_and_repeat_exactly() -> None:
    policy, times = Policy(Switching.RANDOM, wait=0.7), []
    for seed in range(30):
        trace = simulate(BAND, until=9.0, policy=policy, seed=seed)
        times.append(trace.jumps[0].time)
        assert 1.0 - 1e-9 <= times[-1] <= 3.0 + 1e-9
        script = Policy(Switching.RANDOM, wait=0.7, script=trace.decisions)
        assert simulate(BAND, until=9.0, policy=script, seed=99) == trace
    assert len(set(times)) > 20


def test_urgent_edge_lets_no_time_pass() -> None:
    model = clock(
        Edge("a", "b", X >= 2, urgent=True),
        Edge("b", "c", TRUE, (flow("x", X + 10),), urgent=True),
        places=(
            Location("a", (flow("x", 1),)),
            Location("b", (flow("x", 1),)),
            Location("c", (flow("x", 0),)),
        ),
    )
    trace = simulate(model, until=5.0, policy=Policy(Switching.LATEST))
    assert [(e.source, e.target) for e in trace.jumps] == [("a", "b"), ("b", "c")]
    assert trace.jumps[1].time == trace.jumps[0].time == pytest.approx(2.0)
    assert trace.final()["x"] == pytest.approx(12.0)
    assert trace.before(trace.jumps[0].time)["x"] == pytest.approx(2.0)


def test_target_invariant_forbids_an_edge() -> None:
    model = clock(
        Edge("a", "b", X >= 1, name="wrong"),
        Edge("a", "c", X >= 1, name="right"),
        places=(
            Location("a", (flow("x", 1),), (), X <= 1),
            Location("b", (), (), X <= 0),
            Location("c"),
        ),
    )
    assert simulate(model, until=3.0).jumps[0].name == "right"


def test_blocking_is_explained() -> None:
    model = clock(
        Edge("a", "a", X >= 7, name="far"),
        places=(Location("a", (flow("x", 1),), (), X <= 2),),
    )
    trace = simulate(model, until=5.0)
    assert trace.outcome.ending is Ending.BLOCKED
    assert trace.end == pytest.approx(2.0) and trace.final()["x"] <= 2.0
    assert "x <= 2" in trace.outcome.sentence and "`far`" in trace.outcome.sentence


def test_discrete_guards_are_exact() -> None:
    """`n > 2` is false at n = 2, however close floating-point tolerances come."""
    n = variable("n")
    model = HybridAutomaton(
        "counter",
        (Variable("x"), Variable("n", kind=Kind.DISCRETE)),
        (Location("count", (flow("x", 1),), (), X <= 1), Location("done")),
        (
            Edge("count", "done", (X >= 1) & (n > 2), name="enough"),
            Edge("count", "count", (X >= 1) & (n <= 2), (flow("x", 0), flow("n", n + 1))),
        ),
        (Initial("count", equal(X, 0) & equal(n, 0)),),
    )
    trace = simulate(model, until=20.0)
    assert trace.jumps[-1].name == "enough" and trace.final()["n"] == 3.0
    assert trace.jumps[-1].time == pytest.approx(4.0)


def test_resets_are_simultaneous_and_read_primed_values() -> None:
    model = HybridAutomaton(
        "swap",
        (Variable("x"), Variable("y")),
        (Location("a"), Location("b")),
        (
            Edge(
                "a",
                "b",
                TRUE,
                (flow("x", Y), flow("y", X + 1), flow("sum", variable(primed("y")) * 2)),
                urgent=True,
            ),
        ),
        (Initial("a", equal(X, 1) & equal(Y, 5)),),
    )
    assert simulate(model, until=1.0).final() == {"x": 5.0, "y": 2.0}


def test_ranged_resets_follow_the_level() -> None:
    model = clock(
        Edge("a", "b", TRUE, (between("x", 10, 20),), urgent=True),
        places=(Location("a"), Location("b")),
    )
    for level, value in ((Level.LOW, 10), (Level.MID, 15), (Level.HIGH, 20)):
        assert simulate(model, until=1.0, policy=Policy(level=level)).final()["x"] == value
    found = {
        simulate(model, until=1.0, policy=Policy(level=Level.RANDOM), seed=s).final()["x"]
        for s in range(10)
    }
    assert len(found) == 10 and all(10 <= v <= 20 for v in found)


# Inputs, inclusions, parameters


def driven(rate: Expression) -> HybridAutomaton:
    return HybridAutomaton(
        "driven",
        (Variable("x"),),
        (Location("run", (flow("x", rate),)),),
        (),
        (Initial("run", equal(X, 0)),),
        inputs=(Input("u", low=Fraction(-1), high=Fraction(3)),),
        parameters=(Parameter("k", low=Fraction(2), high=Fraction(4)),),
    )


def test_signals() -> None:
    model = driven(U)

    def end(signal: object) -> float:
        trace = simulate(model, until=2.0, inputs={"u": signal})  # type: ignore[dict-item]
        return float(trace.final()["x"])

    assert end(1.5) == pytest.approx(3.0)
    assert end(Steps((0.0, 0.5), (1.0, -1.0))) == pytest.approx(-1.0, abs=1e-9)
    assert end(Lines((0.0, 1.0), (0.0, 1.0))) == pytest.approx(1.5, abs=1e-9)
    assert end(sine(1.0, 2.0, 3.0)) == pytest.approx(2 + 2 / 3 * (1 - math.cos(6)), abs=1e-4)
    assert end(Formula(variable(TIME) ** 2)) == pytest.approx(8 / 3, abs=1e-6)
    table = from_csv(["t,u,w", "0,0,9", "1,1,9"], "u")
    assert table == Lines((0.0, 1.0), (0.0, 1.0))
    with pytest.raises(ModelError, match="no column"):
        from_csv(["t,u", "0,0"], "speed")
    with pytest.raises(ModelError, match="line 3"):
        from_csv(["t,u", "0,0", "1"], "u")
    with pytest.raises(ModelError, match="increasing"):
        Steps((1.0, 1.0), (0.0, 0.0))
    with pytest.raises(ModelError, match="no input"):
        simulate(model, until=1.0, inputs={"nothing": 1.0})


def test_levels_of_inputs_and_parameters() -> None:
    model = driven(U * variable("k"))
    low = simulate(model, until=1.0, policy=Policy(level=Level.LOW))
    assert low.final()["x"] == pytest.approx(-2.0) and low.parameters == {"k": 2.0}
    chosen = simulate(model, until=1.0, parameters={"k": 3.5}, inputs={"u": 2.0})
    assert chosen.final()["x"] == pytest.approx(7.0)
    with pytest.raises(ModelError, match="no parameter"):
        simulate(model, until=1.0, parameters={"q": 1.0})


FRONT = HybridAutomaton(
    "front",
    (Variable("v"), Variable("x")),
    (Location("drive", (between("v", -5, 3), flow("x", V)), (), V >= 0),),
    (),
    (Initial("drive", equal(V, 10) & equal(X, 0)),),
)


def test_an_inclusion_gives_way_at_the_invariant() -> None:
    """Braking hard stops at v = 0 instead of blocking: 10/5 s, 10 m."""
    trace = simulate(FRONT, until=5.0, policy=Policy(level=Level.LOW))
    assert trace.outcome.completed
    assert trace.final()["v"] == pytest.approx(0.0, abs=1e-9)
    assert trace.final()["x"] == pytest.approx(10.0, abs=1e-7)
    (held,) = [e for e in trace.events if e.type is EventType.HELD]
    assert held.time == pytest.approx(2.0, abs=1e-9)


def test_a_held_inclusion_is_released() -> None:
    share = {"v.inclusion": Steps((0.0, 3.0), (0.0, 1.0))}
    trace = simulate(FRONT, until=4.0, inputs=share)
    assert trace.final()["v"] == pytest.approx(3.0, abs=1e-8)
    assert any(e.type is EventType.RELEASED for e in trace.events)


def test_random_levels_stay_in_the_inclusion() -> None:
    prepared = prepare(FRONT)
    for seed in range(20):
        trace = simulate(prepared, until=8.0, policy=Policy.random(), seed=seed)
        assert trace.outcome.completed
        values = [trace.at(i / 50)["v"] for i in range(401)]
        rates = [(b - a) * 50 for a, b in pairwise(values)]
        assert min(values) >= -1e-9 and min(rates) >= -5 - 1e-6 and max(rates) <= 3 + 1e-6
        again = Policy(Switching.RANDOM, Level.RANDOM, script=trace.decisions)
        assert simulate(prepared, until=8.0, policy=again) == trace


# Starts


def test_initial_sets() -> None:
    model = HybridAutomaton(
        "box",
        (Variable("x"), Variable("y")),
        (Location("a"),),
        (),
        (Initial("a", conjunction(X >= 2, X <= 4, equal(Y, X * 2), X * X >= 9)),),
    )
    for seed in range(20):
        start = simulate(model, until=0.0, policy=Policy.random(), seed=seed).at(0.0)
        assert 3.0 <= start["x"] <= 4.0 and start["y"] == pytest.approx(2 * start["x"])
    assert simulate(model, until=0.0, initial={"x": 3.5}).at(0.0) == {"x": 3.5, "y": 7.0}
    refused = simulate(model, until=0.0, initial={"x": 1.0})
    assert refused.outcome.ending is Ending.EMPTY_INITIAL and "x = 1" in refused.outcome.sentence
    with pytest.raises(ModelError, match="no variable"):
        simulate(model, until=0.0, initial={"q": 1.0})


def test_empty_initial_set() -> None:
    model = HybridAutomaton(
        "none", (Variable("x"),), (Location("a"),), (), (Initial("a", (X >= 2) & (X <= 1)),)
    )
    trace = simulate(model, until=1.0)
    assert trace.outcome.ending is Ending.EMPTY_INITIAL and not trace.segments
    assert "empty" in trace.outcome.sentence


def test_a_thin_initial_set_is_found_by_the_solver() -> None:
    thin = conjunction(X >= 0, X <= 1, Y >= 0, Y <= 1, equal(X + Y, Fraction(3, 2)))
    model = HybridAutomaton(
        "thin", (Variable("x"), Variable("y")), (Location("a"),), (), (Initial("a", thin),)
    )
    start = simulate(model, until=0.0).at(0.0)
    assert start["x"] + start["y"] == pytest.approx(1.5)


def test_symbols_and_truth_values() -> None:
    colour, on = variable("colour"), variable("on")
    model = HybridAutomaton(
        "lamp",
        (
            Variable("x"),
            Variable("colour", enumeration("red", "green"), Kind.DISCRETE),
            Variable("on", BOOL, Kind.DISCRETE),
        ),
        (Location("a", (flow("x", 1),)), Location("b")),
        (
            Edge("a", "b", conjunction(X >= 1, equal(colour, symbol("green")), negation(on))),
            Edge("a", "a", (X >= 1) & on, (flow("x", 0), flow("on", negation(on)))),
        ),
        (Initial("a", conjunction(equal(X, 0), equal(colour, symbol("green")), on)),),
    )
    trace = simulate(model, until=5.0)
    assert [e.target for e in trace.jumps] == ["a", "b"]
    assert trace.jumps[1].time == pytest.approx(2.0)
    assert trace.at(0.5)["colour"] == "green" and trace.at(0.5)["on"] is True
    assert trace.final()["on"] is False


# Endings


def test_assertions_stop_the_run_and_leave_the_trace() -> None:
    low = Property("low", X <= 2)
    model = clock(places=(Location("a", (flow("x", 1),)),))
    model = HybridAutomaton(
        "asserted", model.variables, model.locations, (), model.initial, properties=(low,)
    )
    trace = simulate(model, until=5.0)
    assert trace.outcome.ending is Ending.VIOLATION and trace.outcome.name == "low"
    assert trace.end == pytest.approx(2.0, abs=1e-5) and trace.final()["x"] > 2.0
    assert simulate(model, until=5.0, stop_on_violation=False).outcome.completed
    at_rest = clock(places=(Location("a"),))
    claim = Property("away", X > 0)
    resting = HybridAutomaton(
        "resting", at_rest.variables, at_rest.locations, (), at_rest.initial, properties=(claim,)
    )
    assert simulate(resting, until=1.0).outcome.ending is Ending.VIOLATION


@pytest.mark.parametrize(
    ("rate", "ending"),
    [
        (X * X + 1, {Ending.STEP_TOO_SMALL, Ending.NOT_FINITE}),
        (divide(1, 1 - X), {Ending.STEP_TOO_SMALL, Ending.NOT_FINITE}),
        (function(Op.LOG, X), {Ending.NOT_FINITE}),
        (function(Op.EXP, function(Op.EXP, X * 9)), {Ending.STEP_TOO_SMALL, Ending.NOT_FINITE}),
    ],
    ids=["blow-up", "pole", "undefined", "explosion"],
)
def test_numerical_trouble_is_an_outcome(rate: Expression, ending: set[Ending]) -> None:
    trace = simulate(clock(places=(Location("a", (flow("x", rate),)),)), until=10.0)
    assert trace.outcome.ending in ending and trace.outcome.sentence


def test_stiffness_ends_at_the_step_limit() -> None:
    model = clock(places=(Location("a", (flow("x", 1 - 10**8 * X),)),))
    trace = simulate(model, until=10.0, method=Adams(max_steps=2000))
    assert trace.outcome.ending is Ending.STEP_LIMIT and "stiff" in trace.outcome.sentence


def test_external_functions() -> None:
    model = clock(places=(Location("a", (flow("x", external("f", X)),)),))
    fine = simulate(model, until=1.0, externs={"f": lambda x: 1.0 - x})
    assert fine.final()["x"] == pytest.approx(1 - math.exp(-1), abs=1e-5)

    def fails(x: float) -> float:
        if x > 0.5:
            raise ValueError("out of range")
        return 1.0

    trace = simulate(model, until=1.0, externs={"f": fails})
    assert trace.outcome.ending is Ending.EXTERNAL_FAILED
    assert trace.outcome.name == "f" and "out of range" in trace.outcome.sentence
    wrong = simulate(model, until=1.0, externs={"f": lambda x: "fast"})  # type: ignore[dict-item]
    assert wrong.outcome.ending is Ending.EXTERNAL_FAILED
    with pytest.raises(ModelError, match="no such function"):
        simulate(model, until=1.0)


def test_horizon_of_zero() -> None:
    trace = simulate(ball(), until=0.0)
    assert trace.outcome.completed and trace.end == 0.0 and trace.final() == {"h": 1.0, "v": 0.0}


def test_too_many_jumps() -> None:
    trace = simulate(ball(restitution=Fraction(1)), until=100.0, max_jumps=5)
    assert trace.outcome.ending is Ending.JUMP_LIMIT and len(trace.jumps) == 5


# The library


def test_platoon_switches_when_the_figure_says() -> None:
    trace = simulate(load("platoon_figure10").automaton, until=12.0)
    assert trace.jumps[0].time == pytest.approx(8.20, abs=0.01)


def test_a_boundary_that_the_flow_leaves_to_the_inside_is_no_exit() -> None:
    """`previous` is entered on a boundary of its invariant; whether rounding puts the state a
    trifle beyond it must not decide how the run goes on."""
    model = load("platoon_gentle").automaton
    ends = [simulate(model, until=20.0, method=m).outcome.time for m in (Adams(), Taylor())]
    assert ends == [pytest.approx(16.53224, abs=1e-4)] * 2


@pytest.mark.parametrize("name", ["platoon_paper", "thermostat_timer", "bouncing_ball", "fischer"])
def test_whole_runs_equal_the_reference(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fallback without the extension makes the same run, bit for bit."""
    model = load(name).automaton
    policy = Policy.random()
    fast = simulate(model, until=8.0, policy=policy, seed=5)
    monkeypatch.setattr(engine, "_core", None)
    slow = simulate(model, until=8.0, policy=policy, seed=5)
    assert slow == fast and slow.counts == fast.counts


def test_prepared_models_are_reused() -> None:
    prepared, generator = prepare(load("platoon_paper").automaton), Random(4)
    traces = [
        simulate(prepared, until=20.0, policy=Policy.random(), generator=generator, dense=False)
        for _ in range(30)
    ]
    assert len({t.decisions for t in traces}) == 30
    assert all(isinstance(t, Trace) and t.outcome.sentence for t in traces)
    for trace in traces:
        assert not any(e.type is EventType.VIOLATION for e in trace.events)
        assert float(trace.final()["dist"]) > 0.0  # type: ignore[arg-type]


# Boundaries that are touched, and flows with branches


def test_a_touched_invariant_does_not_block() -> None:
    """x = t - t^2/4 rises to exactly 1 at t = 2 and falls again, under x <= 1."""
    rate = constant(1) - variable(TIME) * Fraction(1, 2)
    model = clock(places=(Location("a", (flow("x", rate),), (), X <= 1),))
    for method in (Adams(), Taylor()):
        trace = simulate(model, until=4.0, method=method)
        assert trace.outcome.completed
        assert trace.final()["x"] == pytest.approx(0.0, abs=1e-6)
        (touch,) = [e for e in trace.events if e.type is EventType.GRAZING]
        assert touch.time == pytest.approx(2.0, abs=1e-3) and touch.side == "grazing"


def test_saturation_is_locked() -> None:
    """x' = min(v, 1), v' = 1: x = t^2/2 up to 1, then grows linearly."""
    model = HybridAutomaton(
        "saturated",
        (Variable("x"), Variable("v")),
        (Location("a", (flow("x", minimum(V, 1)), flow("v", 1))),),
        (),
        (Initial("a", equal(X, 0) & equal(V, 0)),),
    )
    trace = simulate(model, until=3.0)
    assert trace.final()["x"] == pytest.approx(2.5, abs=1e-9)
    assert trace.counts.rejected == 0 and trace.counts.steps < 10
    assert not trace.events


def test_discontinuous_flow_is_followed_exactly() -> None:
    """x' = 1 below 1, 3 from there on; and |x - 2| has a kink."""
    jump = conditional(X < 1, constant(1), constant(3))
    trace = simulate(clock(places=(Location("a", (flow("x", jump),)),)), until=2.0)
    assert trace.final()["x"] == pytest.approx(4.0, abs=1e-7)
    kink = function(Op.ABSOLUTE, X - 2) + 1
    trace = simulate(clock(places=(Location("a", (flow("x", kink),)),)), until=2.0)
    # x = 3 - 3 exp(-t) up to 2 at t = ln 3, then x = 1 + exp(t - ln 3)
    assert trace.final()["x"] == pytest.approx(1 + math.exp(2 - math.log(3)), rel=1e-5)


def test_sliding_inside_a_flow_is_reported() -> None:
    relay = clock(places=(Location("a", (flow("x", -function(Op.SIGN, X - 1)),)),))
    trace = simulate(relay, until=5.0)
    assert trace.outcome.ending is Ending.CHATTERING
    assert trace.end == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    "options",
    [
        {"until": -1.0},
        {"until": math.inf},
        {"until": math.nan},
        {"until": 1.0, "method": Adams(rtol=-1.0)},
        {"until": 1.0, "method": Adams(max_order=99)},
        {"until": 1.0, "method": Taylor(atol=0.0)},
        {"until": 1.0, "method": Adams(max_step=0.0)},
    ],
)
def test_impossible_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ModelError):
        simulate(ball(), **options)  # type: ignore[arg-type]


def test_undefined_guards_are_false_and_undefined_invariants_bind() -> None:
    root = function(Op.SQRT, X)
    rising = (flow("x", 1),)
    start = (Initial("a", equal(X, -1)),)
    for guard in (root >= 1, conjunction(X >= 0, root >= 1)):
        model = HybridAutomaton(
            "late",
            (Variable("x"),),
            (Location("a", rising), Location("b")),
            (Edge("a", "b", guard, name="go"),),
            start,
        )
        assert simulate(model, until=9.0).jumps[0].time == pytest.approx(2.0, abs=1e-6)
    sinking = clock(places=(Location("a", (flow("x", -1),), (), function(Op.SQRT, X + 1) <= 2),))
    trace = simulate(sinking, until=9.0)
    assert trace.outcome.ending is Ending.BLOCKED
    assert trace.end == pytest.approx(1.0, abs=1e-9)


def test_resting_on_a_strict_boundary_is_not_beyond_it() -> None:
    """x = 0 for ever: x > 0 never holds, x >= 0 always does."""
    n = variable("n")
    for guard, count in ((X > 0, 0), (X >= 0, 1)):
        model = HybridAutomaton(
            "resting",
            (Variable("x"), Variable("n", kind=Kind.DISCRETE), Variable("y")),
            (Location("a", (flow("x", 0 * X), flow("y", 1))), Location("b", (flow("y", 1),))),
            (Edge("a", "b", guard),),
            (Initial("a", conjunction(equal(X, 0), equal(n, 0), equal(Y, 0))),),
        )
        assert len(simulate(model, until=3.0).jumps) == count


def test_a_pole_in_the_invariant_is_not_passed() -> None:
    """1/x <= 0 holds below 0 and not above; the value jumps through infinity."""
    model = clock(places=(Location("a", (flow("x", 1),), (), divide(1, X - 1) <= 0),))
    trace = simulate(model, until=3.0)
    assert trace.outcome.ending is Ending.BLOCKED
    assert float(trace.final()["x"]) <= 1.0 and trace.end == pytest.approx(1.0, abs=1e-6)


def test_a_property_without_a_value_is_no_success() -> None:
    model = clock(places=(Location("a", (flow("x", constant(-1)),)),))
    root = function(Op.SQRT, X)
    claimed = replace(model, properties=(Property("deep", root <= 5),))
    trace = simulate(claimed, until=5.0)
    assert trace.outcome.ending is Ending.NOT_FINITE and trace.outcome.name == "deep"
    covered = replace(model, properties=(Property("deep", disjunction(X < 0, root <= 5)),))
    assert simulate(covered, until=5.0).outcome.completed


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9, 1e-11, 1e-13])
@pytest.mark.parametrize("form", [Adams, Taylor])
def test_borders_of_cells_at_every_tolerance(form: type[Adams | Taylor], rtol: float) -> None:
    """A border is crossed once, also where the tolerance is finer than the clock: the state
    lies beside the border by as much as the shortest step is long."""
    model = load("navigation").automaton
    trace = simulate(model, until=5.0, method=form(rtol=rtol, atol=rtol / 100))
    assert trace.outcome.completed
    assert [e.target for e in trace.jumps] == ["west", "centre", "north", "goal"]


def test_beyond_an_accumulation_the_model_rests(tmp_path: Path) -> None:
    """A ball with restitution 4/5 from height 1: t_Z = f (1 + 2*0.8/0.2), f the first fall."""
    path = tmp_path / "rest.charon"
    path.write_text(RESTING_BALL)
    model = load(path).automaton
    trace = simulate(model, until=6.0)
    assert trace.outcome.completed
    zeno = math.sqrt(2 / 9.81) * 9
    assert trace.jumps[-1].name == "rest"
    assert trace.jumps[-1].time == pytest.approx(zeno, abs=1e-9)
    assert trace.final() == pytest.approx({"height": 0.0, "speed": 0.0}, abs=1e-9)
    assert [s.sliding for s in trace.segments if s.sliding] == ["the limit of bounce"]
    assert min(v["height"] for _, _, v in trace.samples(0.01)) >= 0.0
    stays = simulate(model, until=6.0, sliding=False)
    assert stays.outcome.ending is Ending.ZENO
    assert stays.outcome.accumulation == pytest.approx(zeno, abs=1e-9)


RESTING_BALL = """\
mode Falling() {
  write analog real height, speed;
  diff { d(height) == speed; d(speed) == -9.81; }
  inv { height >= 0 }
}
mode Resting() { write analog real height, speed; diff { d(height) == 0; d(speed) == 0; } }
mode BallTop() {
  write analog real height, speed;
  mode falling = Falling();
  mode resting = Resting();
  trans from init to falling;
  trans #bounce from falling to falling when height <= 0 && speed < 0 do { speed = -0.8*speed; }
  trans #rest from falling to resting when height <= 0 && speed == 0;
}
agent Ball() {
  private analog real height, speed;
  init { height = 1; speed = 0; }
  mode top = BallTop();
}
"""


def test_a_stiff_model_ends_soon_with_a_hint() -> None:
    """x' = -10^8 (x - cos t) needs steps of about 10^-8 for stability's sake."""
    cosine = function(Op.COS, variable("time"))
    model = HybridAutomaton(
        "stiff",
        (Variable("x"),),
        (Location("a", (Constraint("x", Range.exactly(-(10**8) * (X - cosine))),)),),
        (),
        (Initial("a", equal(X, 2)),),
    )
    for method in (Adams(max_steps=20_000), Taylor(max_steps=20_000)):
        trace = simulate(model, until=20.0, method=method)
        assert trace.outcome.ending is Ending.STEP_LIMIT and trace.counts.steps <= 20_001
        assert "stiff" in trace.outcome.sentence and "on average" in trace.outcome.sentence


def test_what_is_kept_of_a_run_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole run ends where memory does; a run of which only the end is kept goes on."""
    monkeypatch.setattr("workbench.simulate.loop.flow.MAX_KEPT", 20_000)
    turning = (flow("x", function(Op.COS, 300 * variable(TIME)) * 100),)
    wheel = clock(places=(Location("a", turning),))
    whole = simulate(wheel, until=20.0)
    assert whole.outcome.ending is Ending.STEP_LIMIT
    assert "no room" in whole.outcome.sentence and "stiff" not in whole.outcome.sentence
    assert 10_000 < sum(len(s.coefficients) for s in whole.segments) < 30_000
    assert simulate(wheel, until=20.0, dense=False).outcome.ending is Ending.HORIZON

"""Inputs that jump where invariants and guards read them: closed forms, and an exact oracle."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.evaluation import evaluate, holds
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    conjunction,
    constant,
    equal,
    variable,
)
from workbench.models.load import load
from workbench.models.trace import Ending, EventType, Trace
from workbench.simulate.agents.asynchronous import simulate_agents
from workbench.simulate.agents.fleet import is_available
from workbench.simulate.inputs.signals import Lines, Signal, Steps
from workbench.simulate.monitoring.run_check import RunCheck
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.recipe import Recipe
from workbench.simulate.run import prepare, simulate
from workbench.simulate.stepping import engine
from workbench.simulate.stepping.methods import Taylor
from workbench.simulate.validated.validated_run import TIGHT, confirm_violation, validate

X, Y, U = map(variable, ("x", "y", "u"))
ALL_POLICIES = [Policy(s) for s in Switching]


def flow(name: str, value: Expression | int) -> Constraint:
    value = constant(value) if isinstance(value, int) else value
    return Constraint(name, Range.exactly(value))


def model(
    places: tuple[Location, ...],
    edges: tuple[Edge, ...],
    start: int = 0,
    properties: tuple[Property, ...] = (),
) -> HybridAutomaton:
    """A model of x, which flows, y, which is kept, and the input u in [-50, 50]."""
    return HybridAutomaton(
        "stepped",
        (Variable("x"), Variable("y", kind=Kind.DISCRETE)),
        places,
        edges,
        (Initial(places[0].name, equal(X, start) & equal(Y, 0)),),
        inputs=(Input("u", low=Fraction(-50), high=Fraction(50)),),
        properties=properties,
    )


def place(name: str, invariant: Expression = TRUE, rate: int = 1) -> Location:
    return Location(name, (flow("x", rate),), (), invariant)


def thermostat() -> HybridAutomaton:
    """Within 1 of the set-point u, heated and cooled by 1 per unit of time."""
    return model(
        (place("heat", X <= U + 1), place("cool", X >= U - 1, -1)),
        (
            Edge("heat", "cool", X >= U + 1, name="off"),
            Edge("cool", "heat", X <= U - 1, name="on"),
        ),
        start=20,
    )


SET_POINT = Steps((0.0, 3.5, 10.0), (20.0, 15.0, 18.0))
SWITCHES = [(1.0, "off"), (3.0, "on"), (3.5, "off"), (9.0, "on"), (14.0, "off")]
"""From 20: 21 at 1, 19 at 3, 19.5 at the step to 15, 14 at 9, 15 at the step to 18, 19 at 14."""


def accepted(automaton: HybridAutomaton, trace: Trace, inputs: dict[str, Signal]) -> bool:
    return RunCheck(prepare(automaton, inputs=inputs)).problems(trace, inputs) == []


# Closed forms


@pytest.mark.parametrize("policy", ALL_POLICIES, ids=lambda p: p.switching.value)
@pytest.mark.parametrize("compiled", [True, False])
def test_thermostat_with_a_stepped_set_point(
    policy: Policy, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        monkeypatch.setattr(engine, "_core", None)
    inputs: dict[str, Signal] = {"u": SET_POINT}
    trace = simulate(thermostat(), until=15.0, inputs=inputs, policy=policy)
    assert trace.outcome.ending is Ending.HORIZON
    assert [e.name for e in trace.jumps] == [name for _, name in SWITCHES]
    assert [e.time for e in trace.jumps] == pytest.approx([t for t, _ in SWITCHES], abs=1e-6)
    assert trace.jumps[2].time == 3.5
    assert trace.at(15.0)["x"] == pytest.approx(18.0, abs=1e-5)
    assert accepted(thermostat(), trace, inputs)
    beyond = [e for e in trace.events if e.type is EventType.BOUNDARY and e.side == "beyond"]
    assert [e.time for e in beyond] == [3.5]
    again = replace(policy, script=trace.decisions)
    repeated = simulate(thermostat(), until=15.0, inputs=inputs, policy=again, seed=9)
    assert repeated.events == trace.events and repeated.segments == trace.segments


def test_gearbox_shifts_where_the_throttle_jumps() -> None:
    """With the shift line 5 + 5 u, a speed of 8 is too fast for `low` from the moment at which
    u falls from 1 to 0, and too slow for `high` (line 4 + 5 u) when it is 1 again."""
    gears = model(
        (place("low", X <= 5 + 5 * U), place("high", X >= 4 + 5 * U)),
        (
            Edge("low", "high", X >= 5 + 5 * U, name="up"),
            Edge("high", "low", X <= 4 + 5 * U, name="down"),
        ),
    )
    inputs: dict[str, Signal] = {"u": Steps((0.0, 8.0, 8.5), (1.0, 0.0, 1.0))}
    trace = simulate(gears, until=12.0, inputs=inputs)
    assert [(e.name, e.time) for e in trace.jumps[:2]] == [("up", 8.0), ("down", 8.5)]
    assert trace.jumps[2].time == pytest.approx(10.0, abs=1e-6) and len(trace.jumps) == 3
    assert accepted(gears, trace, inputs)


def test_the_value_before_enables_an_edge_and_is_what_its_reset_reads() -> None:
    leaves = Edge("a", "b", U >= 2, (flow("y", U),), name="go")
    automaton = model((place("a", X <= U), place("b")), (leaves,))
    inputs: dict[str, Signal] = {"u": Steps((0.0, 1.0), (2.0, -1.0))}
    trace = simulate(automaton, until=3.0, inputs=inputs, policy=Policy(Switching.LATEST))
    assert [(e.name, e.time) for e in trace.jumps] == [("go", 1.0)]
    assert trace.at(3.0)["y"] == 2.0 and trace.outcome.ending is Ending.HORIZON
    assert accepted(automaton, trace, inputs)


def test_the_value_after_is_what_a_reset_reads_if_it_enables_the_edge() -> None:
    leaves = Edge("a", "b", U <= 0, (flow("y", U),), name="go")
    automaton = model((place("a", X <= U), place("b")), (leaves,))
    inputs: dict[str, Signal] = {"u": Steps((0.0, 1.0), (2.0, -1.0))}
    for policy in ALL_POLICIES:
        trace = simulate(automaton, until=3.0, inputs=inputs, policy=policy)
        assert [(e.name, e.time) for e in trace.jumps] == [("go", 1.0)]
        assert trace.at(3.0)["y"] == -1.0
        assert accepted(automaton, trace, inputs)
        stale = [replace(s, held={"y": 2.0}) if s.location == "b" else s for s in trace.segments]
        assert not accepted(automaton, replace(trace, segments=tuple(stale)), inputs)


def test_an_edge_that_the_step_disables_is_the_last_chance() -> None:
    """The step at 1 does not forbid to stay, but at 1.8 it turns out that it was the end of
    the only way out: the run goes back and jumps before the step."""
    leaves = Edge("a", "b", U >= 2, (flow("y", U),), name="go")
    ends = place("b", conjunction(X <= 5, U <= 40))
    automaton = model((place("a", X <= Fraction(9, 5)), ends), (leaves,))
    inputs: dict[str, Signal] = {"u": Steps((0.0, 1.0), (2.0, 1.0))}
    trace = simulate(automaton, until=3.0, inputs=inputs, policy=Policy(Switching.LATEST))
    assert [(e.name, e.time) for e in trace.jumps] == [("go", 1.0)]
    assert trace.at(3.0)["y"] == 2.0 and trace.outcome.ending is Ending.HORIZON
    assert accepted(automaton, trace, inputs)


def test_a_jump_before_the_step_and_one_after_it() -> None:
    automaton = model(
        (place("a", X <= U), place("b", U >= 1), place("c", U <= 0)),
        (
            Edge("a", "b", U >= 2, (flow("y", U),), name="before"),
            Edge("b", "c", U <= 0, (flow("y", Y + 10 * U),), name="after"),
        ),
    )
    inputs: dict[str, Signal] = {"u": Steps((0.0, 1.0), (2.0, -1.0))}
    trace = simulate(automaton, until=3.0, inputs=inputs, policy=Policy(Switching.LATEST))
    assert [(e.name, e.time) for e in trace.jumps] == [("before", 1.0), ("after", 1.0)]
    assert trace.at(3.0)["y"] == -8.0 and trace.outcome.ending is Ending.HORIZON
    proof = validate(automaton, trace, inputs=inputs)
    assert proof.complete and [j.name for j in proof.jumps] == ["before", "after"]


def test_an_urgent_edge_goes_first() -> None:
    automaton = model(
        (place("a", X <= U), place("b"), place("c")),
        (
            Edge("a", "b", U <= 0, name="lazy"),
            Edge("a", "c", U <= 0, name="prompt", urgent=True),
        ),
    )
    inputs: dict[str, Signal] = {"u": Steps((0.0, 1.0), (2.0, -1.0))}
    for policy in ALL_POLICIES:
        trace = simulate(automaton, until=2.0, inputs=inputs, policy=policy)
        assert [(e.name, e.time) for e in trace.jumps] == [("prompt", 1.0)]


def test_random_levels_jump_too() -> None:
    """Whatever the levels, one of the two locations allows to stay."""
    automaton = model(
        (place("a", X <= U), place("b", X >= U)),
        (Edge("a", "b", X >= U, name="over"), Edge("b", "a", X <= U, name="under")),
        start=-50,
    )
    jumps = 0
    for seed in range(10):
        policy = Policy(Switching.RANDOM, Level.RANDOM, dwell=1.0)
        trace = simulate(automaton, until=90.0, policy=policy, seed=seed)
        assert trace.outcome.ending is Ending.HORIZON
        jumps += len(trace.jumps)
        script = replace(policy, script=trace.decisions)
        assert simulate(automaton, until=90.0, policy=script).segments == trace.segments
    assert jumps > 20


def test_a_hold_ends_where_its_boundary_jumps() -> None:
    """d(x) in [0, 1] gives way at x = u, and no longer where u jumps away."""
    loose = Constraint("x", Range(constant(0), constant(1)))
    automaton = model((Location("a", (loose,), (), X <= U),), ())
    inputs: dict[str, Signal] = {"u": Steps((0.0, 4.0), (1.0, 9.0))}
    policy = Policy(level=Level.HIGH)
    trace = simulate(automaton, until=6.0, inputs=inputs, policy=policy)
    assert trace.outcome.ending is Ending.HORIZON
    assert trace.at(4.0)["x"] == pytest.approx(1.0, abs=1e-6)
    assert trace.at(6.0)["x"] == pytest.approx(3.0, abs=1e-6)
    falls: dict[str, Signal] = {"u": Steps((0.0, 4.0), (1.0, 0.5))}
    trace = simulate(automaton, until=6.0, inputs=falls, policy=policy)
    assert trace.outcome.ending is Ending.BLOCKED and trace.outcome.time == 4.0


def test_a_step_at_the_time_of_an_event_is_not_lost() -> None:
    """An external guard is looked at 1000 times in a run: exactly at the step too."""
    for t in (1.0, 0.5, 0.3):
        automaton = model(
            (place("a"), place("b", TRUE, 0)), (Edge("a", "b", variable("time") >= 1, name="go"),)
        )
        inputs: dict[str, Signal] = {"u": Steps((0.0, t), (2.0, 3.0))}
        trace = simulate(automaton, until=2.0, inputs=inputs)
        assert accepted(automaton, trace, inputs)


@pytest.mark.skipif(not is_available(), reason="needs the compiled core")
def test_agents_on_their_own_clocks(tmp_path: Any) -> None:
    source = tmp_path / "rooms.charon"
    source.write_text(ROOMS)
    automaton = load(source).automaton
    inputs = {"u": SET_POINT, "w": Steps((0.0, 2.5), (20.0, 30.0))}
    traces = simulate_agents(automaton, until=15.0, inputs=inputs)
    assert traces.outcome.ending is Ending.HORIZON
    found = {name: [e.time for e in traces.events if e.agents == (name,)] for name in traces.traces}
    expected = [[t for t, _ in SWITCHES], [1.0, 2.5, 14.0]]
    assert len(found) == 2
    for times, truth in zip(found.values(), expected, strict=True):
        assert times == pytest.approx(truth, abs=1e-6)


ROOMS = """
mode Heat() { write analog real x; read analog real u; diff { d(x) == 1 } inv { x <= u + 1 } }
mode Cool() { write analog real x; read analog real u; diff { d(x) == -1 } inv { x >= u - 1 } }
mode Control() {
  write analog real x;
  read analog real u;
  mode heat = Heat();
  mode cool = Cool();
  trans from init to heat;
  trans #off from heat to cool when x >= u + 1;
  trans #on from cool to heat when x <= u - 1;
}
agent Room() {
  read analog real u;
  private analog real x = 20;
  assume { u >= 0 && u <= 50 }
  mode top = Control();
}
agent Home() {
  read analog real u, w;
  assume { u >= 0 && u <= 50 && w >= 0 && w <= 50 }
  agent one = Room() [u := u];
  agent two = Room() [u := w];
}
"""


# What is no run


def test_blocked_only_with_an_explanation() -> None:
    automaton = model(
        (place("a", X <= U), place("b", X <= U)),
        (Edge("a", "b", TRUE, name="same"), Edge("a", "b", U >= 3, name="never")),
    )
    inputs: dict[str, Signal] = {"u": Steps((0.0, 1.0), (2.0, -1.0))}
    trace = simulate(automaton, until=3.0, inputs=inputs, policy=Policy(Switching.LATEST))
    assert trace.outcome.ending is Ending.BLOCKED and trace.outcome.time == 1.0
    for words in ("`u` jumps from 2 to -1", "`x <= u`", "`same` leads outside", "`never` is false"):
        assert words in trace.outcome.sentence


def test_no_property_is_violated_in_a_state_outside_the_invariant() -> None:
    automaton = model(
        (place("a", X <= U), place("b")),
        (Edge("a", "b", U <= 0, (flow("x", -5),), name="go"),),
        properties=(Property("low", X <= U + Fraction(1, 2)),),
    )
    inputs: dict[str, Signal] = {"u": Steps((0.0, 1.0), (2.0, -1.0))}
    trace = simulate(automaton, until=3.0, inputs=inputs)
    assert trace.outcome.ending is Ending.HORIZON


def test_other_signals_do_not_explain_the_run() -> None:
    inputs: dict[str, Signal] = {"u": SET_POINT}
    trace = simulate(thermostat(), until=15.0, inputs=inputs)
    late = Steps((0.0, 3.6, 10.0), (20.0, 15.0, 18.0))
    small = Steps((0.0, 3.5, 10.0), (20.0, 19.0, 18.0))
    constant_one = Steps((0.0,), (20.0,))
    for wrong in (late, small, constant_one, Lines(SET_POINT.times, SET_POINT.values)):
        assert not accepted(thermostat(), trace, {"u": wrong})
        assert not validate(thermostat(), trace, inputs={"u": wrong}).complete


def test_a_jump_at_a_step_is_proved() -> None:
    inputs: dict[str, Signal] = {"u": SET_POINT}
    trace = simulate(thermostat(), until=12.0, inputs=inputs, method=TIGHT)
    proof = validate(thermostat(), trace, inputs=inputs)
    assert proof.complete, proof.gave_up
    assert [j.name for j in proof.jumps] == ["off", "on", "off", "on"]
    low, high = proof.jumps[2].time
    assert low <= Fraction(7, 2) + Fraction(1, 10**9) and high >= Fraction(7, 2) - Fraction(
        1, 10**9
    )


@pytest.mark.slow
def test_a_violation_beyond_a_step_and_beyond_another_violation_is_proved() -> None:
    """At t = 20 the throttle falls, and the gear changes at that instant."""
    automaton = load("automatic_transmission_low").automaton
    inputs: dict[str, Signal] = {
        "throttle": Steps((0.0, 20.0, 30.0), (1.0, 0.5, 1.0)),
        "brake": Steps((0.0,), (0.0,)),
    }
    recipe = Recipe(until=34.9, inputs=inputs)
    claim = next(p for p in automaton.properties if p.name == "vehicle speed")
    found = confirm_violation(automaton, claim, recipe)
    assert found is not None and found.rigorous and "3 proved jumps" in found.how


# An oracle: exact evaluation of the model

bounds = st.integers(-3, 3)
signs = st.sampled_from((-1, 0, 1))


@st.composite
def conditions(draw: st.DrawFn) -> Expression:
    x, u, c = draw(signs), draw(signs), draw(bounds)
    return x * X + u * U <= c + Fraction(1, 3)


FIRST_LEVEL = 4
"""Of the input: runs can start with it, and its next steps often forbid to stay."""


@st.composite
def automata(draw: st.DrawFn) -> HybridAutomaton:
    """Three locations; some guards hold exactly where their source must be left."""
    names = ("a", "b", "c")
    first = draw(signs) * X - U <= draw(bounds)
    limits = {"a": first, "b": draw(conditions()), "c": draw(conditions())}
    places = tuple(place(n, limits[n], draw(st.integers(-2, 2))) for n in names)
    edges = []
    for number in range(draw(st.integers(1, 5))):
        source, target = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        resets = draw(st.sampled_from(((), (flow("x", U),), (flow("y", U),), (flow("x", 0),))))
        left, right = limits[source].args
        guard = left >= right if draw(st.booleans()) else draw(conditions())
        urgent = draw(st.integers(0, 4)) == 0
        edges.append(Edge(source, target, guard, resets, name=f"e{number}", urgent=urgent))
    return model(places, tuple(edges))


def leads_on(automaton: HybridAutomaton, trace: Trace, old: float, new: float) -> list[str]:
    """The edges that are enabled in the last state by evaluation, with room to spare: with the
    value after, or with that before if the target allows to stay with both."""
    last = trace.segments[-1]
    state = {n: Fraction(v) for n, v in last.valuation(last.end).items()}  # type: ignore[arg-type]
    found = []
    for edge in automaton.edges_from(last.location):
        for u in {old, new}:
            values: dict[str, Any] = {**state, "u": Fraction(u), "time": Fraction(trace.end)}
            if not holds(edge.guard, values):
                continue
            after = dict(values)
            for c in edge.resets:
                assert c.range.exact is not None
                after[c.variable] = evaluate(c.range.exact, values)
            allowed = automaton.location(edge.target).invariant
            if all(holds(allowed, {**after, "u": Fraction(w)}) for w in {u, new}):
                found.append(edge.name)
    return found


@settings(max_examples=150, deadline=None)
@given(
    automata(),
    st.lists(st.integers(-4, 4), min_size=1, max_size=6),
    st.sampled_from(ALL_POLICIES),
    st.integers(0, 3),
)
def test_blocked_only_where_no_edge_is_enabled(
    automaton: HybridAutomaton, levels: list[int], policy: Policy, seed: int
) -> None:
    times = tuple(0.7 * i for i in range(len(levels) + 1))
    signal = Steps(times, tuple(map(float, (FIRST_LEVEL, *levels))))
    inputs: dict[str, Signal] = {"u": signal}
    prepared = prepare(automaton, inputs=inputs)
    options: dict[str, Any] = {"until": 5.0, "inputs": inputs, "method": Taylor(), "max_jumps": 60}
    trace = simulate(prepared, policy=policy, seed=seed, **options)
    assert trace.outcome.ending is not Ending.EMPTY_INITIAL
    assert RunCheck(prepared).problems(trace, inputs) == []
    assert "cannot be trusted" not in trace.outcome.sentence
    again = simulate(prepared, policy=replace(policy, script=trace.decisions), seed=99, **options)
    assert (again.events, again.outcome) == (trace.events, trace.outcome)
    if trace.outcome.ending is Ending.BLOCKED and "jumps from" in trace.outcome.sentence:
        i = times.index(trace.outcome.time)
        assert leads_on(automaton, trace, signal.values[i - 1], signal.values[i]) == []

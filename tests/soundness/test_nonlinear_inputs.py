"""Nonlinear flows with bounded inputs: runs whose inputs jump between their ends, integrated
here with Runge and Kutta's method, lie inside the flowpipe; claims that such a run breaks are
never verified."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.checker.test_flowpipe_certificate import mutated
from tests.support.affine_automata import Membership, decimal
from tests.support.nonlinear_automata import nonlinear_term
from tests.support.slow import slow_but
from workbench.models.automaton import (
    TIME,
    Constraint,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.certificates.certificate import (
    Certificate,
    MalformedCertificateError,
    decode,
    encode,
)
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted
from workbench.models.checker.flowpipe import FlowpipeProof
from workbench.models.expressions.evaluation import evaluate_number
from workbench.models.expressions.expression import (
    Expression,
    add,
    conjunction,
    constant,
    function,
    multiply,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.lowering.problem import linear_problem
from workbench.reach.nonlinear.flowpipe import NonlinearExploration
from workbench.reach.nonlinear.parts import NonlinearMethod, NotFollowed

State = dict[str, float]
Box = dict[str, tuple[Fraction, Fraction]]
Signal = Callable[[float, State], State]
STEP = 1 / 256
"""The length of a step of the simulation; inputs jump at multiples of it."""
ROUNDING = 1e-6
LIMIT = 10


def oscillator(seed: int) -> tuple[HybridAutomaton, Box]:
    """Two or three variables that turn around each other, with a nonlinear term in each
    derivative, and one or two inputs."""
    random = Random(seed)
    names = ("x", "y", "z")[: random.choice((2, 2, 3))]
    inputs = ("u", "v")[: random.choice((1, 2))]
    leaves = [variable(n) for n in names]
    flows = []
    for i, name in enumerate(names):
        other = variable(names[(i + 1) % len(names)])
        turn = decimal(random, 0.5, 2) * (-1 if i % 2 else 1)
        term = nonlinear_term(random, [*leaves, variable(random.choice(inputs))])
        parts = [
            multiply(constant(decimal(random, -0.6, 0)), variable(name)),
            multiply(constant(turn), other),
            multiply(constant(decimal(random, -0.3, 0.3)), term),
            multiply(constant(decimal(random, 0, 1)), variable(random.choice(inputs))),
        ]
        flows.append(Constraint(name, Range.exactly(add(*parts))))
    box = {}
    for name in names:
        low, width = decimal(random, -1, 1), random.choice((Fraction(0), Fraction(1, 20)))
        box[name] = low, low + width
    ends = {u: (Fraction(-1, 10), decimal(random, -0.05, 0.2)) for u in inputs}
    return pushed(f"oscillator{seed}", flows, box, ends, variable("x") <= LIMIT), box


def pendulum(claim: Expression) -> tuple[HybridAutomaton, Box]:
    """A damped pendulum that is pushed a little, from angles at which it hangs high."""
    angle, speed = variable("a"), variable("w")
    pulled = multiply(constant(Fraction("-9.81")), function(Op.SIN, angle))
    braked = multiply(constant(Fraction(-1, 2)), speed)
    flows = [
        Constraint("a", Range.exactly(speed)),
        Constraint("w", Range.exactly(add(pulled, braked, variable("u")))),
    ]
    tenth = Fraction(1, 10)
    box = {"a": (11 * tenth, 12 * tenth), "w": (-tenth, tenth)}
    return pushed("pendulum", flows, box, {"u": (-tenth, tenth)}, claim), box


def pushed(
    name: str, flows: list[Constraint], box: Box, inputs: Box, claim: Expression
) -> HybridAutomaton:
    start = [variable(n) >= low for n, (low, _) in box.items()]
    start += [variable(n) <= high for n, (_, high) in box.items()]
    return HybridAutomaton(
        name,
        tuple(Variable(n) for n in box),
        (Location("run", tuple(flows)),),
        (),
        (Initial("run", conjunction(*start)),),
        tuple(Input(u, low=low, high=high) for u, (low, high) in inputs.items()),
        properties=(Property("far", claim),),
    )


def signal(automaton: HybridAutomaton, random: Random) -> Signal:
    """Inputs at their ends: jumping at random times, or always with (or against) a variable."""
    ends = {u.name: (float(u.low or 0), float(u.high or 0)) for u in automaton.inputs}
    name = random.choice([v.name for v in automaton.variables])
    sign, period = random.choice((-1, 1)), random.uniform(0.05, 1)
    levels = [random.random() < 0.5 for _ in range(1000)]
    follows = random.random() < 0.5

    def at(t: float, state: State) -> State:
        high = [sign * state[name] > 0 if follows else levels[int(t / period) + k] for k in (0, 1)]
        return {u: pair[which] for which, (u, pair) in zip(high, ends.items(), strict=False)}

    return at


def run(automaton: HybridAutomaton, box: Box, random: Random, horizon: float) -> list[State]:
    """States of a run from a corner of the box, at every fourth step."""
    flows = {c.variable: c.range.low for c in automaton.locations[0].flows}
    inputs = signal(automaton, random)
    state = {name: float(random.choice(ends)) for name, ends in box.items()}
    found = []
    for k in range(round(horizon / STEP) + 1):
        if k % 4 == 0:
            found.append({**state, TIME: k * STEP})
        state = stepped(flows, state, inputs(k * STEP, state))
    return found


def stepped(flows: dict[str, Expression | None], state: State, inputs: State) -> State:
    def rates(at: State) -> State:
        known = {**at, **inputs}
        return {n: float(evaluate_number(e, known)) for n, e in flows.items() if e is not None}

    def moved(by: State, length: float) -> State:
        return {n: v + length * by[n] for n, v in state.items()}

    first = rates(state)
    second = rates(moved(first, STEP / 2))
    third = rates(moved(second, STEP / 2))
    fourth = rates(moved(third, STEP))
    mean = {n: (first[n] + 2 * second[n] + 2 * third[n] + fourth[n]) / 6 for n in state}
    return moved(mean, STEP)


def explored(automaton: HybridAutomaton, horizon: Fraction) -> FlowpipeProof | NotFollowed:
    problem = linear_problem(automaton, automaton.properties[0])
    return NonlinearExploration(problem, horizon, NonlinearMethod()).run()


def contained(automaton: HybridAutomaton, box: Box, horizon: Fraction, runs: int) -> bool:
    found = explored(automaton, horizon)
    if isinstance(found, NotFollowed):
        return False
    made = Certificate(automaton.name, automaton.sha256, "far", found)
    judgement = check(automaton, "far", decode(encode(made)))
    assert isinstance(judgement, Accepted), judgement
    inside = Membership(linear_problem(automaton, automaton.properties[0]), found)
    for seed in range(runs):
        for state in run(automaton, box, Random(seed), float(horizon)):
            assert inside.excess("run", state) <= ROUNDING, f"{automaton.name} {seed}: {state}"
    return True


@pytest.mark.slow
def test_pushed_runs_stay_inside() -> None:
    found = [contained(*oscillator(seed), Fraction(2), 3) for seed in range(4)]
    assert sum(found) >= 3, f"most flowpipes must be found: {found}"


@pytest.mark.slow
@pytest.mark.parametrize("block", range(6))
def test_many_pushed_runs_stay_inside(block: int) -> None:
    seeds = range(100 + 10 * block, 110 + 10 * block)
    found = [contained(*oscillator(seed), Fraction(3), 8) for seed in seeds]
    assert sum(found) >= 5


def test_a_pushed_pendulum_is_followed() -> None:
    angle = variable("a")
    bound = Fraction(13, 10)
    assert contained(*pendulum(conjunction(angle <= bound, angle >= -bound)), Fraction(2), 4)


@pytest.mark.parametrize("seed", slow_but([0], range(3)))
def test_what_a_push_breaks_is_never_verified(seed: int) -> None:
    automaton, box = oscillator(seed)
    worst = max(state["x"] for k in range(6) for state in run(automaton, box, Random(k), 2.0))
    assert math.isfinite(worst)
    claim = variable("x") <= Fraction(worst) - Fraction(1, 1000)
    twin = replace(automaton, properties=(Property("far", claim),))
    assert isinstance(explored(twin, Fraction(2)), NotFollowed)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_change_makes_a_broken_claim_accepted(data: st.DataObject) -> None:
    """The pendulum falls: only just before the end some runs break the twin's claim."""
    horizon, angle = Fraction(1, 2), variable("a")
    automaton, box = pendulum(angle >= -LIMIT)
    twin, _ = pendulum(angle >= Fraction(lowest(automaton, box, 0.5)) + Fraction(1, 1000))
    data_of = json.loads(encode(falling(horizon, twin.sha256)))
    for _ in range(data.draw(st.integers(0, 3))):
        mutated(data_of, data.draw)
    try:
        changed = decode(json.dumps(data_of))
    except MalformedCertificateError:
        return
    judgement = check(twin, "far", changed)
    if isinstance(judgement, Accepted):
        assert judgement.horizon is not None
        assert judgement.horizon < horizon


@cache
def falling(horizon: Fraction, sha256: str) -> Certificate:
    automaton, _ = pendulum(variable("a") >= -LIMIT)
    proof = explored(automaton, horizon)
    assert isinstance(proof, FlowpipeProof)
    return Certificate(automaton.name, sha256, "far", proof)


def lowest(automaton: HybridAutomaton, box: Box, horizon: float) -> float:
    return min(state["a"] for k in range(4) for state in run(automaton, box, Random(k), horizon))

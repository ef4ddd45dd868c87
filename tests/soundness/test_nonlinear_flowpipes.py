"""Every simulated run lies inside the nonlinear flowpipe: the simulator and the checker share
nothing but the model."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from tests.support.affine_automata import Membership
from tests.support.nonlinear_automata import random_nonlinear_automaton
from workbench.models.automaton import TIME, HybridAutomaton, Property
from workbench.models.certificates.certificate import Certificate, decode, encode
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted
from workbench.models.checker.flowpipe import FlowpipeProof
from workbench.models.expressions.expression import add, compare, multiply, power, variable
from workbench.models.expressions.operators import Op
from workbench.models.lowering.problem import linear_problem
from workbench.reach.nonlinear.flowpipe import NonlinearExploration
from workbench.reach.nonlinear.parts import NonlinearMethod, NotFollowed
from workbench.simulate.policy import Policy
from workbench.simulate.run import simulate

HORIZON = Fraction(1)
ROUNDING = 1e-6
"""What a simulated state may lie outside: the simulator's own error."""


def flowpipe(automaton: HybridAutomaton, budget: int) -> FlowpipeProof | NotFollowed:
    problem = linear_problem(automaton, automaton.properties[0])
    method = NonlinearMethod(max_nodes=12)
    return NonlinearExploration(problem, HORIZON, method, _Budget(budget)).run()


def states(automaton: HybridAutomaton, seed: int) -> list[tuple[str, dict[str, float]]]:
    trace = simulate(automaton, until=float(HORIZON), policy=Policy.random(), seed=seed)
    found = []
    for segment in trace.segments:
        for k in range(7):
            t = segment.start + (segment.end - segment.start) * k / 6
            values = {n: float(v) for n, v in segment.valuation(t).items() if isinstance(v, float)}
            found.append((segment.location, {**values, TIME: t}))
    return found


def contained(seed: int, runs: int, budget: int) -> int:
    automaton = random_nonlinear_automaton(seed)
    found = flowpipe(automaton, budget)
    if isinstance(found, NotFollowed):
        return 0
    made = Certificate(automaton.name, automaton.sha256, "far", found)
    judgement = check(automaton, "far", decode(encode(made)))
    assert isinstance(judgement, Accepted), f"seed {seed}: {judgement}"
    assert judgement.horizon == HORIZON
    inside = Membership(linear_problem(automaton, automaton.properties[0]), found)
    count = 0
    for run in range(runs):
        for location, state in states(automaton, run):
            excess = inside.excess(location, state)
            assert excess <= ROUNDING, f"seed {seed}, run {run}: {location} {state}"
            count += 1
    return count


def test_simulated_runs_stay_inside() -> None:
    counts = [contained(seed, 3, 30) for seed in range(3)]
    assert sum(1 for count in counts if count) >= 2, f"most flowpipes must be found: {counts}"


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_simulated_runs_stay_inside(block: int) -> None:
    counts = [contained(seed, 6, 100) for seed in range(100 + 30 * block, 130 + 30 * block)]
    assert sum(1 for count in counts if count) >= 15


def unsafe_twin(automaton: HybridAutomaton, seed: int) -> HybridAutomaton | None:
    """The automaton with a claim, linear or not, that a simulated run breaks."""
    random = Random(seed)
    name = random.choice(("x", "y"))
    value = variable(name)
    if random.random() < 0.5:
        value = add(power(value, 2), multiply(Fraction(1, 3), variable("x")))
    worst = max(_value(value, name, state) for _, state in states(automaton, seed))
    if abs(worst) > 1e5:
        return None
    claim = compare(Op.LESS_EQUAL, value, Fraction(worst) - Fraction(1, 1000))
    return replace(automaton, properties=(Property("far", claim),))


def _value(expression: object, name: str, state: dict[str, float]) -> float:
    if expression == variable(name):
        return state[name]
    return state[name] ** 2 + state["x"] / 3


def test_unsafe_twins_are_never_verified() -> None:
    tried = 0
    for seed in range(5):
        twin = unsafe_twin(random_nonlinear_automaton(seed), seed)
        if twin is None:
            continue
        assert isinstance(flowpipe(twin, 30), NotFollowed), f"seed {seed}"
        tried += 1
    assert tried >= 4


class _Budget:
    """Says that time is up after so many questions: a limit without a clock."""

    def __init__(self, questions: int):
        self._left = questions

    def __call__(self) -> bool:
        self._left -= 1
        return self._left < 0

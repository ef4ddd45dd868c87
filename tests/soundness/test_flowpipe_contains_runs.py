"""Every simulated run lies inside the flowpipe: two programs that share nothing but the model."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from tests.support.affine_automata import Membership, random_automaton, slanted
from workbench.models.automaton import TIME, HybridAutomaton, Property
from workbench.models.certificates.certificate import Certificate
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted
from workbench.models.checker import curve_steps
from workbench.models.checker.flowpipe import Node
from workbench.models.expressions.expression import compare, variable
from workbench.models.expressions.operators import Op
from workbench.models.lowering.problem import linear_problem
from workbench.reach.affine.flowpipe_parts import FlowpipeMethod, NotFound
from workbench.reach.affine.flowpipe_refinement import Found, search_flowpipe
from workbench.simulate.policy import Policy
from workbench.simulate.run import simulate

HORIZON = Fraction(2)
ROUNDING = 1e-6
"""What a simulated state may lie outside: the simulator's own error."""


def flowpipe(automaton: HybridAutomaton) -> Found | NotFound:
    problem = linear_problem(automaton, automaton.properties[0])
    return search_flowpipe(problem, HORIZON, FlowpipeMethod(max_nodes=40), _Budget(400))


def states(automaton: HybridAutomaton, seed: int) -> list[tuple[str, dict[str, float]]]:
    trace = simulate(automaton, until=float(HORIZON), policy=Policy.random(), seed=seed)
    found = []
    for segment in trace.segments:
        for k in range(9):
            t = segment.start + (segment.end - segment.start) * k / 8
            values = {n: float(v) for n, v in segment.valuation(t).items() if isinstance(v, float)}
            found.append((segment.location, {**values, TIME: t}))
    return found


def contained(seed: int, runs: int, *, slant: bool = False) -> int:
    automaton = random_automaton(seed)
    if slant:
        automaton = slanted(automaton, seed)
    found = flowpipe(automaton)
    if isinstance(found, NotFound):
        return 0
    certificate = Certificate(automaton.name, automaton.sha256, "far", found.proof)
    judgement = check(automaton, "far", certificate)
    assert isinstance(judgement, Accepted), judgement
    assert judgement.horizon == HORIZON
    assert not slant or any(isinstance(n, Node) and n.frame for n in found.proof.nodes)
    inside = Membership(linear_problem(automaton, automaton.properties[0]), found.proof)
    count = 0
    for run in range(runs):
        for location, state in states(automaton, run):
            excess = inside.excess(location, state)
            assert excess <= ROUNDING, f"seed {seed}, run {run}: {location} {state}"
            count += 1
    return count


def test_simulated_runs_stay_inside() -> None:
    counts = [contained(seed, 3) for seed in range(6)]
    assert sum(1 for count in counts if count) >= 4, "most flowpipes must be found"


@pytest.mark.slow
def test_runs_from_slabs_and_planes_stay_inside() -> None:
    counts = [contained(seed, 3, slant=True) for seed in range(40, 46)]
    assert sum(1 for count in counts if count) >= 4


@pytest.mark.slow
def test_curves_moved_by_the_series(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is meant for large sparse matrices, on small ones."""
    monkeypatch.setattr(curve_steps, "SPARSE", 0)
    counts = [contained(seed, 3) for seed in range(20, 28)]
    assert sum(1 for count in counts if count) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_many_simulated_runs_stay_inside(block: int) -> None:
    counts = [contained(seed, 8) for seed in range(100 + 25 * block, 125 + 25 * block)]
    assert sum(1 for count in counts if count) >= 15


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_many_runs_from_slabs_and_planes_stay_inside(block: int) -> None:
    counts = [contained(seed, 8, slant=True) for seed in range(400 + 25 * block, 425 + 25 * block)]
    assert sum(1 for count in counts if count) >= 15


def unsafe_twin(automaton: HybridAutomaton, seed: int) -> HybridAutomaton | None:
    """The automaton with a claim that a simulated run breaks."""
    reached = states(automaton, seed)
    name = Random(seed).choice(("x", "y"))
    worst = max(state[name] for _, state in reached)
    if abs(worst) > 1e5:
        return None
    claim = compare(Op.LESS_EQUAL, variable(name), Fraction(worst) - Fraction(1, 1000))
    return replace(automaton, properties=(Property("far", claim),))


def test_unsafe_twins_are_never_verified() -> None:
    tried = 0
    for seed in range(14):
        twin = unsafe_twin(random_automaton(seed), seed)
        if twin is None:
            continue
        problem = linear_problem(twin, twin.properties[0])
        found = search_flowpipe(problem, HORIZON, FlowpipeMethod(max_nodes=20), _Budget(60))
        assert isinstance(found, NotFound), f"seed {seed}"
        tried += 1
    assert tried >= 10


class _Budget:
    """Says that time is up after so many questions: a limit without a clock."""

    def __init__(self, questions: int):
        self._left = questions

    def __call__(self) -> bool:
        self._left -= 1
        return self._left < 0

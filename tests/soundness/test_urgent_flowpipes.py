"""Flowpipes that count on urgent edges: every simulated run lies inside, no unsafe twin passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.support.affine_automata import Membership, random_automaton
from tests.support.nonlinear_automata import random_nonlinear_automaton
from tests.support.urgent_automata import with_urgent_edges
from workbench.models.automaton import TIME, HybridAutomaton, Property
from workbench.models.certificates.certificate import Certificate, decode, encode
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted
from workbench.models.checker.flowpipe import FlowpipeProof
from workbench.models.expressions.expression import compare, variable
from workbench.models.expressions.operators import Op
from workbench.models.lowering.problem import linear_problem
from workbench.reach.affine.flowpipe_parts import FlowpipeMethod
from workbench.reach.affine.flowpipe_refinement import Found, search_flowpipe
from workbench.reach.nonlinear.flowpipe import NonlinearExploration
from workbench.reach.nonlinear.parts import NonlinearMethod
from workbench.simulate.policy import Policy
from workbench.simulate.run import simulate

HORIZONS = {"affine": Fraction(3, 2), "nonlinear": Fraction(1, 2)}
ROUNDING = 1e-5
"""What a simulated state may lie outside: the simulator's own error, and how closely it finds
the moment at which a guard becomes true."""

KINDS = ("affine", "nonlinear")
JUMPING = (0, 4, 17, 23)
"""Nonlinear automata that are soon followed, through some jumps."""


def automaton_of(kind: str, seed: int) -> HybridAutomaton:
    if kind == "affine":
        return with_urgent_edges(random_automaton(seed), seed, nonlinear=False)
    return with_urgent_edges(random_nonlinear_automaton(seed), seed, nonlinear=True)


def flowpipe(kind: str, automaton: HybridAutomaton, budget: int) -> FlowpipeProof | None:
    problem = linear_problem(automaton, automaton.properties[0])
    horizon, expired = HORIZONS[kind], _Budget(budget)
    if kind == "affine":
        found = search_flowpipe(problem, horizon, FlowpipeMethod(max_nodes=40), expired)
        return found.proof if isinstance(found, Found) else None
    proof = NonlinearExploration(problem, horizon, NonlinearMethod(max_nodes=12), expired).run()
    return proof if isinstance(proof, FlowpipeProof) else None


def states(kind: str, automaton: HybridAutomaton, seed: int) -> list[tuple[str, dict[str, float]]]:
    until = float(HORIZONS[kind])
    trace = simulate(automaton, until=until, policy=Policy.random(), seed=seed)
    found = []
    for segment in trace.segments:
        for k in range(7):
            t = segment.start + (segment.end - segment.start) * k / 6
            values = {n: float(v) for n, v in segment.valuation(t).items() if isinstance(v, float)}
            found.append((segment.location, {**values, TIME: t}))
    return found


def contained(kind: str, seed: int, runs: int, budget: int) -> int:
    automaton = automaton_of(kind, seed)
    proof = flowpipe(kind, automaton, budget)
    if proof is None:
        return 0
    made = Certificate(automaton.name, automaton.sha256, "far", proof)
    judgement = check(automaton, "far", decode(encode(made)))
    assert isinstance(judgement, Accepted), f"seed {seed}: {judgement}"
    inside = Membership(linear_problem(automaton, automaton.properties[0]), proof)
    count = 0
    for run in range(runs):
        for location, state in states(kind, automaton, run):
            excess = inside.excess(location, state)
            assert excess <= ROUNDING, f"{kind}, seed {seed}, run {run}: {location} {state}"
            count += 1
    return count


@pytest.mark.parametrize(
    ("kind", "seeds", "least"),
    [
        ("affine", range(1, 7), 3),
        ("nonlinear", JUMPING[:2], 2),
        pytest.param("nonlinear", JUMPING[2:], 2, marks=pytest.mark.slow),
    ],
)
def test_simulated_runs_stay_inside(kind: str, seeds: Sequence[int], least: int) -> None:
    counts = [contained(kind, seed, 3, 200) for seed in seeds]
    assert sum(1 for count in counts if count) >= least, f"most must be found: {counts}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block", range(6))
def test_many_simulated_runs_stay_inside(kind: str, block: int) -> None:
    seeds = range(100 + 25 * block, 125 + 25 * block)
    counts = [contained(kind, seed, 8, 200) for seed in seeds]
    assert sum(1 for count in counts if count) >= 8


def unsafe_twins(kind: str, automaton: HybridAutomaton, seed: int) -> list[HybridAutomaton]:
    """The automaton with claims that a simulated run breaks."""
    reached = states(kind, automaton, seed)
    twins = []
    for name in ("x", "y"):
        worst = max(state[name] for _, state in reached)
        if abs(worst) < 1e5:
            claim = compare(Op.LESS_EQUAL, variable(name), Fraction(worst) - Fraction(1, 1000))
            twins.append(replace(automaton, properties=(Property("far", claim),)))
    return twins


def never_verified(kind: str, seed: int, budget: int) -> int:
    twins = unsafe_twins(kind, automaton_of(kind, seed), seed)
    for twin in twins:
        assert flowpipe(kind, twin, budget) is None, f"{kind}, seed {seed}"
    return len(twins)


@pytest.mark.parametrize(
    ("kind", "seeds"),
    [
        ("affine", range(12)),
        ("nonlinear", JUMPING[:2]),
        pytest.param("nonlinear", JUMPING[2:], marks=pytest.mark.slow),
    ],
)
def test_unsafe_twins_are_never_verified(kind: str, seeds: Sequence[int]) -> None:
    tried = sum(never_verified(kind, seed, 40) for seed in seeds)
    assert tried >= len(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_unsafe_twins_are_never_verified(kind: str) -> None:
    assert sum(never_verified(kind, seed, 150) for seed in range(300, 360)) >= 60


class _Budget:
    """Says that time is up after so many questions: a limit without a clock."""

    def __init__(self, questions: int):
        self._left = questions

    def __call__(self) -> bool:
        self._left -= 1
        return self._left < 0

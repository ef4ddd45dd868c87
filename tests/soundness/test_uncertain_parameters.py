"""Parameters that multiply variables: runs with any values of them lie inside the flowpipe."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from tests.support.affine_automata import Membership, decimal
from tests.support.slow import slow_but
from workbench.abstraction.strategies.flowpipe import FlowpipeStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.models.automaton import (
    TIME,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Parameter,
    Property,
    Range,
    Variable,
)
from workbench.models.certificates.certificate import Certificate
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.checker.covers import Split
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    add,
    compare,
    conjunction,
    constant,
    multiply,
)
from workbench.models.expressions.expression import variable as of
from workbench.models.expressions.operators import Op
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Falsified, Verified
from workbench.reach.affine.flowpipe_parts import FlowpipeMethod, NotFound
from workbench.reach.affine.flowpipe_refinement import search_flowpipe
from workbench.simulate.policy import Policy
from workbench.simulate.run import simulate

HORIZON = Fraction(2)


def uncertain_automaton(seed: int) -> HybridAutomaton:
    """Up to three variables, one or two locations; entries of the matrices are multiplied by
    one or two parameters, sometimes by both."""
    random = Random(seed)
    names = ["x", "y", "z"][: random.randint(1, 3)]
    parameters = ["p", "q"][: random.randint(1, 2)]
    count = random.randint(1, 2)
    locations = []
    for i in range(count):
        flows = [Constraint("c", Range.exactly(constant(1)))]
        for name in names:
            terms: list[Expression] = [
                _scaled(random, parameters, of(other)) for other in names if random.random() < 0.7
            ]
            terms.append(multiply(constant(decimal(random, -2, -1)), of(name)))
            terms.append(_scaled(random, parameters, of("u")))
            flows.append(Constraint(name, Range.exactly(add(*terms))))
        limit = compare(Op.LESS_EQUAL, of("c"), 1) if count > 1 else TRUE
        locations.append(Location(f"l{i}", tuple(flows), (), limit))
    edges = ()
    if count > 1:
        guard = compare(Op.GREATER_EQUAL, of("c"), 1)
        edges = (Edge("l0", "l1", guard, (Constraint("c", Range.exactly(constant(0))),)),)
    start = [compare(Op.EQUAL, of("c"), 0)]
    for name in names:
        low = decimal(random, -2, 2)
        start += [
            compare(Op.GREATER_EQUAL, of(name), low),
            compare(Op.LESS_EQUAL, of(name), low + decimal(random, 0, 0.5)),
        ]
    box = [(decimal(random, -1, 0), decimal(random, 0, 1)) for _ in parameters]
    return HybridAutomaton(
        f"uncertain{seed}",
        tuple(map(Variable, (*names, "c"))),
        tuple(locations),
        edges,
        (Initial("l0", conjunction(*start)),),
        (Input("u", low=Fraction(-1), high=Fraction(1)),),
        tuple(
            Parameter(n, low=low, high=high) for n, (low, high) in zip(parameters, box, strict=True)
        ),
        properties=(Property("far", compare(Op.LESS_EQUAL, of("x"), 10**6)),),
    )


def _scaled(random: Random, parameters: list[str], factor: Expression) -> Expression:
    chosen = [of(p) for p in parameters if random.random() < 0.6]
    return multiply(constant(decimal(random, -1, 1)), *chosen, factor)


def contained(seed: int, cells: int, runs: int) -> None:
    automaton = uncertain_automaton(seed)
    problem = linear_problem(automaton, automaton.properties[0])
    found = search_flowpipe(problem, HORIZON, FlowpipeMethod(cells=cells))
    assert not isinstance(found, NotFound), (seed, found)
    certificate = Certificate(automaton.name, automaton.sha256, "far", found.proof)
    assert isinstance(check(automaton, "far", certificate), Accepted)
    inside = Membership(problem, found.proof)
    for run in range(runs):
        trace = simulate(automaton, until=float(HORIZON), policy=Policy.random(), seed=run)
        for segment in trace.segments:
            for k in range(7):
                t = segment.start + (segment.end - segment.start) * k / 6
                numbers = {
                    n: float(v) for n, v in segment.valuation(t).items() if isinstance(v, float)
                }
                state = {**trace.parameters, **numbers, TIME: t}
                assert inside.excess(segment.location, state) <= 1e-6, (seed, run, state)


@pytest.mark.parametrize("seed", slow_but(range(4), range(10)))
def test_runs_with_any_parameters_stay_inside(seed: int) -> None:
    contained(seed, 1, 4)
    contained(seed, 4, 4)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(5))
def test_many_runs_with_any_parameters_stay_inside(block: int) -> None:
    for seed in range(100 + 20 * block, 120 + 20 * block):
        contained(seed, Random(seed).choice((1, 2, 8)), 10)


def decay(bound: Fraction) -> HybridAutomaton:
    """x' = u - p x with p in [1, 2] and u in [0, 1], from x in [0, 1]: x stays in [0, 1]."""
    flow = add(of("u"), multiply(constant(-1), of("p"), of("x")))
    start = conjunction(compare(Op.GREATER_EQUAL, of("x"), 0), compare(Op.LESS_EQUAL, of("x"), 1))
    return HybridAutomaton(
        "decay",
        (Variable("x"),),
        (Location("l", (Constraint("x", Range.exactly(flow)),)),),
        (),
        (Initial("l", start),),
        (Input("u", low=Fraction(0), high=Fraction(1)),),
        (Parameter("p", low=Fraction(1), high=Fraction(2)),),
        properties=(Property("far", compare(Op.GREATER_EQUAL, of("x"), bound)),),
    )


def test_smaller_cells_prove_tighter_bounds() -> None:
    automaton = decay(Fraction(-1, 10))
    options = {"horizon": Fraction(4)}
    task = Task(automaton, automaton.properties[0], time.monotonic() + 60, options=options)
    verdict = FlowpipeStrategy().attempt(task)
    assert isinstance(verdict, Verified)
    proof = verdict.certificate.proof
    assert isinstance(proof.evidence[0], Split)  # type: ignore[union-attr]
    fewer = replace(proof, nodes=proof.nodes[:-1])  # type: ignore[type-var, union-attr]
    certificate = replace(verdict.certificate, proof=fewer)
    assert isinstance(check(automaton, "far", certificate), Rejected)


def test_bounds_that_some_parameters_break_are_refuted() -> None:
    """Only with p near 2 and u near 0 x falls below 0.02 in time."""
    automaton = decay(Fraction(1, 50))
    start = conjunction(compare(Op.EQUAL, of("x"), 1))
    automaton = replace(automaton, initial=(Initial("l", start),))
    options = {"horizon": Fraction(2)}
    task = Task(automaton, automaton.properties[0], time.monotonic() + 60, options=options)
    verdict = FlowpipeStrategy().attempt(task)
    assert isinstance(verdict, Falsified)
    assert verdict.trace.parameters["p"] > 1.9

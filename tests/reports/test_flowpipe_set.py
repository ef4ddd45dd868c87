"""A deliberately wrong flowpipe is caught by the runs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.support.report_models import heater
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import strategy
from workbench.models.automaton import (
    Constraint,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.checker.flowpipe import FlowpipeProof
from workbench.models.expressions.text import parse_expression
from workbench.models.linear import Form
from workbench.models.lowering.problem import linear_problem
from workbench.models.trace import Scalar, Trace
from workbench.models.verdict import Verified
from workbench.reports.claims.flowpipe_set import FlowpipeSet
from workbench.reports.crosscheck.contradictions import CrossCheck, cross_check, stay_times
from workbench.simulate.policy import Policy
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams

AUTOMATON = replace(heater().automaton, horizon=Fraction(6))
CLAIM = AUTOMATON.properties[0]
PROBLEM = linear_problem(AUTOMATON, CLAIM)
BOUNDS = ("-x - 1/4", "-x + 1/4")


@pytest.fixture(scope="module")
def proof() -> FlowpipeProof:
    verdict = strategy("flowpipe").attempt(Task(AUTOMATON, CLAIM))
    assert isinstance(verdict, Verified), verdict
    assert isinstance(verdict.certificate.proof, FlowpipeProof)
    return verdict.certificate.proof


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [
        simulate(AUTOMATON, until=6, policy=Policy.random(), seed=i, method=Adams(1e-9, 1e-12))
        for i in range(4)
    ]


def checked(claimed: FlowpipeSet, traces: list[Trace]) -> CrossCheck:
    return cross_check(AUTOMATON, traces, {"warm": claimed}, {})


def test_a_right_flowpipe_is_not_contradicted(proof: FlowpipeProof, traces: list[Trace]) -> None:
    found = checked(FlowpipeSet(PROBLEM, proof), traces)
    assert found.consistent, found.contradictions[0].sentence
    assert all(run.sets["warm"].value is not None for run in found.runs)


def test_rows_that_are_too_tight_are_caught(proof: FlowpipeProof, traces: list[Trace]) -> None:
    claimed = FlowpipeSet(PROBLEM, proof)
    for number in range(len(proof.nodes)):
        tube = claimed.tube(number)
        claimed._tubes[number] = replace(tube, low=tube.low - 3, high=tube.high - 3)
    found = checked(claimed, traces)
    assert len(found.contradictions) == len(traces)
    assert "≤" in found.contradictions[0].sentence


def test_an_entry_set_that_is_too_small_is_caught(
    proof: FlowpipeProof, traces: list[Trace]
) -> None:
    small = Form({"x": Fraction(1)}, Fraction(-10))
    nodes = tuple(replace(node, entry=(*node.entry, small)) for node in proof.nodes)
    found = checked(FlowpipeSet(PROBLEM, replace(proof, nodes=nodes)), traces)
    assert "no entry set contains the state" in found.contradictions[0].sentence


def test_stays_that_last_too_long_are_caught(proof: FlowpipeProof, traces: list[Trace]) -> None:
    claimed = FlowpipeSet(PROBLEM, proof)
    for number in range(len(proof.nodes)):
        tube = claimed.tube(number)
        half = len(tube.begin) // 2
        claimed._tubes[number] = replace(
            tube, begin=tube.begin[:half], end=tube.end[:half], low=tube.low[:half]
        )
    found = checked(claimed, traces)
    assert "no stay is claimed to last longer" in found.contradictions[0].sentence


def test_the_drawn_pieces_contain_the_runs(proof: FlowpipeProof, traces: list[Trace]) -> None:
    claimed = FlowpipeSet(PROBLEM, proof)
    groups = claimed.groups()
    for trace in traces:
        for location, start, end, entry in stay_times(trace):
            node = claimed.node_of(location, entry)
            assert node is not None
            for i in range(11):
                t = start + (end - start) * i / 10
                values = trace.before(t) if i else trace.at(t)
                assert any(
                    group.node == node
                    and group.begin <= t - start + 1e-9
                    and t - start <= group.end + 1e-9
                    and all(beyond(row.form, values) <= 1e-6 for row in group.rows)
                    for group in groups
                )


def beyond(form: Form, values: dict[str, Scalar]) -> float:
    return float(form.constant) + sum(
        float(a) * float(values[n]) for n, a in form.coefficients.items()
    )


def test_a_stay_goes_on_in_the_entry_set_that_it_returns_to() -> None:
    """x' = -x + [-1/4, 1/4] is followed for a while and is then where it began."""
    decay = HybridAutomaton(
        "decay",
        (Variable("x"),),
        (Location("run", (Constraint("x", Range(*map(parse_expression, BOUNDS))),)),),
        (),
        (Initial("run", parse_expression("x >= -1 && x <= 1")),),
        properties=(Property("bound", parse_expression("x <= 5/4")),),
    )
    verdict = strategy("recurrence").attempt(Task(decay, decay.properties[0]))
    assert isinstance(verdict, Verified), verdict
    proof = verdict.certificate.proof
    assert isinstance(proof, FlowpipeProof)
    claimed = FlowpipeSet(linear_problem(decay, decay.properties[0]), proof)
    runs = [simulate(decay, until=60, policy=Policy.random(), seed=i) for i in range(4)]
    assert cross_check(decay, runs, {"bound": claimed}, {}).consistent
    for number in range(len(proof.nodes)):
        tube = claimed.tube(number)
        high = tube.high.copy()
        high[len(high) // 2 :] -= 2
        claimed._tubes[number] = replace(tube, high=high)
    assert not cross_check(decay, runs, {"bound": claimed}, {}).consistent

"""Stays that return to where stays begin: proofs for all time, their soundness and limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.benchmarks.held_out_corpus import buck_converter, sampled_control
from tests.benchmarks.invariant_corpus import disturbed_linear, followers, hysteresis
from tests.support.affine_plants import Family, Plant, automaton_of, drawn
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.templates.directions import fastest_rate
from workbench.abstraction.templates.sampled_runs import sampled_runs
from workbench.abstraction.templates.system import template_system
from workbench.abstraction.verification import deadline, verify
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.certificates.certificate import Certificate
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.checker.covers import Impossible, InCell
from workbench.models.checker.flowpipe import FlowpipeProof, Node, Step, steps_in
from workbench.models.checker.stay_conditions import ELAPSED
from workbench.models.expressions.text import parse_expression
from workbench.models.linear import Form
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Unknown, Verdict, Verified

SECONDS = 60.0


def plant_of(family: Family, number: int, seed: int) -> Plant:
    return list(drawn([family], number + 1, seed))[number]


def attempted(automaton: HybridAutomaton, seconds: float = SECONDS) -> Verdict:
    return verify(Task(automaton, automaton.properties[0], deadline(seconds)), "recurrence")


def proof_of(automaton: HybridAutomaton) -> tuple[Certificate, FlowpipeProof]:
    verdict = attempted(automaton)
    assert isinstance(verdict, Verified), verdict
    proof = verdict.certificate.proof
    assert isinstance(proof, FlowpipeProof)
    assert proof.horizon is None
    return verdict.certificate, proof


def decay(bound: str = "x <= 5/4", start: str = "x >= 0 && x <= 1") -> HybridAutomaton:
    """x' = y - x, y' = -x - y: no stay ever ends. From x <= 1, y = 1/4 the largest x is the
    larger one of 1 and what the spiral e^-t (x0 cos t + y0 sin t) reaches: it never exceeds
    the largest distance from the origin, sqrt(17)/4 < 1.04."""
    flow = (
        Constraint("x", Range.exactly(parse_expression("y - x"))),
        Constraint("y", Range.exactly(parse_expression("-x - y"))),
    )
    return HybridAutomaton(
        "decay",
        (Variable("x"), Variable("y")),
        (Location("run", flow),),
        (),
        (Initial("run", parse_expression(f"{start} && y == 1/4")),),
        properties=(Property("bound", parse_expression(bound)),),
    )


def heater(bound: str = "x <= 16/5 && lag >= 1/2", *, urgent: bool = True) -> HybridAutomaton:
    """A heater with urgent switches at 3 and at 1 and no invariants: only urgency ends stays. A
    second variable lags behind the first."""
    lag = Constraint("lag", Range.exactly(parse_expression("x - lag")))

    def warming(text: str) -> tuple[Constraint, ...]:
        return Constraint("x", Range.exactly(parse_expression(text))), lag

    edges = (
        Edge("on", "off", parse_expression("x >= 3"), urgent=urgent),
        Edge("off", "on", parse_expression("x <= 1"), urgent=urgent),
    )
    return HybridAutomaton(
        "heater",
        (Variable("x"), Variable("lag")),
        (Location("on", warming("4 - x")), Location("off", warming("-x"))),
        edges,
        (Initial("on", parse_expression("x >= 1 && x <= 2 && lag >= 1 && lag <= 2")),),
        properties=(Property("bound", parse_expression(bound)),),
    )


PROVED: tuple[tuple[Family, int, int], ...] = (
    (hysteresis, 2, 0),  # a relay and a lag
    (sampled_control, 1, 3),  # control that is computed and held
    (buck_converter, 1, 3),  # a limited law with an integral
    (followers, 0, 1),  # a clamped variable
)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "number", "seed"), PROVED)
def test_stays_return_and_hold_fresh_runs(family: Family, number: int, seed: int) -> None:
    automaton = automaton_of(plant_of(family, number, seed))
    _, proof = proof_of(automaton)
    assert_holds_runs(automaton, proof, 91)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(5))
def test_relays_with_chains_of_lags(number: int) -> None:
    automaton = automaton_of(plant_of(hysteresis, number, 0))
    _, proof = proof_of(automaton)
    assert_holds_runs(automaton, proof, 92)


def test_urgent_switches_end_stays_that_no_invariant_ends() -> None:
    automaton = heater()
    certificate, proof = proof_of(automaton)
    assert {node.location for node in proof.nodes} == {"on", "off"}
    accepted = check(automaton, "bound", certificate)
    assert isinstance(accepted, Accepted)


@pytest.mark.slow
@pytest.mark.parametrize(
    "twin",
    [heater(urgent=False), heater("x <= 29/10 && lag >= 1/2"), heater("x <= 16/5 && lag >= 3/2")],
    ids=["switches may be missed", "the switch is beyond the bound", "the lag cools down"],
)
def test_unsafe_twins_of_the_urgent_heater_are_not_proved(twin: HybridAutomaton) -> None:
    assert isinstance(attempted(twin, 5.0), Unknown)
    certificate, _ = proof_of(heater())
    forged = replace(certificate, model=twin.name, model_sha256=twin.sha256)
    assert isinstance(check(twin, "bound", forged), Rejected)


def assert_holds_runs(automaton: HybridAutomaton, proof: FlowpipeProof, seed: int) -> None:
    """Every state of sampled runs satisfies the rows of some step at some elapsed time."""
    problem = linear_problem(automaton, automaton.properties[0])
    system = template_system(problem)
    runs = sampled_runs(system, 0.1 / fastest_rate(system), np.random.default_rng(seed))
    assert runs is not None
    for location in system.locations:
        points = runs.points([location])
        if points is None:
            continue
        outside = np.ones(len(points), dtype=bool)
        for node in proof.nodes:
            if node.location == location:
                assert isinstance(node, Node)
                for step in steps_in(problem, node, {}):
                    outside &= ~_inside(step, system.names, points)
        assert not np.any(outside), (location, points[outside][:3])


def _inside(
    step: Step, names: tuple[str, ...], points: np.ndarray[tuple[int, int], np.dtype[np.float64]]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether there is an elapsed time at which the rows hold: each bounds it on one side."""
    low = np.full(len(points), float(step.begin))
    high = np.full(len(points), float(step.end))
    fits = np.ones(len(points), dtype=bool)
    for row in step.rows:
        normal = np.array([float(row.form.coefficients.get(name, 0)) for name in names])
        slope = float(row.form.coefficients.get(ELAPSED, 0))
        value = points @ normal + float(row.form.constant) - 1e-7
        if slope > 0:
            high = np.minimum(high, -value / slope)
        elif slope < 0:
            low = np.maximum(low, -value / slope)
        else:
            fits &= value <= 0
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = fits & (low <= high + 1e-9)
    return found


def test_a_stay_without_end_is_continued_in_its_entry_set() -> None:
    automaton = decay()
    certificate, proof = proof_of(automaton)
    ends = [e for e in proof.evidence if isinstance(e, InCell)]
    assert len(ends) >= 2  # the start, and the end of the steps
    assert isinstance(check(automaton, "bound", certificate), Accepted)


def shrunk(node: Node) -> Node:
    """The entry set without what lies above half of its bounds."""
    entry = tuple(Form(form.coefficients, form.constant / 2) for form in node.entry)
    return replace(node, entry=entry)


def shorter(node: Node) -> Node:
    return replace(node, stages=tuple(replace(s, count=1) for s in node.stages[:1]))


CHANGES: tuple[Callable[[FlowpipeProof], FlowpipeProof], ...] = (
    lambda proof: replace(proof, nodes=tuple(shrunk(n) for n in proof.nodes)),  # type: ignore[arg-type]
    lambda proof: replace(proof, nodes=tuple(shorter(n) for n in proof.nodes)),  # type: ignore[arg-type]
    lambda proof: replace(proof, evidence=(*proof.evidence[:-1], Impossible(()))),
    lambda proof: replace(proof, evidence=(*proof.evidence[:-1], InCell(0, 0, ()))),
    lambda proof: replace(proof, evidence=(*proof.evidence[:-1], InCell(1, 0, ()))),
)


@pytest.mark.parametrize("change", CHANGES)
def test_a_broken_end_is_rejected(change: Callable[[FlowpipeProof], FlowpipeProof]) -> None:
    automaton = decay()
    certificate, proof = proof_of(automaton)
    broken = replace(certificate, proof=change(proof))
    assert isinstance(check(automaton, "bound", broken), Rejected)


def test_an_end_outside_every_entry_set_is_rejected() -> None:
    """x' = 1 - x rises from 0 to nearly 1: steps that end at 1/4 do not end where x <= 0, and
    no multipliers show it, although the claim is true."""
    flow = (Constraint("x", Range.exactly(parse_expression("1 - x"))),)
    automaton = HybridAutomaton(
        "rise",
        (Variable("x"),),
        (Location("run", flow),),
        (),
        (Initial("run", parse_expression("x == 0")),),
        properties=(Property("bound", parse_expression("x <= 2")),),
    )
    certificate, proof = proof_of(automaton)
    (node,) = proof.nodes
    assert isinstance(node, Node)
    low = replace(
        node, entry=tuple(Form(f.coefficients, max(f.constant, Fraction(0))) for f in node.entry)
    )
    broken = replace(certificate, proof=replace(proof, nodes=(low,)))
    judgement = check(automaton, "bound", broken)
    assert isinstance(judgement, Rejected)


@pytest.mark.parametrize("bound", ["x <= 9/10", "x >= 1/100", "y <= 1/5", "y >= -1/50"])
def test_a_broken_bound_is_not_proved(bound: str) -> None:
    """y falls below -1/50 after the spiral has turned: y(t) = e^-t (cos t / 4 - sin t)."""
    assert isinstance(attempted(decay(bound), 4.0), Unknown)


@pytest.mark.parametrize(("family", "number", "seed"), PROVED)
def test_bounds_that_runs_break_are_not_proved(family: Family, number: int, seed: int) -> None:
    """The largest value that a simulation of its own saw, less a hundredth."""
    plant = plant_of(family, number, seed)
    automaton = automaton_of(replace(plant, level=largest_seen(plant) - 0.01))
    assert isinstance(attempted(automaton, 6.0), Unknown)


def largest_seen(plant: Plant) -> float:
    system = template_system(linear_problem(automaton_of(plant), automaton_of(plant).properties[0]))
    runs = sampled_runs(system, 0.05 / fastest_rate(system), np.random.default_rng(5))
    assert runs is not None
    points = runs.points(system.locations)
    assert points is not None
    order = [system.names.index(f"x{i + 1}") for i in range(plant.dimension)]
    return float((points[:, order] @ plant.watched).max())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_systems_with_broken_bounds_are_not_proved(seed: int) -> None:
    plant = plant_of(disturbed_linear, 0, 100 + seed)
    automaton = automaton_of(replace(plant, level=largest_seen(plant) - 0.001))
    assert not isinstance(attempted(automaton, 5.0), Verified)


def test_what_it_is_not_made_for_is_said() -> None:
    """An input without bounds, and a parameter that multiplies a variable."""
    flow = (Constraint("x", Range(parse_expression("x - 1"), parse_expression("2 * x"))),)
    automaton = HybridAutomaton(
        "loose",
        (Variable("x"),),
        (Location("run", flow),),
        (),
        (Initial("run", parse_expression("x == 0")),),
        properties=(Property("bound", parse_expression("x <= 2")),),
    )
    verdict = attempted(automaton, 4.0)
    assert isinstance(verdict, Unknown)
    assert "no bounds" in verdict.reason


def test_the_time_limit_is_kept_and_named() -> None:
    automaton = automaton_of(plant_of(hysteresis, 0, 0))
    verdict = attempted(automaton, 0.3)
    assert isinstance(verdict, Unknown)
    assert "time limit" in verdict.reason

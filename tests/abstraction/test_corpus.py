"""Samples of the corpora of random hybrid automata are proved, and the proofs hold their runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from tests.benchmarks.held_out_corpus import held_out
from tests.benchmarks.invariant_corpus import corpus
from tests.support.affine_plants import Plant, automaton_of
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.templates.attempts import attempts
from workbench.abstraction.templates.directions import fastest_rate
from workbench.abstraction.templates.invariant import Missed, TemplateSearch
from workbench.abstraction.templates.invariant_search import PACE
from workbench.abstraction.templates.pruning import pruned
from workbench.abstraction.templates.sampled_runs import sampled_runs
from workbench.abstraction.templates.system import template_system
from workbench.abstraction.templates.turning_search import find_by_turning
from workbench.abstraction.verification import deadline, verify
from workbench.models.automaton import HybridAutomaton
from workbench.models.certificates.certificate import Certificate
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Verified
from workbench.reach.evidence import prove

SECONDS = 40.0


def contains_runs(automaton: HybridAutomaton, proof: PolyhedralProof, seed: int) -> bool:
    """Whether every state of fresh sampled runs lies in a region of its location."""
    system = template_system(linear_problem(automaton, automaton.properties[0]))
    pace = PACE / fastest_rate(system)
    runs = sampled_runs(system, pace, np.random.default_rng(seed))
    assert runs is not None
    for location in system.locations:
        points = runs.points([location])
        if points is None:
            continue
        inside = np.zeros(len(points), dtype=bool)
        for region in proof.regions:
            if region.location == location:
                rows = region.rows(0)
                normals = np.array(
                    [[float(r.form.coefficients.get(v, 0)) for v in system.names] for r in rows]
                ).reshape(len(rows), len(system.names))
                constants = np.array([float(r.form.constant) for r in rows])
                inside |= np.all(points @ normals.T + constants <= 1e-6, axis=1)
        if not inside.all():
            return False
    return True


def proved(plant: Plant, method: str = "auto") -> bool:
    automaton = automaton_of(plant)
    verdict = verify(Task(automaton, automaton.properties[0], deadline(SECONDS)), method)
    if isinstance(verdict, Verified) and isinstance(verdict.certificate.proof, PolyhedralProof):
        assert contains_runs(automaton, verdict.certificate.proof, 77)
    return isinstance(verdict, Verified)


@pytest.mark.slow
@pytest.mark.parametrize("draw", [corpus, held_out])
def test_most_of_a_sample_is_proved(draw: Callable[..., Iterator[Plant]]) -> None:
    """One model of each family."""
    outcomes = [proved(plant) for plant in draw(per_family=1)]
    assert sum(outcomes) > len(outcomes) / 2


@pytest.mark.slow
def test_a_relay_is_proved_in_pieces() -> None:
    """The second state behind a relay with hysteresis: a limit cycle that is bent inwards."""
    relay = automaton_of(next(p for p in corpus() if p.name == "hysteresis_4"))
    problem = linear_problem(relay, relay.properties[0])
    system = template_system(problem)
    runs = sampled_runs(system, PACE / fastest_rate(system), np.random.default_rng(0))
    attempt = next(a for a in attempts(system, runs) if a.system.pieces and a.turned)
    regions = find_by_turning(
        attempt.system, attempt.template, TemplateSearch(shared=False), attempt.runs
    )
    assert not isinstance(regions, Missed)
    assert any(region.exits for region in regions)
    proof = prove(problem, regions)
    assert isinstance(proof, PolyhedralProof)
    certificate = Certificate(relay.name, relay.sha256, "bound", pruned(problem, proof))
    assert isinstance(check(relay, "bound", certificate), Accepted)
    assert contains_runs(relay, proof, 78)


def test_bounds_inside_what_runs_reach_are_not_proved() -> None:
    """The same models with a level that their own simulation exceeds."""
    for plant in list(corpus(per_family=1))[::2]:
        low = replace(plant, level=plant.level - 0.6 * max(0.3, abs(plant.level)))
        automaton = automaton_of(low)
        task = Task(automaton, automaton.properties[0], deadline(3.0))
        assert not isinstance(verify(task, "template"), Verified)

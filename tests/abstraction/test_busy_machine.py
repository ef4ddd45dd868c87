"""Work is counted, so verdicts and evidence are the same beside six busy loops as alone."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.benchmarks.held_out_corpus import held_out
from tests.benchmarks.invariant_corpus import corpus
from tests.support.affine_plants import automaton_of
from workbench.abstraction.verification import verify
from workbench.abstraction.verification_settings import VerificationSettings
from workbench.models.automaton import Automaton, Property
from workbench.models.catalogue import entries
from workbench.models.certificates.certificate import encode
from workbench.models.load import load
from workbench.models.processes import end_with_parent
from workbench.models.verdict import Falsified, Unknown, Verdict, Verified

HEADLINES = {
    "leaky_tank": "verified",
    "spiral_cars": "falsified",
    "fischer": "verified",
    "bouncing_ball": "verified",
    "leaky_tank_low": "falsified",
}
LOOPS = 6
SHORT = 30.0
"""A time limit that makes a short plan."""


@contextmanager
def busy_loops() -> Iterator[None]:
    """Six processes that do nothing but run."""
    loops = []
    try:
        for _ in range(LOOPS):
            child = os.fork()
            if child == 0:
                end_with_parent()
            while child == 0:
                pass
            loops.append(child)
        yield
    finally:
        for child in loops:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def patient(automaton: Automaton, claim: Property, settings: VerificationSettings) -> Verdict:
    """The verdict after the work that a limit allows, however long that takes."""
    return verify(settings.task(automaton, claim, latest=float("inf")), settings.method)


def evidence(verdict: Verdict) -> str:
    """What a verdict rests on, all of it."""
    if isinstance(verdict, Verified):
        return f"verified by {verdict.method}: {encode(verdict.certificate)}"
    if isinstance(verdict, Falsified):
        return f"falsified by {verdict.method}: {verdict.recording}"
    assert isinstance(verdict, Unknown)
    assert not verdict.cut
    return "\n".join(["unknown", verdict.reason, *verdict.known, *verdict.details])


@pytest.mark.parametrize("model", HEADLINES)
def test_headline_models_beside_busy_loops(model: str) -> None:
    automaton = load(model).automaton
    claim, settings = automaton.properties[0], VerificationSettings()
    alone = evidence(patient(automaton, claim, settings))
    assert alone.startswith(HEADLINES[model])
    with busy_loops():
        assert evidence(patient(automaton, claim, settings)) == alone


def sample() -> list[Automaton]:
    """One model of each family of the corpora."""
    return [automaton_of(plant) for draw in (corpus, held_out) for plant in draw(per_family=1)]


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("model", [*(entry.name for entry in entries()), "corpora"])
def test_all_models_beside_busy_loops(model: str) -> None:
    """What is undecided after a short plan comes to the same, too."""
    automata = sample() if model == "corpora" else [load(model).automaton]
    settings = VerificationSettings(time_limit=SHORT)
    for automaton, claim in ((a, claim) for a in automata for claim in a.properties):
        alone = evidence(patient(automaton, claim, settings))
        with busy_loops():
            assert evidence(patient(automaton, claim, settings)) == alone

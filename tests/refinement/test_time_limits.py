"""The time limit: parts leave some of it for the whole, and nothing outlasts it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

import pytest
from charon_texts import agent_of, automaton_of

from workbench.abstraction.refinement import membership, proof_tree, refutation
from workbench.abstraction.refinement.flat import Settings, refine
from workbench.abstraction.refinement.location_maps import searched_places
from workbench.abstraction.refinement.outcome import NotProved, Outcome
from workbench.abstraction.refinement.proof_tree import prove_refinement
from workbench.abstraction.refinement.time_left import Allotment, within_time
from workbench.models.agents.composition import explicit
from workbench.models.agents.flatten import flatten
from workbench.models.automaton import Automaton, HybridAutomaton
from workbench.models.checker.obligation import Obligation
from workbench.models.checker.simulation_relation import Relation
from workbench.models.model import Model
from workbench.models.smt.solver import Limits
from workbench.models.work import counting
from workbench.reach.time_limit import GRACE_OF_WORK, time_limit

TEXT = """
mode Top() {{ write analog real x; private analog real z = 0; diff {{ d(x) == {rate}; d(z) == x; }} }}
agent S() {{ write analog real x; init {{ x = 0; }} mode top = Top(); }}
agent Whole() {{ write analog real x; agent s = S(); }}
"""


def system(rate: str) -> Automaton:
    return automaton_of(TEXT.format(rate=rate))


def model(rate: str) -> Model:
    agent = agent_of(TEXT.format(rate=rate))
    return Model("model", flatten(agent, "Whole"), agent)


def test_shares_of_what_is_left() -> None:
    now = time.monotonic()
    with counting():
        half = Allotment(100, now + 10).share(0.5)
    assert now + 4.9 <= half.deadline <= now + 10
    assert half.work == 50
    assert Allotment().share(0.5) == Allotment()
    assert Allotment(deadline=now - 10).share(0.5).deadline >= now
    with time_limit(now + 1):
        assert within_time(Limits(5, 60_000)).milliseconds <= 1_000
    with time_limit(now - 1):
        assert within_time(Limits(5, 60_000)).milliseconds == 1
    assert within_time(Limits(5, 60_000)) == Limits(5, 60_000)


def test_no_question_is_asked_and_no_run_is_made_after_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("the time is over")

    monkeypatch.setattr(membership, "satisfiable", never)
    monkeypatch.setattr(refutation, "simulate", never)
    over = Settings(allotment=Allotment(deadline=time.monotonic() - 1))
    outcome = refine(system("x"), system("x + 1"), ("x",), over)
    assert isinstance(outcome, NotProved)
    titles = [failure.title for failure in outcome.failures]
    assert len(titles) == len(set(titles)) == 1


def test_what_is_refuted_with_time_is_refuted() -> None:
    outcome = refine(system("1"), system("2"), ("x",), Settings())
    assert not isinstance(outcome, NotProved)


def test_parts_leave_time_for_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[Allotment] = []

    def watched(
        detailed: Automaton, abstract: Automaton, observed: tuple[str, ...], settings: Settings
    ) -> Outcome:
        ends.append(settings.allotment)
        return refine(detailed, abstract, observed, replace(settings, refute=False))

    monkeypatch.setattr(proof_tree, "refine", watched)
    with counting():
        whole = Allotment.of_seconds(1000)
        proof = prove_refinement(model("1"), model("2"), Settings(allotment=whole, reach=False))
    assert not proof.holds
    assert len(ends) >= 2
    assert ends[0].deadline < whole.deadline - 500
    assert ends[0].work < whole.work / 2 < ends[-1].work


def test_work_ends_a_search_where_it_ends_on_any_machine() -> None:
    """Without a clock."""
    with counting() as meter:
        outcome = refine(system("x"), system("x + 1"), ("x",), Settings(allotment=Allotment(5.0)))
        assert isinstance(outcome, NotProved)
        assert meter.spent < 5.0 + 2 * GRACE_OF_WORK


def test_a_search_for_a_location_map_ends_in_time() -> None:
    """After the end every location is looked at once, and nothing is asked about jumps."""

    def ring(name: str) -> HybridAutomaton:
        modes = "".join(f"mode {name}{k} = Rest(); " for k in range(8))
        edges = "".join(f"trans from {name}{k} to {name}{(k + 1) % 8}; " for k in range(8))
        top = f"mode Top() {{ {modes} trans from init to {name}0; {edges} }}"
        return explicit(automaton_of(f"mode Rest() {{ }} {top} agent S() {{ mode top = Top(); }}"))

    plain, simple = ring("a"), ring("b")
    asked: list[object] = []

    def failing(obligations: Iterable[Obligation]) -> int:
        asked.append(obligations)
        return 0

    relation = Relation(plain, simple, {})
    places = searched_places(relation, plain, simple, {}, failing, lambda: True)
    assert places.keys() == {x.name for x in plain.locations}
    assert len(asked) == len(plain.locations) == 8

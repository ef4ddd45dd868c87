"""No work outlasts its limit: what takes long ends by itself, and says so."""

from __future__ import annotations

import time

import numpy as np
import pytest

from workbench.abstraction.predicates import zone_solver
from workbench.abstraction.predicates.predicate_abstraction import PredicateAbstraction, abstract
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import STRATEGIES, strategy, verify
from workbench.models.load import load
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Unknown
from workbench.reach.programs.sparse_program import SparseProgram
from workbench.reach.sets.support import SupportOracle
from workbench.reach.time_limit import GRACE, OutOfTimeError, current_deadline, time_limit


def test_programs_are_refused_when_the_time_is_over() -> None:
    oracle = SupportOracle(np.eye(2), np.ones(2))
    program = SparseProgram()
    program.unknown(0.0, 1.0, 1.0)
    with time_limit(time.monotonic() - 2 * GRACE):
        with pytest.raises(OutOfTimeError):
            oracle(np.ones(2))
        with pytest.raises(OutOfTimeError):
            program.solve()
    assert current_deadline() == float("inf")
    supported = oracle(np.ones(2))
    assert supported is not None
    assert supported.value == pytest.approx(2.0)


def test_searches_have_a_moment_to_end_by_themselves() -> None:
    oracle = SupportOracle(np.eye(2), np.ones(2))
    with time_limit(time.monotonic()):
        assert oracle(np.ones(2)) is not None


def test_predicate_abstraction_says_among_what_its_time_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def over() -> None:
        raise OutOfTimeError

    monkeypatch.setattr(zone_solver, "check_time", over)
    automaton = load("thermostat_timer").automaton
    problem = linear_problem(automaton, automaton.properties[0])
    result = abstract(problem, PredicateAbstraction())
    assert result.proof is None
    assert "its work was used up in the search among cells of up to" in result.reason
    assert result.predicates


@pytest.mark.parametrize("method", [*STRATEGIES, "auto"])
def test_every_method_ends_at_once_when_its_time_is_over(method: str) -> None:
    automaton = load("platoon_paper").automaton
    task = Task(automaton, automaton.properties[0], time.monotonic() - 2 * GRACE)
    if method != "auto" and strategy(method).suits(task) is None:
        pytest.skip("the method is not made for this model")
    assert isinstance(verify(task, method), Unknown)

"""The search for nonlinear flowpipes: how closely flows are followed, and what it says when it
gives up."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

from workbench.abstraction.strategies.nonlinear import NonlinearStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.models.automaton import (
    Constraint,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.checker.taylor_flow import nonlinear_flow
from workbench.models.expressions.expression import Expression, conjunction, function, variable
from workbench.models.expressions.operators import Op
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Unknown
from workbench.reach.nonlinear.fidelity import fidelity


def tanks(count: int, claim: Expression) -> HybridAutomaton:
    """A ring of tanks: each derivative reads two levels, but in the end all depend on all."""
    levels = [variable(f"x{i}") for i in range(count)]
    flows = tuple(
        Constraint(f"x{i}", Range.exactly(function(Op.SQRT, levels[i - 1]) - levels[i]))
        for i in range(count)
    )
    start = [level >= 1 for level in levels] + [level <= Fraction(11, 10) for level in levels]
    return HybridAutomaton(
        "tanks",
        tuple(Variable(f"x{i}") for i in range(count)),
        (Location("run", flows),),
        (),
        (Initial("run", conjunction(*start)),),
        properties=(Property("low", claim),),
        horizon=Fraction(1),
    )


@pytest.mark.parametrize(("count", "highest"), [(2, 10), (3, 6), (6, 3)])
def test_the_degree_allows_for_frames_in_which_all_depends_on_all(count: int, highest: int) -> None:
    automaton = tanks(count, variable("x0") <= 2)
    problem = linear_problem(automaton, automaton.properties[0])
    flow = nonlinear_flow(problem, "run", [f"x{i}" for i in range(count)])
    assert not isinstance(flow, str)
    spans = [(Fraction(1), Fraction(11, 10))] * count
    assert 3 <= fidelity(flow, spans, 0).order <= highest


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "helps"), [(600.0, False), (0.0, True)])
def test_more_time_is_advised_only_where_there_was_more_to_try(seconds: float, helps: bool) -> None:
    """The claim is false from the start on, so no attempt needs long."""
    automaton = tanks(1, variable("x0") <= Fraction(21, 20))
    task = Task(automaton, automaton.properties[0], time.monotonic() + seconds)
    verdict = NonlinearStrategy().attempt(task)
    assert isinstance(verdict, Unknown)
    assert ("all attempts were made" in verdict.advice) != helps

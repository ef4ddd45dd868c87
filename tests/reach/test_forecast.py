"""Forecasts say which steps must be short, so that one exact exploration is enough."""

from __future__ import annotations

from fractions import Fraction

import pytest

from workbench.models.automaton import (
    Constraint,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.checker.flowpipe import Node
from workbench.models.expressions.expression import Expression, conjunction, constant, variable
from workbench.models.lowering.problem import linear_problem
from workbench.reach.affine import flowpipe
from workbench.reach.affine.flowpipe import Exploration
from workbench.reach.affine.flowpipe_parts import FlowpipeMethod, NotFound
from workbench.reach.affine.flowpipe_refinement import Found, search_flowpipe

X, V, U = variable("x"), variable("v"), variable("u")
HORIZON = Fraction(6)


def pushed_oscillator(claim: Expression) -> HybridAutomaton:
    """x'' = -4 x - x'/2 + u with u in [0, 1] from x in [0.9, 1], v = 0: at most 1 at the start."""
    force = constant(-4) * X - constant(Fraction(1, 2)) * V + U
    return HybridAutomaton(
        "oscillator",
        (Variable("x"), Variable("v")),
        (
            Location(
                "run",
                (Constraint("x", Range.exactly(V)), Constraint("v", Range.exactly(force))),
            ),
        ),
        (),
        (Initial("run", conjunction(X >= Fraction(9, 10), X <= 1, V >= 0, V <= 0)),),
        (Input("u", low=Fraction(0), high=Fraction(1)),),
        properties=(Property("bounded", claim),),
    )


def searched(claim: Expression) -> Found | NotFound:
    automaton = pushed_oscillator(claim)
    problem = linear_problem(automaton, automaton.properties[0])
    return search_flowpipe(problem, HORIZON, FlowpipeMethod())


TIGHT = X <= Fraction(1001, 1000)


def test_one_exploration_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    foreseen = searched(TIGHT)
    assert isinstance(foreseen, Found)
    assert foreseen.attempts == 1
    monkeypatch.setattr(flowpipe, "steps_to_shorten", lambda *question: ())
    unforeseen = searched(TIGHT)
    assert isinstance(unforeseen, Found)
    assert unforeseen.attempts > 1
    assert foreseen.steps < unforeseen.steps


def test_steps_are_short_where_the_bound_is_tight_only() -> None:
    found = searched(TIGHT)
    assert isinstance(found, Found)
    (node,) = found.proof.nodes
    assert isinstance(node, Node)
    lengths = [stage.length for stage in node.stages]
    assert lengths[0] == min(lengths) < max(lengths) == lengths[-1]


def test_generous_bounds_need_no_short_steps() -> None:
    found = searched(X <= 3)
    assert isinstance(found, Found)
    (node,) = found.proof.nodes
    assert isinstance(node, Node)
    assert len(node.stages) == 1


def test_runs_that_are_bad_are_not_divided() -> None:
    """No steps are short enough where runs are bad: the search shall ask for such a run at once."""
    automaton = pushed_oscillator(X <= Fraction(95, 100))
    problem = linear_problem(automaton, automaton.properties[0])
    tried = Exploration(problem, HORIZON, FlowpipeMethod(), lenient=True)
    assert isinstance(tried.run(), NotFound)
    assert tried.nodes[0].marks == ()
    assert tried.nodes[0].unsafe

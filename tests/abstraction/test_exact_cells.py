"""Cells that only touch sets: decided exactly, with strict comparisons taken as strict."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.abstraction.predicates.cells import AbstractState, Cells
from workbench.abstraction.predicates.predicates import Origin, Predicate
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.templates.system import template_system
from workbench.abstraction.verification import deadline, strategy
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
from workbench.models.expressions.text import parse_expression
from workbench.models.linear import Form
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Verified


def line(
    *, slope: str = "1", stays: str = "true", guard: str = "false", start: str, safe: str
) -> HybridAutomaton:
    """One variable, a switch from a to b."""
    flow = Constraint("x", Range.exactly(parse_expression(slope)))
    return HybridAutomaton(
        name="line",
        variables=(Variable("x"),),
        locations=tuple(Location(n, (flow,), (), parse_expression(stays)) for n in ("a", "b")),
        edges=(Edge("a", "b", parse_expression(guard)),),
        initial=(Initial("a", parse_expression(start)),),
        properties=(Property("safe", parse_expression(safe)),),
    )


def cells_of(model: HybridAutomaton, *levels: Fraction) -> Cells:
    """Cells of the predicates x <= level."""
    system = template_system(linear_problem(model, model.properties[0]))
    forms = [Form({"x": Fraction(1)}, -level) for level in levels]
    return Cells(system, tuple(Predicate(form, Origin.GIVEN) for form in forms))


BELOW, ABOVE = AbstractState("a", (1,)), AbstractState("a", (-1,))


@pytest.mark.parametrize(("safe", "meets"), [("x <= 2", False), ("x < 2", True)])
def test_a_bad_set_that_a_cell_touches(safe: str, meets: bool) -> None:
    cells = cells_of(line(start="x >= 0 && x <= 1", safe=safe), Fraction(2))
    assert cells.bad(BELOW) is meets
    assert cells.bad(ABOVE)


@pytest.mark.parametrize(("guard", "leads"), [("x > 2", False), ("x >= 2", True)])
def test_a_guard_that_a_cell_touches(guard: str, leads: bool) -> None:
    cells = cells_of(line(guard=guard, start="x >= 0 && x <= 1", safe="x <= 9"), Fraction(2))
    assert bool(cells.switched(BELOW)) is leads
    assert cells.switched(ABOVE)
    assert cells.effort.exact


@pytest.mark.parametrize(("end", "found"), [("1", {1}), ("1 + 1/10^12", {1, -1})])
def test_initial_states_barely_beyond_a_predicate(end: str, found: set[int]) -> None:
    cells = cells_of(line(start=f"x >= 0 && x <= {end}", safe="x <= 9"), Fraction(1))
    assert {state.signs[0] for state in cells.initial()} == found


@pytest.mark.parametrize(
    ("slope", "leaves"), [("2 - x", False), ("2 - x + 1/10^12", True), ("2 - x - 1/10^12", False)]
)
def test_flow_that_barely_leaves_over_a_facet(slope: str, leaves: bool) -> None:
    cells = cells_of(line(slope=slope, start="x >= 0 && x <= 1", safe="x <= 9"), Fraction(2))
    assert (0 in cells.crossed(BELOW)) is leaves


@pytest.mark.parametrize(("stays", "beyond"), [("x <= 2", False), ("x <= 2 + 1/10^12", True)])
def test_an_invariant_that_ends_at_a_predicate(stays: str, beyond: bool) -> None:
    cells = cells_of(line(stays=stays, start="x >= 0 && x <= 1", safe="x <= 9"), Fraction(2))
    assert (0 in cells.crossed(BELOW)) is beyond


def test_a_property_whose_bad_states_are_only_touched_is_proved() -> None:
    model = line(slope="2 - x", start="x >= 0 && x <= 2", safe="x <= 2")
    verdict = strategy("abstraction").attempt(Task(model, model.properties[0], deadline(30)))
    assert isinstance(verdict, Verified)
    assert verdict.effort.counts["lp_calls"] > 0
    assert verdict.effort.counts["smt_calls"] > 0


numbers = st.fractions(-2, 2, max_denominator=3)


@given(st.lists(numbers, min_size=1, max_size=3, unique=True), numbers, numbers, st.booleans())
@settings(deadline=None, max_examples=60)
def test_cells_of_an_interval(
    levels: list[Fraction], low: Fraction, length: Fraction, strict: bool
) -> None:
    """The exact twin: the cells of an interval are those of its interior, or for a point one
    of those that hold it."""
    high = low + abs(length)
    less = "<" if strict else "<="
    start = f"x >= {low} && x {less} {high}"
    cells = cells_of(line(start=start, safe="x <= 9"), *levels)
    found = {state.signs for state in cells.initial()}
    if high == low:
        signs = [{1} if low < b else {-1} if low > b else {1, -1} for b in levels]
        assert len(found) == (0 if strict else 1)
        assert all(s in either for f in found for s, either in zip(f, signs, strict=True))
        return
    ends = sorted({low, high, *(b for b in levels if low < b < high)})
    middles = [(a + b) / 2 for a, b in pairwise(ends)]
    assert found == {tuple(1 if m < b else -1 for b in levels) for m in middles}

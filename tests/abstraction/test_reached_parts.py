"""Reached parts of abstract states: least, inductive, and with directions learned for them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from workbench.abstraction.predicates.cells import Cells
from workbench.abstraction.predicates.inductive_half_space import Separator
from workbench.abstraction.predicates.part_search import PartPlan, PartSearch
from workbench.abstraction.predicates.predicate_abstraction import PredicateAbstraction, abstract
from workbench.abstraction.predicates.predicates import Origin, Predicate
from workbench.abstraction.predicates.reached_parts import reached_parts
from workbench.abstraction.predicates.search import explore
from workbench.abstraction.predicates.split_system import split_system
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.templates.sampled_runs import sampled_runs
from workbench.abstraction.templates.system import TemplateSystem, template_system
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
from workbench.models.load import load
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Falsified, Verified
from workbench.reach.programs.sparse_program import SparseProgram


def automaton(
    flows: dict[str, tuple[str, str, str]],
    edges: tuple[tuple[str, str, str], ...],
    start: tuple[str, str],
    claim: str,
) -> HybridAutomaton:
    """Locations with x', y' and an invariant; edges with a guard."""
    return HybridAutomaton(
        name="small",
        variables=(Variable("x"), Variable("y")),
        locations=tuple(
            Location(
                name,
                tuple(
                    Constraint(v, Range.exactly(parse_expression(text)))
                    for v, text in (("x", dx), ("y", dy))
                ),
                (),
                parse_expression(invariant),
            )
            for name, (dx, dy, invariant) in flows.items()
        ),
        edges=tuple(Edge(a, b, parse_expression(guard)) for a, b, guard in edges),
        initial=(Initial(start[0], parse_expression(start[1])),),
        properties=(Property("safe", parse_expression(claim)),),
    )


def oscillator(claim: str) -> HybridAutomaton:
    """A damped spring on the right of x = 0, a softer one on its left."""
    return automaton(
        {
            "right": ("y", "-4*x - y", "x >= 0"),
            "left": ("y", "-x - y", "x <= 0"),
        },
        (("right", "left", "x <= 0"), ("left", "right", "x >= 0")),
        ("right", "x >= 1/2 && x <= 1 && y >= -1/4 && y <= 1/4"),
        claim,
    )


def sinking(claim: str) -> HybridAutomaton:
    """No convex set has the start and the far future, and misses what is bad at x = 0."""
    return automaton(
        {"run": ("1", "-y", "x <= 50")},
        (),
        ("run", "x == -2 && y >= -2 && y <= 2"),
        claim,
    )


def verdict_of(model: HybridAutomaton, seconds: float = 60) -> object:
    return strategy("abstraction").attempt(Task(model, model.properties[0], deadline(seconds)))


def test_two_location_oscillators() -> None:
    assert isinstance(verdict_of(oscillator("x <= 6/5 && x >= -8/5")), Verified)
    assert isinstance(verdict_of(oscillator("y >= -1")), Falsified)


def test_a_location_is_divided_where_no_convex_part_does() -> None:
    model = sinking("!(x >= 0 && y >= 1)")
    verdict = verdict_of(model)
    assert isinstance(verdict, Verified)
    regions = verdict.certificate.proof.regions  # type: ignore[union-attr]
    assert sum(len(region.cells) for region in regions) >= 2
    assert isinstance(verdict_of(sinking("!(x >= 0 && y >= 1/5)")), Falsified)


@pytest.mark.parametrize("name", ["thermostat_timer", "leaky_tank", "platoon_gentle"])
def test_models_of_the_library_are_proved(name: str) -> None:
    model = load(name).automaton
    task = Task(model, model.properties[0], deadline(120))
    assert isinstance(strategy("abstraction").attempt(task), Verified)


def test_a_thermostat_that_gets_too_cold_is_refuted() -> None:
    model = load("thermostat_timer_cold").automaton
    task = Task(model, model.properties[0], deadline(60))
    assert isinstance(strategy("abstraction").attempt(task), Falsified)


def search_of(model: HybridAutomaton) -> tuple[TemplateSystem, PartSearch]:
    system = template_system(linear_problem(model, model.properties[0]))
    runs = sampled_runs(system, 0.05, np.random.default_rng(3))
    assert runs is not None
    graph = explore(Cells(system, (), runs), 100, lambda: False, stop_at_bad=False)
    split = split_system(graph)
    axes = np.vstack([np.eye(2), -np.eye(2)])
    directions = dict.fromkeys(split.states, axes)
    search = PartSearch(split.system, split.runs(graph, runs), directions, 2.0, lambda: False)
    return split.system, search


def test_parts_hold_their_images_and_are_not_larger_than_needed() -> None:
    """x' = -x + y, y' = -y from [0, 1] x [0, 1]: the unit square is the least box."""
    model = automaton(
        {"run": ("y - x", "-y", "true")},
        (),
        ("run", "x >= 0 && x <= 1 && y >= 0 && y <= 1"),
        "x <= 2",
    )
    _, search = search_of(model)
    outcome = search.search(PartPlan(2.0))
    assert outcome.reason == ""
    (part,) = outcome.reached.parts.values()
    assert np.allclose(part.offsets, [1, 1, 0, 0], atol=1e-3)
    assert not list(outcome.reached.excesses())


def test_a_learned_half_space_holds_entries_and_is_kept() -> None:
    """Points of entries and of the facet, drawn at random, are the oracle."""
    model = sinking("y <= 3")
    system, search = search_of(model)
    reached = reached_parts(system, search.directions, 0.02, search.runs)
    separator = Separator(reached, np.ones(2), (0.0, 0.5, 2.0))
    (name,) = search.directions
    unwanted = np.array([0.0, 2.0])
    found = separator.half_space(name, unwanted, 0.01)
    assert found is not None
    assert found.normal @ unwanted > found.level
    generator = np.random.default_rng(0)
    starts = np.column_stack([np.full(500, -2.0), generator.uniform(-2, 2, 500)])
    assert (starts @ found.normal).max() <= found.level + 1e-6
    offsets = reached.parts[name].offsets
    high = np.minimum(offsets[:2], 50.0)
    inside = generator.uniform(-offsets[2:], high, (400_000, 2))
    facet = inside[np.abs(inside @ found.normal - found.level) < 1e-3]
    rates = np.column_stack([np.ones(len(facet)), -facet[:, 1]])
    assert len(facet) > 10
    assert (rates @ found.normal).max() <= 0.01


def test_sparse_programs_agree_with_another_solver() -> None:
    generator = np.random.default_rng(5)
    for _ in range(40):
        rows, columns = 6, 4
        matrix = generator.integers(-3, 4, (rows, columns)).astype(float)
        bound = generator.integers(1, 6, rows).astype(float)
        cost = generator.integers(-3, 4, columns).astype(float)
        program = SparseProgram()
        unknowns = [program.unknown(-2.0, 5.0, float(c)) for c in cost]
        for row, limit in zip(matrix, bound, strict=True):
            program.row({unknowns[j]: float(row[j]) for j in np.flatnonzero(row)}, float(limit))
        program.equation([(unknowns[0], 1.0), (unknowns[1], 1.0), (unknowns[0], 1.0)], 1.0)
        other = linprog(cost, matrix, bound, [[2.0, 1.0, 0.0, 0.0]], [1.0], [(-2.0, 5.0)] * columns)
        found = program.solve()
        assert (found is None) == (other.status != 0)
        if found is not None:
            assert float(cost @ found) == pytest.approx(other.fun, abs=1e-7)


def test_predicates_of_the_user_divide_locations() -> None:
    model = sinking("!(x >= 0 && y >= 1)")
    given = (parse_expression("x >= 0"),)
    result = abstract(
        linear_problem(model, model.properties[0]), PredicateAbstraction(given, mine=False)
    )
    assert result.proof is not None
    assert result.count(Origin.GIVEN) == 1
    (region,) = result.proof.regions
    assert region.predicates == (Predicate(Form({"x": Fraction(1)}), Origin.GIVEN).form,)

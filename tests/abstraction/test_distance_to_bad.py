"""Which abstract states are looked at first, and what two solvers say about the same cells."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from workbench.abstraction.predicates.cells import AbstractState, Cells
from workbench.abstraction.predicates.distance_to_bad import NOWHERE, DistanceToBad
from workbench.abstraction.predicates.predicates import Origin, Predicate, initial_predicates
from workbench.abstraction.predicates.search import explore
from workbench.abstraction.templates.system import template_system
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
from workbench.models.linear import Form, Row
from workbench.models.lowering.problem import linear_problem
from workbench.models.smt.rows import RowSession
from workbench.reach.sets.support import SupportOracle


def field(safe: str, edges: tuple[Edge, ...] = ()) -> HybridAutomaton:
    """x and y go up or down at will, in one of three locations."""
    at_will = Range(parse_expression("-1"), parse_expression("1"))
    flows = (Constraint("x", at_will), Constraint("y", at_will))
    box = parse_expression("x >= 0 && x <= 8 && y >= 0 && y <= 8")
    return HybridAutomaton(
        name="field",
        variables=(Variable("x"), Variable("y")),
        locations=tuple(Location(name, flows, (), box) for name in "abc"),
        edges=edges,
        initial=(Initial("a", parse_expression("x >= 3 && x <= 4 && y >= 3 && y <= 4")),),
        properties=(Property("safe", parse_expression(safe)),),
    )


def grid(model: HybridAutomaton, bad: str = "abc") -> Cells:
    """Cells of side 1; bad states count in some locations only."""
    forms = [Form({v: Fraction(1)}, Fraction(-k)) for v in "xy" for k in range(1, 8)]
    system = template_system(linear_problem(model, model.properties[0]))
    system = replace(system, bad=tuple(pair for pair in system.bad if pair[0] in bad))
    return Cells(system, tuple(Predicate(form, Origin.GIVEN) for form in forms))


def cell(cells: Cells, location: str, x: float, y: float) -> AbstractState:
    return AbstractState(location, cells.containing(location, np.array([x, y])))


def test_distances_of_cells() -> None:
    """From the cell with x in [2, 3] it is 3 to x >= 6; scales divide."""
    cells = grid(field("x <= 6"))
    distance = DistanceToBad(cells)
    assert distance(cell(cells, "a", 2.5, 4.5)) == (0, pytest.approx(3.0))
    assert distance(cell(cells, "a", 6.5, 0.5)) == (0, pytest.approx(0.0))
    scaled = DistanceToBad(cells, np.array([2.0, 1.0]))
    assert scaled(cell(cells, "a", 2.5, 4.5)) == (0, pytest.approx(1.5))


def test_switches_to_bad_states_count_first() -> None:
    always = parse_expression("true")
    edges = (Edge("b", "a", always), Edge("a", "b", always), Edge("a", "c", always))
    cells = grid(field("x <= 6", edges), bad="a")
    distance = DistanceToBad(cells)
    found = [distance(cell(cells, place, 4.5, 4.5))[0] for place in "abc"]
    assert found == [0, 1, NOWHERE]


def test_the_nearest_state_is_the_next() -> None:
    """The bad states are to the upper right; without distances all sides are searched."""
    model = field("x + y <= 14")
    blind = explore(grid(model), 1000, lambda: False)
    cells = grid(model)
    led = explore(cells, 1000, lambda: False, distance=DistanceToBad(cells))
    assert blind.bad is not None
    assert led.bad is not None
    assert led.expanded <= 8
    assert led.expanded < blind.expanded / 3
    assert len(led.path(led.bad)) <= 8


def test_the_order_does_not_change_what_is_reached() -> None:
    model = field("x + y <= 14")
    blind = explore(grid(model), 1000, lambda: False, stop_at_bad=False)
    cells = grid(model)
    led = explore(cells, 1000, lambda: False, stop_at_bad=False, distance=DistanceToBad(cells))
    assert set(led.found) == set(blind.found)
    assert len(led.found) == led.expanded == 64


def test_initial_states_give_predicates() -> None:
    problem = linear_problem(field("x <= 6"), field("x <= 6").properties[0])
    found = {str(predicate) for predicate in initial_predicates(problem)}
    assert {"x <= 3", "x <= 4", "y <= 3", "y <= 4"} <= found


@pytest.mark.parametrize("seed", range(6))
def test_both_solvers_agree_on_which_cells_meet(seed: int) -> None:
    """Random polyhedra over three variables, cut with random cells: what linear programs call
    clearly empty or clearly solid, z3 finds empty or not."""
    generator = np.random.default_rng(seed)
    names = ("x", "y", "z")

    def rows(count: int) -> list[Row]:
        found = []
        for _ in range(count):
            normal, level = generator.integers(-5, 6, 3), int(generator.integers(-2, 6))
            coefficients = {n: Fraction(int(a)) for n, a in zip(names, normal, strict=True) if a}
            found.append(Row(Form(coefficients or {"x": Fraction(1)}, Fraction(-level))))
        return found

    shared = rows(5)
    solver = RowSession().solver(tuple(shared))
    clear = 0
    for _ in range(40):
        cut = rows(4)
        both = [*shared, *cut]
        matrix = np.array([[float(r.form.coefficients.get(n, 0)) for n in names] for r in both])
        bound = np.array([-float(r.form.constant) for r in both])
        room = np.hstack([matrix, np.ones((len(both), 1))])
        capped = np.vstack([room, [0, 0, 0, 1]])
        supported = SupportOracle(capped, np.append(bound, 1.0))(np.array([0.0, 0.0, 0.0, 1.0]))
        assert supported is not None
        if abs(supported.value) > 1e-7:
            clear += 1
            assert solver.satisfiable(cut) is (supported.value > 0)
    assert clear > 30

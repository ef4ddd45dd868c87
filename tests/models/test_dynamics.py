"""Algebraic variables eliminated, by hand and against evaluation of the original."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hierarchies import actions, constraints, expr, rng
from hypothesis import given
from hypothesis import strategies as st

from workbench.models.agents.composition import Product
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.dynamics import eliminate_algebraic
from workbench.models.expressions.evaluation import evaluate, holds
from workbench.models.expressions.expression import (
    FALSE,
    TRUE,
    Expression,
    add,
    constant,
    multiply,
    variable,
)
from workbench.models.source import ModelError


def automaton(
    *locations: Location, edges: tuple[Edge, ...] = (), **fields: object
) -> HybridAutomaton:
    names = ("x", "y", "z")
    given = {"initial": (Initial(locations[0].name, expr("y >= 1")),), **fields}
    return HybridAutomaton("A", tuple(map(Variable, names)), locations, edges, **given)  # type: ignore[arg-type]


def test_equations_are_substituted_everywhere() -> None:
    view = eliminate_algebraic(
        automaton(
            Location("a", constraints(x="y"), constraints(y="z + 1", z="2*x"), expr("y <= 9")),
            Location("b", constraints(x="-y"), constraints(y="x", z="0")),
            edges=(Edge("a", "b", expr("z > 3"), actions(("x", "y + z"))),),
            properties=(Property("p", expr("y < 5")),),
        )
    )
    assert [v.name for v in view.variables] == ["x"]
    location = view.location("a")
    assert location.flow_of("x") == Range.exactly(expr("2*x + 1"))
    assert location.algebraic == ()
    assert location.invariant == expr("2*x + 1 <= 9")
    (edge,) = view.edges_from("a")
    assert edge.guard == expr("2*x > 3")
    assert edge.resets == actions(("x", "2*x + 1 + 2*x"))
    (start,) = view.initial_sets()
    assert start.condition == expr("2*x + 1 >= 1")
    (claim,) = view.properties
    assert claim.bad_states({"A": "a"}) == expr("!(2*x + 1 < 5)")
    assert claim.bad_states({"A": "b"}) == expr("!(x < 5)")


def test_an_automaton_without_equations_is_itself() -> None:
    given_ = automaton(Location("a", constraints(x="1", y="1", z="1")))
    assert eliminate_algebraic(given_) is given_


def test_a_range_becomes_an_auxiliary_input() -> None:
    view = eliminate_algebraic(
        automaton(
            Location(
                "a",
                constraints(x="y + z"),
                (Constraint("y", rng("[x - 1, x + 3]")), Constraint("z", rng("[0,]"))),
            )
        )
    )
    assert view.inputs == (
        Input("y.share", low=Fraction(0), high=Fraction(1)),
        Input("z.excess", low=Fraction(0)),
    )
    assert view.location("a").flow_of("x") == Range.exactly(expr("x - 1 + y.share*4 + z.excess"))


def test_a_range_that_may_be_empty_restricts_the_invariant() -> None:
    view = eliminate_algebraic(
        automaton(Location("a", constraints(x="y", z="0"), (Constraint("y", rng("[x, z]")),)))
    )
    assert view.location("a").invariant == expr("x <= z")


def test_a_variable_with_an_equation_in_one_location_only() -> None:
    view = eliminate_algebraic(
        automaton(
            Location("on", constraints(x="y", z="0"), constraints(y="x + z")),
            Location("off", constraints(x="y", y="1", z="0")),
            edges=(Edge("on", "off"), Edge("off", "on")),
            properties=(Property("p", expr("y <= 1")),),
        )
    )
    assert [v.name for v in view.variables] == ["x", "y", "z"]
    assert view.location("on").flow_of("y") == Range.exactly(constant(0))
    assert view.edges_from("on")[0].resets == actions(("y", "x + z"))
    assert view.edges_from("off")[0].resets == actions(("y", "0"))
    (start,) = view.initial_sets()
    assert start.condition == expr("x + z >= 1") and start.resets == actions(("y", "0"))
    (claim,) = view.properties
    assert claim.bad_states({"A": "on"}) == expr("!(x + z <= 1)")
    assert claim.bad_states({"A": "off"}) == expr("!(y <= 1)")


def test_an_assignment_to_a_defined_variable_is_only_read_by_later_ones() -> None:
    view = eliminate_algebraic(
        automaton(
            Location("a", constraints(x="1", z="0"), constraints(y="x")),
            edges=(
                Edge("a", "a", TRUE, actions(("y", "7"), ("x", "y' + y"))),
                Edge("a", "a", TRUE, actions(("y", "7"))),
            ),
        )
    )
    first, second = view.edges_from("a")
    assert first.resets == actions(("y.assigned", "7"), ("x", "y.assigned' + x"))
    assert second.resets == ()


def test_an_equation_beside_a_flow_becomes_an_invariant() -> None:
    view = eliminate_algebraic(
        automaton(Location("a", constraints(x="1", y="1", z="0"), constraints(y="x")))
    )
    assert [v.name for v in view.variables] == ["x", "y", "z"]
    assert view.location("a").invariant == expr("y == x")


@pytest.mark.parametrize("equations", [{"y": "z", "z": "y + 1"}, {"y": "2*y"}])
def test_loops_are_refused(equations: dict[str, str]) -> None:
    view = eliminate_algebraic(
        automaton(Location("a", constraints(x="1"), constraints(**equations)))
    )
    with pytest.raises(ModelError, match="the equations define"):
        view.location("a")


def test_components_that_read_each_others_outputs() -> None:
    tank = HybridAutomaton(
        "tank",
        (Variable("level"),),
        (Location("t", constraints(level="flow - leak")),),
        (),
        (Initial("t", expr("level == 6")),),
        (Input("flow"), Input("leak")),
    )
    hole = HybridAutomaton(
        "hole",
        (Variable("leak"),),
        (Location("h", (), constraints(leak="level/10")),),
        (),
        (Initial("h"),),
        (Input("level"),),
    )
    pump = HybridAutomaton(
        "pump",
        (Variable("flow"),),
        (Location("on", (), constraints(flow="2")), Location("off", (), constraints(flow="leak"))),
        (Edge("on", "off", expr("leak + flow >= 3")),),
        (Initial("on"),),
        (Input("level"), Input("leak")),
    )
    product = Product(
        "tanks", (tank, hole, pump), properties=(Property("p", expr("flow + leak <= 3")),)
    )
    view = eliminate_algebraic(product)
    assert [v.name for v in view.variables] == ["level"] and view.inputs == ()
    assert view.location("on").flow_of("level") == Range.exactly(expr("2 - level/10"))
    assert view.edges_from("on")[0].guard == expr("level/10 + 2 >= 3")
    (claim,) = view.properties
    assert claim.bad_states(view.occupied("off")) == expr("!(level/10 + level/10 <= 3)")
    assert claim.where == TRUE and claim.bad_states({}) != FALSE


def _affine(draw: Callable[[st.SearchStrategy[int]], int], names: tuple[str, ...]) -> Expression:
    small = st.integers(-2, 2)
    return add(*(multiply(draw(small), variable(n)) for n in names), draw(small))


@given(st.data())
def test_the_view_has_the_values_of_the_original(data: st.DataObject) -> None:
    """Oracle: evaluate the equations one after another at a point, then compare every
    expression of the view with the original one there."""
    draw = data.draw
    y = _affine(draw, ("x",))
    z = _affine(draw, ("x", "y"))
    flow = _affine(draw, ("x", "y", "z"))
    limit = _affine(draw, ("x", "y", "z"))
    reset = _affine(draw, ("x", "y", "z"))
    base = automaton(
        Location(
            "a",
            (Constraint("x", Range.exactly(flow)),),
            (Constraint("z", Range.exactly(z)), Constraint("y", Range.exactly(y))),
            limit <= 0,
        ),
        edges=(Edge("a", "a", limit >= 0, (Constraint("x", Range.exactly(reset)),)),),
    )
    view = eliminate_algebraic(base)
    x = Fraction(draw(st.integers(-9, 9)))
    values = {"x": x}
    values["y"] = evaluate(y, values)  # type: ignore[assignment]
    values["z"] = evaluate(z, values)  # type: ignore[assignment]
    here = {"x": x}
    location = view.location("a")
    derivative = location.flow_of("x").exact
    assert derivative is not None and evaluate(derivative, here) == evaluate(flow, values)
    assert holds(location.invariant, here) is holds(limit <= 0, values)
    (edge,) = view.edges_from("a")
    assert holds(edge.guard, here) is holds(limit >= 0, values)
    new = edge.resets[0].range.exact
    assert new is not None and evaluate(new, here) == evaluate(reset, values)


def test_a_variable_that_two_components_define_in_turn() -> None:
    def half(name: str, value: str) -> HybridAutomaton:
        places = (Location("define", (), constraints(y=value)), Location("rest"))
        starts = (Initial("define"), Initial("rest"))
        return HybridAutomaton(name, (Variable("y"),), places, (), starts)

    product = Product(
        "p", (half("a", "1"), half("b", "2")), properties=(Property("p", expr("y <= 5")),)
    )
    (claim,) = eliminate_algebraic(product).properties
    for where in ("define|rest", "rest|define"):
        assert claim.bad_states(product.occupied(where)) == FALSE
    assert claim.bad_states(product.occupied("rest|rest")) == expr("!(y <= 5)")


def test_auxiliary_names_must_be_free() -> None:
    given_ = automaton(Location("a", constraints(x="y", z="0"), constraints(y="x")))
    clash = replace(given_, variables=(*given_.variables, Variable("y.share")))
    with pytest.raises(ModelError, match=r"y\.share is needed"):
        eliminate_algebraic(clash)

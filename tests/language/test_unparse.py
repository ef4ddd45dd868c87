"""Source text written from automata means the automaton it was written from."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.models.agents.composition import Product
from workbench.models.agents.resets import apply
from workbench.models.automaton import (
    BOOL,
    INT,
    Constraint,
    Edge,
    EventKind,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    Property,
    PropertyKind,
    Range,
    Variable,
    enumeration,
    primed,
)
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    at_location,
    conjunction,
    constant,
    equal,
    external,
    lookup,
    symbol,
    variable,
)
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.language.unparse import unparse
from workbench.models.load import load
from workbench.models.source import ModelError

NAMES = ("x", "y", "z")
x, y, z = map(variable, NAMES)


def reloaded(automaton: HybridAutomaton | Product, folder: Path) -> HybridAutomaton:
    """The automaton of the text that was written of one."""
    path = folder / "written.charon"
    path.write_text(unparse(automaton))
    again = load(path).automaton
    assert isinstance(again, HybridAutomaton)
    return again


def at_rest(*locations: Location, **parts: object) -> HybridAutomaton:
    """An automaton of x, y, z."""
    still = tuple(Constraint(n, Range.exactly(constant(0))) for n in NAMES)
    places = tuple(replace(place, flows=place.flows or still) for place in locations)
    found = HybridAutomaton(
        "Model",
        tuple(map(Variable, NAMES)),
        places or (Location("here", still),),
        initial=(Initial((places or (Location("here"),))[0].name),),
    )
    return replace(found, **parts)  # type: ignore[arg-type]


numbers = st.fractions(-4, 4, max_denominator=4)


def terms(names: tuple[str, ...]) -> st.SearchStrategy[Expression]:
    """Affine expressions over the names."""
    parts = st.lists(st.tuples(numbers, st.sampled_from(names)), max_size=3)
    return st.builds(
        lambda offset, found: (
            constant(offset) + sum((c * variable(n) for c, n in found), constant(0))
        ),
        numbers,
        parts,
    )


@st.composite
def reset_lists(draw: st.DrawFn) -> tuple[Constraint, ...]:
    """Resets in primed form, of variables and auxiliary names, in any order."""
    order = draw(st.permutations([*NAMES, "x@chosen1", "helper"]))
    readable = list(NAMES)
    found = []
    for name in order[: draw(st.integers(0, 5))]:
        low = draw(terms(tuple(readable)))
        width = draw(st.none() | numbers.map(abs))
        new = Range.exactly(low) if width is None else Range(low, low + width)
        found.append(Constraint(name, new))
        readable.append(primed(name))
    return tuple(found)


def _lacks_a_place_to_draw(resets: tuple[Constraint, ...]) -> bool:
    """Whether a choice under an auxiliary name comes when every variable has its value."""
    done: set[str] = set()
    for reset in resets:
        if reset.variable not in NAMES and reset.range.exact is None and done >= set(NAMES):
            return True
        done.add(reset.variable)
    return False


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reset_lists(), st.lists(numbers, min_size=3, max_size=3))
def test_resets_do_the_same_in_sequence(
    tmp_path: Path, resets: tuple[Constraint, ...], values: list[Fraction]
) -> None:
    automaton = at_rest(edges=(Edge("here", "here", resets=resets),))
    if _lacks_a_place_to_draw(resets):
        with pytest.raises(ModelError, match="needs a variable of its own"):
            unparse(automaton)
        return
    again = reloaded(automaton, tmp_path)
    before = dict(zip(NAMES, values, strict=True))

    def choose(name: str, low: Fraction | None, high: Fraction | None) -> Fraction:
        assert low is not None and high is not None
        return low + (high - low) / 3

    expected = apply(resets, before, choose)
    assert apply(again.edges[0].resets, before, choose) == expected


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(terms(NAMES), min_size=6, max_size=6))
def test_flows_invariants_and_guards_are_the_same(tmp_path: Path, found: list[Expression]) -> None:
    a, b, c, d, e, f = found
    flows = (
        Constraint("x", Range.exactly(a)),
        Constraint("y", Range(b, b + 1)),
        Constraint("z", Range(c, None)),
    )
    automaton = at_rest(
        Location("one", flows, invariant=conjunction(x <= d, y >= z)),
        Location("two", invariant=TRUE),
        edges=(Edge("one", "two", x + e <= f, name="go"), Edge("two", "one", x >= 0, urgent=True)),
    )
    again = reloaded(automaton, tmp_path)
    assert again.variables == automaton.variables
    assert again.locations == automaton.locations
    assert [(e.source, e.target, e.guard, e.urgent) for e in again.edges] == [
        (e.source, e.target, e.guard, e.urgent) for e in automaton.edges
    ]
    assert again.edges[0].name == "go"


def test_everything_else_survives_too(tmp_path: Path) -> None:
    """Inputs, parameters, properties, predicates, horizon, tables, functions, types."""
    table = Table(
        "curve", ((Fraction(0), Fraction(2)),), ((Fraction(1),), (Fraction(5),)),
        Interpolation.PREVIOUS,
    )  # fmt: skip
    u, k = variable("u"), variable("k")
    automaton = at_rest(
        Location(
            "one",
            (
                Constraint("x", Range.exactly(u + k)),
                Constraint("y", Range.exactly(lookup(table, x))),
                Constraint("z", Range.exactly(external("noise", x, y))),
            ),
        ),
        variables=(
            *map(Variable, NAMES),
            Variable("n", INT, Kind.DISCRETE),
            Variable("b", BOOL, Kind.DISCRETE),
            Variable("gear", enumeration("low", "high"), Kind.DISCRETE),
        ),
        edges=(
            Edge(
                "one",
                "one",
                conjunction(equal(variable("gear"), symbol("low")), variable("b")),
                (
                    Constraint("n", Range.exactly(variable("n") + 1)),
                    Constraint("gear", Range.exactly(symbol("high"))),
                ),
                event=EventKind.CROSSING,
                name="shift",
            ),
        ),
        inputs=(Input("u", low=Fraction(-1), high=Fraction(1, 3)),),
        parameters=(Parameter("k", low=Fraction(1), high=Fraction(2)),),
        properties=(
            Property("safe", x <= 5),
            Property("bad", conjunction(x > 7, y < 0), PropertyKind.FORBIDDEN),
        ),
        predicates=(x >= 1, y >= x),
        horizon=Fraction(25, 2),
        initial=(Initial("one", conjunction(x >= 0, x <= 1, equal(y, 2 * z))),),
    )
    again = reloaded(automaton, tmp_path)
    for part in (
        "variables", "locations", "edges", "inputs", "parameters", "properties", "predicates",
        "horizon",
    ):  # fmt: skip
        assert getattr(again, part) == getattr(automaton, part), part
    assert set(again.initial[0].condition.args) == set(automaton.initial[0].condition.args)


def test_awkward_names_become_identifiers_that_differ(tmp_path: Path) -> None:
    names = ("car[1].x", "car_1_x", "init", "x'", "3rd", "sin", "漢")
    still = tuple(Constraint(n, Range.exactly(constant(0))) for n in names)
    automaton = HybridAutomaton(
        "to be | or not",
        tuple(map(Variable, names)),
        (Location("a|b{c=d}", still), Location("a_b_c_d", still)),
        initial=(Initial("a|b{c=d}"),),
        edges=(Edge("a|b{c=d}", "a_b_c_d"),),
    )
    again = reloaded(automaton, tmp_path)
    assert len({v.name for v in again.variables}) == len(names)
    assert all(v.name.isidentifier() and v.name.isascii() for v in again.variables)
    assert len({place.name for place in again.locations}) == 2


def test_a_property_of_one_location_becomes_its_claim(tmp_path: Path) -> None:
    automaton = at_rest(
        Location("one"),
        Location("two"),
        edges=(Edge("one", "two"),),
        properties=(
            Property("there", x <= 1, where=at_location("Model", "two")),
            Property("never", at_location("Model", "two"), PropertyKind.FORBIDDEN),
        ),
    )
    again = reloaded(automaton, tmp_path)
    for occupied in ("one", "two"):
        for old, new in zip(automaton.properties, again.properties, strict=True):
            place = {"Model": occupied}
            assert new.bad_states(place) == old.bad_states(place)


def test_several_initial_sets(tmp_path: Path) -> None:
    automaton = at_rest(
        Location("one"),
        Location("two"),
        edges=(Edge("one", "two"), Edge("two", "one")),
        initial=(
            Initial("one", x <= 0, (Constraint("y", Range.exactly(constant(1))),)),
            Initial("two", x >= 0),
        ),
    )
    again = reloaded(automaton, tmp_path)
    assert [(i.location, i.condition, i.resets) for i in again.initial] == [
        (i.location, i.condition, i.resets) for i in automaton.initial
    ]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"edges": (Edge("here", "here", resets=(Constraint("x", Range(None, None)),)),)}, "'x'"),
        ({"edges": (Edge("here", "here", resets=(Constraint("y", Range(x, None)),)),)}, "'y'"),
    ],
)
def test_what_cannot_be_said_is_refused_by_name(change: dict[str, object], named: str) -> None:
    with pytest.raises(ModelError) as refused:
        unparse(at_rest(**change))
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "not-representable"
    assert named in diagnostic.message


def test_a_place_where_no_time_passes_survives(tmp_path: Path) -> None:
    """SpaceEx's flow `false` is an empty range of derivatives, which `in [1, 0]` cannot say."""
    never = Constraint("x", Range(constant(1), constant(0)))
    still = tuple(Constraint(n, Range.exactly(constant(0))) for n in ("y", "z"))
    found = at_rest(Location("choice", (never, *still)))
    assert reloaded(found, tmp_path).locations[0].flows == found.locations[0].flows


def test_a_huge_product_is_refused_quickly() -> None:
    def part(index: int) -> HybridAutomaton:
        name = f"v{index}"
        still = (Constraint(name, Range.exactly(constant(0))),)
        return HybridAutomaton(
            f"p{index}",
            (Variable(name),),
            (Location("a", still), Location("b", still)),
            (Edge("a", "b"), Edge("b", "a")),
            (Initial("a"),),
        )

    with pytest.raises(ModelError, match="more than"):
        unparse(Product("many", tuple(part(i) for i in range(30))))

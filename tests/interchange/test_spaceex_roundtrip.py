"""Export to SpaceEx and back: the same automaton, for whatever is not refused by name."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.agents.composition import Product, explicit
from workbench.models.automaton import (
    BOOL,
    INT,
    TIME,
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
    add,
    at_location,
    compare,
    conditional,
    conjunction,
    constant,
    disjunction,
    equal,
    external,
    function,
    lookup,
    maximum,
    minimum,
    multiply,
    negation,
    symbol,
    variable,
)
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.table import Table
from workbench.models.interchange.spaceex_export import write_spaceex
from workbench.models.interchange.spaceex_import import import_spaceex, read_spaceex
from workbench.models.source import ModelError, Span

X, Y = variable("x"), variable("car[3].y")
U, P = variable("u.in"), variable("sum")
NAMES = ("x", "car[3].y")
F = Fraction


def again(automaton: HybridAutomaton | Product) -> HybridAutomaton:
    xml, config = write_spaceex(automaton)
    found = read_spaceex(xml.encode(), config, "again.xml")
    assert isinstance(found, HybridAutomaton)
    return found


def refused(automaton: HybridAutomaton) -> str:
    with pytest.raises(ModelError) as caught:
        write_spaceex(automaton)
    (found,) = caught.value.diagnostics
    assert found.code == "not-in-spaceex"
    return str(found.message)


# Random automata

numbers = st.one_of(
    st.integers(-9, 9).map(Fraction),
    st.fractions(-9, 9, max_denominator=97),
    st.sampled_from([F(1, 8), F("0.057599765881773"), F(-(10**12)), F(1, 10**9)]),
)
leaves = st.one_of(numbers.map(constant), st.sampled_from([X, Y, U, P]))


def _extended(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    some = st.lists(inner, min_size=1, max_size=4)
    return st.one_of(
        some.map(lambda parts: add(*parts)),
        some.map(lambda parts: multiply(*parts)),
        st.builds(lambda a, b: a - b, inner, inner),
        st.builds(lambda a, n: a**n, inner, st.integers(0, 3)),
        st.builds(lambda a, b: a / b, inner, inner),
        st.builds(function, st.sampled_from([Op.SIN, Op.SQRT, Op.EXP]), inner),
    )


terms = st.recursive(leaves, _extended, max_leaves=6)


def varying(sign: Op, left: Expression, right: Expression) -> Expression:
    """A comparison that is not decided at once."""
    made = compare(sign, left, right)
    return made if made.op in COMPARISONS else compare(sign, X + left, right)


signs = st.sampled_from([Op.LESS, Op.LESS_EQUAL, Op.GREATER, Op.GREATER_EQUAL, Op.EQUAL])
atoms = st.builds(varying, signs, terms, terms)
convex = st.lists(atoms, max_size=3).map(lambda parts: conjunction(*parts))
guards = st.one_of(
    convex,
    st.lists(convex.filter(lambda c: c != TRUE), min_size=2, max_size=3).map(
        lambda parts: disjunction(*parts)
    ),
)
ranges = st.one_of(
    terms.map(Range.exactly),
    st.builds(Range, terms, terms),
    st.builds(Range, st.none(), terms),
    st.builds(Range, terms, st.none()),
    st.just(Range(None, None)),
    st.builds(lambda a, b, c: Range(maximum(a, b), minimum(b, c)), terms, terms, terms),
)
places = st.sampled_from(["go|left", "stop", "3rd place"])


def _constraints(names: tuple[str, ...]) -> st.SearchStrategy[tuple[Constraint, ...]]:
    chosen = st.lists(st.sampled_from(names), unique=True, max_size=len(names))
    return chosen.flatmap(
        lambda some: st.tuples(*(st.builds(Constraint, st.just(n), ranges) for n in some))
    )


def _reading_new_values(resets: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
    """The last of several resets reads what the first one has set."""
    if len(resets) < 2:
        return resets
    after = variable(primed(resets[0].variable))
    return (*resets[:-1], replace(resets[-1], range=Range(after - 1, after + X)))


plain_flows = _constraints(NAMES)
resets = st.one_of(_constraints((*NAMES, "n")), _constraints(NAMES).map(_reading_new_values))


@st.composite
def locations(draw: st.DrawFn, name: str) -> Location:
    flows = draw(plain_flows)
    free = [n for n in NAMES if n not in {f.variable for f in flows}]
    algebraic: tuple[Constraint, ...] = ()
    if free and draw(st.booleans()):
        value = draw(st.sampled_from([Range.exactly(U + 1), Range(U, P + 2), Range(None, U)]))
        algebraic = (Constraint(free[0], value),)
    return Location(name, flows, algebraic, draw(convex))


@st.composite
def edges(draw: st.DrawFn, names: list[str]) -> Edge:
    return Edge(
        draw(st.sampled_from(names)),
        draw(st.sampled_from(names)),
        draw(guards),
        draw(resets),
        draw(st.sampled_from([None, "go", "a.b", "shy"])),
        draw(st.booleans()),
        draw(st.sampled_from(EventKind)),
        draw(st.sampled_from(["", "jump", 'odd <&"> name'])),
    )


@st.composite
def claims(draw: st.DrawFn, automaton: str, names: list[str]) -> Property:
    here = at_location(automaton, draw(st.sampled_from(names)))
    condition = draw(st.one_of(atoms, convex.filter(lambda c: c != TRUE), guards))
    if condition == TRUE:
        condition = here
    condition = draw(st.sampled_from([condition, negation(atom_of(condition)), condition | here]))
    return Property(
        draw(st.sampled_from(["no collision", "safe", "π < 4"])),
        condition,
        draw(st.sampled_from(PropertyKind)),
        draw(st.sampled_from([TRUE, here, negation(here)])),
    )


def atom_of(condition: Expression) -> Expression:
    return condition if condition.op in COMPARISONS or condition.op is Op.AT else X <= 3


@st.composite
def automata(draw: st.DrawFn) -> HybridAutomaton:
    name = draw(st.sampled_from(["plain", "follower.controller", "2 cars", "sin"]))
    names = draw(st.lists(places, unique=True, min_size=1, max_size=3))
    clock = (Variable(TIME),) if draw(st.booleans()) else ()
    starts = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3))
    low, high = sorted(draw(st.tuples(numbers, numbers)))
    bounds = draw(st.sampled_from([(low, high), (None, high), (low, None), (None, None)]))
    variables = (
        Variable("x"),
        Variable("n", INT, Kind.DISCRETE),
        Variable("car[3].y"),
        Variable("still", kind=Kind.DISCRETE),
    )
    return HybridAutomaton(
        name,
        (*variables, *clock),
        tuple(draw(locations(place)) for place in names),
        tuple(draw(st.lists(edges(names), max_size=3))),
        tuple(draw(initial(start)) for start in starts),
        (Input("u.in", low=bounds[0], high=bounds[1]), Input("idle")),
        (Parameter("sum", low=low, high=high), Parameter("one", low=F(1, 3), high=F(1, 3))),
        draw(st.sampled_from([TRUE, U <= P, (U <= P) & (P * U < X)])),
        tuple(draw(st.lists(claims(name, names), max_size=2))),
        tuple(draw(st.lists(guards, max_size=2))),
        draw(st.sampled_from([frozenset(), frozenset({"go", "a.b"}), frozenset({"unused"})])),
        draw(st.sampled_from([None, F(20), F(1, 10), F(1, 3)])),
    )


@st.composite
def initial(draw: st.DrawFn, place: str) -> Initial:
    condition = draw(guards)
    if draw(st.booleans()):
        return Initial(place, condition)
    first = Constraint("still", draw(st.sampled_from([Range.exactly(P), Range(P, P + 1)])))
    second = Constraint("n", Range.exactly(variable("still'") + 1))
    return Initial(place, condition, (first, second)[: draw(st.integers(1, 2))])


counted = {"written": 0, "refused": 0}


@settings(max_examples=60)
@given(automata())
def test_random_automata_come_back_the_same(automaton: HybridAutomaton) -> None:
    try:
        found = again(automaton)
    except ModelError as error:
        # Only conditions that fold into each other (repeated, or literally false) may fail.
        if "on the way to SpaceEx and back" not in error.diagnostics[0].message:
            raise
        counted["refused"] += 1
        return
    counted["written"] += 1
    assert found == automaton
    assert found.sha256 == automaton.sha256


def test_few_random_automata_were_refused() -> None:
    """Runs after the property test: refusing everything would make that one empty."""
    total = sum(counted.values())
    if total:
        assert counted["refused"] <= total / 4, counted


# What stands in the file


def simple(**changes: object) -> HybridAutomaton:
    basic = HybridAutomaton(
        "ball",
        (Variable("x"), Variable("v")),
        (
            Location(
                "air",
                (Constraint("x", Range.exactly(variable("v"))), Constraint("v", Range(None, X))),
                invariant=X >= 0,
            ),
        ),
        (Edge("air", "air", X <= 0, (Constraint("v", Range.exactly(-variable("v"))),)),),
        (Initial("air", F(51, 5) >= X),),
        properties=(Property("low", X <= 100),),
        horizon=F(5, 2),
    )
    return replace(basic, **changes)  # type: ignore[arg-type]


def test_the_visible_file_is_plain_spaceex() -> None:
    xml, config = write_spaceex(simple())
    assert "<flow>x' == v &amp;\nv' &lt;= x</flow>" in xml
    assert "<invariant>x &gt;= 0</invariant>" in xml
    assert "<assignment>v' == -v</assignment>" in xml
    assert 'initially = "loc(ball) == air & x <= 10.2"' in config
    assert 'forbidden = "x > 100"' in config
    assert "time-horizon = 2.5" in config and "system = ball" in config


def test_without_its_note_the_file_means_the_same() -> None:
    xml, config = write_spaceex(simple())
    bare = re.sub(r"\s*<note>.*?</note>", "", xml, flags=re.DOTALL)
    assert bare != xml
    found = read_spaceex(bare.encode(), config, "bare.xml")
    bad = Property("forbidden", X > 100, PropertyKind.FORBIDDEN)
    assert found == simple(properties=(bad,))


def test_an_edited_file_is_read_as_it_stands() -> None:
    """The note counts conjuncts; after an edit it must not be believed any more."""
    automaton = simple(inputs=(Input("u", low=F(0), high=F(1)),), assumption=variable("u") <= X)
    xml, config = write_spaceex(automaton)
    edited = xml.replace("u &lt;= x</invariant>", "u &lt;= x &amp; x &lt;= 7</invariant>")
    assert edited != xml
    found = import_spaceex(edited.encode(), config, "edited.xml")
    assert [w.code for w in found.warnings] == ["edited-export"]
    place = found.automaton.location("air")
    assert place.invariant == (X >= 0) & (variable("u") <= X) & (X <= 7)
    changed = import_spaceex(xml.encode(), config.replace("10.2", "10.3"), "edited.xml")
    assert [w.code for w in changed.warnings] == ["edited-export"]
    assert next(changed.automaton.initial_sets()).condition == (F(103, 10) >= X)


@pytest.mark.parametrize("damage", ["{", "[]", '{"names": 3}', '{"edges": {"0": {"odd": 1}}}'])
def test_a_damaged_note_is_diagnosed(damage: str) -> None:
    xml, config = write_spaceex(simple())
    note = re.search(r"charon-workbench export: (.*?)</note>", xml)
    assert note is not None
    with pytest.raises(ModelError) as caught:
        read_spaceex(xml.replace(note[1], damage).encode(), config, "damaged.xml")
    assert caught.value.diagnostics[0].code == "spaceex-note"


def test_a_note_with_wrong_counts_is_diagnosed() -> None:
    xml, config = write_spaceex(simple())
    note = re.search(r"charon-workbench export: (.*?)</note>", xml)
    assert note is not None
    data = json.loads(note[1])
    for key, value in (("input_bounds", 9), ("initial", []), ("initial", [[["v", 5]]])):
        wrong = json.dumps({**data, key: value})
        with pytest.raises(ModelError) as caught:
            read_spaceex(xml.replace(note[1], wrong).encode(), config, "wrong.xml")
        assert caught.value.diagnostics[0].code == "spaceex-note"


def test_discrete_variables_are_visibly_still_and_time_visibly_flows() -> None:
    automaton = simple(
        variables=(
            Variable("x"),
            Variable("v"),
            Variable("mode", kind=Kind.DISCRETE),
            Variable(TIME),
        )
    )
    xml, config = write_spaceex(automaton)
    assert "mode' == 0" in xml and "time' == 1" in xml
    assert "time == 0" in config
    assert again(automaton) == automaton


def test_a_product_is_written_with_its_locations_listed() -> None:
    lamp = replace(simple(), name="lamp", variables=(Variable("x"), Variable("v")), properties=())
    clock = HybridAutomaton(
        "clock",
        (Variable("t"),),
        (Location("tick", (Constraint("t", Range.exactly(constant(1))),)), Location("tock")),
        (Edge("tick", "tock", variable("t") >= 1),),
        (Initial("tick"),),
    )
    whole = Product("both", (lamp, clock))
    assert again(whole) == explicit(whole)


def test_unequal_in_a_guard_takes_a_transition_for_each_side() -> None:
    guard = (X <= 5) & compare(Op.NOT_EQUAL, variable("v"), constant(1))
    automaton = simple(edges=(Edge("air", "air", guard), Edge("air", "air", X > 5)))
    xml, _ = write_spaceex(automaton)
    assert "<guard>x &lt;= 5 &amp; v &lt; 1</guard>" in xml
    assert "<guard>x &lt;= 5 &amp; v &gt; 1</guard>" in xml
    assert again(automaton) == automaton


# What is refused, by name

RAMP = Table("ramp", ((F(0), F(1)),), ((F(0),), (F(1),)))
HERE = Span("model.charon", 7, 3, 7, 9)


@pytest.mark.parametrize(
    ("automaton", "named"),
    [
        (simple(variables=(Variable("x"), Variable("v"), Variable("b", BOOL))), "truth values"),
        (
            simple(variables=(Variable("x"), Variable("v"), Variable("c", enumeration("r")))),
            "enumeration",
        ),
        (simple(properties=(Property("p", equal(X, symbol("red"))),)), "enumeration"),
        (simple(properties=(Property("p", variable("x")),)), "used as a condition"),
        (simple(edges=(Edge("air", "air", (X <= 0) & ((X < 1) | (X > 2))),)), "disjunction"),
        (simple(edges=(Edge("air", "air", negation(X <= 0)),)), "negation"),
        (simple(locations=(Location("air", invariant=(X < 1) | (X > 2)),)), "disjunction"),
    ],
)
def test_conditions_that_are_refused(automaton: HybridAutomaton, named: str) -> None:
    assert named in refused(automaton)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (lookup(RAMP, X), "lookup table"),
        (external("wind", X), "external function"),
        (conditional(X <= 0, X, 1), "conditional"),
        (function(Op.FLOOR, X), "floor"),
        (function(Op.ATAN2, X, X), "atan2"),
        (maximum(X, 1) + 1, "max"),
    ],
)
def test_functions_that_are_refused_with_their_line(value: Expression, named: str) -> None:
    flow = Constraint("x", Range.exactly(value), HERE)
    with pytest.raises(ModelError) as caught:
        write_spaceex(simple(locations=(Location("air", (flow,)),)))
    (found,) = caught.value.diagnostics
    assert named in found.message and found.span == HERE


def test_auxiliary_values_and_entry_computations_are_refused() -> None:
    aux = (Constraint("k", Range(X, X + 1)), Constraint("x", Range.exactly(variable("k'"))))
    assert "auxiliary" in refused(simple(edges=(Edge("air", "air", resets=aux),)))
    old = (Constraint("x", Range.exactly(X + 1)),)
    assert "computes new values" in refused(simple(initial=(Initial("air", TRUE, old),)))

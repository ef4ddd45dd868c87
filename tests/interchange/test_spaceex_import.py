"""Reading SpaceEx: every feature of the format in small files, against hand-made answers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from spaceex_files import (
    bind,
    component,
    const,
    given,
    labels,
    location,
    real,
    spaceex,
    transition,
)

from workbench.models.agents.composition import Product, explicit
from workbench.models.automaton import (
    INT,
    Automaton,
    Constraint,
    HybridAutomaton,
    Kind,
    PropertyKind,
    Range,
)
from workbench.models.expressions.expression import (
    FALSE,
    TRUE,
    Expression,
    at_location,
    constant,
    maximum,
    minimum,
    variable,
)
from workbench.models.expressions.text import parse_expression
from workbench.models.interchange.spaceex_import import NO_TIME, import_spaceex, read_spaceex
from workbench.models.source import ModelError


def e(text: str) -> Expression:
    return parse_expression(text)


def exactly(name: str, text: str) -> Constraint:
    return Constraint(name, Range.exactly(e(text)))


def between(name: str, low: str | None, high: str | None) -> Constraint:
    bounds = (None if text is None else e(text) for text in (low, high))
    return Constraint(name, Range(*bounds))


def read(xml: bytes, config: str | None = None) -> Automaton:
    return read_spaceex(xml, config, "model.xml")


def flat(xml: bytes, config: str | None = None) -> HybridAutomaton:
    automaton = read(xml, config)
    assert isinstance(automaton, HybridAutomaton)
    return automaton


def refused(xml: bytes, config: str | None = None) -> tuple[str, str]:
    """The code and the place of the first diagnostic."""
    with pytest.raises(ModelError) as caught:
        read(xml, config)
    first = caught.value.diagnostics[0]
    return first.code, str(first.span)


def one(flow: str = "x' == 1 & y' == 2", invariant: str = "", *more: str) -> bytes:
    """A component `c` with variables x, y, an input u, constants p, q and a label go."""
    return spaceex(
        component(
            "c",
            real("x", "y"),
            given("u"),
            const("p", "q"),
            labels("go"),
            location(1, "a", flow, invariant),
            location(2, "b", "x' == 0"),
            *more,
        )
    )


# Locations


def test_a_base_component_becomes_a_flat_automaton() -> None:
    found = flat(one("x' == y - 0.1*x & y' == 2", "x <= 5 & y >= -.5"))
    assert found.name == "c"
    assert [v.name for v in found.variables] == ["x", "y"]
    assert [i.name for i in found.inputs] == ["u"]
    assert [p.name for p in found.parameters] == ["p", "q"]
    assert found.alphabet == {"go"}
    a, b = found.locations
    assert a.flows == (exactly("x", "y - 0.1*x"), exactly("y", "2"))
    assert a.invariant == e("x <= 5 && y >= -1/2")
    assert b.flows == (exactly("x", "0"),), "y has no flow in b: it may change arbitrarily"
    assert [start.location for start in found.initial] == ["a", "b"]
    assert all(start.condition == TRUE for start in found.initial)


@pytest.mark.parametrize(
    ("flow", "expected"),
    [
        ("x' == 3", exactly("x", "3")),
        ("x' = 3", exactly("x", "3")),
        ("x' := 3", exactly("x", "3")),
        ("3 == x'", exactly("x", "3")),
        ("1 <= x' & x' <= 2", between("x", "1", "2")),
        ("1 <= x' <= y", between("x", "1", "y")),
        ("x' >= 1 && x' < 2", between("x", "1", "2")),
        ("x' >= 1", between("x", "1", None)),
        ("2*x' == y", exactly("x", "y/2")),
        ("-2*x' + 1 <= y", between("x", "0.5 - y/2", None)),
        ("y >= 1 - x'", between("x", "1 - y", None)),
    ],
)
def test_flows_in_every_spelling(flow: str, expected: Constraint) -> None:
    (found,) = flat(one(flow)).locations[0].flows
    assert found.variable == expected.variable
    assert found.range == expected.range


def test_several_bounds_of_one_derivative_are_intersected() -> None:
    (found,) = flat(one("x' >= 1 & x' >= y & x' <= 9 & x' == u")).locations[0].flows
    low, high = found.range.low, found.range.high
    assert low == maximum(constant(1), variable("y"), variable("u"))
    assert high == minimum(constant(9), variable("u"))


def test_a_flow_false_lets_no_time_pass() -> None:
    first = flat(one("false")).locations[0]
    assert first.flows == (Constraint("x", NO_TIME), Constraint("y", NO_TIME))
    assert NO_TIME.low is not None and NO_TIME.high is not None
    assert NO_TIME.low.constant > NO_TIME.high.constant


def test_an_equation_in_the_invariant_defines_a_variable_without_flow() -> None:
    first = flat(one("x' == 1", "y == 2*x & x <= 3")).locations[0]
    assert first.algebraic == (exactly("y", "2*x"),)
    assert first.invariant == e("x <= 3")


def test_an_equation_for_a_variable_with_flow_or_assignment_stays_in_the_invariant() -> None:
    assert flat(one("x' == 1 & y' == 1", "y == 2")).locations[0].invariant == e("y == 2")
    jump = transition(1, 2, assignment="y := 3")
    assert flat(one("x' == 1", "y == 2", jump)).locations[0].invariant == e("y == 2")


def test_circular_equations_define_only_one_variable() -> None:
    first = flat(one("true", "x == y + 1 & y == x - 1")).locations[0]
    assert first.algebraic == (exactly("x", "y + 1"),)
    assert first.invariant == e("y == x - 1")


@pytest.mark.parametrize(
    ("flow", "code"),
    [
        ("x' == 1 | x' == 2", "unsupported-flow"),
        ("x' != 1", "unsupported-flow"),
        ("x' + y' == 1", "unsupported-flow"),
        ("x'*x' == 1", "unsupported-flow"),
        ("x' == 1 & x <= 3", "state-condition-in-flow"),
        ("p' == 1", "constant-changes"),
        ("x'' == 1", "primed-constant"),
        ("x' == lut([y], [0,1], [1,2])", "unknown-function"),
        ("x' == 1 &", "syntax"),
        ("x' == 1e999999999", "number-too-large"),
        ("loc(c) == a", "location-condition"),
    ],
)
def test_flows_that_are_refused(flow: str, code: str) -> None:
    assert refused(one(flow))[0] == code


def test_an_error_in_a_formula_points_at_the_character_in_the_file() -> None:
    xml = one("x' == 1", "x <= 5 &\n y <= @")
    code, place = refused(xml)
    line = next(i for i, t in enumerate(xml.decode("latin-1").split("\n"), 1) if "@" in t)
    column = xml.decode("latin-1").split("\n")[line - 1].index("@") + 1
    assert (code, place) == ("syntax", f"model.xml:{line}:{column}")


def test_errors_show_the_line_of_the_file() -> None:
    with pytest.raises(ModelError) as caught:
        read(one("x' == 1"), 'system = c\ninitially = "x == zz"')
    shown = caught.value.render()
    assert 'initially = "x == zz"' in shown and "^^" in shown


# Transitions


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("x := 0", (exactly("x", "0"),)),
        ("x' == 0", (exactly("x", "0"),)),
        ("x' := -0.75*x", (exactly("x", "-0.75*x"),)),
        ("x = 0", (exactly("x", "0"),)),
        ("x == 0", (exactly("x", "0"),)),
        ("x := y & y := x", (exactly("x", "y"), exactly("y", "x"))),
        ("x' == x", (exactly("x", "x"),)),
        ("0 <= x' <= 1", (between("x", "0", "1"),)),
        ("x' >= y", (between("x", "y", None),)),
        ("x' == y' + 1 & y' == 2", (exactly("y", "2"), exactly("x", "y' + 1"))),
        ("x' == y' + 1", (exactly("x", "y + 1"),)),
        ("x' == x'", (between("x", None, None),)),
        ("", ()),
        ("true", ()),
    ],
)
def test_assignments_in_every_spelling(assignment: str, expected: tuple[Constraint, ...]) -> None:
    (edge,) = flat(one("x' == 1", "", transition(1, 2, assignment=assignment))).edges
    assert edge.resets == expected


@pytest.mark.parametrize(
    ("assignment", "code"),
    [
        ("x <= 3", "unsupported-assignment"),
        ("x' == y' & y' == x'", "circular-assignment"),
        ("p := 3", "constant-changes"),
        ("x' == 1 | x' == 2", "unsupported-assignment"),
    ],
)
def test_assignments_that_are_refused(assignment: str, code: str) -> None:
    jump = transition(1, 2, assignment=assignment)
    assert refused(one("x' == 1", "", jump))[0] == code


def test_an_impossible_assignment_makes_the_guard_false() -> None:
    (edge,) = flat(one("x' == 1", "", transition(1, 2, assignment="false"))).edges
    assert edge.guard == FALSE


def test_guard_label_and_urgency() -> None:
    jump = transition(1, 2, "x >= 1 && (y < 0 | y > 2)", label="go", more='asap="true"')
    (edge,) = flat(one("x' == 1", "", jump)).edges
    assert (edge.source, edge.target, edge.label, edge.urgent) == ("a", "b", "go", True)
    assert edge.guard == e("x >= 1 && (y < 0 || y > 2)")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ('priority="3"', "transition-priority"),
        ('timedriven="true"', "timedriven-transition"),
        ('asap="perhaps"', "bad-attribute"),
        ('probability="0.5"', "unknown-attribute"),
    ],
)
def test_attributes_that_change_the_meaning_are_refused(more: str, code: str) -> None:
    assert refused(one("x' == 1", "", transition(1, 2, more=more)))[0] == code


def test_unknown_elements_are_refused_by_name_and_place() -> None:
    xml = one("x' == 1", "", "\n  <clock/>")
    with pytest.raises(ModelError) as caught:
        read(xml)
    (found,) = caught.value.diagnostics
    assert found.code == "unknown-element" and "<clock>" in found.message
    assert found.span is not None and found.span.column == 3


def test_repeated_location_names_are_told_apart() -> None:
    xml = spaceex(component("c", real("x"), location(7, "a"), location(8, "a"), location(9, "b")))
    assert [place.name for place in flat(xml).locations] == ["a_7", "a_8", "b"]


# Inputs and constants


def test_bounds_of_inputs_stated_everywhere_become_bounds_of_the_input() -> None:
    xml = spaceex(
        component(
            "c",
            real("x"),
            given("u", "v"),
            location(1, "a", "x' == u", "-1 <= u <= 2 & v <= 1 & x <= 3"),
            location(2, "b", "x' == v", "u >= -3 & u <= 2 & v <= 1 & v >= 0"),
        )
    )
    found = flat(xml)
    assert [(i.name, i.low, i.high) for i in found.inputs] == [("u", -3, 2), ("v", None, 1)]
    assert found.locations[0].invariant == e("-1 <= u && x <= 3"), "the tighter bound stays"
    assert found.locations[1].invariant == e("v >= 0")


def test_relations_between_inputs_stated_everywhere_become_the_assumption() -> None:
    xml = spaceex(
        component(
            "c",
            real("x"),
            given("u", "v"),
            const("p"),
            location(1, "a", "x' == u", "u <= v & u < p & x >= u"),
        )
    )
    found = flat(xml)
    assert found.assumption == e("u <= v && u < p")
    assert found.locations[0].invariant == e("x >= u")


def test_a_variable_that_nobody_constrains_is_an_input() -> None:
    xml = one("x' == y", "-1 <= y <= 1")
    assert [v.name for v in flat(xml).variables] == ["x"]
    assert [i.name for i in flat(xml).inputs] == ["y", "u"]
    started = flat(xml, 'initially = "x == 0 & y == 0"')
    assert [v.name for v in started.variables] == ["x", "y"], "it has an initial value"
    assert started.locations[0].invariant == e("-1 <= y && y <= 1")


def test_a_condition_on_inputs_in_a_flow_bounds_them() -> None:
    assert flat(one("x' == u & -1 <= u & u <= 1")).locations[0].invariant == e("-1 <= u && u <= 1")


def test_constants_with_a_value_disappear_and_others_become_parameters() -> None:
    found = flat(
        one("x' == p*q", "x <= p"), 'initially = "p == 2*5 & -1 <= q <= 1 & x == p & u <= 3"'
    )
    assert [(p.name, p.low, p.high) for p in found.parameters] == [("q", -1, 1)]
    assert found.locations[0].flows == (exactly("x", "10*q"),)
    assert found.locations[0].invariant == e("x <= 10")
    assert found.initial[0].condition == e("x == 10 && u <= 3")


def test_bounds_of_constants_by_other_constants() -> None:
    found = flat(one("x' == p*q"), 'initially = "-q <= p <= q & q == 0.5"')
    assert [(p.name, p.low, p.high) for p in found.parameters] == [
        ("p", Fraction(-1, 2), Fraction(1, 2))
    ]
    found = flat(one("x' == p*q"), 'initially = "p <= q & x == 0"')
    assert found.assumption == e("p <= q")


def test_contradictory_bounds_are_refused() -> None:
    assert refused(one("x' == p"), 'initially = "p <= 1 & p >= 2"')[0] == "empty-range"
    xml = spaceex(component("c", real("x"), given("u"), location(1, "a", "x' == u", "3 <= u <= 2")))
    assert refused(xml)[0] == "empty-range"


def test_integers_do_not_change_while_time_passes() -> None:
    whole = '<param name="n" type="int"/>'
    xml = spaceex(component("c", whole, location(1, "a", "n' == 0")))
    (n,) = flat(xml).variables
    assert (n.type, n.kind) == (INT, Kind.DISCRETE)
    xml = spaceex(component("c", whole, location(1, "a", "n' == 1")))
    assert refused(xml)[0] == "integer-flow"


@pytest.mark.parametrize(
    ("param", "code"),
    [
        ('<param name="m" type="real" d1="2" d2="1"/>', "vector-parameter"),
        ('<param name="m" type="string"/>', "parameter-type"),
        ('<param name="m" type="real" dynamics="odd"/>', "parameter-dynamics"),
        ('<param name="x" type="real"/>', "duplicate-parameter"),
        ('<param type="real"/>', "missing-attribute"),
    ],
)
def test_parameters_that_are_refused(param: str, code: str) -> None:
    assert refused(one("x' == 1", "", param))[0] == code


def test_a_variable_called_time_makes_room_for_the_reserved_name() -> None:
    xml = spaceex(component("c", real("time"), location(1, "a", "time' == 2", "time <= 3")))
    found = flat(xml, 'initially = "time == 1"')
    assert [v.name for v in found.variables] == ["time_"]
    assert found.initial[0].condition == e("time_ == 1")


def test_names_like_functions_and_keywords() -> None:
    xml = spaceex(
        component("c", real("sum", "min"), location(1, "a", "sum' == min & min' == 2*sum"))
    )
    flows = flat(xml).locations[0].flows
    assert flows[0].range == Range.exactly(variable("min"))
    assert flows[1].range == Range.exactly(2 * variable("sum"))


def test_undeclared_names_are_warned_about_and_lose_nothing() -> None:
    found = import_spaceex(one("x' == 1 & y' == 1", "clock <= p"), None, "model.xml")
    assert [w.code for w in found.warnings] == ["undeclared-name"]
    assert [i.name for i in found.automaton.inputs] == ["u", "c.clock"]
    assert found.automaton.location("a").invariant == e("c.clock <= p")


# Networks

TANK = component(
    "tank",
    real("level"),
    given("inflow"),
    const("rate"),
    real("hidden", more='local="true"'),
    location(1, "only", "level' == inflow - rate & hidden' == 1"),
)


def test_networks_rename_and_substitute() -> None:
    net = component(
        "net",
        real("a", "b"),
        bind("tank", "first", level="a", inflow="b", rate="0.5"),
        bind("tank", "second", level="b", inflow="a", rate="2*3 - 1"),
    )
    found = read(spaceex(TANK, net))
    assert isinstance(found, Product) and found.name == "net"
    assert [c.name for c in found.components] == ["first", "second"]
    assert [v.name for v in found.variables] == ["a", "first.hidden", "b", "second.hidden"]
    assert found.inputs == ()
    first, second = found.components
    assert [i.name for i in first.inputs] == ["b"]
    assert first.locations[0].flows[0] == exactly("a", "b - 0.5")
    assert second.locations[0].flows[0] == exactly("b", "a - 5")


def test_networks_nest_and_paths_are_dotted() -> None:
    inner = component(
        "pair",
        real("x"),
        given("w"),
        bind("tank", "t1", level="x", inflow="w"),
        bind("tank", "t2", inflow="x", rate="1"),
    )
    outer = component("top", real("z"), given("w"), bind("pair", "p", x="z", w="w"))
    found = read(
        spaceex(TANK, inner, outer),
        'initially = "z == 1 & p.t2.level == 2 & p.t1.hidden == 0 & p.t1.rate == 7"',
    )
    assert [c.name for c in found.components] == ["p.t1", "p.t2"]
    assert [v.name for v in found.variables] == [
        "z",
        "p.t1.hidden",
        "p.t2.level",
        "p.t2.hidden",
    ]
    assert [i.name for i in found.inputs] == ["w"]
    assert found.parameters == ()
    assert found.components[0].locations[0].flows[0] == exactly("z", "w - 7")
    (start,) = found.initial_sets()
    assert start.condition == e("z == 1 && p.t2.level == 2 && p.t1.hidden == 0")


def test_configurations_may_shorten_unique_names() -> None:
    net = component("net", real("a"), given("b"), bind("tank", "t", level="a", inflow="b"))
    found = read(spaceex(TANK, net), 'initially = "hidden == 3 & rate == 1"')
    assert next(found.initial_sets()).condition == e("t.hidden == 3")


@pytest.mark.parametrize(
    ("net", "code"),
    [
        (bind("nothing", "n"), "unknown-component"),
        (bind("tank", "n", volume="a"), "unknown-key"),
        (bind("tank", "n", level="nowhere"), "unknown-name"),
        (bind("tank", "n", level="a + b"), "bound-to-expression"),
        (bind("tank", "n", level="3"), "primed-constant"),
        (bind("net", "n"), "recursive-component"),
        (bind("tank", "n") + bind("tank", "n"), "duplicate-bind"),
        (bind("tank", "n") + location(1, "a"), "mixed-component"),
        ("", "no-location"),
    ],
)
def test_networks_that_are_refused(net: str, code: str) -> None:
    xml = spaceex(TANK, component("net", real("a", "b"), net))
    assert refused(xml, "system = net")[0] == code


def test_mutual_recursion_is_refused() -> None:
    xml = spaceex(component("a", bind("b", "b1")), component("b", bind("a", "a1")))
    assert refused(xml, "system = a")[0] == "recursive-component"
    assert refused(xml)[0] == "recursive-component"


def test_exploding_networks_are_refused_quickly() -> None:
    levels = [component("n0", real("x"), location(1, "a", "x' == 1"))]
    levels += [
        component(f"n{i}", bind(f"n{i - 1}", "l"), bind(f"n{i - 1}", "r")) for i in range(1, 40)
    ]
    assert refused(spaceex(*levels))[0] == "too-many-instances"


# Synchronisation: the oracle is the product worked out by hand


def switch(name: str, *alphabet: str, says: str = "go", declares: str = "") -> str:
    return component(
        name,
        real("v"),
        labels(*alphabet, *([declares] if declares else [])),
        location(1, "off", "v' == 0"),
        location(2, "on", "v' == 1"),
        transition(1, 2, "v >= 1", "v := 0", label=says),
    )


def jumps(automaton: Automaton, name: str) -> set[tuple[str, str, str]]:
    return {(x.target, str(x.guard), str(x.label)) for x in automaton.edges_from(name)}


def test_components_that_share_a_label_jump_together() -> None:
    net = component(
        "net",
        real("x", "y"),
        labels("go"),
        bind("left", "l", v="x", go="go"),
        bind("right", "r", v="y", go="go"),
    )
    found = read(spaceex(switch("left", "go"), switch("right", "go"), net))
    assert jumps(found, "off|off") == {("on|on", "x >= 1 && y >= 1", "go")}
    assert jumps(found, "on|off") == set(), "the left one cannot take part any more"
    (edge,) = found.edges_from("off|off")
    assert set(edge.resets) == {exactly("x", "0"), exactly("y", "0")}


def test_unbound_and_local_labels_do_not_synchronise() -> None:
    local = labels("go", local=True)
    other = component(
        "right",
        real("v"),
        local,
        location(1, "off", "v' == 0"),
        location(2, "on", "v' == 1"),
        transition(1, 2, "v >= 1", label="go"),
    )
    net = component(
        "net", real("x", "y"), labels("go"), bind("left", "l", v="x"), bind("right", "r", v="y")
    )
    found = read(spaceex(switch("left", "go"), other, net))
    assert jumps(found, "off|off") == {
        ("on|off", "x >= 1", "l.go"),
        ("off|on", "y >= 1", "r.go"),
    }


def test_a_declared_but_unused_label_blocks() -> None:
    net = component(
        "net",
        real("x", "y"),
        labels("go", "step"),
        bind("left", "l", v="x", go="go"),
        bind("right", "r", v="y", go="go", step="step"),
    )
    found = read(spaceex(switch("left", "go"), switch("right", "step", "go", says="step"), net))
    assert jumps(found, "off|off") == {("off|on", "y >= 1", "step")}


def test_a_variable_controlled_twice_obeys_both() -> None:
    """One instance bounds the derivative from below, the other from above."""
    low = component("low", real("v"), location(1, "l", "v' >= 1"))
    high = component("high", real("v"), location(1, "h", "v' <= 3", "v <= 10"))
    net = component("net", real("x"), bind("low", "a", v="x"), bind("high", "b", v="x"))
    place = explicit(read(spaceex(low, high, net))).locations[0]
    assert place.flows == (between("x", "1", "3"),)
    assert place.invariant == e("x <= 10")


def test_a_component_that_only_reads_a_variable_does_not_own_it() -> None:
    plant = component("plant", real("v"), location(1, "p", "v' == 1"))
    watch = component("watch", real("v"), location(1, "w", "", "v <= 5"))
    net = component("net", real("x"), bind("watch", "w", v="x"), bind("plant", "p", v="x"))
    found = read(spaceex(plant, watch, net))
    by_name = {c.name: c for c in found.components}
    assert [v.name for v in by_name["p"].variables] == ["x"]
    assert by_name["w"].variables == () and [i.name for i in by_name["w"].inputs] == ["x"]


# Configurations


def test_configuration_file() -> None:
    text = """# a comment
system = "c"
initially = "loc(c)==b &
   x == 1"     # behind the value
forbidden="x >= 3 | loc(c)!=a"
time-horizon = 2.5
iter-max = -1
scenario = supp # unquoted
my-option = 3
"""
    found = import_spaceex(one(), text, "model.xml")
    assert [(s.location, s.condition) for s in found.automaton.initial_sets()] == [
        ("b", e("x == 1"))
    ]
    (claim,) = found.automaton.properties
    assert (claim.name, claim.kind) == ("forbidden", PropertyKind.FORBIDDEN)
    assert claim.condition == (variable("x") >= 3) | ~at_location("c", "a")
    assert found.automaton.horizon == Fraction(5, 2)
    assert [w.code for w in found.warnings] == ["unknown-option"]


def test_variables_called_by_number_are_warned_about() -> None:
    xml = spaceex(component("c", real("pos", "vel"), location(1, "a", "pos' == vel & vel' == 0")))
    found = import_spaceex(xml, 'initially = "x1 == 5 & x2 >= 0"', "model.xml")
    assert [w.code for w in found.warnings] == ["variable-by-position"] * 2
    assert next(found.automaton.initial_sets()).condition == e("pos == 5 && vel >= 0")
    assert refused(xml, 'initially = "x3 == 5"')[0] == "unknown-name"
    other = spaceex(component("c", real("x1", "y"), location(1, "a", "x1' == y & y' == 0")))
    assert refused(other, 'initially = "x2 == 5"')[0] == "unknown-name"


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ('initially = "x == 1', "config-syntax", "model.cfg:1:13"),
        ('initially = "x == 1" y', "config-syntax", "model.cfg:1:21"),
        ("just words", "config-syntax", "model.cfg:1:1"),
        ("system = nothing", "unknown-component", "model.cfg:1:10"),
        ('\ninitially = "x == 1 &\n z == 2"', "unknown-name", "model.cfg:3:2"),
        ('initially = "loc(c)==z"', "unknown-location", "model.cfg:1:14"),
        ('initially = "loc(d)==a"', "unknown-component", "model.cfg:1:14"),
        ('initially = "loc(c)<=3"', "location-condition", "model.cfg:1:14"),
        ('initially = "loc(c)==a & loc(c)==b"', "empty-initial", "model.cfg:1:14"),
        ('forbidden = "x >="', "syntax", "model.cfg:1:17"),
        ("time-horizon = x", "not-a-number", "model.cfg:1:16"),
        ("time-horizon = 1e999999999", "number-too-large", "model.cfg:1:16"),
    ],
)
def test_configurations_that_are_refused(text: str, code: str, place: str) -> None:
    assert refused(one(), text) == (code, place)


def test_initial_places_of_a_network() -> None:
    net = component(
        "net",
        real("x", "y"),
        labels("go"),
        bind("left", "l", v="x", go="go"),
        bind("right", "r", v="y", go="go"),
    )
    xml = spaceex(switch("left", "go"), switch("right", "go"), net)

    def starts(condition: str) -> dict[str, str]:
        found = read(xml, f'initially = "{condition}"')
        return {s.location: str(s.condition) for s in found.initial_sets()}

    assert starts("loc(l)==on & x==1") == {"on|off": "x == 1", "on|on": "x == 1"}
    assert starts("loc(l)==on & loc(r)==off") == {"on|off": "true"}
    assert starts("loc(l)==on & x==1 | loc(l)==off & x==2") == {
        "off|off": "x == 2",
        "off|on": "x == 2",
        "on|off": "x == 1",
        "on|on": "x == 1",
    }
    both = "loc(l)==on & loc(r)==off & x==1 | loc(l)==off & loc(r)==on & x==2"
    assert starts(both) == {"on|off": "x == 1", "off|on": "x == 2"}


def test_the_default_system_is_the_last_that_nobody_binds() -> None:
    found = read(spaceex(TANK, component("net", bind("tank", "t")), TANK.replace("tank", "other")))
    assert found.name == "other"


@pytest.mark.parametrize(
    ("xml", "code"),
    [
        (b"<uppaal/>", "not-spaceex"),
        (b"<sspaceex/>", "no-component"),
        (b"<sspaceex><component/></sspaceex>", "missing-attribute"),
        (spaceex(component("a"), component("a")), "duplicate-component"),
        (spaceex(component("a")), "no-location"),
        (spaceex(component("a", location(1, "x"), transition(1, 9))), "unknown-location"),
        (spaceex(component("a", location(1, "x"), location(1, "y"))), "duplicate-location-id"),
    ],
)
def test_files_that_are_refused(xml: bytes, code: str) -> None:
    assert refused(xml)[0] == code

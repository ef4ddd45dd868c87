"""Elaboration: the text's structure arrives in the hierarchy with names resolved."""

from __future__ import annotations

from fractions import Fraction

import pytest
from charon_texts import (
    EXAMPLES,
    HIGHWAY,
    LEAKY_TANK,
    PENDULUM,
    agent_of,
    atomic,
    automaton_of,
    codes,
    diagnostics,
    elaborated,
)

from workbench.models.agents.hierarchy import Access, ControlPoint, Mode
from workbench.models.automaton import Kind, Range
from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.expression import constant, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import free_variables, postorder
from workbench.models.source import ModelError


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_accepted_without_a_word(name: str) -> None:
    assert diagnostics(EXAMPLES[name]) == ()


def test_the_highway_flattens_to_the_known_components_and_variables() -> None:
    automaton = automaton_of(HIGHWAY)
    assert [c.name for c in automaton.components] == [
        "front",
        "follower.velocity",
        "follower.controller",
        "distance",
    ]
    names = {v.name for v in automaton.variables}
    assert names == {"velFirst", "velOther", "dist", "follower.acc", "follower.controller.e"}
    assert {p.name for p in automaton.properties} == {"no collision", "no collision while close"}


def test_track_is_instantiated_twice_with_different_gains() -> None:
    """At one state, computed by hand from the control laws of the two modes."""
    controller = agent_of(HIGHWAY).agents[1].agent.agents[1].agent.top
    assert controller is not None
    state = {"dist": 30, "vel": 20, "velFront": 16, "acc": Fraction(1, 2)}
    slopes = {}
    for name in ("optimal", "previous"):
        slope = controller.submode(name).mode.flows[0].range.exact
        assert slope is not None
        slopes[name] = evaluate(slope, state)
    assert slopes["optimal"] == Fraction(1, 8) * 20 + 12 - Fraction(7, 8) * 20 - Fraction(3, 4)
    assert slopes["previous"] == 20 + 48 - 80 - Fraction(3, 2)


def test_equal_instances_are_shared() -> None:
    agent = agent_of(
        """
        mode T(real k) { write analog real x; diff { d(x) == k; } }
        agent A(real k) { private analog real x; mode top = T(k); }
        agent Main() { agent a = A(1); agent b = A(1); agent c = A(2); }
        """
    )
    a, b, c = (part.agent for part in agent.agents)
    assert a is b
    assert a is not c


def test_parameters_override_system_arguments_and_constants() -> None:
    automaton = automaton_of(HIGHWAY, amin=-2, lambdaP=12)
    front = automaton.components[0].locations[0].flow_of("velFirst")
    assert front == Range(constant(-2), constant(3))
    equation = automaton.components[2].locations[0].algebraic[0].range.exact
    assert equation is not None
    assert evaluate(equation, {"dist": 30, "velOther": 5}) == 30 - 5 - 12


def test_an_unknown_parameter_is_refused_with_the_closest_name() -> None:
    with pytest.raises(ModelError) as caught:
        elaborated(HIGHWAY, parameters={"amim": Fraction(1)})
    (only,) = caught.value.diagnostics
    assert only.code == "unknown-parameter"
    assert only.hint == "did you mean `amin`?"


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [("int", Fraction(3), True), ("int", Fraction(7, 2), False), ("bool", Fraction(1), True)],
)
def test_overrides_fit_the_declared_type(kind: str, value: Fraction, fits: bool) -> None:
    zero = {"int": "0", "bool": "false"}[kind]
    text = atomic("", definitions=f"const {kind} k = {zero};")
    if fits:
        elaborated(text, parameters={"k": value})
    else:
        with pytest.raises(ModelError, match="does not fit"):
            elaborated(text, parameters={"k": value})


def test_uncertain_constants_become_parameters_unless_overridden() -> None:
    text = atomic("", mode_items="diff { d(x) == k; }", definitions="const real k in [1, 2];")
    automaton = automaton_of(text)
    (parameter,) = automaton.parameters
    assert (parameter.name, parameter.low, parameter.high) == ("k", 1, 2)
    assert automaton.components[0].locations[0].flow_of("x").exact == variable("k")
    fixed = automaton_of(text, k=Fraction(3, 2))
    assert fixed.parameters == ()
    assert fixed.components[0].locations[0].flow_of("x").exact == constant(Fraction(3, 2))


def test_constants_may_be_used_before_their_definition() -> None:
    text = atomic(
        "", mode_items="diff { d(x) == a; }", definitions="const real a = 2*b; const real b = 3;"
    )
    assert automaton_of(text).components[0].locations[0].flow_of("x").exact == constant(6)


def test_a_long_chain_of_constants_needs_no_recursion() -> None:
    lines = [f"const real c{k} = c{k + 1} + 1;" for k in range(5_000)]
    text = atomic(
        "",
        mode_items="diff { d(x) == c0; }",
        definitions="\n".join([*lines, "const real c5000 = 0;"]),
    )
    assert automaton_of(text).components[0].locations[0].flow_of("x").exact == constant(5_000)


def test_cyclic_constants_are_named_in_order() -> None:
    found = diagnostics(atomic("", definitions="const real a = b; const real b = a + 1;"))
    assert [d.code for d in found] == ["cyclic-constants"]
    assert "a -> b -> a" in found[0].message


def test_externs_stay_calls_and_nothing_is_imported() -> None:
    sup = agent_of(PENDULUM).agents[1].agent.top
    assert sup is not None
    law = sup.submode("untrusted").mode.submode("exp").mode.algebraic[0].range.exact
    assert law is not None
    assert law.op is Op.EXTERNAL
    assert law.name == "experimental"


def test_tables_are_looked_up() -> None:
    text = atomic(
        "",
        mode_items="diff { d(x) == lift(x) + grid(x, 1); }",
        definitions="table lift(real a) linear { 0: 1, 2: 5 }"
        " table grid(real a, real b) previous { : 0, 1; 0: 10, 20; 5: 30, 40 }",
    )
    slope = automaton_of(text).components[0].locations[0].flow_of("x").exact
    assert slope is not None
    assert evaluate(slope, {"x": Fraction(1)}) == 3 + 20
    assert evaluate(slope, {"x": Fraction(7)}) == 5 + 40


def test_enumerations_parameters_and_symbols() -> None:
    text = """
    mode Light(enum { red, green } start, bool blink) {
      write discrete enum { red, green } light;
      private analog real t;
      mode a = Wait(); mode b = Wait();
      diff { d(t) == blink ? 2 : 1; }
      trans from init to a when start == red do { light = start; t = 0; }
      trans from init to b when start == green do { light = green; t = 0; }
      trans from a to b when t >= 1 && light == red do { light = green; }
    }
    mode Wait() { }
    agent Main() { write discrete enum { red, green } light; mode top = Light(red, true); }
    """
    top = agent_of(text).top
    assert top is not None
    assert top.transitions[0].guard == parse_expression("true")
    assert top.transitions[1].guard == parse_expression("false")
    assert top.flows[0].range.exact == constant(2)


def transition_points(mode: Mode) -> list[tuple[str, str]]:
    return [(str(t.source), str(t.target)) for t in mode.transitions]


def test_control_points_follow_the_table_of_the_semantics() -> None:
    sup = agent_of(PENDULUM).agents[1].agent.top
    assert sup is not None
    assert transition_points(sup) == [
        ("init", "untrusted.start"),
        ("untrusted.fail", "safety.de"),
        ("untrusted.dx", "safety.de"),
        ("safety.dx", "untrusted.de"),
    ]
    assert transition_points(sup.submode("untrusted").mode) == [
        ("start", "base.de"),
        ("base.dx", "exp.de"),
        ("exp.dx", "fail"),
        ("exp.dx", "base.de"),
    ]


def test_default_is_where_a_top_level_mode_starts_and_the_default_entry_elsewhere() -> None:
    text = """
    mode Leaf() { }
    mode Pair() { mode a = Leaf(); mode b = Leaf(); trans from default to a trans from a to b }
    mode Top() { mode p = Pair(); trans from default to p }
    agent Main() { mode top = Top(); }
    agent Other() { mode top = Pair(); }
    agent Both() { agent m = Main(); agent o = Other(); }
    """
    main, other = (part.agent.top for part in agent_of(text).agents)
    assert main is not None
    assert other is not None
    assert main.transitions[0].source == ControlPoint(None, "init")
    assert main.submode("p").mode.transitions[0].source == ControlPoint(None, "de")
    assert other.transitions[0].source == ControlPoint(None, "init")


def test_several_sources_make_several_transitions() -> None:
    text = """
    mode Leaf() { }
    mode Top() { mode a = Leaf(); mode b = Leaf(); mode c = Leaf();
      trans from init to a trans from a to b trans #go from a, b to c }
    agent Main() { mode top = Top(); }
    """
    top = agent_of(text).top
    assert top is not None
    assert transition_points(top)[2:] == [("a.dx", "c.de"), ("b.dx", "c.de")]


def test_let_names_the_value_at_that_point() -> None:
    text = """
    mode Leaf() { }
    mode Top() { write discrete real x, y; mode a = Leaf();
      trans from init to a
      trans from a to a do { let old = x; x = y; y = old; } }
    agent Main() { write discrete real x, y; init { x = 1; y = 2; } mode top = Top(); }
    """
    (edge,) = automaton_of(text).components[0].edges
    swapped = {r.variable: r.range.exact for r in edge.resets}
    assert swapped == {"x": variable("y"), "y": variable("x")}


def test_let_ends_with_its_action() -> None:
    text = """
    mode Leaf() { }
    mode Top() { write discrete real x; mode a = Leaf(); mode b = Leaf();
      trans from init to a
      trans from a to b do { let t = x; x = t; }
      trans from b to a do { x = t; } }
    agent Main() { write discrete real x; init { x = 1; } mode top = Top(); }
    """
    assert codes(text) == ["unknown-name"]


def test_initial_values_are_ranges_and_conditions() -> None:
    agent = agent_of(
        """
        mode T() { write analog real x, y, z; diff { d(x) == 0; d(y) == 0; d(z) == 0; } }
        agent Main() {
          write analog real x, y, z = 3;
          init { x in [0, 1]; y = 2*x; where x + y <= 2; }
          mode top = T();
        }
        """
    )
    ranges = {v.name: v.initial for v in agent.variables}
    assert ranges == {
        "x": Range(constant(0), constant(1)),
        "y": None,
        "z": Range.exactly(constant(3)),
    }
    assert agent.initial == parse_expression("y == 2*x && x + y <= 2")


def test_bounds_on_a_read_variable_are_assumed_at_all_times() -> None:
    text = """
    mode T() { write analog real x; read analog real u; diff { d(x) == u; } }
    agent Main() { write analog real x; read analog real u in [-1, 2]; init { x = 0; }
      mode top = T(); }
    """
    (given,) = automaton_of(text).inputs
    assert (given.name, given.low, given.high) == ("u", -1, 2)


def test_hiding_makes_a_variable_private_declared_or_not() -> None:
    text = LEAKY_TANK.replace("private analog real leak;", "").replace(
        "agent hole = Hole();", "agent hole = Hole(); hide leak;"
    )
    tank = agent_of(text).agents[0].agent
    leak = next(v for v in tank.variables if v.name == "leak")
    assert (leak.access, leak.kind) == (Access.PRIVATE, Kind.ANALOG)
    assert diagnostics(text) == ()
    assert automaton_of(text) == automaton_of(LEAKY_TANK)


def test_renaming_a_submode_and_a_top_level_mode() -> None:
    text = """
    mode Move(real v) { write analog real x; diff { d(x) == v; } }
    mode Plane() {
      write analog real east, north;
      diff { d(north) == 0; }
      mode go = Move(1) [ x := east ]; mode back = Move(-1) [ x := east ];
      trans from init to go trans from go to back when east >= 1
    }
    agent Boat() { write analog real e, n; init { e = 0; n = 0; }
      mode top = Plane() [ east, north := e, n ]; }
    """
    (component,) = automaton_of(text).components
    assert [f.variable for f in component.location("go").flows] == ["n", "e"]
    assert component.location("back").flow_of("e").exact == constant(-1)
    assert component.edges[0].guard == parse_expression("e >= 1")


def test_a_mode_that_swaps_two_names_is_renamed_at_once() -> None:
    text = """
    mode Leaf(real v) { write analog real x; read analog real y; diff { d(x) == y + v; } }
    mode Top() { write analog real x, y; diff { d(x) == 0; }
      mode a = Leaf(1) [ x, y := y, x ]; trans from init to a }
    agent Main() { write analog real x, y; init { x = 0; y = 0; } mode top = Top(); }
    """
    (place,) = automaton_of(text).components[0].locations
    assert place.flow_of("y").exact == parse_expression("x + 1")


def test_claims_without_a_name_are_called_by_what_they_say() -> None:
    agent = agent_of(
        atomic('assert { x <= 5 } assert { x <= 5 } assert "named" { x <= 6 } forbid { x > 9 }')
    )
    assert [c.name for c in agent.claims] == ["x <= 5", "x <= 5 (2)", "named", "x > 9"]
    assert len({c.name for c in agent.claims}) == 4


def test_claims_reach_into_parts() -> None:
    text = HIGHWAY.replace(
        'assert "no collision" { dist > 0 }',
        'assert "mild" { follower.acc >= -20 && follower.controller.e <= 90 && follower.vel >= 0 }',
    )
    (claim,) = agent_of(text).claims
    assert free_variables(claim.condition) == {"follower.acc", "follower.controller.e", "velOther"}
    declared = {v.name for v in automaton_of(text).variables}
    assert free_variables(claim.condition) <= declared


def test_the_horizon_and_the_agent_may_be_chosen() -> None:
    text = HIGHWAY + "\nsystem Highway(-4, 2) until 2*lambdaP;"
    assert elaborated(text).horizon == 20
    assert elaborated(text).agent.definition == "Highway"
    front = elaborated(text, agent="Distance")
    assert (front.agent.definition, front.horizon) == ("Distance", None)


def test_no_surface_syntax_is_left() -> None:
    for text in EXAMPLES.values():
        for component in automaton_of(text).components:
            for edge in component.edges:
                ops = {node.op for node in postorder(edge.guard)}
                assert not ops & {Op.SELECT, Op.FORALL, Op.SUM}


def test_several_mistakes_are_reported_in_one_run_in_source_order() -> None:
    found = diagnostics(
        atomic(
            'assert "a" { y > 0 } assert "b" { x + true > 1 }',
            mode_items="diff { d(x) == foo(1); d(z) == 1; } trans from nowhere to elsewhere",
        )
    )
    assert [d.code for d in found] == [
        "unknown-function",
        "unknown-name",
        "unknown-point",
        "unknown-point",
        "unknown-name",
        "type-mismatch",
    ]
    places = [(d.span.line, d.span.column) for d in found if d.span]
    assert places == sorted(places)


def test_mistakes_in_definitions_that_nothing_uses_are_found() -> None:
    text = atomic(
        "", definitions="mode Spare(real k) { write analog real y; diff { d(y) == kk; } }"
    )
    (found,) = diagnostics(text)
    assert (found.code, found.hint) == ("unknown-name", "did you mean `k`?")


def test_unused_definitions_are_not_judged_by_values_they_do_not_have() -> None:
    text = atomic(
        "",
        definitions="""
        mode Gain(int n) { write analog real y; diff { d(y) == 1/n; } }
        agent One(int n) { write analog real y; mode top = Gain(n); }
        agent Many(int n) {
          private analog real v[0..n];
          agent part[i in 1..n] = One(i) [ y := v[i] ];
          assert { forall i in 1..n : part[i].y >= v[i-1] }
        }""",
    )
    with pytest.raises(ModelError, match="several agents could be the whole model"):
        elaborated(text)
    assert elaborated(text + "system Main();").agent.definition == "Main"


NESTED = """
const real k in [1, 2];
mode T() { write analog real x; private analog real e; diff { d(x) == k; d(e) == 1; } }
agent Car() { private analog real x; init { x = 0; } mode top = T(); }
agent Pair() {
  agent car[i in 1..2] = Car();
  init { car[1].e in [0, 1]; }
  assert "in" { car[1].x < 5 && car[2].e <= 3 }
  predicate { car[1].x > 2 }
}
agent Main() {
  agent left = Pair();
  agent right = Pair();
  assert "out" { left.car[1].x <= right.car[2].e }
}
"""


def test_paths_into_parts_hold_at_every_level() -> None:
    automaton = automaton_of(NESTED)
    conditions = {p.name: str(p.condition) for p in automaton.properties}
    assert conditions == {
        "out": "left.car[1].x <= right.car[2].e",
        "left: in": "left.car[1].x < 5 && left.car[2].e <= 3",
        "right: in": "right.car[1].x < 5 && right.car[2].e <= 3",
    }
    assert [str(p) for p in automaton.predicates] == ["left.car[1].x > 2", "right.car[1].x > 2"]
    (start,) = automaton.initial_sets()
    assert {"left.car[1].e", "right.car[1].e"} <= free_variables(start.condition)


@pytest.mark.parametrize("text", [*EXAMPLES.values(), NESTED])
def test_everything_the_flat_automaton_mentions_is_declared(text: str) -> None:
    automaton = automaton_of(text)
    known = {v.name for v in automaton.variables} | {i.name for i in automaton.inputs}
    known |= {p.name for p in automaton.parameters}
    said = [p.condition for p in automaton.properties]
    for component in automaton.components:
        said += [i.condition for i in component.initial] + [e.guard for e in component.edges]
        for place in component.locations:
            said.append(place.invariant)
            for constraint in (*place.flows, *place.algebraic):
                said += [b for b in (constraint.range.low, constraint.range.high) if b is not None]
    assert free_variables(*said) <= known


def test_hiding_an_array_hides_its_elements() -> None:
    text = """
    mode T() { write analog real x; diff { d(x) == 1; } }
    agent Car() { write analog real x = 0; mode top = T(); }
    agent Main() { write analog real v[1..2]; hide v; agent c[i in 1..2] = Car() [ x := v[i] ]; }
    """
    assert {v.access for v in agent_of(text).variables} == {Access.PRIVATE}
    assert codes(text.replace("hide v", "hide w")) == ["unknown-name"]

"""Many alike agents: indices, arrays, quantifiers, interactions, and the limits on them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from charon_texts import agent_of, automaton_of, codes, diagnostics, elaborated

from workbench.models.agents.composition import Product
from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.expression import variable
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import conjuncts, free_variables

PLATOON = """
const int n = 4;
mode CarTop(int i) {
  write analog real vel; read analog real front;
  private analog real gap;
  mode far = Go(i); mode near = Slow();
  diff { d(gap) == front - vel; }
  trans from init to far do { gap = 10*i; }
  trans from far to near when gap <= 5
  trans from near to far when gap >= 8
}
mode Go(int i) {
  write analog real vel; read analog real front;
  diff { d(vel) == (front - vel)/i; }
}
mode Slow() { write analog real vel; diff { d(vel) == -1; } inv { vel >= 0 } }
agent Car(int i) {
  write analog real vel; read analog real front;
  init { vel in [20, 20 + i]; }
  mode top = CarTop(i);
}
mode LeadTop() { write analog real vel; diff { d(vel) in [-1, 1]; } }
agent Lead() { write analog real vel; init { vel = 25; } mode top = LeadTop(); }
agent Platoon() {
  private analog real vel[0..n];
  agent lead = Lead() [ vel := vel[0] ];
  agent car[i in 1..n] = Car(i) [ vel, front := vel[i], vel[i-1] ];
  assert "forward" { forall i in 0..n : vel[i] >= 0 }
  assert "apart" { forall i in 1..n : car[i].gap > 0 }
  assert "total" { (sum i in 1..n : car[i].gap) <= 100*n }
}
"""

ARENA = """
const real r = 1/2;
mode CarTop() {
  write analog real x, vx;
  diff { d(x) == vx; d(vx) == 0; }
}
agent Car(int i) { private analog real x, vx; init { x = 3*i; vx = -i; } mode top = CarTop(); }
mode WallTop() { write analog real at; diff { d(at) == 0; } }
agent Wall() { private analog real at; init { at = 0; } mode top = WallTop(); }
agent Arena(int n = 4) {
  agent car[i in 1..n] = Car(i);
  agent wall = Wall();
  crossing interaction bump between a, b in car
    when (a.x - b.x)^2 <= 4*r^2 do { let v = a.vx; a.vx = b.vx; b.vx = v; }
  interaction bounce between c in car, w in wall when c.x <= w.at do { c.vx = -c.vx; }
}
"""


def test_each_car_reads_its_predecessor() -> None:
    agent = agent_of(PLATOON)
    names = [part.name for part in agent.agents]
    assert names == ["lead", "car[1]", "car[2]", "car[3]", "car[4]"]
    for i, part in enumerate(agent.agents[1:], start=1):
        assert dict(part.renaming) == {"vel": f"vel[{i}]", "front": f"vel[{i - 1}]"}
        (flow,) = part.agent.top.submode("far").mode.flows  # type: ignore[union-attr]
        assert flow.range.exact is not None
        slope = evaluate(flow.range.exact, {"front": 10, "vel": 4})
        assert slope == Fraction(6, i)
    flat = automaton_of(PLATOON).components[3].location("far").flow_of("vel[3]").exact
    assert flat is not None
    assert free_variables(flat) == {"vel[2]", "vel[3]"}


def test_quantifiers_are_unrolled() -> None:
    forward, apart, total = agent_of(PLATOON).claims
    assert conjuncts(forward.condition) == tuple(
        parse_expression(f"vel[{i}] >= 0") for i in range(5)
    )
    assert free_variables(apart.condition) == {f"car[{i}].gap" for i in range(1, 5)}
    gaps = {f"car[{i}].gap": Fraction(90 + i) for i in range(1, 5)}
    assert evaluate(total.condition, gaps) is True  # 370 <= 400
    assert evaluate(total.condition, {**gaps, "car[1].gap": Fraction(200)}) is False


def test_interactions_are_unrolled_to_unordered_pairs() -> None:
    events = agent_of(ARENA).interactions
    bumps = [e.participants for e in events if e.name == "bump"]
    cars = [f"car[{i}]" for i in range(1, 5)]
    assert bumps == list(combinations(cars, 2))
    bounces = [e.participants for e in events if e.name == "bounce"]
    assert bounces == [(car, "wall") for car in cars]


def test_an_interaction_concerns_the_variables_of_its_pair() -> None:
    automaton = automaton_of(ARENA)
    assert isinstance(automaton, Product)
    bump = next(e for e in automaton.interactions if e.participants == ("car[2]", "car[4]"))
    assert bump.guard == parse_expression("(car[2].x - car[4].x)^2 <= 1")
    assert {r.variable: r.range.exact for r in bump.resets} == {
        "car[2].vx": variable("car[4].vx"),
        "car[4].vx": variable("car[2].vx"),
    }
    assert bump.event == "crossing"


def test_an_interaction_uses_the_outer_name_of_a_shared_variable() -> None:
    text = """
    mode T() { write discrete real v; mode a = L(); trans from init to a } mode L() { }
    agent Car() { write discrete real v = 0; mode top = T(); }
    agent Main() {
      private discrete real speed[1..2];
      agent car[i in 1..2] = Car() [ v := speed[i] ];
      interaction swap between a, b in car when a.v > b.v do { let t = a.v; a.v = b.v; b.v = t; }
    }
    """
    (event,) = agent_of(text).interactions
    assert event.guard == parse_expression("speed[1] > speed[2]")
    assert {a.variable for a in event.actions} >= {"speed[1]", "speed[2]"}


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("vel[i], vel[i-1]", "vel[i], vel[i-2]", "index-out-of-range"),
        ("vel[i], vel[i-1]", "vel[i+1], vel[i]", "index-out-of-range"),
        ("car[i].gap > 0", "car[i+1].gap > 0", "index-out-of-range"),
        ("car[i].gap > 0", "car[i].gab > 0", "unknown-name"),
        ("car[i].gap > 0", "cra[i].gap > 0", "unknown-name"),
        ("car[i].gap > 0", "car.gap > 0", "unknown-name"),
        ("car[i].gap > 0", "car[i] > 0", "agent-as-value"),
        ("vel[i] >= 0", "vel >= 0", "array-without-index"),
        ("vel[i] >= 0", "vel[vel[0]] >= 0", "not-constant"),
        ("vel[i] >= 0", "vel[i/2] >= 0", "type-mismatch"),
        ("[i in 1..n] = Car(i)", "[i in 1..n/3] = Car(i)", "type-mismatch"),
        ("Car(i) [ vel, front", "Car(i) [ vel, rear", "unknown-name"),
        (
            "Car(i) [ vel, front := vel[i], vel[i-1] ]",
            "Car(i) [ vel := vel[i] ]",
            "undeclared-variable",
        ),
        ("[ vel := vel[0] ]", "[ vel := vel[1] ]", "two-writers"),
        ("[ vel := vel[0] ]", "[ vel := n ]", "not-a-variable"),
    ],
)
def test_mistakes_with_indices(old: str, new: str, code: str) -> None:
    assert old in PLATOON
    assert code in codes(PLATOON.replace(old, new))


RING = """
const int n = 4;
mode Warm() {
  write analog real mine;
  read analog real before, after;
  diff { d(mine) == before - 2*mine + after; }
}
agent Cell(real start) {
  write analog real mine;
  read analog real before, after;
  init { mine = start; }
  mode top = Warm();
}
agent Ring() {
  private analog real T[1..n];
  agent cell[i in 1..n] = Cell(i)
    [ mine, before, after := T[i], T[i > 1 ? i - 1 : n], T[i < n ? i + 1 : 1] ];
  assert "falling" { forall i in 1..n : T[i == n ? 1 : i + 1] <= 10 }
}
"""


def test_indices_by_condition_close_a_ring() -> None:
    automaton = automaton_of(RING)
    flows = {
        flow.variable: flow.range.exact
        for component in automaton.components
        for flow in component.locations[0].flows
    }
    assert flows["T[1]"] == parse_expression("T[4] - 2*T[1] + T[2]")
    assert flows["T[4]"] == parse_expression("T[3] - 2*T[4] + T[1]")
    assert codes(RING.replace("i > 1 ? i - 1 : n", "i > 1")) == ["not-constant"]
    assert codes(RING.replace("i > 1 ? i - 1 : n", "mine > 1 ? 1 : n")) == ["unknown-name"]


def test_an_index_out_of_range_is_one_mistake() -> None:
    assert codes(RING.replace("i > 1 ? i - 1 : n", "i - 1")) == ["index-out-of-range"]
    assert codes(RING.replace("i > 1 ? i - 1 : n", "i - 4")) == ["index-out-of-range"]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("between a, b in car", "between a, b in cars", "unknown-name"),
        ("between a, b in car", "between a, a in car", "duplicate-name"),
        ("(a.x - b.x)^2", "(a.x - c.x)^2", "unknown-name"),
        ("(a.x - b.x)^2", "(a.x - b.z)^2", "unknown-name"),
        ("when (a.x - b.x)^2 <= 4*r^2", "when a.x - b.x", "type-mismatch"),
        ("a.vx = b.vx;", "a.vx = true;", "type-mismatch"),
    ],
)
def test_mistakes_in_interactions(old: str, new: str, code: str) -> None:
    assert old in ARENA
    assert code in codes(ARENA.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("const int n = 4", "const int n = 1000000000"),
        ("const int n = 4", "const int n = 10^300"),
        ("forall i in 0..n : vel[i] >= 0", "forall i in 0..10^12 : vel[0] >= i"),
    ],
)
def test_absurd_sizes_are_refused(old: str, new: str) -> None:
    assert old in PLATOON
    found = codes(PLATOON.replace(old, new))
    assert found
    assert set(found) <= {"too-many-instances", "too-large"}


def test_instances_that_double_at_every_level_end_at_once() -> None:
    levels = [f"agent A{k}() {{ agent a = A{k + 1}(); agent b = A{k + 1}(); }}" for k in range(60)]
    text = "mode T() { } agent A60() { mode top = T(); }" + "\n".join(levels)
    assert codes(text) == ["too-many-instances"]


def test_too_many_pairs_end_at_once() -> None:
    found = codes(ARENA.replace("int n = 4", "int n = 2000"))
    assert found == ["too-many-instances"]


@pytest.mark.parametrize(
    "text",
    [
        "mode T() { mode a = T(); trans from init to a } agent Main() { mode top = T(); }",
        "agent A() { agent b = B(); } agent B() { agent a = A(); } agent Main() { agent x = A(); }",
        "mode P() { mode q = Q(); } mode Q() { mode p = P(); } agent Main() { mode top = P(); }",
    ],
)
def test_recursive_instantiation_names_the_cycle(text: str) -> None:
    found = diagnostics(text)
    assert "recursive-instantiation" in [d.code for d in found]
    first = next(d for d in found if d.code == "recursive-instantiation")
    cycle = first.message.split(": ")[1].split(" -> ")
    assert len(cycle) >= 2
    assert cycle[0] == cycle[-1]


def test_very_deep_nesting_is_refused() -> None:
    levels = [f"agent A{k}() {{ agent a = A{k + 1}(); }}" for k in range(500)]
    text = "mode T() { } agent A500() { mode top = T(); }" + "\n".join(levels)
    assert codes(text) == ["too-deep"]


def test_an_empty_group_is_allowed_and_mentioned() -> None:
    found = diagnostics(PLATOON.replace("const int n = 4", "const int n = 0"))
    assert [d.code for d in found] == ["empty-replication"]


def test_fifty_vehicles_load() -> None:
    text = PLATOON.replace("const int n = 4", "const int n = 50")
    elaborated(PLATOON)
    automaton_of(text)
    assert diagnostics(text) == ()

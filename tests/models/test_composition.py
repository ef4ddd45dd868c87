"""The product on demand, its listing, and CHARON's operators on agents."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import pytest
from hierarchies import actions, atomic, constraints, declare, expr, subs, trans

from workbench.models.agents.composition import (
    Interaction,
    Product,
    compose,
    explicit,
    hide,
    rename,
)
from workbench.models.agents.flatten import flatten
from workbench.models.agents.hierarchy import Access, Agent, Mode
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import FALSE, at_location, constant
from workbench.models.source import ModelError


def switch(name: str, label: str | None = None, reset: str | None = None) -> HybridAutomaton:
    """Two locations with an edge each way; the edge to `on` may carry a label."""
    resets = () if reset is None else actions(("x", reset))
    return HybridAutomaton(
        name,
        (Variable(f"{name}.t"), *((Variable("x"),) if reset else ())),
        (
            Location("off", constraints(**{f"{name}.t": "1"}), invariant=expr(f"{name}.t <= 5")),
            Location("on", constraints(**{f"{name}.t": "2"})),
        ),
        (
            Edge("off", "on", expr(f"{name}.t >= 1"), resets, label, name="up"),
            Edge("on", "off", expr(f"{name}.t >= 2"), name="down"),
        ),
        (Initial("off", expr(f"{name}.t == 0")),),
        alphabet=frozenset() if label is None else frozenset({label}),
    )


def test_ten_switches_cost_nothing_until_asked() -> None:
    product = Product("many", tuple(switch(f"s{i}") for i in range(10)))
    first = next(product.initial_sets())
    edges = product.edges_from(first.location)
    assert len(edges) == 10
    assert first.location == "|".join(["off"] * 10)
    assert product.location(edges[3].target).flow_of("s3.t") == Range.exactly(constant(2))
    assert edges[3].name == "s3: up"
    assert len(product._locations) == 1 and len(product._edges) == 1


def test_two_to_the_twenty_initial_sets_are_given_one_at_a_time() -> None:
    many = tuple(
        HybridAutomaton(
            f"s{i}", (), (Location("a"), Location("b")), (), (Initial("a"), Initial("b"))
        )
        for i in range(20)
    )
    found = list(islice(Product("many", many).initial_sets(), 3))
    assert [f.location.count("b") for f in found] == [0, 1, 1]


def test_products_are_values() -> None:
    one, other = (Product("p", (switch("a"), switch("b"))) for _ in range(2))
    one.edges_from("off|off")
    assert one == other and one.sha256 == other.sha256
    assert one != Product("p", (switch("b"), switch("a")))


def test_a_label_known_to_two_is_taken_together() -> None:
    product = Product("p", (switch("a", "go"), switch("b", "go"), switch("c")))
    found = {(e.target, e.name): e for e in product.edges_from("off|off|off")}
    assert set(found) == {("on|on|off", "a: up & b: up"), ("off|off|on", "c: up")}
    assert found["on|on|off", "a: up & b: up"].guard == expr("a.t >= 1 && b.t >= 1")
    assert found["on|on|off", "a: up & b: up"].label == "go"


def test_an_absent_edge_blocks_a_label_of_the_alphabet() -> None:
    silent = HybridAutomaton("mute", (), (Location("here"),), (), (Initial("here"),))
    free = Product("p", (switch("a", "go"), silent))
    blocked = Product(
        "p",
        (
            switch("a", "go"),
            HybridAutomaton(
                "mute", (), (Location("here"),), (), (Initial("here"),), alphabet=frozenset({"go"})
            ),
        ),
    )
    assert len(free.edges_from("off")) == 1
    assert blocked.edges_from("off") == ()


def test_conflicting_resets_are_intersected() -> None:
    product = Product("p", (switch("a", "go", "[0, 5]"), switch("b", "go", "[3, 9]")))
    (edge,) = product.edges_from("off|off")
    assert edge.resets == (Constraint("x", Range(constant(3), constant(5))),)


def test_interactions_are_self_loops_everywhere() -> None:
    bump = Interaction("bump", ("a", "b"), expr("a.t == b.t"), actions(("a.t", "0")))
    product = Product("p", (switch("a"), switch("b")), (bump,))
    for place in ("off|off", "on|off"):
        edge = product.edges_from(place)[-1]
        assert (edge.source, edge.target, edge.name) == (place, place, "bump(a, b)")
        assert edge.resets == bump.resets


def test_inputs_are_what_nobody_writes_within_everybodys_bounds() -> None:
    first = HybridAutomaton(
        "a",
        (Variable("x"),),
        (Location("l"),),
        (),
        (Initial("l"),),
        (Input("u", low=Fraction(0)), Input("y")),
    )
    second = HybridAutomaton(
        "b",
        (Variable("y"),),
        (Location("l"),),
        (),
        (Initial("l"),),
        (Input("u", low=Fraction(-1), high=Fraction(4)), Input("x")),
    )
    product = Product("p", (first, second))
    assert [v.name for v in product.variables] == ["x", "y"]
    assert product.inputs == (Input("u", low=Fraction(0), high=Fraction(4)),)
    assert product.location("a").name == "a"


def test_location_names_survive_separators_in_local_names() -> None:
    odd = HybridAutomaton("a", (), (Location("l|m"), Location("n\\")), (), (Initial("l|m"),))
    other = HybridAutomaton("b", (), (Location("|"), Location("")), (), (Initial(""),))
    product = Product("p", (odd, other))
    for a in ("l|m", "n\\"):
        for b in ("|", ""):
            assert product.occupied(product.location_name((a, b))) == {"a": a, "b": b}
    with pytest.raises(KeyError):
        product.location("nowhere")


def test_listing_is_the_graph_reachable_part() -> None:
    product = Product(
        "p",
        (switch("a", "go"), switch("b", "go")),
        properties=(Property("safe", expr("a.t <= 9"), where=at_location("b", "on")),),
    )
    flat = explicit(product)
    assert {x.name for x in flat.locations} == {"off|off", "on|on", "on|off", "off|on"}
    assert flat.properties[0].bad_states(flat.occupied("on|off")) == FALSE
    assert flat.properties[0].bad_states(flat.occupied("on|on")) != FALSE
    with pytest.raises(ModelError, match="more than 3 locations"):
        explicit(product, 3)
    big = Product("big", tuple(switch(f"s{i}") for i in range(40)))
    with pytest.raises(ModelError, match="more than 100 locations"):
        explicit(big, 100)


# Operators on agents


def front() -> Agent:
    mode = Mode("FrontTop", declare("write", "vel"), flows=constraints(vel="[-5, 3]"))
    return Agent("Front", declare("write", "vel", initial="[15, 18]"), top=mode)


def follower() -> Agent:
    mode = Mode(
        "FollowTop",
        (*declare("write", "own"), *declare("read", "vel"), *declare("private", "mem")),
        flows=constraints(own="vel - own", mem="own"),
    )
    return Agent("Follower", (*declare("write", "own"), *declare("read", "vel")), top=mode)


def test_composition_shares_variables_by_name() -> None:
    both = compose(front(), follower())
    automaton = flatten(both, "both")
    assert [v.name for v in automaton.variables] == ["vel", "own", "Follower.mem"]
    assert automaton.inputs == ()
    access = {d.name: d.access for d in both.variables}
    assert access == {"vel": Access.WRITE, "own": Access.WRITE}


def test_the_same_agent_twice_is_two_instances() -> None:
    pair = compose(rename(front(), {"vel": "v1"}), rename(front(), {"vel": "v2"}))
    assert [c.name for c in flatten(pair, "p").components] == ["Front.Front", "Front2.Front"]
    assert [v.name for v in flatten(pair, "p").variables] == ["v1", "v2"]


def test_hiding_makes_private_and_keeps_the_automaton() -> None:
    both = compose(front(), follower())
    hidden = hide(both, {"vel"})
    assert flatten(hidden, "p") == flatten(both, "p")
    inside = compose(hidden, front())
    names = [v.name for v in flatten(inside, "p").variables]
    assert "Front_Follower.vel" in names and "vel" in names


def test_renaming_and_back_is_the_same_behaviour() -> None:
    once = rename(front(), {"vel": "v"})
    assert [v.name for v in flatten(once, "p").variables] == ["v"]
    twice = rename(once, {"v": "vel"})
    (start,) = flatten(twice, "p").initial_sets()
    assert start.condition == next(flatten(front(), "p").initial_sets()).condition


def test_a_swap_is_one_simultaneous_renaming() -> None:
    swapped = rename(follower(), {"vel": "own", "own": "vel"})
    location = flatten(swapped, "p").location("Follower")
    assert location.flow_of("vel") == Range.exactly(expr("own - vel"))


def test_mistakes_in_operators_are_explained() -> None:
    with pytest.raises(ModelError, match="writes no variable vel"):
        hide(follower(), {"vel"})
    with pytest.raises(ModelError, match="no global variable mem"):
        rename(follower(), {"mem": "m"})
    with pytest.raises(ModelError, match="two variables of Follower one: own"):
        rename(follower(), {"vel": "own"})
    text = Agent("T", declare("write", "vel", Kind.DISCRETE), top=atomic("M"))
    with pytest.raises(ModelError, match="discrete real in another"):
        compose(front(), text)


def test_composition_is_associative_up_to_instance_paths() -> None:
    third = Agent(
        "Third",
        declare("read", "own"),
        top=Mode("T", (), subs(a=atomic("A")), transitions=(trans("init", "a.de"),)),
    )
    left = flatten(compose(compose(front(), follower()), third), "p")
    right = flatten(compose(front(), compose(follower(), third)), "p")
    (a,), (b,) = (list(x.initial_sets()) for x in (left, right))
    assert a.condition == b.condition == expr("vel >= 15 && vel <= 18")
    for name in ("vel", "own"):
        flows = [x.location(s.location).flow_of(name) for x, s in ((left, a), (right, b))]
        assert flows[0] == flows[1]

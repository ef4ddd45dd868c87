"""Reachability of rectangular systems against oracles, and verdicts with their evidence.

The oracle for timed automata: with closed guards and invariants and whole constants, a
location that is reachable at all is reachable with whole delays; so a search over whole
numbers decides reachability of locations.
"""

from __future__ import annotations

import random
from collections import deque
from fractions import Fraction

import pytest

from workbench.abstraction.strategies.rectangular import RectangularStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.models.automaton import (
    BOOL,
    Automaton,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Kind,
    Location,
    Parameter,
    Property,
    PropertyKind,
    Range,
    Variable,
    enumeration,
)
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    at_location,
    compare,
    conjunction,
    constant,
    disjunction,
    equal,
    negation,
    symbol,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.load import load
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Falsified, Unknown, Verified
from workbench.reach.rectangular.evidence import prove_nodes
from workbench.reach.rectangular.exact_replay import objection
from workbench.reach.rectangular.exploration import Node, explore_exactly, explore_hulls
from workbench.reach.rectangular.system import Packing, RectangularSystem
from workbench.reach.rectangular.witness import Path, Run, Stay, run_along
from workbench.reach.sets.polyhedron import point_vector

CLOCKS = ("x", "y")
CAP = 5  # constants are at most 3


def exactly(name: str, value: int) -> Constraint:
    return Constraint(name, Range.exactly(constant(value)))


def random_timed_automaton(seed: int) -> tuple[HybridAutomaton, list, list]:
    """An automaton, and its guards and invariants as triples (clock, sign, number)."""
    draw = random.Random(seed)
    names = ["a", "b", "c", "d"]
    kinds = (Op.LESS_EQUAL, Op.GREATER_EQUAL)
    limits = [(draw.choice(CLOCKS), Op.LESS_EQUAL, draw.randint(1, 3)) for _ in names]
    edges = []
    for _ in range(6):
        atoms = [(draw.choice(CLOCKS), draw.choice(kinds), draw.randint(0, 3)) for _ in range(2)]
        reset = draw.sample(CLOCKS, draw.randint(0, 1))
        edges.append((draw.choice(names[:3]), draw.choice(names), atoms, reset))

    def condition(atoms: list[tuple[str, Op, int]]) -> Expression:
        return conjunction(*(compare(op, variable(n), k) for n, op, k in atoms))

    model = HybridAutomaton(
        "random",
        tuple(Variable(c) for c in CLOCKS),
        tuple(
            Location(name, tuple(exactly(c, 1) for c in CLOCKS), invariant=condition([limit]))
            for name, limit in zip(names, limits, strict=True)
        ),
        tuple(
            Edge(s, t, condition(atoms), tuple(exactly(c, 0) for c in reset), name=f"e{i}")
            for i, (s, t, atoms, reset) in enumerate(edges)
        ),
        (Initial("a", conjunction(*(equal(variable(c), 0) for c in CLOCKS))),),
        properties=(
            Property("never d", TRUE, PropertyKind.FORBIDDEN, where=at_location("random", "d")),
        ),
    )
    return model, limits, edges


def reached_with_whole_delays(limits: list, edges: list) -> set[tuple[str, int, int]]:
    names = ["a", "b", "c", "d"]
    limit = dict(zip(names, limits, strict=True))

    def holds(atoms: list[tuple[str, Op, int]], state: dict[str, int]) -> bool:
        return all(state[n] <= k if op is Op.LESS_EQUAL else state[n] >= k for n, op, k in atoms)

    first = ("a", 0, 0)
    seen = {first}
    queue = deque([first])
    while queue:
        location, x, y = queue.popleft()
        following = [(location, min(x + 1, CAP), min(y + 1, CAP))]
        for source, target, atoms, reset in edges:
            if source == location and holds(atoms, {"x": x, "y": y}):
                after = {c: 0 if c in reset else v for c, v in (("x", x), ("y", y))}
                following.append((target, after["x"], after["y"]))
        for state in following:
            place, x2, y2 = state
            if holds([limit[place]], {"x": x2, "y": y2}) and state not in seen:
                seen.add(state)
                queue.append(state)
    return seen


def system(model: Automaton, **options: Packing) -> RectangularSystem:
    return RectangularSystem(linear_problem(model, model.properties[0]), **options)


def member(nodes: list[Node], names: tuple[str, ...], location: str, state: dict) -> bool:
    point = point_vector([Fraction(state[n]) for n in names])
    return any(
        node.place.location == location and node.states[0].contains_generator(point)
        for node in nodes
    )


@pytest.mark.parametrize("seed", range(60))
def test_timed_automata_reach_what_whole_delays_reach(seed: int) -> None:
    model, limits, edges = random_timed_automaton(seed)
    safe = Property("anything", TRUE)
    model = HybridAutomaton(
        **{**{f: getattr(model, f) for f in model.__dataclass_fields__}, "properties": (safe,)}
    )
    found = explore_exactly(system(model))
    assert found.complete
    expected = reached_with_whole_delays(limits, edges)
    assert {n.place.location for n in found.nodes} == {location for location, _, _ in expected}
    names = system(model).names
    hulls = explore_hulls(system(model))
    for location, x, y in expected:
        if x < CAP and y < CAP:  # capped values stand for larger ones
            assert member(found.nodes, names, location, {"x": x, "y": y})
            assert member(hulls.nodes, names, location, {"x": x, "y": y})
    largest = system(model).largest
    for location in "abcd":  # and nothing else, as far as conditions can tell
        for x in range(int(largest.get("x", 0)) + 1):
            for y in range(int(largest.get("y", 0)) + 1):
                if names == CLOCKS and member(found.nodes, names, location, {"x": x, "y": y}):
                    assert (location, x, y) in expected


@pytest.mark.parametrize("seed", range(60))
def test_verdicts_on_timed_automata(seed: int) -> None:
    model, limits, edges = random_timed_automaton(seed)
    reachable = any(location == "d" for location, _, _ in reached_with_whole_delays(limits, edges))
    verdict = RectangularStrategy().attempt(Task(model, model.properties[0]))
    if reachable:
        assert isinstance(verdict, Falsified)
        assert verdict.trace.segments[-1].location == "d"
        assert verdict.confirmations[0].rigorous
    else:
        assert isinstance(verdict, Verified)
        assert isinstance(check(model, "never d", verdict.certificate), Accepted)


def rectangle_walker(seed: int) -> HybridAutomaton:
    """Two locations, rates in ranges, an uncertain parameter, and ranges in resets."""
    draw = random.Random(seed)

    def rates() -> tuple[Constraint, ...]:
        found = []
        for name in CLOCKS:
            low = draw.randint(-2, 1)
            found.append(Constraint(name, Range(constant(low), constant(low + draw.randint(0, 2)))))
        return tuple(found)

    x, y, p = variable("x"), variable("y"), variable("p")
    inside = conjunction(x >= -5, x <= 5, y >= -5, y <= 5)
    jump = Constraint("x", Range(y - 1, y + p))
    return HybridAutomaton(
        "walker",
        tuple(Variable(c) for c in CLOCKS),
        (Location("a", rates(), invariant=inside), Location("b", rates(), invariant=inside)),
        (
            Edge("a", "b", x + y >= 1, (jump,), name="over"),
            Edge("b", "a", x <= p, name="back"),
        ),
        (Initial("a", conjunction(x >= 0, x <= 1, equal(y, 0))),),
        parameters=(Parameter("p", low=Fraction(1, 2), high=Fraction(1)),),
        properties=(Property("anything", x <= 10),),
    )


@pytest.mark.parametrize("seed", range(12))
def test_random_runs_stay_in_the_sets(seed: int) -> None:
    model = rectangle_walker(seed)
    hulls = explore_hulls(system(model))
    assert hulls.complete
    names = ("x", "y", "p")
    assert set(system(model).names) == set(names)
    order = system(model).names
    draw = random.Random(seed)
    for _ in range(40):
        p = Fraction(draw.randint(2, 4), 4)
        location, state = "a", {"x": Fraction(draw.randint(0, 4), 4), "y": Fraction(0), "p": p}
        for _ in range(8):
            assert member(hulls.nodes, order, location, state)
            place = model.location(location)
            step = Fraction(draw.randint(0, 6), 4)
            moved = dict(state)
            for name in CLOCKS:
                allowed = place.flow_of(name)
                assert allowed.low is not None and allowed.high is not None
                low, high = allowed.low.constant, allowed.high.constant
                moved[name] += step * (low + (high - low) * Fraction(draw.randint(0, 4), 4))
            if all(-5 <= moved[n] <= 5 for n in CLOCKS):
                state = moved
            assert member(hulls.nodes, order, location, state)
            if location == "a" and state["x"] + state["y"] >= 1:
                low, high = state["y"] - 1, state["y"] + p
                new = low + (high - low) * Fraction(draw.randint(0, 4), 4)
                if -5 <= new <= 5:
                    location, state = "b", {**state, "x": new}
            elif location == "b" and state["x"] <= p:
                location = "a"
    proof = prove_nodes(system(model), hulls.nodes)
    assert not hasattr(proof, "obligation"), proof


# Discrete values


def light_switch(wait: int = 2) -> HybridAutomaton:
    """A light that is green at most `wait` long; a Boolean remembers that it was on."""
    clock, light, was_on = variable("clock"), variable("light"), variable("was_on")
    kinds = enumeration("red", "green")
    return HybridAutomaton(
        "switch",
        (
            Variable("clock"),
            Variable("light", kinds, Kind.DISCRETE),
            Variable("was_on", BOOL, Kind.DISCRETE),
        ),
        (
            Location(
                "run",
                (exactly("clock", 1),),
                invariant=disjunction(equal(light, symbol("red")), clock <= wait),
            ),
        ),
        (
            Edge(
                "run",
                "run",
                equal(light, symbol("red")),
                (
                    Constraint("light", Range.exactly(symbol("green"))),
                    Constraint("was_on", Range.exactly(disjunction(was_on, clock >= 0))),
                    exactly("clock", 0),
                ),
                name="on",
            ),
            Edge(
                "run",
                "run",
                conjunction(equal(light, symbol("green")), clock >= 1),
                (Constraint("light", Range.exactly(symbol("red"))), exactly("clock", 0)),
                name="off",
            ),
        ),
        (
            Initial(
                "run",
                conjunction(equal(clock, 0), equal(light, symbol("red")), negation(was_on)),
            ),
        ),
        properties=(
            Property(
                "short green",
                disjunction(equal(light, symbol("red")), conjunction(was_on, clock <= 2)),
            ),
        ),
    )


def test_symbols_and_truth_values_are_counted_out() -> None:
    model = light_switch()
    verdict = RectangularStrategy().attempt(Task(model, model.properties[0]))
    assert isinstance(verdict, Verified)
    slow = light_switch(3)
    verdict = RectangularStrategy().attempt(Task(slow, slow.properties[0]))
    assert isinstance(verdict, Falsified)
    final = verdict.trace.final()
    assert final["light"] == "green"
    assert final["was_on"] is True
    assert isinstance(final["clock"], float)
    assert final["clock"] > 2


# Counterexamples


def strict_gate(op: Op) -> HybridAutomaton:
    """x reaches exactly 1 in the first location; the gate asks for more than (or at least) 1."""
    x = variable("x")
    return HybridAutomaton(
        "gate",
        (Variable("x"),),
        (
            Location("before", (exactly("x", 1),), invariant=x <= 1),
            Location("beyond", (exactly("x", 0),)),
        ),
        (Edge("before", "beyond", compare(op, x, 1), name="pass"),),
        (Initial("before", equal(x, 0)),),
        properties=(
            Property("stays", TRUE, PropertyKind.FORBIDDEN, where=at_location("gate", "beyond")),
        ),
    )


def test_strict_guards_are_respected() -> None:
    closed, opened = strict_gate(Op.GREATER_EQUAL), strict_gate(Op.GREATER)
    strategy = RectangularStrategy()
    assert isinstance(strategy.attempt(Task(closed, closed.properties[0])), Falsified)
    assert isinstance(strategy.attempt(Task(opened, opened.properties[0])), Verified)


def test_urgent_edges_forbid_the_delay_that_a_violation_needs() -> None:
    """Sets ignore urgency, so bad states are met; no run is suggested, and a replay objects."""
    x = variable("x")
    model = HybridAutomaton(
        "urgent",
        (Variable("x"),),
        (Location("run", (exactly("x", 1),)), Location("done", (exactly("x", 0),))),
        (Edge("run", "done", x >= 1, urgent=True, name="stop"),),
        (Initial("run", equal(x, 0)),),
        properties=(Property("small", x <= 1),),
    )
    verdict = RectangularStrategy().attempt(Task(model, model.properties[0]))
    assert isinstance(verdict, Unknown)
    assert "on no run along the same edges" in verdict.reason
    rates = {"x": Fraction(1)}
    late = Run((Stay("run", {"x": Fraction(0)}, Fraction(2), rates),))
    why = objection(model, model.properties[0], late)
    assert why is not None and "urgent" in why


def test_violations_after_the_horizon_do_not_count() -> None:
    x = variable("x")
    late = HybridAutomaton(
        "late",
        (Variable("x"),),
        (Location("run", (exactly("x", 1),)),),
        (),
        (Initial("run", equal(x, 0)),),
        properties=(Property("small", x <= 10),),
        horizon=Fraction(5),
    )
    assert isinstance(RectangularStrategy().attempt(Task(late, late.properties[0])), Unknown)


def test_a_replay_objects_to_every_kind_of_wrong_run() -> None:
    from dataclasses import replace

    model = load("fischer_hasty", parameters={"n": Fraction(2)}).automaton
    problem = linear_problem(model, model.properties[0])
    found = explore_exactly(RectangularSystem(problem))
    assert found.path is not None
    path = Path(
        tuple(place.location for place, _ in found.path),
        tuple((m.edge, m.case) for _, m in found.path if m is not None),
        found.bad,
    )
    run = run_along(problem, path)
    assert run is not None
    assert objection(model, problem.claim, run) is None
    assert objection(model, problem.claim, run, horizon=run.duration / 2) is not None
    for number, stay in enumerate(run.stays):
        for wrong in (
            replace(stay, duration=Fraction(-1)),
            replace(stay, state={**stay.state, "process[1].clock": Fraction(9)}),
            replace(stay, state={**stay.state, "turn": Fraction(5)}),
            replace(stay, duration=Fraction(1), rates={"turn": Fraction(1)}),
            replace(stay, edge=stay.edge + 1),
        ):
            stays = (*run.stays[:number], wrong, *run.stays[number + 1 :])
            is_last = number == len(run.stays) - 1
            if stays == run.stays or (is_last and wrong.edge != stay.edge):
                continue  # nothing follows the last stay
            assert objection(model, problem.claim, replace(run, stays=stays)) is not None


# The library


@pytest.mark.parametrize("count", [2, 3])
def test_fischer(count: int) -> None:
    parameters = {"n": Fraction(count)}
    safe = load("fischer", parameters=parameters).automaton
    verdict = RectangularStrategy().attempt(Task(safe, safe.properties[0]))
    assert isinstance(verdict, Verified)
    hasty = load("fischer_hasty", parameters=parameters).automaton
    assert isinstance(RectangularStrategy().attempt(Task(hasty, hasty.properties[0])), Falsified)


def test_fischer_at_the_border() -> None:
    """With slowest = wait the protocol is unsafe, but only just."""
    parameters = {"n": Fraction(2), "slowest": Fraction(2), "wait": Fraction(2)}
    model = load("fischer", parameters=parameters).automaton
    assert isinstance(RectangularStrategy().attempt(Task(model, model.properties[0])), Falsified)


@pytest.mark.parametrize(
    ("cars", "delay", "expected"),
    [(2, "1/2", Verified), (3, "7/10", Verified), (3, "3/4", Falsified)],
)
def test_adaptive_cruise(cars: int, delay: str, expected: type) -> None:
    """The hand analysis: car i loses (5 + 2i)*delay of 8 metres, the first one 6*delay."""
    parameters = {"n": Fraction(cars), "delay": Fraction(delay)}
    model = load("adaptive_cruise", parameters=parameters).automaton
    assert isinstance(RectangularStrategy().attempt(Task(model, model.properties[0])), expected)


def test_packs_and_whole_agree_on_the_cars() -> None:
    model = load("adaptive_cruise", parameters={"n": Fraction(2)}).automaton
    packs = system(model, packing=Packing.LINKED)
    assert len(packs.packs) == 2
    found = explore_hulls(packs)
    whole = explore_hulls(system(model))
    assert found.complete
    assert found.path is None
    assert {n.place for n in whole.nodes} <= {n.place for n in found.nodes}


def test_models_that_are_not_rectangular_are_told_apart() -> None:
    model = load("thermostat_timer").automaton
    task = Task(model, model.properties[0])
    assert RectangularStrategy().suits(task) is None
    verdict = RectangularStrategy().attempt(task)
    assert isinstance(verdict, Unknown)
    assert "not constant" in verdict.reason

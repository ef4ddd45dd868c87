"""Flowpipe certificates: accepted where the closed form agrees, rejected by name otherwise."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

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
from workbench.models.certificates.certificate import (
    Certificate,
    MalformedCertificateError,
    decode,
    encode,
)
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import BY_CHECKER, Accepted, Rejected
from workbench.models.checker.adjoint import Stage
from workbench.models.checker.affine_flow import AffineFlow, affine_flow
from workbench.models.checker.exponential import Balanced, exponential, growth
from workbench.models.checker.flowpipe import Direction, Node, Step, steps
from workbench.models.checker.packed_rows import PackedRows
from workbench.models.checker.stay_conditions import ELAPSED
from workbench.models.expressions.expression import Expression, conjunction, constant, variable
from workbench.models.interruption import CheckInterruptedError
from workbench.models.linear import Form
from workbench.models.lowering.problem import linear_problem
from workbench.reach.affine.flowpipe_parts import FlowpipeMethod, NotFound
from workbench.reach.affine.flowpipe_refinement import Found, search_flowpipe

X, Y, C, U = variable("x"), variable("y"), variable("c"), variable("u")


def flow(name: str, value: Expression) -> Constraint:
    return Constraint(name, Range.exactly(value))


def heater(claim: Expression) -> HybridAutomaton:
    """x' = -x for a second, then x' = 1 - x for a second, and so on, from x in [1, 2]."""
    wait, over = C <= 1, C >= 1
    again = (Constraint("c", Range.exactly(constant(0))),)
    return HybridAutomaton(
        "heater",
        (Variable("x"), Variable("c")),
        (
            Location("off", (flow("x", -X), flow("c", constant(1))), (), wait),
            Location("on", (flow("x", 1 - X), flow("c", constant(1))), (), wait),
        ),
        (Edge("off", "on", over, again, name="start"), Edge("on", "off", over, again, name="stop")),
        (Initial("off", conjunction(X >= 1, X <= 2, C <= 0, C >= 0)),),
        properties=(Property("safe", claim),),
    )


def lowest_up_to_three() -> float:
    """The lowest run falls for a second, recovers for one, and falls again until time 3."""
    after_two = 1 - (1 - math.exp(-1)) * math.exp(-1)
    return min(math.exp(-1), after_two * math.exp(-1))


def spring() -> HybridAutomaton:
    """x'' = u - x, |u| <= 1/10, from (1, 0): x(t) = cos t + what u adds, at most 1/10 * (t + 1)."""
    return HybridAutomaton(
        "spring",
        (Variable("x"), Variable("y")),
        (Location("run", (flow("x", Y), flow("y", U - X))),),
        (),
        (Initial("run", conjunction(X >= 1, X <= 1, Y >= 0, Y <= 0)),),
        (Input("u", low=Fraction(-1, 10), high=Fraction(1, 10)),),
        properties=(Property("safe", X <= 2),),
    )


def found(model: HybridAutomaton, horizon: Fraction | int) -> Found | NotFound:
    problem = linear_problem(model, model.properties[0])
    questions = iter(range(400))
    return search_flowpipe(
        problem, Fraction(horizon), FlowpipeMethod(), lambda: next(questions, None) is None
    )


def certified(model: HybridAutomaton, horizon: Fraction | int) -> Certificate:
    outcome = found(model, horizon)
    assert isinstance(outcome, Found), outcome
    return Certificate(model.name, model.sha256, "safe", outcome.proof)


@pytest.fixture(scope="module")
def safe() -> tuple[HybridAutomaton, Certificate]:
    """The heater proved to stay above a little less than its lowest point up to time 3."""
    low = Fraction(lowest_up_to_three()) - Fraction(1, 100)
    model = heater(X >= constant(low))
    return model, certified(model, 3)


def test_a_property_that_just_holds_is_proved(safe: tuple[HybridAutomaton, Certificate]) -> None:
    model, certificate = safe
    judgement = check(model, "safe", certificate)
    assert isinstance(judgement, Accepted)
    assert judgement.horizon == 3
    assert decode(encode(certificate)) == certificate


def test_a_property_that_just_fails_is_not_proved() -> None:
    model = heater(X >= constant(Fraction(lowest_up_to_three()) + Fraction(1, 1000)))
    assert isinstance(found(model, 3), NotFound)


def test_the_horizon_is_part_of_the_claim() -> None:
    """x' = -1 from 1 is above 0 before time 1 only."""
    model = HybridAutomaton(
        "fall",
        (Variable("x"),),
        (Location("run", (flow("x", constant(-1)),)),),
        (),
        (Initial("run", conjunction(X >= 1, X <= 1)),),
        properties=(Property("safe", X >= 0),),
    )
    assert isinstance(check(model, "safe", certified(model, Fraction(99, 100))), Accepted)
    assert isinstance(found(model, Fraction(101, 100)), NotFound)


def test_a_cycle_of_stays_proves_for_all_time() -> None:
    """A sawtooth needs no horizon: its only successor set is the one it started from."""
    edge = Edge("up", "up", X >= 5, (Constraint("x", Range(constant(0), constant(1))),))
    model = HybridAutomaton(
        "sawtooth",
        (Variable("x"),),
        (Location("up", (flow("x", constant(1)),), invariant=X <= 5),),
        (edge,),
        (Initial("up", conjunction(X >= 0, X <= 1)),),
        properties=(Property("safe", X <= 5),),
    )
    outcome = search_flowpipe(
        linear_problem(model, model.properties[0]), None, FlowpipeMethod(step=Fraction(1))
    )
    assert isinstance(outcome, Found)
    certificate = Certificate(model.name, model.sha256, "safe", outcome.proof)
    found = check(model, "safe", certificate)
    assert found == Accepted(len(outcome.proof.evidence), BY_CHECKER)


def bounds(step: Step, number: int) -> tuple[float, float]:
    """The bound of a direction at the two ends of a step."""
    form = step.rows[number].form
    slope = float(form.coefficients.get(ELAPSED, 0))
    return tuple(-float(form.constant) - slope * float(t) for t in (step.begin, step.end))  # type: ignore[return-value]


def test_rows_agree_with_the_closed_form() -> None:
    model = spring()
    problem = linear_problem(model, model.properties[0])
    flow_of = affine_flow(problem, "run")
    one = Fraction(1)
    entry = tuple(
        Form({name: Fraction(sign)}, Fraction(-sign * value))
        for name, value in (("x", 1), ("y", 0), ("time", 0))
        for sign in (1, -1)
    )
    node = Node(
        "run",
        entry,
        (Direction({"x": one}), Direction({"x": -one})),
        (Stage(Fraction(1, 16), 100),),
        6,
        96,
        Fraction(10),
        {},
    )
    worst = 0.0
    for k, step in enumerate(steps(flow_of, node)):
        t = (k + 1) / 16
        sines = np.abs(np.sin(np.linspace(0, t, 20001)))
        added = float(np.trapezoid(sines, dx=t / 20000)) / 10
        high, low = bounds(step, 0)[1], bounds(step, 1)[1]
        assert high >= math.cos(t) + added - 1e-9
        assert low >= -math.cos(t) + added - 1e-9
        worst = max(worst, high - math.cos(t) - added)
        for part in np.linspace(0, 1, 7):
            inner = (k + float(part)) / 16
            begin, end = bounds(step, 0)
            lowest = math.cos(inner) + 0.1 * (1 - math.cos(min(inner, math.pi)))
            assert begin + (end - begin) * float(part) >= lowest - 1e-9
    assert worst < 2e-3


@pytest.mark.slow
@given(st.integers(0, 10**6))
@settings(max_examples=12, deadline=None)
def test_supports_agree_with_floating_point(seed: int) -> None:
    """Without inputs the bound at the end of a step is the support of exp(At) times a box."""
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 5))
    matrix = np.round(random.uniform(-3, 3, (size, size)), 2)
    low = np.round(random.uniform(-2, 2, size), 2)
    high = low + np.round(random.uniform(0, 1, size), 2)
    names = tuple(f"x{i}" for i in range(size))
    columns = tuple(
        {i: Fraction(str(matrix[i, j])) for i in range(size) if matrix[i, j]} for j in range(size)
    )
    entry = tuple(
        form
        for i, name in enumerate(names)
        for form in (
            Form({name: Fraction(1)}, -Fraction(str(round(high[i], 2)))),
            Form({name: Fraction(-1)}, Fraction(str(round(low[i], 2)))),
        )
    )
    normal = np.round(random.uniform(-1, 1, size), 3)
    if not normal.any():
        return
    direction = {n: Fraction(round(v * 1024), 1024) for n, v in zip(names, normal, strict=True)}
    direction = {n: v for n, v in direction.items() if v}
    if not direction:
        return
    node = Node(
        "run",
        entry,
        (Direction(direction),),
        (Stage(Fraction(1, 8), 12),),
        14,
        128,
        Fraction(2),
        {},
    )
    exact = np.array([float(direction.get(n, 0)) for n in names])
    for k, step in enumerate(steps(AffineFlow(names, columns, (), {}), node)):
        moved = expm(matrix * (k + 1) / 8).T @ exact
        support = float(np.maximum(moved * low, moved * high).sum())
        begin, end = bounds(step, 0)
        scale = 1 + np.abs(moved).sum()
        assert support - 1e-9 * scale <= end
        for part in (0.25, 0.5, 0.75):
            inside = expm(matrix * (k + part) / 8).T @ exact
            value = float(np.maximum(inside * low, inside * high).sum())
            assert value <= begin + (end - begin) * part + 1e-9 * scale


@pytest.mark.slow
@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_fixed_point_exponentials_agree_with_floating_point(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 6))
    matrix = np.round(random.uniform(-4, 4, (size, size)), 2)
    matrix -= random.integers(0, 3) * 2 * np.eye(size)
    rows = tuple(tuple((j, Fraction(str(a))) for j, a in enumerate(row) if a) for row in matrix)
    balanced = Balanced(rows)
    time = Fraction(int(random.integers(1, 40)), 16)
    result = exponential(balanced, time, 128)
    expected = expm(matrix * float(time))
    got = np.array([[float(Fraction(a, 1 << 128)) for a in row] for row in result.rows])
    assert result.error < Fraction(1, 2**40)
    assert np.allclose(got, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    norms = [np.abs(expm(matrix * float(time) * k / 32)).sum(axis=1).max() for k in range(33)]
    assert float(growth(balanced, time)) >= max(norms) * (1 - 1e-9)


@given(st.integers(0, 10_000))
def test_packed_products_are_exact(seed: int) -> None:
    random = Random(seed)
    rows, columns = random.randint(1, 6), random.randint(1, 6)
    signed = [1, -1]
    entries = [
        [random.choice(signed) * random.getrandbits(random.randint(1, 90)) for _ in range(columns)]
        for _ in range(rows)
    ]
    bits = random.randint(1, 90)
    packed = PackedRows(entries, bits)
    for _ in range(5):
        extreme = (1 << bits) - 1
        factors = [
            random.choice([random.getrandbits(bits), extreme, -extreme]) for _ in range(rows)
        ]
        expected = [
            sum(f * row[k] for f, row in zip(factors, entries, strict=True)) for k in range(columns)
        ]
        assert packed.combination(factors) == expected


# What is wrong is rejected, by name

Change = Callable[[dict[str, Any]], None]


def _shrink_entry(data: dict[str, Any]) -> None:
    row = next(f for f in data["nodes"][0]["entry"] if f["coefficients"] == {"x": "1"})
    row["constant"] = str(Fraction(row["constant"]) + Fraction(1, 100))


def _shrink_later_entry(data: dict[str, Any]) -> None:
    row = next(f for f in data["nodes"][1]["entry"] if f["coefficients"] == {"x": "-1"})
    row["constant"] = str(Fraction(row["constant"]) + Fraction(1, 100))


def _drop_node(data: dict[str, Any]) -> None:
    data["nodes"].pop()


def _drop_evidence(data: dict[str, Any]) -> None:
    data["evidence"].pop()


def _add_evidence(data: dict[str, Any]) -> None:
    data["evidence"].append(data["evidence"][-1])


def _fewer_steps(data: dict[str, Any]) -> None:
    stage = data["nodes"][0]["stages"][-1]
    stage["length"] = str(Fraction(stage["length"]) / 2)


def _other_location(data: dict[str, Any]) -> None:
    data["nodes"][1]["location"] = "off"


def _unknown_location(data: dict[str, Any]) -> None:
    data["nodes"][1]["location"] = "nowhere"


def _longer(data: dict[str, Any]) -> None:
    data["scope"]["horizon"] = "5"


def _for_all_time(data: dict[str, Any]) -> None:
    data["scope"] = {"kind": "unbounded"}


def _negative(data: dict[str, Any]) -> None:
    factors = next(e[0]["impossible"] for e in data["evidence"] if "impossible" in e[0])
    first = sorted(factors)[0]
    factors[first] = str(-Fraction(factors[first]))


def _other_model(data: dict[str, Any]) -> None:
    data["model_sha256"] = "0" * 64


def _other_property(data: dict[str, Any]) -> None:
    data["property"] = "other"


def _flip_direction(data: dict[str, Any]) -> None:
    normal = data["nodes"][0]["directions"][0]["normal"]
    for name in normal:
        normal[name] = str(-Fraction(normal[name]))


def _unknown_name(data: dict[str, Any]) -> None:
    data["nodes"][0]["directions"][0]["normal"] = {"nobody": "1"}


def _no_stay(data: dict[str, Any]) -> None:
    data["nodes"][0]["stay"] = "0"


CHANGES: list[tuple[Change, str]] = [
    (_shrink_entry, "initial states"),
    (_shrink_later_entry, "node 1 (off), step"),
    (_drop_node, ""),
    (_drop_evidence, "end"),
    (_add_evidence, "evidence"),
    (_fewer_steps, "node 1"),
    (_other_location, ""),
    (_unknown_location, "flowpipe"),
    (_longer, "node"),
    (_for_all_time, "node"),
    (_negative, "node"),
    (_other_model, "model"),
    (_other_property, "property"),
    (_flip_direction, "node 1"),
    (_unknown_name, "flowpipe"),
    (_no_stay, "flowpipe"),
]


@pytest.mark.parametrize(
    ("change", "obligation"), CHANGES, ids=lambda c: getattr(c, "__name__", "")
)
def test_a_broken_certificate_is_rejected_by_name(
    safe: tuple[HybridAutomaton, Certificate], change: Change, obligation: str
) -> None:
    model, certificate = safe
    data = json.loads(encode(certificate))
    change(data)
    judgement = check(model, "safe", decode(json.dumps(data)))
    assert isinstance(judgement, Rejected), change.__name__
    assert obligation in judgement.obligation, judgement


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a number or list in the JSON text."""
    found: list[tuple[Any, ...]] = []
    pending = [(value, path)]
    while pending:
        node, where = pending.pop()
        if isinstance(node, dict):
            pending.extend((child, (*where, key)) for key, child in node.items())
        elif isinstance(node, list):
            found.append(where)
            pending.extend((child, (*where, i)) for i, child in enumerate(node))
        else:
            found.append(where)
    return found


def mutated(data: dict[str, Any], draw: st.DrawFn) -> None:
    """One change somewhere: a number, a whole number, or a list with a piece missing."""
    where = draw(st.sampled_from(_paths(data)))
    if not where:
        return
    parent: Any = data
    for key in where[:-1]:
        parent = parent[key]
    value = parent[where[-1]]
    if isinstance(value, list):
        if value:
            value.pop(draw(st.integers(0, len(value) - 1)))
    elif isinstance(value, int):
        parent[where[-1]] = draw(st.sampled_from([0, 1, -1, value + 1, value - 1]))
    else:
        try:
            number = Fraction(value)
        except ValueError:
            return
        change = draw(st.sampled_from([-number, number / 2, number * 2, number + 1, number - 1]))
        parent[where[-1]] = str(change)


def never_accepted_for_a_false_claim(certificate: Certificate, draw: st.DrawFn) -> None:
    """The twin's claim is false: whatever is changed, no certificate may be accepted for it."""
    twin = heater(X >= constant(Fraction(lowest_up_to_three()) + Fraction(1, 1000)))
    data = json.loads(encode(replace(certificate, model_sha256=twin.sha256)))
    for _ in range(draw(st.integers(0, 3))):
        mutated(data, draw)
    try:
        changed = decode(json.dumps(data))
    except MalformedCertificateError:
        return
    judgement = check(twin, "safe", changed)
    if isinstance(judgement, Accepted):
        # The claim fails at time 3 only: up to an earlier time it is true.
        assert judgement.horizon is not None
        assert judgement.horizon < 3


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_change_makes_a_false_claim_accepted(
    safe: tuple[HybridAutomaton, Certificate], data: st.DataObject
) -> None:
    never_accepted_for_a_false_claim(safe[1], data.draw)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
def test_thousands_of_changes_make_no_false_claim_accepted(
    safe: tuple[HybridAutomaton, Certificate], data: st.DataObject
) -> None:
    never_accepted_for_a_false_claim(safe[1], data.draw)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("degree", "many"),
        ("bits", True),
        ("stages", [{"length": "1/0", "count": 1}]),
        ("stages", [{"length": "1", "count": 1.5}]),
        ("directions", [{"normal": {"x": "1"}}]),
        ("scale", {"x": "1/2"}),
        ("entry", "everything"),
        ("extra", 1),
    ],
)
def test_malformed_nodes_are_errors(
    safe: tuple[HybridAutomaton, Certificate], field: str, value: Any
) -> None:
    data = json.loads(encode(safe[1]))
    data["nodes"][0][field] = value
    with pytest.raises(MalformedCertificateError):
        decode(json.dumps(data))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("degree", 10**6),
        ("bits", 10**9),
        ("stages", [{"length": "1", "count": 10**9}]),
        ("stages", [{"length": "-1", "count": 1}]),
        ("stages", []),
        ("stages", [{"length": "1/1000000", "count": 1}] * 1000),
        ("stay", "1" + "0" * 3000),
        ("scale", {"x": 10**9}),
    ],
)
def test_hostile_sizes_are_rejected_at_once(
    safe: tuple[HybridAutomaton, Certificate], field: str, value: Any
) -> None:
    data = json.loads(encode(safe[1]))
    data["nodes"][0][field] = value
    judgement = check(safe[0], "safe", decode(json.dumps(data)))
    assert isinstance(judgement, Rejected)
    assert judgement.obligation == "flowpipe"


def test_a_check_can_be_interrupted() -> None:
    """Nothing is judged then, neither for nor against the certificate."""
    automaton = heater(X <= 3)
    problem = linear_problem(automaton, automaton.properties[0])
    found = search_flowpipe(problem, Fraction(3), FlowpipeMethod())
    assert isinstance(found, Found)
    certificate = Certificate(automaton.name, automaton.sha256, "safe", found.proof)
    asked = 0

    def expired() -> bool:
        nonlocal asked
        asked += 1
        return asked > 5

    with pytest.raises(CheckInterruptedError):
        check(automaton, "safe", certificate, expired)
    assert asked == 6
    assert isinstance(check(automaton, "safe", certificate), Accepted)

"""The narrow automaton of progress allows nothing but what the model does.

Its lemma, from the meaning of random models alone: what its rows allow, of states that were drawn,
is a start, a moment or a step of the model; and the other way round, since rows can say all conditions
of these models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any, TypeAlias

import pytest

from tests.support.linear_models import (
    State,
    changed,
    drawn,
    linear_model,
    numbers,
    some_state,
)
from workbench.models.automaton import (
    BOOL,
    INT,
    REAL,
    UNCONSTRAINED,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    Property,
    PropertyKind,
    Range,
    ValueType,
    Variable,
    enumeration,
)
from workbench.models.expressions.evaluation import EvaluationError, evaluate
from workbench.models.expressions.expression import (
    TRUE,
    ZERO,
    Expression,
    compare,
    conjunction,
    constant,
    disjunction,
    divide,
    equal,
    symbol,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.linear import Alternatives, Form
from workbench.models.lowering.narrow import NarrowView, reaching
from workbench.models.lowering.problem import linear_problem

SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 40))]
TRIES = 120
Values = Mapping[str, Fraction]
Constraints: TypeAlias = tuple[Constraint, ...]


def narrow(model: HybridAutomaton) -> NarrowView:
    return NarrowView(reaching(linear_problem(model, model.properties[0])))


def value(form: Form, at: Values) -> Fraction:
    return form.constant + sum(a * at[name] for name, a in form.coefficients.items())


def holds(cases: Alternatives, at: Values) -> bool:
    return any(
        all(value(r.form, at) < 0 or (not r.strict and value(r.form, at) == 0) for r in rows)
        for rows in cases
    )


def side_by_side(before: State, after: State) -> Values:
    later = {f"{name}'": number for name, number in numbers(after).items()}
    return {**numbers(before), **later}


def within(given: Range, state: State, found: Any) -> bool:
    low, high = given.low, given.high
    return (low is None or evaluate(low, state) <= found) and (  # type: ignore[operator]
        high is None or found <= evaluate(high, state)  # type: ignore[operator]
    )


def is_after(resets: tuple[Constraint, ...], before: State, after: State) -> bool:
    """Whether resets lead from one state to another."""
    given = {reset.variable: reset.range for reset in resets}
    for name, found in after.items():
        if name not in given:
            if found != before[name]:
                return False
        elif isinstance(found, bool | str):
            if found != evaluate(given[name].exact, before):  # type: ignore[arg-type]
                return False
        elif not within(given[name], before, found):
            return False
    return True


def nearby(resets: tuple[Constraint, ...], before: State, random: Random) -> dict[str, Any]:
    """A state after resets, or somewhere else."""
    after = changed(resets, before, random)
    if random.random() < 0.3:
        name = random.choice("xyn")
        after[name] = after[name] + random.choice((-1, 1))
    if random.random() < 0.1:
        after["on"] = not after["on"]
    return after


@pytest.mark.parametrize("seed", SEEDS)
def test_jumps(seed: int) -> None:
    model, random = linear_model(seed), Random(seed)
    view = narrow(model)
    jumps = {place.name: list(view.jumps(place.name)) for place in model.locations}
    said = []
    for _ in range(10 * TRIES):
        place, before = random.choice(model.locations), some_state(random)
        edges = list(model.edges_from(place.name))
        if not edges:
            continue
        number = random.randrange(len(edges))
        edge, sure = edges[number], jumps[place.name][number]
        assert sure.target == edge.target
        after = nearby(edge.resets, before, random)
        entered = evaluate(model.location(edge.target).invariant, after)
        may = bool(evaluate(edge.guard, before)) and is_after(edge.resets, before, after)
        allowed = holds(sure.cases, side_by_side(before, after))
        assert allowed == (may and bool(entered)), (place.name, before, after)
        said.append(allowed)
    assert 10 < said.count(True) < len(said)


@pytest.mark.parametrize("seed", SEEDS)
def test_moments(seed: int) -> None:
    model, random = linear_model(seed), Random(seed)
    view = narrow(model)
    waiting = {place.name: view.waiting(place.name) for place in model.locations}
    flows = {place.name: list(view.dynamics(place.name)) for place in model.locations}
    said = []
    for _ in range(5 * TRIES):
        place, state = random.choice(model.locations), some_state(random)
        speed = {f.variable: drawn(f.range, state, random) for f in place.flows}
        if random.random() < 0.3:
            speed["x"] += random.choice((-3, 3))
        urgent = [e.guard for e in model.edges_from(place.name) if e.urgent]
        calm = evaluate(place.invariant, state) and not any(evaluate(g, state) for g in urgent)
        right = all(within(f.range, state, speed[f.variable]) for f in place.flows)
        at = {**numbers(state), **{f"d({n})": v for n, v in speed.items()}}
        assert holds(waiting[place.name], at) == calm, (place.name, state)
        allowed = any(
            holds((d.rows,), at) and all(value(d.derivative[n], at) == v for n, v in speed.items())
            for d in flows[place.name]
        )
        assert allowed == right, (place.name, state, speed)
        said.append(allowed)
    assert 10 < said.count(True) < len(said)


@pytest.mark.parametrize("seed", SEEDS)
def test_starts(seed: int) -> None:
    model, random = linear_model(seed), Random(seed)
    (start,) = model.initial
    ((place, cases),) = narrow(model).starts()
    said = []
    for _ in range(20 * TRIES):
        before = some_state(random) | {"n": Fraction(0), "on": True, "at": "idle"}
        if random.random() < 0.1:
            before["at"] = "busy"
        after = nearby(start.resets, before, random)
        begins = (
            evaluate(start.condition, before)
            and is_after(start.resets, before, after)
            and evaluate(model.location(place).invariant, after)
        )
        allowed = holds(cases, side_by_side(before, after))
        assert allowed == begins, (before, after)
        said.append(allowed)
    assert 0 < said.count(True) < len(said)


X, Y = variable("x"), variable("y")


@pytest.mark.parametrize(
    "unsayable",
    [X * X <= 1, ~(X * X <= 1), (X * X <= 1) | (X <= -4), variable("v") <= 1, X / Y >= 0],
    ids=str,
)
def test_what_rows_cannot_say_counts_as_false(unsayable: Expression) -> None:
    model = linear_model(0)
    place = replace(model.locations[0], invariant=unsayable)
    view = narrow(replace(model, locations=(place, *model.locations[1:])))
    assert not holds(view.waiting(place.name), {"x": Fraction(0), "y": Fraction(0)})


def test_a_flow_that_is_not_affine_is_left_out() -> None:
    model = linear_model(0)
    flows = (Constraint("x", Range.exactly(X * Y)), Constraint("y", Range.exactly(constant(1))))
    place = replace(model.locations[0], flows=flows, invariant=conjunction())
    view = narrow(replace(model, locations=(place, *model.locations[1:])))
    assert not list(view.dynamics(place.name))


# What rows have as numbers, but has other values in the model


def resting(
    *variables: Variable, condition: Expression = TRUE, resets: Constraints = (), **more: Any
) -> HybridAutomaton:
    """A model in which x rests at 0, with an edge back that resets what runs begin with."""
    place = Location("l", (Constraint("x", Range.exactly(ZERO)),))
    start = Initial("l", conjunction(equal(X, 0), condition), resets)
    edge = Edge("l", "l", resets=resets)
    claims = (Property("goes on", TRUE, PropertyKind.PROGRESS),)
    every = (Variable("x"), *variables)
    return HybridAutomaton("m", every, (place,), (edge,), (start,), properties=claims, **more)


def different(*names: str) -> Expression:
    pairs = combinations(map(variable, names), 2)
    return conjunction(*(compare(Op.NOT_EQUAL, a, b) for a, b in pairs))


def discrete(name: str, kind: ValueType) -> Variable:
    return Variable(name, kind, Kind.DISCRETE)


def begins(model: HybridAutomaton, before: Mapping[str, int | str], **after: int) -> bool:
    """Whether a run starts so, for the narrow automaton."""
    values = {"x": 0, **before}
    at = {**values, **{f"{n}'": v for n, v in {**values, **after}.items()}}
    ((_, cases),) = narrow(model).starts()
    return holds(cases, {name: Fraction(value) for name, value in at.items()})


AB = enumeration("a", "b")
IS_AB = disjunction(*(equal(variable("m"), symbol(s)) for s in "ab"))
TO_A = (Constraint("m", Range.exactly(symbol("a"))),)
HALF = equal(2 * variable("u"), 1)
PQR = different("p", "q", "r")


def test_symbols_begin_as_one_of_theirs() -> None:
    model = resting(discrete("m", AB), condition=~equal(variable("m"), symbol("a")))
    assert [begins(model, {"m": m}) for m in range(-1, 4)] == [False, False, True, False, False]
    model = resting(discrete("m", AB), condition=~IS_AB)
    assert not any(begins(model, {"m": m}) for m in range(-1, 4))


def test_symbols_are_one_of_theirs_before_the_first_reset() -> None:
    assert begins(resting(discrete("m", AB), resets=TO_A), {"m": 1}, m=0)
    model = resting(discrete("m", AB), condition=~IS_AB, resets=TO_A)
    assert not any(begins(model, {"m": m}, m=0) for m in range(-1, 4))


def test_three_truth_values_do_not_all_differ() -> None:
    bools = [discrete(n, BOOL) for n in "pqr"]
    assert begins(resting(*bools, condition=different("p", "q")), {"p": 0, "q": 1, "r": 1})
    assert not begins(resting(*bools, condition=PQR), {"p": 0, "q": 1, "r": 2})


@pytest.mark.parametrize("stated", ["condition", "assumption"])
def test_a_whole_input_does_not_begin_as_a_fraction(stated: str) -> None:
    whole = (Input("u", INT, Fraction(0), Fraction(1)),)
    assert begins(resting(inputs=whole), {"u": 1})
    assert not begins(resting(inputs=whole, **{stated: HALF}), {"u": "1/2"})
    real = replace(whole[0], type=REAL)
    assert begins(resting(inputs=(real,), **{stated: HALF}), {"u": "1/2"})


OUTSIDE: Mapping[str, Callable[[Expression], HybridAutomaton]] = {
    "inputs": lambda e: resting(inputs=tuple(Input(n, BOOL) for n in "pqr"), assumption=e),
    "parameters": lambda e: resting(
        parameters=tuple(Parameter(n, BOOL) for n in "pqr"), condition=e
    ),
    "analog": lambda e: resting(*(Variable(n, BOOL) for n in "pqr"), condition=e),
}


@pytest.mark.parametrize("kind", OUTSIDE)
def test_values_that_are_no_numbers_are_not_read(kind: str) -> None:
    values = {"p": 0, "q": 1, "r": 2}
    assert begins(OUTSIDE[kind](TRUE), values)
    assert not begins(OUTSIDE[kind](PQR), values)


@pytest.mark.parametrize(
    "given", [Range(constant(Fraction(1, 3)), constant(Fraction(2, 3))), UNCONSTRAINED], ids=str
)
@pytest.mark.parametrize("kind", [REAL, INT, enumeration("only")], ids=str)
def test_no_jump_changes_an_analog_variable_that_is_not_real(kind: ValueType, given: Range) -> None:
    model = resting(Variable("k", kind), resets=(Constraint("k", given),))
    (jump,) = narrow(model).jumps("l")
    at = {"x": Fraction(0), "x'": Fraction(0), "k": Fraction(0), "k'": Fraction(1, 2)}
    assert holds(jump.cases, at) == (kind == REAL)


def test_parts_are_read_from_left_to_right() -> None:
    """As models are evaluated: nothing is read behind what is true, and what is behind a part
    without a value does not matter."""
    here, nowhere = X >= 0, divide(1, X) > 5
    for guard, is_known in (
        (here | nowhere, True),
        (nowhere | here, False),
        (~(~here & nowhere), True),
        (~(nowhere & ~here), False),
    ):
        (jump,) = narrow(replace(resting(), edges=(Edge("l", "l", guard),))).jumps("l")
        assert holds(jump.cases, {"x": Fraction(0), "x'": Fraction(0)}) == is_known, str(guard)
        if is_known:
            assert evaluate(guard, {"x": Fraction(0)})
        else:
            with pytest.raises(EvaluationError):
                evaluate(guard, {"x": Fraction(0)})

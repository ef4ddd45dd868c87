"""Small automata with proofs of each kind that the kernel knows, as it takes them.

Among them they have everything that such proofs may have: several locations, cells and regions,
parts that are handed over, exits, splits, a clock, inputs, unknown derivatives, strict rows,
locations that are never reached, ellipsoids whose flow depends on inputs and on parameters,
functions that use equations and products of rows, ways to wait and to jump.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import verify
from workbench.models.automaton import (
    INT,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    Property,
    Range,
    Variable,
    never_blocks,
)
from workbench.models.certificates.certificate import Proof
from workbench.models.certificates.kernel_form import kernel_document
from workbench.models.checker.covers import Region
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.expression import (
    Expression,
    conjunction,
    constant,
    equal,
    variable,
)
from workbench.models.kernel.document import document as as_document
from workbench.models.linear import Form
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Verified
from workbench.reach.evidence import prove

X, Y, U, P = map(variable, "xyup")


def exactly(name: str, value: Expression | int) -> Constraint:
    value = value if isinstance(value, Expression) else constant(value)
    return Constraint(name, Range.exactly(value))


def between(name: str, low: int, high: int) -> Constraint:
    return Constraint(name, Range(constant(low), constant(high)))


def form(constant: int | Fraction = 0, **coefficients: int | Fraction) -> Form:
    return Form({n: Fraction(a) for n, a in coefficients.items()}, Fraction(constant))


def automaton(
    locations: tuple[Location, ...],
    claim: Expression,
    start: Expression,
    edges: tuple[Edge, ...] = (),
    inputs: tuple[Input, ...] = (),
    names: str = "xy",
    parameters: tuple[Parameter, ...] = (),
) -> HybridAutomaton:
    return HybridAutomaton(
        "small",
        tuple(Variable(n) for n in names),
        locations,
        edges,
        (Initial(locations[0].name, start),),
        inputs,
        parameters,
        properties=(Property("safe", claim),),
    )


def basin() -> HybridAutomaton:
    """Filled by 1 to 2 up to 10, drained down to 2; what lies behind x > 12 is never entered."""
    return automaton(
        (
            Location("fill", (between("x", 1, 2),), invariant=X <= 10),
            Location("drain", (between("x", -2, -1),), invariant=X >= 2),
            Location("flood", (exactly("x", 1),)),
        ),
        conjunction(X >= 1, X <= 11),
        conjunction(X >= 4, X <= 5),
        (
            Edge("fill", "drain", X >= 8, name="full"),
            Edge("drain", "fill", X <= 4, name="empty"),
            Edge("fill", "flood", X > 12, name="over"),
        ),
        names="x",
    )


def sinking() -> HybridAutomaton:
    """x' = 1, y' = -y from x = -2 and y in [-2, 2]: low when x passes 0."""
    return automaton(
        (Location("run", (exactly("x", 1), exactly("y", -Y))),),
        ~conjunction(X >= 0, Y >= 1),
        conjunction(X >= -2, X <= -2, Y >= -2, Y <= 2),
    )


def corner() -> HybridAutomaton:
    """x' = -x, y' = -y from two arms of an L: no convex set separates them from (1, 1)."""
    arms = conjunction(X <= 0, X >= -1, Y <= 3, Y >= -1)
    other = conjunction(Y <= 0, Y >= -1, X <= 3, X >= -1)
    return automaton(
        (Location("run", (exactly("x", -X), exactly("y", -Y))),),
        ~conjunction(X >= 1, Y >= 1),
        arms | other,
    )


def disturbed() -> HybridAutomaton:
    """x' = -x + u with u in [-1, 1] from [0, 1/2]: |x| never exceeds 1."""
    return automaton(
        (Location("run", (exactly("x", U - X),)),),
        X <= 1,
        conjunction(X >= 0, Fraction(1, 2) >= X),
        inputs=(Input("u", low=Fraction(-1), high=Fraction(1)),),
        names="x",
    )


def pushed() -> HybridAutomaton:
    """x' = -x + y/2 + u, y' = -x/2 - y + p from 0, where p is constant; edges to and fro."""
    half = Fraction(1, 2)
    return automaton(
        tuple(
            Location(name, (exactly("x", half * Y - X + U), exactly("y", P - half * X - turn * Y)))
            for name, turn in (("slow", 1), ("fast", 2))
        ),
        X <= 3,
        conjunction(X >= 0, X <= 0, Y >= 0, Y <= half),
        (Edge("slow", "fast", name="up"), Edge("fast", "slow", Y <= 1, name="down")),
        (Input("u", low=-half, high=half),),
        parameters=(Parameter("p", low=-half, high=half),),
    )


def halving() -> HybridAutomaton:
    """x' = y, y' = -x from x = 1, y in [0, 1/2]; y is halved where x <= 0."""
    half = Fraction(1, 2)
    return automaton(
        (Location("run", (exactly("x", Y), exactly("y", -X))),),
        X <= 2,
        conjunction(X >= 1, X <= 1, Y >= 0, Y <= half),
        (Edge("run", "run", X <= 0, (exactly("y", half * Y),), name="halve"),),
    )


def _bent(model: HybridAutomaton) -> PolyhedralProof:
    """Left of x = 0 and right of it, with a part each."""
    slope, ceiling = form(Fraction(-4, 5), y=1, x=Fraction(3, 5)), form(Fraction(-4, 5), y=1)
    region = Region("run", (form(x=1),), ((1,), (-1,)), ((slope,), (ceiling,)))
    found = prove(linear_problem(model, model.properties[0]), (region,))
    assert isinstance(found, PolyhedralProof)
    return found


def _by(method: str) -> Callable[[HybridAutomaton], Proof]:
    def found(model: HybridAutomaton) -> Proof:
        verdict = verify(Task(model, model.properties[0], options={}), method)
        assert isinstance(verdict, Verified), verdict
        return verdict.certificate.proof

    return found


PROOFS: Mapping[str, tuple[Callable[[], HybridAutomaton], Callable[[HybridAutomaton], Proof]]] = {
    "locations": (basin, _by("rectangular")),
    "parts": (sinking, _bent),
    "clock and exits": (sinking, _by("transient")),
    "cells and splits": (corner, _by("abstraction")),
    "inputs": (disturbed, _by("template")),
    "ellipsoids": (pushed, _by("quadratic")),
    "quadratic functions": (halving, _by("quadratic")),
}
"""Automata, and how a proof of their property is found."""


@cache
def proof(name: str) -> tuple[HybridAutomaton, Proof]:
    """An automaton with a proof of its property, found once."""
    build, find = PROOFS[name]
    model = build()
    return model, find(model)


# Progress, the first two written by hand: see `tests/kernel/small_certificates.v`


def _form(constant: int | str, *parts: list[str]) -> list[Any]:
    return [str(constant), *parts, *([[]] * (3 - len(parts)))]


_NEXT_IS_STATE = [
    [_form(0, ["-1"], ["1"]), False],
    [_form(0, ["1"], ["-1"]), False],
]


def _tank() -> dict[str, Any]:
    """x' in [-1, 1] between 0 and 10, from 5."""
    inside = [[_form(0, ["-1"]), False], [_form(-10, ["1"]), False]]
    slow = [[_form(-1, [], [], ["-1"]), False], [_form(-1, [], [], ["1"]), False]]
    dynamics = [[_form(0, [], [], ["1"])], slow]
    start = ["0", [[[_form(5, [], ["-1"]), False], [_form(-5, [], ["1"]), False]]]]
    model = [[[[inside], [dynamics], [], []]], [start]]
    region = [[["-10", ["1"]]], [[[True], [["0", ["-1"]]]]], [], "0"]
    facets = [[[[["Implied", ["0", "1"]]]], [[["Implied", ["1"]]]]]]
    evidence = [region, facets, [[]], [[]], [[]]]
    reachable = [[[["InCell", "0", "0", [["0", "1"], ["1"]]]]], [[evidence]]]
    constant = ["Inside", ["0", "0", "1"]]
    low = ["Kept", [["0", ["-1"]]], [["0", "1"]], [["Inward", "0", [], []]], ["1"]]
    high = ["Falling", ["1"], ["Kept", [], [], [], []]]
    soon = [low, high, constant, constant]
    wait = ["Wait", "0", [["0", "1"], ["1"]], "0", "0", [_form(0)], soon]
    evidence = [reachable, ["0", "0", [], ["5"], []], [[[wait]]]]
    return as_document("check_progress", ["1", [], [], [], model, model], evidence)


def _thermostat() -> dict[str, Any]:
    """x' = 1 up to 2, x' = -x down to 1, in turn."""
    start = ["0", [[[_form(-1, [], ["1"]), False], [_form(1, [], ["-1"]), False]]]]
    heating = [
        [[[_form(-2, ["1"]), False]]],
        [[[_form(1)], []]],
        [["1", [[[_form(2, ["-1"]), False], *_NEXT_IS_STATE]]]],
        [],
    ]
    cooling = [
        [[[_form(1, ["-1"]), False]]],
        [[[_form(0, ["-1"])], []]],
        [["0", [[[_form(-1, ["1"]), False], *_NEXT_IS_STATE]]]],
        [],
    ]
    region = [[], [[[], [["-2", ["1"]], ["1", ["-1"]]]]], [], "0"]
    jump = ["InCell", "0", "0", [["1", "0", "0", "1"], ["0", "1", "0", "0", "1"]]]
    risen = [[[["Implied", ["1"]]]], [[["Inward", "0", [], []]]]]
    fallen = [[[["Inward", "-1", [], []]]], [[["Implied", ["1"]]]]]
    reachable = [
        [[["InCell", "0", "0", [["1"], ["0", "1"]]]]],
        [[[region, [facets], [[]], [[[jump]]], [[]]]] for facets in (risen, fallen)],
    ]
    now = [["0", "0", "1"]]
    wait = ["Wait", "0", now, "0", "0", [], [["Inside", ["0", "0", "1", "1"]]]]
    take = ["Take", "0", "0", [_form(0, ["1"])], [], [["0", "0", "1"], [], []], []]
    ways = [
        [[["Choose", ["-2", ["1"]], True, wait, take]]],
        [[["Choose", ["1", ["-1"]], True, wait, take]]],
    ]
    first = ["0", "0", [], ["1"], []]
    model = [[heating, cooling], [start]]
    return as_document("check_progress", ["1", [], [], [], model, model], [reachable, first, ways])


def counting() -> HybridAutomaton:
    """x' = 1 up to 1, and again from 0 twice; then it rests. `k` counts."""
    k = variable("k")
    model = automaton(
        (
            Location("run", (exactly("x", 1),), invariant=X <= 1),
            Location("rest", (exactly("x", 0),)),
        ),
        k <= 2,
        conjunction(equal(X, 0), equal(k, 0)),
        (
            Edge("run", "run", (X >= 1) & (k <= 1), (exactly("x", 0), exactly("k", k + 1))),
            Edge("run", "rest", (X >= 1) & (k >= 2)),
        ),
        names="x",
    )
    return replace(model, variables=(*model.variables, Variable("k", INT, Kind.DISCRETE)))


def pressed() -> HybridAutomaton:
    """x' = u - x with u in [-1, 1] between -1 and 1; y' = u + 1 between 0 and 3, where it goes on
    from u + 1."""
    inside = conjunction(X <= 1, X >= -1, Y >= 0, Y <= 3)
    return automaton(
        (Location("run", (exactly("x", U - X), exactly("y", U + 1)), invariant=inside),),
        X <= 1,
        conjunction(equal(X, 0), equal(Y, 0)),
        (Edge("run", "run", Y >= 3, (exactly("y", U + 1),), name="again"),),
        (Input("u", low=Fraction(-1), high=Fraction(1)),),
    )


def _never_blocks(model: HybridAutomaton) -> dict[str, Any]:
    """That a model never blocks, as it is found."""
    claim = never_blocks(model)
    verdict = verify(Task(model, claim, options={}), "template")
    assert isinstance(verdict, Verified), verdict
    return kernel_document(linear_problem(model, claim), verdict.certificate.proof)


_WRITTEN: Mapping[str, Callable[[], dict[str, Any]]] = {
    "waiting": _tank,
    "waiting and jumping": _thermostat,
    "whole numbers": lambda: _never_blocks(counting()),
    "given inputs": lambda: _never_blocks(pressed()),
}
DOCUMENTS = (*PROOFS, *_WRITTEN)


@cache
def document(name: str) -> dict[str, Any]:
    """What the kernel takes, for a proof found or written."""
    if name in _WRITTEN:
        return _WRITTEN[name]()
    model, found = proof(name)
    return kernel_document(linear_problem(model, model.properties[0]), found)

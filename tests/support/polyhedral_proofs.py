"""Small automata with polyhedral proofs that have, among them, everything that such proofs may
have: several locations, cells and regions, parts that are handed over, exits, splits, a clock,
inputs, unknown derivatives, strict rows, and locations that are never reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import verify
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
from workbench.models.expressions.expression import Expression, conjunction, constant, variable
from workbench.models.lowering.basis import kernel_document
from workbench.models.proof.certificate import PolyhedralProof
from workbench.models.proof.linear import Form
from workbench.models.proof.polyhedral import Region
from workbench.models.proof.problem import linear_problem
from workbench.models.verdict import Verified
from workbench.reach.evidence import prove

X, Y, U = variable("x"), variable("y"), variable("u")


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
) -> HybridAutomaton:
    return HybridAutomaton(
        "small",
        tuple(Variable(n) for n in names),
        locations,
        edges,
        (Initial(locations[0].name, start),),
        inputs,
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


def _bent(model: HybridAutomaton) -> PolyhedralProof:
    """Left of x = 0 and right of it, with a part each."""
    slope, ceiling = form(Fraction(-4, 5), y=1, x=Fraction(3, 5)), form(Fraction(-4, 5), y=1)
    region = Region("run", (form(x=1),), ((1,), (-1,)), ((slope,), (ceiling,)))
    found = prove(linear_problem(model, model.properties[0]), (region,))
    assert isinstance(found, PolyhedralProof)
    return found


def _by(method: str) -> Callable[[HybridAutomaton], PolyhedralProof]:
    def found(model: HybridAutomaton) -> PolyhedralProof:
        verdict = verify(Task(model, model.properties[0], options={}), method)
        assert isinstance(verdict, Verified), verdict
        assert isinstance(verdict.certificate.proof, PolyhedralProof)
        return verdict.certificate.proof

    return found


PROOFS: Mapping[
    str, tuple[Callable[[], HybridAutomaton], Callable[[HybridAutomaton], PolyhedralProof]]
] = {
    "locations": (basin, _by("rectangular")),
    "parts": (sinking, _bent),
    "clock and exits": (sinking, _by("transient")),
    "cells and splits": (corner, _by("abstraction")),
    "inputs": (disturbed, _by("template")),
}


@cache
def proof(name: str) -> tuple[HybridAutomaton, PolyhedralProof]:
    """An automaton with a proof of its property, found once."""
    build, find = PROOFS[name]
    model = build()
    return model, find(model)


@cache
def document(name: str) -> dict[str, object]:
    """The same, as the kernel takes it."""
    model, found = proof(name)
    problem = linear_problem(model, model.properties[0])
    return kernel_document(problem, found)

"""Small automata whose invariants are known by hand."""

from __future__ import annotations

from fractions import Fraction

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

X, Y, U = variable("x"), variable("y"), variable("u")


def flow(name: str, value: Expression) -> Constraint:
    return Constraint(name, Range.exactly(value))


def automaton(
    locations: tuple[Location, ...],
    claim: Expression,
    start: Expression,
    edges: tuple[Edge, ...] = (),
    inputs: tuple[Input, ...] = (),
    names: tuple[str, ...] = ("x",),
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


def disturbed_decay() -> HybridAutomaton:
    """x' = -x + u with u in [-1, 1] from [0, 1/2]: |x| never exceeds 1."""
    return automaton(
        (Location("run", (flow("x", U - X),)),),
        X <= 1,
        conjunction(X >= 0, Fraction(1, 2) >= X),
        inputs=(Input("u", low=Fraction(-1), high=Fraction(1)),),
    )


def corner() -> HybridAutomaton:
    """x' = -x, y' = -y from two arms of an L: no convex set separates them from (1, 1)."""
    arms = (conjunction(X <= 0, X >= -1, Y <= 3, Y >= -1)) | (
        conjunction(Y <= 0, Y >= -1, X <= 3, X >= -1)
    )
    return automaton(
        (Location("run", (flow("x", -X), flow("y", -Y))),),
        ~conjunction(X >= 1, Y >= 1),
        arms,
        names=("x", "y"),
    )


def sawtooth() -> HybridAutomaton:
    """x' = 1 up to 5, then x falls to anywhere in [0, 1]."""
    edge = Edge(
        "up", "up", X >= 5, (Constraint("x", Range(constant(0), constant(1))),), name="drop"
    )
    return automaton(
        (Location("up", (flow("x", constant(1)),), invariant=X <= 5),),
        conjunction(X <= 5, X >= 0),
        conjunction(X >= 0, X <= 1),
        (edge,),
    )


def sinking() -> HybridAutomaton:
    """x' = 1, y' = -y from (-2, 2) and below: low when x passes 0."""
    return automaton(
        (Location("run", (flow("x", constant(1)), flow("y", -Y))),),
        ~conjunction(X >= 0, Y >= 1),
        conjunction(X >= -2, X <= -2, Y >= -2, Y <= 2),
        names=("x", "y"),
    )

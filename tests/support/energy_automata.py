"""Systems whose safety follows from energy, each with a number that decides it."""

from __future__ import annotations

from dataclasses import replace
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
from workbench.models.expressions.expression import TRUE, Expression, conjunction, equal, variable

X, Y = variable("x"), variable("y")


def _place(name: str, dx: Expression, dy: Expression, invariant: Expression = TRUE) -> Location:
    flows = (Constraint("x", Range.exactly(dx)), Constraint("y", Range.exactly(dy)))
    return Location(name, flows, invariant=invariant)


def _box(size: Fraction) -> Expression:
    return conjunction(X >= -size, X <= size, Y >= -size, Y <= size)


def rotation(bound: Fraction = Fraction(6, 5)) -> HybridAutomaton:
    """x' = y, y' = -x from |x|, |y| <= 4/5: x reaches 4/5 sqrt(2), about 1.131, no more."""
    return HybridAutomaton(
        "rotation",
        (Variable("x"), Variable("y")),
        (_place("turn", Y, -X),),
        (),
        (Initial("turn", _box(Fraction(4, 5))),),
        properties=(Property("bounded", X <= bound),),
    )


def walled_spring(
    bound: Fraction = Fraction(6, 5), restitution: Fraction = Fraction(9, 10)
) -> HybridAutomaton:
    """A spring with damping 1/5 from x = 1 at rest, and a wall at x = -1/2 that reverses the
    speed with a loss: the energy (x^2 + y^2)/2 never grows, so x <= 1."""
    wall = conjunction(X <= Fraction(-1, 2), Y <= 0)
    return HybridAutomaton(
        "walled spring",
        (Variable("x"), Variable("y")),
        (_place("free", Y, -X - Fraction(1, 5) * Y, X >= Fraction(-1, 2)),),
        (
            Edge(
                "free",
                "free",
                wall,
                (Constraint("y", Range.exactly(-restitution * Y)),),
                name="hit",
            ),
        ),
        (Initial("free", conjunction(equal(X, 1), equal(Y, 0))),),
        properties=(Property("bounded", X <= bound),),
    )


def switched_energy(bound: Fraction = Fraction(6, 5)) -> HybridAutomaton:
    """Two rotations at different speeds and in different senses, switched at will: both keep
    x^2 + 4 y^2, which is at most 1 at the start."""
    return HybridAutomaton(
        "switched energy",
        (Variable("x"), Variable("y")),
        (
            _place("slow", 2 * Y, -Fraction(1, 2) * X),
            _place("fast", -6 * Y, Fraction(3, 2) * X),
        ),
        (Edge("slow", "fast", name="up"), Edge("fast", "slow", X >= 0, name="down")),
        (
            Initial(
                "slow",
                conjunction(X >= Fraction(-3, 5), X <= Fraction(3, 5), equal(Y, Fraction(2, 5))),
            ),
        ),
        properties=(Property("bounded", X <= bound),),
    )


def two_sided(bound: Fraction = Fraction(6, 5)) -> HybridAutomaton:
    """A rotation about (1/10, 0), from |x|, |y| <= 7/10: x stays between 1/10 -+ r, where r is
    the root of 113/100, about 1.063; both -bound and bound are to be kept."""
    return HybridAutomaton(
        "both sides",
        (Variable("x"), Variable("y")),
        (_place("turn", Y, Fraction(1, 10) - X),),
        (),
        (Initial("turn", _box(Fraction(7, 10))),),
        properties=(Property("bounded", conjunction(X >= -bound, X <= bound)),),
    )


def two_rotations(bound: Fraction = Fraction(1)) -> HybridAutomaton:
    """Two rotations beside each other, from (1, 0) and from (0, 1/2) with halving of the second
    at will: x stays within 1, z within 1/2. No single sum of the energies shows both."""
    z, w = variable("z"), variable("w")
    rates = {"x": Y, "y": -X, "z": 3 * w, "w": -3 * z}
    flows = tuple(Constraint(name, Range.exactly(rate)) for name, rate in rates.items())
    half = Fraction(1, 2)
    weaker = tuple(Constraint(n, Range.exactly(half * variable(n))) for n in ("z", "w"))
    start = conjunction(equal(X, 1), equal(Y, 0), equal(z, 0), equal(w, half))
    return HybridAutomaton(
        "two rotations",
        tuple(Variable(name) for name in rates),
        (Location("turn", flows),),
        (Edge("turn", "turn", X >= 0, weaker, name="weaken"),),
        (Initial("turn", start),),
        properties=(Property("bounded", conjunction(X <= bound, z <= bound / 2)),),
    )


def shaken_spring(bound: Fraction = Fraction(3, 2)) -> HybridAutomaton:
    """A damped spring that an input of at most 1/10 shakes, and a wall at x = -1/2: from x = 1
    at rest, so that a bound of 9/10 is broken at once."""
    spring = walled_spring(bound)
    free = spring.locations[0]
    flows = (free.flows[0], Constraint("y", Range.exactly(variable("u") - X - Y)))
    return replace(
        spring,
        name="shaken spring",
        locations=(replace(free, flows=flows),),
        inputs=(Input("u", low=Fraction(-1, 10), high=Fraction(1, 10)),),
    )

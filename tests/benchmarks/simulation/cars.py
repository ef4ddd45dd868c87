"""Bumper cars for any number, as a composition built without the language."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

from workbench.models.agents.composition import Interaction, Product
from workbench.models.agents.families import Family, Partner, Unrolled
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Kind,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    Expression,
    conjunction,
    constant,
    equal,
    variable,
)

RADIUS, RESTITUTION = Fraction(1, 10), Fraction(9, 10)
KINDS = ("x", "y", "vx", "vy")


def arena(count: int, seed: int = 5) -> Product:
    """`count` cars in an arena with the density of twenty cars in ten by ten."""
    size = 10 * math.sqrt(count / 20)
    side = math.ceil(math.sqrt(count))
    random = Random(seed)
    spacing = size / side
    cars = []
    for i in range(count):
        x = spacing * (i % side + 0.5) + random.uniform(-0.3, 0.3) * (spacing - 0.25)
        y = spacing * (i // side + 0.5) + random.uniform(-0.3, 0.3) * (spacing - 0.25)
        start = (x, y, random.uniform(-1, 1), random.uniform(-1, 1))
        cars.append(_car(f"car[{i + 1}]", [Fraction(v) for v in start], Fraction(size)))
    first, second = ([variable(f"{who}.{k}") for k in KINDS] for who in "ab")
    slots = tuple(tuple(v.name for v in side) for side in (first, second))
    partners = tuple(Partner(c.name, tuple(f"{c.name}.{k}" for k in KINDS)) for c in cars)
    bumps = Family(_bump("a", "b", first, second), slots, partners)
    return Product("arena", tuple(cars), Unrolled([bumps]))


def _car(name: str, start: list[Fraction], size: Fraction) -> HybridAutomaton:
    x, y, vx, vy = (variable(f"{name}.{k}") for k in KINDS)
    low, high = constant(RADIUS), constant(size - RADIUS)
    zero = constant(0)

    def wall(label: str, guard: Expression, speed: Expression) -> Edge:
        back = Constraint(speed.name, Range.exactly(-RESTITUTION * speed))
        return Edge("drive", "drive", guard, (back,), name=label)

    return HybridAutomaton(
        name,
        (
            Variable(x.name), Variable(y.name),
            Variable(vx.name, kind=Kind.DISCRETE), Variable(vy.name, kind=Kind.DISCRETE),
        ),
        (
            Location(
                "drive",
                (
                    Constraint(x.name, Range.exactly(vx)),
                    Constraint(y.name, Range.exactly(vy)),
                ),
                (),
                conjunction(x >= low, x <= high, y >= low, y <= high),
            ),
        ),
        (
            wall("west", conjunction(x <= low, vx < zero), vx),
            wall("east", conjunction(x >= high, vx > zero), vx),
            wall("south", conjunction(y <= low, vy < zero), vy),
            wall("north", conjunction(y >= high, vy > zero), vy),
        ),
        (
            Initial(
                "drive",
                conjunction(
                    *(equal(v, constant(s)) for v, s in zip((x, y, vx, vy), start, strict=True))
                ),
            ),
        ),
    )  # fmt: skip


def _bump(first: str, second: str, a: list[Expression], b: list[Expression]) -> Interaction:
    dx, dy = a[0] - b[0], a[1] - b[1]
    closing = dx * (a[2] - b[2]) + dy * (a[3] - b[3])
    square = dx**2 + dy**2
    push = (1 + RESTITUTION) / 2 * closing / square
    changes = ((a[2], -1, dx), (a[3], -1, dy), (b[2], 1, dx), (b[3], 1, dy))
    return Interaction(
        "bump",
        (first, second),
        conjunction(square <= constant(4 * RADIUS**2), closing < constant(0)),
        tuple(
            Constraint(v.name, Range.exactly(v + sign * push * along)) for v, sign, along in changes
        ),
        urgent=True,
    )

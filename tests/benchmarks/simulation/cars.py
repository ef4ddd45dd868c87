"""Bumper cars for any number, as a composition built without the language."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

from models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Kind,
    Location,
    Range,
    Variable,
)
from models.composition import Interaction, Product
from models.expression import Expression, Op, conjunction, constant, equal, postorder, variable

RADIUS, RESTITUTION = Fraction(1, 10), Fraction(9, 10)


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
    names = [[variable(f"car[{i + 1}].{k}") for k in ("x", "y", "vx", "vy")] for i in range(count)]
    first, second = ([variable(f"{who}.{k}") for k in range(4)] for who in "ab")
    pattern = _bump("a", "b", first, second)
    copy = _Copier(pattern, [*first, *second])
    bumps = [copy(i, j, names[i], names[j]) for i in range(count) for j in range(i + 1, count)]
    return Product("arena", tuple(cars), tuple(bumps))


def _car(name: str, start: list[Fraction], size: Fraction) -> HybridAutomaton:
    x, y, vx, vy = (variable(f"{name}.{k}") for k in ("x", "y", "vx", "vy"))
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


class _Copier:
    """Instances of one interaction, made without simplifying each of them again."""

    def __init__(self, pattern: Interaction, variables: list[Expression]):
        self.pattern = pattern
        self.roots = [pattern.guard, *(c.range.exact for c in pattern.resets)]
        self.nodes = list(postorder(*self.roots))
        self.slots = {v.name: i for i, v in enumerate(variables)}

    def __call__(self, i: int, j: int, a: list[Expression], b: list[Expression]) -> Interaction:
        own, made = [*a, *b], {}
        for node in self.nodes:
            if node.op is Op.VARIABLE:
                made[id(node)] = own[self.slots[node.name]]
            elif node.args:
                args = tuple([made[id(x)] for x in node.args])
                made[id(node)] = Expression(node.op, args, node.value)
            else:
                made[id(node)] = node
        guard, *changes = (made[id(r)] for r in self.roots)
        resets = tuple(
            Constraint(own[self.slots[c.variable]].name, Range.exactly(e))
            for c, e in zip(self.pattern.resets, changes, strict=True)
        )
        who = (f"car[{i + 1}]", f"car[{j + 1}]")
        return Interaction("bump", who, guard, resets, urgent=True)

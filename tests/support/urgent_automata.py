"""Random hybrid automata with urgent edges, made from random ones without."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

from tests.support.affine_automata import decimal
from workbench.models.automaton import Constraint, Edge, HybridAutomaton, Range
from workbench.models.expressions.expression import (
    Expression,
    add,
    compare,
    conjunction,
    constant,
    power,
    variable,
)
from workbench.models.expressions.operators import Op


def with_urgent_edges(base: HybridAutomaton, seed: int, *, nonlinear: bool) -> HybridAutomaton:
    """The automaton, some of its edges urgent, and with urgent edges of its own: half-spaces,
    corners (whose complement is not convex), strict guards, and balls if `nonlinear`; some
    guards hold in states that other edges lead to."""
    random = Random(seed)
    names = [v.name for v in base.variables if v.name != "c"]
    places = [place.name for place in base.locations]
    edges = [replace(edge, urgent=random.random() < 0.5) for edge in base.edges]
    for number in range(random.choice((1, 2, 2))):
        source, target = random.choice(places), random.choice(places)
        guard = _guard(random, names, nonlinear)
        resets = [Constraint("c", Range.exactly(constant(0)))]
        for name in names:
            draw = random.random()
            if draw < 0.4:
                back = decimal(random, -2, 2)
                resets.append(Constraint(name, Range.exactly(constant(back))))
            elif draw < 0.5:
                low = decimal(random, -1, 1)
                resets.append(
                    Constraint(name, Range(constant(low), constant(low + Fraction(1, 4))))
                )
        edges.append(
            Edge(source, target, guard, tuple(resets), urgent=True, name=f"urgent{number}")
        )
    return replace(base, name=f"urgent{seed}", edges=tuple(edges))


def _guard(random: Random, names: list[str], nonlinear: bool) -> Expression:
    draw = random.random()
    if nonlinear and draw < 0.4:
        squares = add(*(power(variable(name), 2) for name in names))
        return compare(Op.GREATER_EQUAL, squares, abs(decimal(random, 0.5, 3)))
    if draw < 0.7:
        return _half_space(random, names)
    return conjunction(_half_space(random, names), _half_space(random, names))


def _half_space(random: Random, names: list[str]) -> Expression:
    op = random.choice((Op.GREATER_EQUAL, Op.LESS_EQUAL, Op.GREATER, Op.LESS))
    value = variable(random.choice(names))
    if random.random() < 0.3:
        value = add(value, variable(random.choice(names)))
    return compare(op, value, decimal(random, -2, 2))

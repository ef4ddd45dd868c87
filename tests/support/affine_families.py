"""Families of affine systems of any size: heat in a rod, a chain of masses, a ring of stays."""

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
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    add,
    compare,
    conjunction,
    constant,
    multiply,
    variable,
)
from workbench.models.expressions.operators import Op


def heat_rod(size: int, bound: Fraction = Fraction(9, 10)) -> HybridAutomaton:
    """Heat in a rod of `size` cells: x_i' = x_(i-1) - 2 x_i + x_(i+1), heated at one end by an
    input in [0, 1], cold at the other. The first cell stays below the heat (0.83 at time 10)."""
    names = [f"x{i}" for i in range(size)]
    flows = []
    for i, name in enumerate(names):
        left = variable("u") if i == 0 else variable(names[i - 1])
        right = variable(names[i + 1]) if i + 1 < size else constant(0)
        flows.append(_exactly(name, add(left, right, multiply(constant(-2), variable(name)))))
    start = [_within(n, Fraction(0), Fraction(1, 10)) for n in names]
    return HybridAutomaton(
        f"heat_rod_{size}",
        tuple(map(Variable, names)),
        (Location("rod", tuple(flows)),),
        (),
        (Initial("rod", conjunction(*start)),),
        (Input("u", low=Fraction(0), high=Fraction(1)),),
        properties=(Property("below", compare(Op.LESS_EQUAL, variable("x0"), bound)),),
    )


def mass_chain(size: int, bound: Fraction = Fraction(2)) -> HybridAutomaton:
    """`size` // 2 masses on a line between walls, springs and dampers between neighbours, the
    first one pushed by an input in [-1, 1]: its place stays within 2 for a while."""
    masses = size // 2
    places, speeds = ([f"{letter}{i}" for i in range(masses)] for letter in ("p", "v"))
    flows = []
    for i in range(masses):
        pulls: list[Expression] = [multiply(constant(-2), variable(places[i]))]
        pulls += [variable(places[j]) for j in (i - 1, i + 1) if 0 <= j < masses]
        pulls.append(multiply(constant(Fraction(-1, 2)), variable(speeds[i])))
        if i == 0:
            pulls.append(variable("u"))
        flows += [_exactly(places[i], variable(speeds[i])), _exactly(speeds[i], add(*pulls))]
    start = [_within(n, Fraction(-1, 10), Fraction(1, 10)) for n in (*places, *speeds)]
    return HybridAutomaton(
        f"mass_chain_{2 * masses}",
        tuple(map(Variable, (*places, *speeds))),
        (Location("chain", tuple(flows)),),
        (),
        (Initial("chain", conjunction(*start)),),
        (Input("u", low=Fraction(-1), high=Fraction(1)),),
        properties=(Property("near", compare(Op.LESS_EQUAL, variable("p0"), bound)),),
    )


def ring_of_stays(locations: int) -> HybridAutomaton:
    """A damped oscillator that goes once through `locations` locations, each for a quarter of
    a time unit, pushed to one side and to the other."""
    clock = variable("c")
    places, edges = [], []
    for i in range(locations):
        push = constant(1 if i % 2 else -1)
        pull = multiply(constant(Fraction(-1, 2)), variable("y"))
        flows = (
            _exactly("x", variable("y")),
            _exactly("y", add(multiply(constant(-1), variable("x")), pull, push)),
            _exactly("c", constant(1)),
        )
        last = i == locations - 1
        limit = TRUE if last else compare(Op.LESS_EQUAL, clock, Fraction(1, 4))
        places.append(Location(f"l{i}", flows, (), limit))
        if not last:
            guard = compare(Op.GREATER_EQUAL, clock, Fraction(1, 4))
            edges.append(Edge(f"l{i}", f"l{i + 1}", guard, (_exactly("c", constant(0)),)))
    start = [_within("x", Fraction(0), Fraction(1, 10)), _within("y", Fraction(0), Fraction(0))]
    return HybridAutomaton(
        f"ring_{locations}",
        tuple(map(Variable, ("x", "y", "c"))),
        tuple(places),
        tuple(edges),
        (Initial("l0", conjunction(*start, compare(Op.EQUAL, clock, 0))),),
        properties=(Property("near", compare(Op.LESS_EQUAL, variable("x"), 4)),),
    )


def _exactly(name: str, value: Expression) -> Constraint:
    return Constraint(name, Range.exactly(value))


def _within(name: str, low: Fraction, high: Fraction) -> Expression:
    own = variable(name)
    return conjunction(compare(Op.GREATER_EQUAL, own, low), compare(Op.LESS_EQUAL, own, high))

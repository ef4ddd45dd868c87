"""Random hybrid automata with nonlinear flows, guards, properties and resets."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from tests.support.affine_automata import decimal
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Parameter,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    add,
    compare,
    conditional,
    conjunction,
    constant,
    divide,
    function,
    maximum,
    minimum,
    multiply,
    power,
    variable,
)
from workbench.models.expressions.operators import Op

NAMES = ("x", "y", "z")


def random_nonlinear_automaton(seed: int) -> HybridAutomaton:
    """Two or three variables, one or two locations; sometimes an input, a parameter, flows
    that are only known to lie in a range, quadratic guards, and nonlinear resets."""
    random = Random(seed)
    names = NAMES[: random.choice((2, 2, 3))]
    count = random.choice((1, 1, 2))
    leaves = [variable(n) for n in names]
    has_input, has_parameter = random.random() < 0.4, random.random() < 0.4
    if has_input:
        leaves.append(variable("u"))
    if has_parameter:
        leaves.append(variable("p"))
    locations, edges = [], []
    clock = variable("c")
    for i in range(count):
        flows = [_flow(random, name, leaves) for name in names]
        flows.append(Constraint("c", Range.exactly(constant(1))))
        invariant: Expression = TRUE
        if count > 1:
            period = decimal(random, 0.2, 0.6)
            invariant = compare(Op.LESS_EQUAL, clock, period + Fraction(1, 20))
            edges.append(_edge(random, i, count, names, compare(Op.GREATER_EQUAL, clock, period)))
            if random.random() < 0.5:
                edges.append(_edge(random, i, count, names, _guard(random, names)))
        locations.append(Location(f"l{i}", tuple(flows), (), invariant))
    start = [compare(Op.EQUAL, clock, 0)]
    for name in names:
        low = decimal(random, -1, 1)
        width = random.choice((Fraction(0), Fraction(1, 50), decimal(random, 0, 0.3)))
        start.append(compare(Op.GREATER_EQUAL, variable(name), low))
        start.append(compare(Op.LESS_EQUAL, variable(name), low + width))
    inputs = (Input("u", low=Fraction(-1, 4), high=Fraction(1, 2)),) if has_input else ()
    chosen = Parameter("p", low=Fraction(1, 2), high=Fraction(3, 4))
    return HybridAutomaton(
        f"nonlinear{seed}",
        tuple(Variable(n) for n in (*names, "c")),
        tuple(locations),
        tuple(edges),
        (Initial("l0", conjunction(*start)),),
        inputs,
        (chosen,) if has_parameter else (),
        properties=(Property("far", compare(Op.LESS_EQUAL, variable("x"), 10**6)),),
    )


def _guard(random: Random, names: tuple[str, ...]) -> Expression:
    threshold = decimal(random, -1, 2)
    if random.random() < 0.5:
        return compare(Op.GREATER_EQUAL, variable(random.choice(names)), threshold)
    squares = add(*(power(variable(n), 2) for n in names))
    return compare(Op.GREATER_EQUAL, squares, abs(threshold))


def _flow(random: Random, name: str, leaves: list[Expression]) -> Constraint:
    terms = [multiply(constant(decimal(random, -1, 0.5)), variable(name))]
    terms += [
        multiply(constant(decimal(random, -1, 1)), nonlinear_term(random, leaves))
        for _ in range(random.choice((1, 2, 3)))
    ]
    value = add(*terms)
    if random.random() < 0.15:
        return Constraint(name, Range(value, add(value, constant(Fraction(1, 10)))))
    return Constraint(name, Range.exactly(value))


def nonlinear_term(random: Random, leaves: list[Expression]) -> Expression:
    """A bounded or polynomial function of one or two leaves, defined everywhere."""
    a, b = random.choice(leaves), random.choice(leaves)
    square = add(power(a, 2), constant(1))
    kinds = [
        a,
        multiply(a, b),
        multiply(a, a, b),
        power(a, 2),
        power(a, 3),
        function(Op.SIN, a),
        function(Op.COS, add(a, b)),
        function(Op.EXP, multiply(-1, power(a, 2))),
        function(Op.SQRT, square),
        function(Op.LOG, square),
        function(Op.ATAN, multiply(a, b)),
        function(Op.TAN, divide(a, add(square, constant(1)))),
        function(Op.ASIN, divide(a, add(square, constant(1)))),
        function(Op.ACOS, divide(b, add(power(b, 2), constant(2)))),
        function(Op.ATAN2, b, square),
        power(square, constant(Fraction(-3, 2))),
        power(square, constant(Fraction(1, 3))),
        divide(b, square),
        function(Op.ABSOLUTE, a),
        minimum(a, b),
        maximum(a, multiply(b, b)),
        conditional(compare(Op.LESS_EQUAL, a, b), a, multiply(a, b)),
    ]
    return random.choice(kinds)


def _edge(random: Random, i: int, count: int, names: tuple[str, ...], guard: Expression) -> Edge:
    resets = [Constraint("c", Range.exactly(constant(0)))]
    for name in names:
        draw = random.random()
        other = variable(random.choice(names))
        half = constant(Fraction(1, 2))
        if draw < 0.2:
            resets.append(Constraint(name, Range.exactly(multiply(half, other))))
        elif draw < 0.35:
            value = multiply(half, variable(name), other)
            resets.append(Constraint(name, Range.exactly(value)))
        elif draw < 0.45:
            value = function(Op.SIN, other)
            resets.append(Constraint(name, Range(value, add(value, constant(Fraction(1, 20))))))
    return Edge(f"l{i}", f"l{random.randrange(count)}", guard, tuple(resets), name=f"e{i}")

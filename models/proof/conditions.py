"""The vocabulary of simulation relations: names, conditions of states, and ranges."""

from __future__ import annotations

from models.automaton import Automaton, Input, Location, Parameter, Range
from models.expressions.expression import (
    TRUE,
    Expression,
    add,
    compare,
    conjunction,
    disjunction,
    equal,
    multiply,
    negation,
    variable,
)
from models.expressions.operators import Op
from models.expressions.traversal import conjuncts, rebuild, with_arguments
from models.proof.linear import Form


def expression_of(form: Form) -> Expression:
    """A form as an expression."""
    terms = (multiply(a, variable(n)) for n, a in sorted(form.coefficients.items()))
    return add(*terms, form.constant)


def derivative_of(name: str) -> str:
    """The name of a variable's derivative in conditions."""
    return f"d({name})"


def names_of(automaton: Automaton) -> tuple[str, ...]:
    """Variables, inputs and parameters."""
    return (
        *(v.name for v in automaton.variables),
        *(i.name for i in automaton.inputs),
        *(p.name for p in automaton.parameters),
    )


def changing(automaton: Automaton) -> frozenset[str]:
    """The names that have another value after a jump: all but parameters."""
    return frozenset(v.name for v in automaton.variables) | {i.name for i in automaton.inputs}


def labels_of(automaton: Automaton) -> frozenset[str]:
    """The labels that the automaton takes part in."""
    found: set[str] = set()
    for part in automaton.components:
        found |= part.alphabet | {e.label for e in part.edges if e.label is not None}
    return frozenset(found)


def state_condition(automaton: Automaton, place: Location) -> Expression:
    """Invariant, algebraic constraints, and what holds of inputs and parameters."""
    signals: tuple[Input | Parameter, ...] = (*automaton.inputs, *automaton.parameters)
    bounds = [
        part
        for s in signals
        for part in (
            TRUE if s.low is None else variable(s.name) >= s.low,
            TRUE if s.high is None else variable(s.name) <= s.high,
        )
    ]
    algebra = (within(variable(c.variable), c.range) for c in place.algebraic)
    return conjunction(place.invariant, *algebra, *bounds, automaton.assumption)


def within(value: Expression, allowed: Range) -> Expression:
    """That a value lies in a range."""
    exact = allowed.exact
    if exact is not None:
        if exact.op is Op.BOOLEAN:
            return value if exact.value else negation(value)
        return TRUE if exact == value else equal(value, exact)
    parts: list[Expression] = []
    if allowed.low is not None:
        parts.append(_one_sided(Op.GREATER_EQUAL, value, allowed.low, Op.MAXIMUM, Op.MINIMUM))
    if allowed.high is not None:
        parts.append(_one_sided(Op.LESS_EQUAL, value, allowed.high, Op.MINIMUM, Op.MAXIMUM))
    return conjunction(*parts)


def failing(known: Expression, options: list[Expression]) -> Expression:
    """What is known, and none of the options: p and not (p and q) is p and not q."""
    given = set(conjuncts(known))
    rest = [conjunction(*(p for p in conjuncts(o) if p not in given)) for o in options]
    return conjunction(known, *map(negation, dict.fromkeys(rest)))


def _one_sided(op: Op, value: Expression, bound: Expression, every: Op, some: Op) -> Expression:
    """A comparison with a bound; with `every` part of a `max` or `min`, or with `some`."""
    if bound.op is every:
        return conjunction(*(compare(op, value, part) for part in bound.args))
    if bound.op is some:
        return disjunction(*(compare(op, value, part) for part in bound.args))
    return compare(op, value, bound)


def without_waves(condition: Expression) -> Expression:
    """The condition with every `sin` and `cos` an unknown number in [-1, 1]."""
    unknown: dict[Expression, Expression] = {}

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        node = with_arguments(node, args)
        if node.op in (Op.SIN, Op.COS):
            return unknown.setdefault(node, variable(f"wave {len(unknown)}"))
        return node

    plain = rebuild(condition, replace)
    bounds = (part for w in unknown.values() for part in (w >= -1, w <= 1))
    return conjunction(plain, *bounds) if unknown else plain

"""The vocabulary of simulation relations: names, conditions of states, and ranges."""

from __future__ import annotations

from collections.abc import Set

from workbench.models.automaton import (
    REAL,
    Automaton,
    Input,
    Kind,
    Location,
    Parameter,
    Range,
    ValueType,
)
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    compare,
    conjunction,
    disjunction,
    equal,
    negation,
    variable,
)
from workbench.models.expressions.operators import BOOLEAN_OPERATORS, COMPARISONS, Op
from workbench.models.expressions.traversal import (
    conjuncts,
    free_variables,
    rebuild,
    with_arguments,
)
from workbench.models.linear import Form, affine, expression_of
from workbench.models.lowering.quantities import is_continuous


def changing(automaton: Automaton) -> frozenset[str]:
    """The names that have another value after a jump: all but parameters."""
    return frozenset(v.name for v in automaton.variables) | {i.name for i in automaton.inputs}


def typed_names(automaton: Automaton) -> dict[str, ValueType]:
    """The names whose values are never real numbers, with their types."""
    found = {v.name: v.type for v in automaton.variables if v.kind is Kind.DISCRETE}
    found |= {i.name: i.type for i in automaton.inputs}
    found |= {p.name: p.type for p in automaton.parameters}
    return {name: kind for name, kind in found.items() if kind != REAL}


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
    if exact is not None and exact.op not in (Op.MINIMUM, Op.MAXIMUM):
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


def limit_of(guard: Expression, automaton: Automaton, place: Location) -> Expression:
    """A condition that holds in every limit of states of a location in which the guard holds.

    Comparisons of continuous quantities are not strict in it. It keeps those of integers, truth
    values and symbols alone, which have no limits but themselves, and says nothing where a
    quantity may jump while time passes.
    """
    separate = typed_names(automaton).keys()
    jumping = _jumping(place)

    def of_atom(atom: Expression) -> Expression:
        names = free_variables(atom)
        if names & jumping:
            return TRUE
        if names <= separate:
            return atom
        if atom.op not in COMPARISONS or atom.op is Op.NOT_EQUAL:
            return TRUE
        if not all(map(is_continuous, atom.args)):
            return TRUE
        left, right = atom.args
        return compare(_NOT_STRICT.get(atom.op, atom.op), left, right, atom.span)

    made: dict[tuple[int, bool], Expression] = {}
    pending = [(guard, True, False)]
    while pending:
        node, positive, ready = pending.pop()
        if node.op not in BOOLEAN_OPERATORS:
            made[id(node), positive] = of_atom(node if positive else _opposite(node))
        elif not ready:
            wanted = positive is not (node.op is Op.NOT)
            pending.append((node, positive, True))
            pending.extend((arg, wanted, False) for arg in node.args)
        elif node.op is Op.NOT:
            made[id(node), positive] = made[id(node.args[0]), not positive]
        else:
            join = conjunction if (node.op is Op.AND) is positive else disjunction
            made[id(node), positive] = join(*(made[id(arg), positive] for arg in node.args))
    return made[id(guard), True]


def in_one_form(condition: Expression) -> Expression:
    """An equivalent condition in which affine comparisons and disjunctions are written in one
    way: 2*x > 2 as x > 1, 1 < x as x > 1, and x != 0 as x < 0 || x > 0."""

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        node = with_arguments(node, args)
        if node.op in COMPARISONS:
            return _plain_comparison(node)
        return disjunction(*sorted(args, key=str)) if node.op is Op.OR else node

    return rebuild(condition, replace)


def _plain_comparison(atom: Expression) -> Expression:
    left, right = map(affine, atom.args)
    if left is None or right is None:
        return atom
    form, op = left - right, atom.op
    if not form.coefficients:
        return atom
    first = form.coefficients[min(form.coefficients)]
    if first < 0:
        op = _MIRRORED.get(op, op)
    form = form.scaled(1 / first)
    sum_, bound = expression_of(Form(form.coefficients)), -form.constant
    if op is Op.NOT_EQUAL:
        both = (compare(strict, sum_, bound) for strict in (Op.LESS, Op.GREATER))
        return disjunction(*sorted(both, key=str))
    return compare(op, sum_, bound)


_MIRRORED = {
    Op.LESS: Op.GREATER,
    Op.LESS_EQUAL: Op.GREATER_EQUAL,
    Op.GREATER: Op.LESS,
    Op.GREATER_EQUAL: Op.LESS_EQUAL,
}
_NOT_STRICT = {Op.LESS: Op.LESS_EQUAL, Op.GREATER: Op.GREATER_EQUAL}
_OPPOSITE = {
    Op.LESS: Op.GREATER_EQUAL,
    Op.LESS_EQUAL: Op.GREATER,
    Op.GREATER: Op.LESS_EQUAL,
    Op.GREATER_EQUAL: Op.LESS,
    Op.EQUAL: Op.NOT_EQUAL,
    Op.NOT_EQUAL: Op.EQUAL,
}


def _opposite(atom: Expression) -> Expression:
    if atom.op not in COMPARISONS:
        return negation(atom)
    return compare(_OPPOSITE[atom.op], atom.args[0], atom.args[1], atom.span)


def _jumping(place: Location) -> Set[str]:
    """The names whose equations are not continuous, or leave a choice."""
    found: set[str] = set()
    while True:
        more = {
            c.variable
            for c in place.algebraic
            if c.range.exact is None
            or not is_continuous(c.range.exact)
            or free_variables(c.range.exact) & found
        }
        if more <= found:
            return found
        found |= more


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

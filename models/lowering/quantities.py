"""Quantities: the nonlinear expressions that the conditions of a location speak about.

Where a comparison in a guard, in the invariant or in the property is not affine, left - right is
a *quantity* of the location, and so is a bound of a reset that is not affine. Conditions are then
written with a name for the quantity, so that they are linear; what its value is while time
passes, a Taylor node knows. Quantities speak about states before a jump only.

Lemma. Where each name has the value of its quantity, a condition with names holds where the
condition does. Proof: left < right holds where left - right < 0 does, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from workbench.models.automaton import INT, REAL, Automaton, Constraint, Edge, Range
from workbench.models.expressions.expression import Expression, compare, subtract, variable
from workbench.models.expressions.operators import BOOLEAN_OPERATORS, COMPARISONS, Op
from workbench.models.expressions.traversal import (
    free_variables,
    postorder,
    rebuild,
    with_arguments,
)
from workbench.models.linear import affine

Quantities = Mapping[Expression, str]
"""The names of quantities (no variable has such a name)."""

_NO_NUMBER = BOOLEAN_OPERATORS | COMPARISONS | {Op.BOOLEAN, Op.SYMBOL, Op.AT}

_CONTINUOUS = frozenset(
    {
        Op.CONSTANT,
        Op.VARIABLE,
        Op.ADD,
        Op.MULTIPLY,
        Op.MINIMUM,
        Op.MAXIMUM,
        Op.ABSOLUTE,
        Op.EXP,
        Op.SIN,
        Op.COS,
    }
)
_TOTAL = _CONTINUOUS | _NO_NUMBER | {Op.SIGN, Op.FLOOR, Op.IF}


def quantities(
    conditions: Iterator[Expression], edges: tuple[Edge, ...], numbers: Set[str]
) -> Quantities:
    """The quantities of some conditions, and of the resets of edges, that speak about the
    given numbers only."""
    found: dict[Expression, str] = {}
    for value in _nonlinear(conditions, edges):
        if value not in found and free_variables(value) <= numbers:
            found[value] = f"quantity({len(found) + 1})"
    return found


def _nonlinear(conditions: Iterator[Expression], edges: tuple[Edge, ...]) -> Iterator[Expression]:
    for condition in conditions:
        for node in postorder(condition):
            if node.op in COMPARISONS and not any(a.op in _NO_NUMBER for a in node.args):
                difference = _difference(node)
                if affine(difference) is None:
                    yield difference
    for edge in edges:
        for reset in edge.resets:
            for bound in (reset.range.low, reset.range.high):
                if bound is not None and bound.op not in _NO_NUMBER and affine(bound) is None:
                    yield bound


def is_continuous(quantity: Expression) -> bool:
    """Whether the quantity is defined and continuous everywhere; judged from how it is
    written."""
    return all(node.op in _CONTINUOUS or _is_tame(node) for node in postorder(quantity))


def is_total(condition: Expression) -> bool:
    """Whether the condition is defined everywhere; judged from how it is written."""
    return all(node.op in _TOTAL or _is_tame(node) for node in postorder(condition))


def fault_of_equations(automaton: Automaton) -> str | None:
    """An equation that may have no value somewhere, where the automaton has no state; None if there
    is none."""
    types = {v.name: v.type for v in automaton.variables}
    for part in automaton.components:
        for place in part.locations:
            for given in place.algebraic:
                bounds = [b for b in (given.range.low, given.range.high) if b is not None]
                kind = types.get(given.variable, REAL)
                is_number = kind == REAL or (kind != INT and given.range.exact is not None)
                if not is_number or not all(map(is_total, bounds)):
                    return f"{given.variable} may have no value in {place.name}"
    return None


def _is_tame(node: Expression) -> bool:
    """Quotients by a number, and powers with a natural number as exponent."""
    if node.op not in (Op.DIVIDE, Op.POWER) or not node.args[1].is_constant:
        return False
    number = node.args[1].constant
    return number != 0 if node.op is Op.DIVIDE else number > 0 and number.denominator == 1


def measured(condition: Expression, names: Quantities) -> Expression:
    """The condition with its quantities by name; it holds in the same states."""
    if not names:
        return condition

    def replaced(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if node.op in COMPARISONS and not any(a.op in _NO_NUMBER for a in node.args):
            name = names.get(_difference(node))
            if name is not None:
                return compare(node.op, variable(name), 0)
        return with_arguments(node, args)

    return rebuild(condition, replaced)


def measured_resets(resets: tuple[Constraint, ...], names: Quantities) -> tuple[Constraint, ...]:
    """Resets with their quantities by name."""
    if not names:
        return resets
    return tuple(
        replace(reset, range=Range(_named(reset.range.low, names), _named(reset.range.high, names)))
        for reset in resets
    )


def _difference(comparison: Expression) -> Expression:
    left, right = comparison.args
    return subtract(left, right)


def _named(bound: Expression | None, names: Quantities) -> Expression | None:
    name = None if bound is None else names.get(bound)
    return bound if name is None else variable(name)

"""Ranges of values: membership, intersection, and several constraints on one variable."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.models.automaton import Constraint, Range
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    compare,
    conjunction,
    equal,
    maximum,
    minimum,
    negation,
    variable,
)
from workbench.models.expressions.operators import Op


def bounds(*constraints: Constraint) -> tuple[Expression, ...]:
    """The expressions that the constraints' ranges read."""
    found: list[Expression] = []
    for given in constraints:
        low, high = given.range.low, given.range.high
        if low is not None:
            found.append(low)
        if high is not None and high is not low:
            found.append(high)
    return tuple(found)


def is_empty(given: Range) -> bool:
    """Whether a range between two numbers has no values."""
    low, high = given.low, given.high
    if low is None or high is None or not low.is_constant or not high.is_constant:
        return False
    return low.constant > high.constant


def value_in(name: str, given: Range) -> Expression:
    """The proposition that a variable's value lies in a range; exact."""
    value = variable(name)
    if given.exact is not None:
        if given.exact.op is Op.BOOLEAN:
            return value if given.exact.value else negation(value)
        return equal(value, given.exact)
    low = TRUE if given.low is None else compare(Op.GREATER_EQUAL, value, given.low)
    high = TRUE if given.high is None else compare(Op.LESS_EQUAL, value, given.high)
    return conjunction(low, high)


def intersect(first: Range, second: Range) -> Range:
    """The values in both ranges: largest lower bound, smallest upper bound; exact."""
    if first == second:
        return first
    lows = [r.low for r in (first, second) if r.low is not None]
    highs = [r.high for r in (first, second) if r.high is not None]
    return Range(
        maximum(*dict.fromkeys(lows)) if lows else None,
        minimum(*dict.fromkeys(highs)) if highs else None,
    )


def merge_constraints(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """One constraint for each variable, the ranges of several intersected; exact."""
    found: dict[str, Constraint] = {}
    for new in constraints:
        known = found.get(new.variable)
        found[new.variable] = (
            new if known is None else replace(known, range=intersect(known.range, new.range))
        )
    return tuple(found.values())

"""Ranges that have no value: where a lower bound exceeds the upper one.

Where the range of a derivative is empty no time can pass, and a jump with an empty range in its
resets cannot be taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.models.automaton import TIME, Constraint, Range
from workbench.models.expressions.expression import TRUE, Expression, subtract
from workbench.models.expressions.simplify import simplify


def has_value(given: Range) -> Expression:
    """The condition under which a range has a value."""
    if given.low is None or given.high is None or given.exact is not None:
        return TRUE
    width = simplify(subtract(given.high, given.low))
    if width.is_constant and width.constant >= 0:
        return TRUE
    return given.low <= given.high


def demands(flows: Sequence[Constraint]) -> Iterator[tuple[str, Expression]]:
    """What must hold while time passes so that derivatives have values, each with the variable
    that it is about."""
    for c in flows:
        condition = has_value(c.range)
        if c.variable != TIME and condition != TRUE:
            yield c.variable, condition

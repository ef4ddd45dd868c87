"""States that have just landed on the boundary of the location that they entered.

The time of an event is known as exactly as the clock tells, and its guard is approached up to a
small part of its tolerance: a jump at `x <= 0` is made at x = 5e-16, say. If the target demands
`x <= 0`, that state lies on the boundary, as exactly as it is known. So what it lies beyond a
closed comparison of the invariant, its *slack*, is granted to it until the location is left, if
it is no more than an event is known to; whatever goes further beyond leaves the invariant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.models.expressions.expression import Expression, equal, subtract, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import free_variables, rebuild, with_arguments
from workbench.simulate.stepping.calculator import Calculator, Sensitivity, TolerantCondition
from workbench.simulate.stepping.condition import split_cases

if TYPE_CHECKING:
    from workbench.simulate.place import Prepared

_CLOSED = frozenset({Op.LESS_EQUAL, Op.GREATER_EQUAL, Op.EQUAL})


def slack_name(part: int, number: int) -> str:
    """The held value that is granted to a comparison of a part of the invariant."""
    return f"landed {part}.{number}"


def loosened(part: Expression, number: int, analog: frozenset[str]) -> Expression:
    """A part of an invariant with slack in its closed comparisons of analog variables."""
    return _loosened(part, number, analog)[0]


def _loosened(
    part: Expression, number: int, analog: frozenset[str]
) -> tuple[Expression, tuple[Expression, ...]]:
    """The part with slack, and the comparisons that have it, in order."""
    closed: dict[Expression, int] = {}

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        node = with_arguments(node, args)
        if node.op not in _CLOSED or free_variables(node).isdisjoint(analog):
            return node
        slack = variable(slack_name(number, closed.setdefault(node, len(closed))))
        excess = _excess(node)
        if node.op is Op.LESS_EQUAL:
            return excess <= slack
        if node.op is Op.GREATER_EQUAL:
            return excess >= -slack
        return equal(excess, slack)

    return rebuild(split_cases(part), replace), tuple(closed)


def _excess(comparison: Expression) -> Expression:
    left, right = comparison.args
    return subtract(left, right)


class Boundary:
    """The comparisons of a part of an invariant that a state may have landed on."""

    def __init__(self, prepared: Prepared, part: Expression, number: int):
        whole, closed = _loosened(part, number, prepared.moving)
        self.holds: TolerantCondition = prepared.condition(whole)
        given = prepared.symbols, prepared.externals
        excesses = [_excess(node) for node in closed]
        self._excesses = Calculator(excesses, *given)
        self._comparisons = [
            (slack_name(number, k), node.op, Sensitivity(g, prepared.known, *given))
            for k, (node, g) in enumerate(zip(closed, excesses, strict=True))
        ]

    def slacks(
        self, values: Mapping[str, float], tolerances: Mapping[str, float]
    ) -> dict[str, float]:
        """What a state lies beyond the comparisons, where that is no more than the tolerances of
        its variables explain; else zero."""
        found = {}
        for excess, (name, op, known) in zip(
            self._excesses(values), self._comparisons, strict=True
        ):
            beyond = -excess if op is Op.GREATER_EQUAL else excess
            counts = abs(beyond) if op is Op.EQUAL else beyond
            found[name] = beyond if 0.0 < counts <= known(values, tolerances) else 0.0
        return found

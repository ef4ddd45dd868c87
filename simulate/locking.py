"""Kinks and jumps inside a flow, locked for the length of a stretch.

A flow with conditionals, `min`, `max`, `abs` or `sign` is smooth only as long as no branch
changes. Each branch becomes a held truth value, `branch 0`, `branch 1`, ..., which keeps its
value while a stretch lasts; its condition is watched in the direction that would change it,
as a crossing event, so that the next stretch starts just beyond the switching surface with
the other branch. Tables and `floor` are left to the error control.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from models.automaton import TIME
from models.expression import (
    ONE,
    Expression,
    Op,
    conditional,
    free_variables,
    rebuild,
    variable,
    with_arguments,
)

MAX_BRANCHES = 64
"""Flows with more branches than this are not locked."""


def branch_name(index: int) -> str:
    """The held truth value of a branch."""
    return f"branch {index}"


@dataclass(frozen=True, slots=True)
class Locked:
    """Flows whose branches are held, and the conditions that the branches stand for."""

    flows: Mapping[str, Expression]
    conditions: tuple[Expression, ...]


def lock(flows: Mapping[str, Expression], moving: Sequence[str]) -> Locked:
    """The flows with every branch that can change while time passes replaced by a held
    truth value; exact as long as no condition changes its truth."""
    changing = frozenset(moving) | {TIME}
    numbers: dict[Expression, int] = {}

    def held(condition: Expression) -> Expression:
        return variable(branch_name(numbers.setdefault(condition, len(numbers))))

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        made = with_arguments(node, args)
        if not free_variables(*node.args) & changing:
            return made
        if node.op is Op.IF and free_variables(node.args[0]) & changing:
            return conditional(held(node.args[0]), args[1], args[2])
        if node.op in (Op.MINIMUM, Op.MAXIMUM):
            found, raw = args[0], node.args[0]
            for other, raw_other in zip(args[1:], node.args[1:], strict=True):
                first = raw <= raw_other if node.op is Op.MINIMUM else raw >= raw_other
                found = conditional(held(first), found, other)
                raw = with_arguments(node, (raw, raw_other))
            return found
        if node.op is Op.ABSOLUTE:
            return conditional(held(node.args[0] >= 0), args[0], -args[0])
        if node.op is Op.SIGN:
            return conditional(held(node.args[0] >= 0), ONE, -ONE)
        return made

    result = {name: rebuild(flow, replace) for name, flow in flows.items()}
    if len(numbers) > MAX_BRANCHES:
        return Locked(flows, ())
    return Locked(result, tuple(numbers))

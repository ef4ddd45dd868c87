"""Kinks and jumps inside a flow, locked for the length of a stretch.

A flow with conditionals, `min`, `max`, `abs` or `sign` is smooth only as long as no branch
changes. Each branch becomes a held truth value, `branch 0`, `branch 1`, ..., which keeps its
value while a stretch lasts; its condition is watched in the direction that would change it,
as a crossing event, so that the next stretch starts just beyond the switching surface with
the other branch. Tables and `floor` are left to the error control.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from models.automaton import TIME
from models.expressions.expression import ONE, Expression, boolean, conditional, variable
from models.expressions.operators import Op
from models.expressions.traversal import free_variables, rebuild, with_arguments

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

    def held(condition: Expression) -> Expression | None:
        if not free_variables(condition) & changing:
            return None
        return variable(branch_name(numbers.setdefault(condition, len(numbers))))

    result = {name: _decided(flow, held) for name, flow in flows.items()}
    if len(numbers) > MAX_BRANCHES:
        return Locked(flows, ())
    return Locked(result, tuple(numbers))


def fix(
    flows: Mapping[str, Expression], condition: Expression, truth: bool
) -> dict[str, Expression]:
    """The flows on one side of a branch."""

    def known(branch: Expression) -> Expression | None:
        return boolean(truth) if branch == condition else None

    return {name: _decided(flow, known) for name, flow in flows.items()}


def _decided(flow: Expression, decide: Callable[[Expression], Expression | None]) -> Expression:
    """The flow with the branches that are decided (not None) replaced by conditionals."""

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if node.op is Op.IF:
            truth = decide(node.args[0])
            if truth is not None:
                return conditional(truth, args[1], args[2])
        if node.op in (Op.MINIMUM, Op.MAXIMUM):
            return _extreme(node, args, decide)
        if node.op in (Op.ABSOLUTE, Op.SIGN):
            truth = decide(node.args[0] >= 0)
            if truth is not None:
                value = args[0] if node.op is Op.ABSOLUTE else ONE
                return conditional(truth, value, -value)
        return with_arguments(node, args)

    return rebuild(flow, replace)


def _extreme(
    node: Expression,
    args: tuple[Expression, ...],
    decide: Callable[[Expression], Expression | None],
) -> Expression:
    """`min` or `max`, taken from left to right."""
    found, raw = args[0], node.args[0]
    for other, raw_other in zip(args[1:], node.args[1:], strict=True):
        truth = decide(raw <= raw_other if node.op is Op.MINIMUM else raw >= raw_other)
        if truth is None:
            found = with_arguments(node, (found, other))
        else:
            found = conditional(truth, found, other)
        raw = with_arguments(node, (raw, raw_other))
    return found

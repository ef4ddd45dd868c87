"""Expressions that differ in names alone: kept once, made again with other variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import postorder


class Pattern:
    """Expressions with slots, which are variables of given names.

    Filling the slots with distinct variables that do not occur otherwise is a renaming one to
    one: the result is in canonical form without being built anew. What the expressions have in
    common is made once.
    """

    def __init__(self, expressions: Sequence[Expression], slots: Sequence[str]):
        self._places: list[tuple[int, int]] = []
        self._nodes: list[Expression] = []
        number = {name: i for i, name in enumerate(slots)}
        changing: set[int] = set()
        for node in postorder(*expressions):
            if node.op is Op.VARIABLE and node.name in number:
                self._places.append((id(node), number[node.name]))
                changing.add(id(node))
            elif any(id(a) in changing for a in node.args):
                self._nodes.append(node)
                changing.add(id(node))

    def filled(self, variables: Sequence[Expression]) -> Callable[[Expression], Expression]:
        """What becomes of each expression with these variables in the slots."""
        made = {place: variables[slot] for place, slot in self._places}
        for node in self._nodes:
            args = tuple([made.get(id(a), a) for a in node.args])
            made[id(node)] = Expression(node.op, args, node.value, node.span)
        return lambda expression: made.get(id(expression), expression)

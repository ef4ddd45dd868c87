"""Walking expressions, and what follows from it: substitution, the variables that occur.

`postorder` and `rebuild` are the two ways to walk an expression. Both are iterative, so that
nothing recurses on the depth of what a user wrote, and both visit a shared part once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    add,
    compare,
    conditional,
    conjunction,
    disjunction,
    divide,
    function,
    maximum,
    minimum,
    multiply,
    negation,
    power,
)
from workbench.models.expressions.operators import COMPARISONS, FUNCTIONS_OF_ONE, Op
from workbench.models.expressions.pairwise import Pairwise


def postorder(*roots: Expression) -> Iterator[Expression]:
    """Every distinct node below the roots once, arguments before the nodes that use them."""
    seen: set[int] = set()
    stack: list[Expression | None] = [*reversed(roots)]
    while stack:
        node = stack.pop()
        if node is None:  # a mark: the arguments of what lies beneath are done
            finished = stack.pop()
            assert finished is not None
            yield finished
        elif id(node) not in seen:
            seen.add(id(node))
            if node.args:
                stack += (node, None)
                stack += node.args[::-1]
            else:
                yield node


def rebuild(
    root: Expression, replace: Callable[[Expression, tuple[Expression, ...]], Expression]
) -> Expression:
    """The expression made bottom-up: `replace(node, new arguments)` gives each new node."""
    made: dict[int, Expression] = {}
    for node in postorder(root):
        made[id(node)] = replace(node, tuple(made[id(arg)] for arg in node.args))
    return made[id(root)]


def with_arguments(node: Expression, args: tuple[Expression, ...]) -> Expression:
    """The node with other arguments, back in canonical form; itself if nothing changed."""
    if all(a is b for a, b in zip(args, node.args, strict=True)):
        return node
    make = _REMAKE.get(node.op)
    if make is not None:
        return make(*args, span=node.span)
    if node.op in COMPARISONS:
        return compare(node.op, args[0], args[1], node.span)
    if node.op in FUNCTIONS_OF_ONE or node.op is Op.ATAN2:
        return function(node.op, *args, span=node.span)
    return Expression(node.op, args, node.value, node.span)


def substitute(root: Expression, values: Mapping[str, Expression]) -> Expression:
    """Every variable named in `values` replaced, all at once."""
    if not values:
        return root

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if node.op is Op.VARIABLE:
            return values.get(node.name, node)
        return with_arguments(node, args)

    return rebuild(root, replace)


def free_variables(*roots: Expression) -> frozenset[str]:
    """The names of all variables that occur."""
    found: set[str] = set()
    seen: set[int] = set()
    stack = [*roots]
    while stack:
        node = stack.pop()
        if node.op is Op.VARIABLE:
            found.add(node.name)
        elif node.op is Op.AND and isinstance(node, Pairwise):
            found |= node.names()  # without unrolling it
        elif node.args and id(node) not in seen:
            seen.add(id(node))
            stack += node.args
    return frozenset(found)


def conjuncts(root: Expression) -> tuple[Expression, ...]:
    """The parts of a conjunction; none for `TRUE`, the expression itself otherwise."""
    if root.op is Op.AND:
        return root.args
    return () if root == TRUE else (root,)


_REMAKE: Mapping[Op, Callable[..., Expression]] = {
    Op.ADD: add,
    Op.MULTIPLY: multiply,
    Op.DIVIDE: divide,
    Op.POWER: power,
    Op.MINIMUM: minimum,
    Op.MAXIMUM: maximum,
    Op.AND: conjunction,
    Op.OR: disjunction,
    Op.NOT: negation,
    Op.IF: conditional,
}

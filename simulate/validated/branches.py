"""The pieces of piecewise expressions that apply on a whole box.

On a box where every minimum, maximum, absolute value, conditional, sign, floor and table is in
one of its pieces, an expression equals the smooth one in which the pieces are filled in. Only
that may be expanded in a series, or differentiated: at one point of a kink nothing tells which
side comes next.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint

from workbench.models.expressions.expression import (
    ZERO,
    Expression,
    add,
    constant,
    multiply,
    subtract,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.expressions.traversal import with_arguments
from workbench.simulate.validated.balls import BallEvaluator, GaveUp, Undecided, ends

PIECEWISE = frozenset({Op.MINIMUM, Op.MAXIMUM, Op.ABSOLUTE, Op.SIGN, Op.FLOOR, Op.IF, Op.LOOKUP})


class Branches:
    """Several expressions whose pieces are chosen together."""

    def __init__(self, *roots: Expression):
        self.roots = roots
        self._evaluator = BallEvaluator(*roots)
        self.is_smooth = not any(n.op in PIECEWISE for n in self._evaluator.nodes)

    def on(self, values: Mapping[str, Any]) -> tuple[Expression, ...]:
        """The expressions with the pieces that apply on the whole box; `Undecided` where two
        do. Exact: on the box they have the same values."""
        if self.is_smooth:
            return self.roots
        balls = self._evaluator.all(values)
        made: dict[int, Expression | GaveUp] = {}
        for node in self._evaluator.nodes:
            try:
                made[id(node)] = _piece(node, made, balls)
            except GaveUp as problem:
                made[id(node)] = problem
        return tuple(_sure(made[id(root)]) for root in self.roots)


def smooth_on(root: Expression, values: Mapping[str, Any]) -> Expression:
    """One expression with the pieces that apply on the whole box, where it has a value on all
    of it: a rate of change alone tells nothing of the cut of `atan2`, on both sides of which it
    is the same, nor of a pole that cancels out in it."""
    found = Branches(root).on(values)[0]
    BallEvaluator(found)(values)
    return found


def _sure(made: Expression | GaveUp) -> Expression:
    if isinstance(made, GaveUp):
        raise made
    return made


def _piece(
    node: Expression, made: Mapping[int, Expression | GaveUp], balls: Mapping[int, Any]
) -> Expression:
    if node.op is Op.IF:
        condition = balls[id(node.args[0])]
        if not isinstance(condition, bool):
            raise Undecided("is not decided by the enclosure", node.args[0])
        return _sure(made[id(node.args[1 if condition else 2])])
    args = [_sure(made[id(a)]) for a in node.args]
    if node.op not in PIECEWISE:
        return with_arguments(node, tuple(args))
    value = balls[id(node)]
    if isinstance(value, GaveUp):
        raise value
    if node.op in (Op.SIGN, Op.FLOOR):
        return constant(ends(value)[0])
    inner = [balls[id(a)] for a in node.args]
    if node.op is Op.ABSOLUTE:
        if inner[0] >= 0 or inner[0] <= 0:
            return args[0] if inner[0] >= 0 else -args[0]
        raise Undecided("changes its sign", node.args[0])
    if node.op is Op.LOOKUP:
        return _cell(node, args, inner)
    return _extreme(node, args, inner)


def _extreme(node: Expression, args: list[Expression], inner: list[Any]) -> Expression:
    best, value = args[0], inner[0]
    for other, at in zip(args[1:], inner[1:], strict=True):
        below, above = value <= at, value >= at
        if not (below or above):
            raise Undecided("changes from one of its arguments to another", node)
        keeps = below if node.op is Op.MINIMUM else above
        if not keeps:
            best, value = other, at
    return best


def _cell(node: Expression, args: list[Expression], inner: list[Any]) -> Expression:
    """A table as the polynomial of the one cell in which its arguments are."""
    table: Table = node.table
    shares: list[tuple[int, Expression]] = []
    for axis, argument, x in zip(table.axes, args, inner, strict=True):
        shares.append(_share(node, axis, argument, x))
    if table.interpolation is Interpolation.PREVIOUS:
        return constant(table(*(table.axes[i][cell] for i, (cell, _) in enumerate(shares))))
    (row, along), *rest = shares
    if not rest:
        low, high = (table.values[min(r, len(table.values) - 1)][0] for r in (row, row + 1))
        return _between(constant(low), constant(high), along)
    column, across = rest[0]
    rows = []
    for r in (row, row + 1):
        line = table.values[min(r, len(table.values) - 1)]
        low, high = (line[min(c, len(line) - 1)] for c in (column, column + 1))
        rows.append(_between(constant(low), constant(high), across))
    return _between(rows[0], rows[1], along)


def _between(low: Expression, high: Expression, share: Expression) -> Expression:
    return low if share == ZERO or low == high else add(low, multiply(share, subtract(high, low)))


def _share(
    node: Expression, axis: tuple[Fraction, ...], argument: Expression, x: flint.arb
) -> tuple[int, Expression]:
    """The cell of an axis that contains a ball, and how far along it the argument is."""
    low, high = ends(x)
    if high <= axis[0]:
        return 0, ZERO
    if low >= axis[-1]:
        return len(axis) - 1, ZERO
    for i, (start, end) in enumerate(pairwise(axis)):
        if start <= low and high <= end:
            return i, multiply(subtract(argument, constant(start)), 1 / (end - start))
    raise Undecided("passes from one cell of its table to another", node)

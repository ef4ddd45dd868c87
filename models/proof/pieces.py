"""Piecewise linear values in conditions: `min`, `max`, `abs`, `sign`, `floor` and `if`, by cases.

Each such value becomes an unknown number p, with a condition that says what it is:

- p = min(a, b):    p <= a and p <= b and (p >= a or p >= b); for `max` the other way round
- p = abs(a):       as max(a, -a)
- p = sign(a):      a > 0 and p = 1, or a < 0 and p = -1, or a = 0 and p = 0
- p = floor(a):     p <= a and a < p + 1 (that p is whole is left out, which only enlarges)
- p = if(c, a, b):  c and p = a, or not c and p = b

A value has exactly one such p (for `floor`, at least one) wherever it is defined, and only values
that are defined everywhere are replaced (`models.proof.quantities.is_total`). So the condition
has a solution if and only if the new one has one (for `floor`: only if), with the same values of
all other names. The names of unknown numbers have a blank, as no name of a model has.
"""

from __future__ import annotations

from models.expressions.expression import (
    Expression,
    conjunction,
    disjunction,
    equal,
    negation,
    variable,
)
from models.expressions.operators import BOOLEAN_OPERATORS, COMPARISONS, Op
from models.expressions.traversal import rebuild, with_arguments
from models.proof.linear import Types
from models.proof.quantities import is_total

_NO_NUMBER = BOOLEAN_OPERATORS | COMPARISONS | {Op.BOOLEAN, Op.SYMBOL, Op.AT, Op.IF}
_PIECES = frozenset({Op.MINIMUM, Op.MAXIMUM, Op.ABSOLUTE, Op.SIGN, Op.FLOOR})


def without_pieces(condition: Expression, types: Types) -> Expression:
    """The condition with every piecewise linear value an unknown number, and what that is."""
    unknown: dict[Expression, Expression] = {}
    known: list[Expression] = []

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        node = with_arguments(node, args)
        if not _is_piecewise(node, types) or not is_total(node):
            return node
        if node not in unknown:
            unknown[node] = variable(f"piece {len(unknown)}")
            known.append(_meaning(node, unknown[node]))
        return unknown[node]

    plain = rebuild(condition, replace)
    return conjunction(plain, *known) if known else plain


def _is_piecewise(node: Expression, types: Types) -> bool:
    if node.op in _PIECES:
        return True
    return node.op is Op.IF and all(_is_number(branch, types) for branch in node.args[1:])


def _is_number(value: Expression, types: Types) -> bool:
    if value.op is Op.VARIABLE:
        kind = types.get(value.name)
        return kind is None or kind.is_numeric
    return value.op not in _NO_NUMBER


def _meaning(node: Expression, value: Expression) -> Expression:
    if node.op is Op.IF:
        test, then, other = node.args
        first = conjunction(test, equal(value, then))
        return disjunction(first, conjunction(negation(test), equal(value, other)))
    if node.op is Op.MINIMUM:
        least = (value <= part for part in node.args)
        return conjunction(*least, disjunction(*(value >= part for part in node.args)))
    if node.op is Op.MAXIMUM:
        most = (value >= part for part in node.args)
        return conjunction(*most, disjunction(*(value <= part for part in node.args)))
    (a,) = node.args
    if node.op is Op.ABSOLUTE:
        either = disjunction(value <= a, value <= -a)
        return conjunction(value >= a, value >= -a, either)
    if node.op is Op.SIGN:
        return disjunction(
            conjunction(a > 0, equal(value, 1)),
            conjunction(a < 0, equal(value, -1)),
            conjunction(equal(a, 0), equal(value, 0)),
        )
    return conjunction(value <= a, a < value + 1)

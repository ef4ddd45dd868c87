"""Piecewise linear values in conditions: `min`, `max`, `abs`, `sign`, `floor` and `if`, by cases.

Lemma. `by_cases` gives a condition that holds in the same states, `without_pieces` one that has a
solution if the given one has, with the same values of all names of it.

A comparison with such a value holds just where it holds with one of its branches instead, and that
branch is the value: abs(a) <= c says a >= 0 and a <= c, or a <= 0 and -a <= c (`by_cases`). Where
conditions relate two models the number of cases would be too large. There each such value becomes
an unknown number p, with a condition that says what it is (`without_pieces`):

- p = min(a, b):    p <= a and p <= b and (p >= a or p >= b); for `max` the other way round
- p = abs(a):       as max(a, -a)
- p = sign(a):      a > 0 and p = 1, or a < 0 and p = -1, or a = 0 and p = 0
- p = floor(a):     p <= a and a < p + 1 (that p is whole is left out, which only enlarges)
- p = if(c, a, b):  c and p = a, or not c and p = b

A value has exactly one such p (for `floor`, at least one) wherever it is defined, and only values
that are defined everywhere are replaced (`models.lowering.quantities.is_total`). So the condition
has a solution if and only if the new one has one (for `floor`: only if), with the same values of
all other names. The names of unknown numbers have a blank, as no name of a model has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.models.expressions.expression import (
    Expression,
    conjunction,
    constant,
    disjunction,
    equal,
    negation,
    variable,
)
from workbench.models.expressions.operators import BOOLEAN_OPERATORS, COMPARISONS, Op
from workbench.models.expressions.traversal import postorder, rebuild, with_arguments
from workbench.models.lowering.alternatives import Types
from workbench.models.lowering.quantities import is_total

_NO_NUMBER = BOOLEAN_OPERATORS | COMPARISONS | {Op.BOOLEAN, Op.SYMBOL, Op.AT, Op.IF}
_PIECES = frozenset({Op.MINIMUM, Op.MAXIMUM, Op.ABSOLUTE, Op.SIGN, Op.FLOOR})


MOST_CASES = 64
"""A comparison with more cases is left as it is."""


def by_cases(condition: Expression, types: Types) -> Expression:
    """The condition with comparisons of piecewise linear values as disjunctions over their
    branches; it holds in the same states. `floor` is left as it is."""

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        node = with_arguments(node, args)
        return _cases(node, types) if node.op in COMPARISONS else node

    return rebuild(condition, replace)


def _cases(comparison: Expression, types: Types) -> Expression:
    pending: list[tuple[tuple[Expression, ...], Expression]] = [((), comparison)]
    found: list[Expression] = []
    while pending:
        chosen, case = pending.pop()
        piece = innermost_piece(case.args if case.op in COMPARISONS else (), types)
        if piece is None:
            found.append(conjunction(*chosen, case))
        else:
            for where, value in branches_of(piece):
                pending.append(((*chosen, where), with_branch(case, piece, value)))
        if len(found) + len(pending) > MOST_CASES:
            return comparison
    return disjunction(*found)


def innermost_piece(values: Sequence[Expression], types: Types) -> Expression | None:
    """A piecewise value in the given ones that has none inside, and is defined everywhere."""
    for node in postorder(*values):
        if node.op is not Op.FLOOR and _is_piecewise(node, types) and is_total(node):
            return node
    return None


def branches_of(piece: Expression) -> Iterator[tuple[Expression, Expression]]:
    """The values of a piecewise value, each with a condition for it; one of them holds, and where
    several do they give the same value."""
    if piece.op is Op.IF:
        test, then, other = piece.args
        yield test, then
        yield negation(test), other
    elif piece.op in (Op.MINIMUM, Op.MAXIMUM):
        for one in piece.args:
            others = [other for other in piece.args if other is not one]
            if piece.op is Op.MINIMUM:
                yield conjunction(*(one <= other for other in others)), one
            else:
                yield conjunction(*(one >= other for other in others)), one
    else:
        (a,) = piece.args
        if piece.op is Op.ABSOLUTE:
            yield a >= 0, a
            yield a <= 0, -a
        else:
            assert piece.op is Op.SIGN
            yield a > 0, constant(1)
            yield a < 0, constant(-1)
            yield equal(a, 0), constant(0)


def with_branch(whole: Expression, piece: Expression, value: Expression) -> Expression:
    """An expression with the value of a branch for a piecewise one."""

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        return value if node == piece else with_arguments(node, args)

    return rebuild(whole, replace)


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

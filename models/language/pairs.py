"""`forall i : forall j in i + 1.. : p`: what is said of all pairs, kept as one pattern."""

from __future__ import annotations

from typing import Protocol

from workbench.models.automaton import BOOL
from workbench.models.expressions.expression import ZERO, Expression, add, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.pairwise import Pairwise
from workbench.models.expressions.traversal import free_variables
from workbench.models.language.scope import Binding, NameRole, Scope
from workbench.models.language.unrolling import (
    FEW,
    Resolve,
    Selected,
    Typed,
    indexed,
    slot,
    slotted,
)

WRONG: Typed = (ZERO, None)
"""What has no meaning, which has been reported."""


class Resolving(Protocol):
    """Gives expressions their meaning."""

    selected_before: Selected

    def resolve(self, root: Expression, scope: Scope) -> Typed:
        """The expression over variables and its type."""

    def integer(self, written: Expression, scope: Scope, what: str) -> int | None:
        """The value of an expression that must be a constant integer."""


def all_pairs(
    resolver: Resolving, node: Expression, scope: Scope, numbers: range, limit: int
) -> Typed | None:
    """`forall i in a..b : forall j in i + 1..c : p` with b = c or b = c - 1 as one pattern, for
    at most `limit` pairs; None if it is not of this form or has to be unrolled."""
    index, inner = str(node.value), node.args[2]
    if node.op is not Op.FORALL or inner.op is not Op.FORALL or len(numbers) <= FEW:
        return None
    if inner.args[0] != add(variable(index), 1):
        return None
    first, last = indexed(scope, index, numbers[0]), indexed(scope, index, numbers[-1])
    ends = [resolver.integer(inner.args[1], at, "the last index") for at in (first, last)]
    high = ends[0]
    if high is None or ends[1] is None:
        return WRONG
    if ends[1] != high or high - numbers[-1] not in (0, 1):
        return None
    every = range(numbers[0], high + 1)
    if len(every) * (len(every) - 1) // 2 > limit:
        return None
    second = indexed(first, str(inner.value), numbers[1])
    if resolver.resolve(inner.args[2], second)[1] is None:
        return WRONG
    return _pairwise(resolver.resolve, node, scope, every, resolver.selected_before)


def _pairwise(
    resolve: Resolve, quantifier: Expression, scope: Scope, numbers: range, known: Selected
) -> Typed | None:
    """`forall i : forall j : p` over all pairs i < j of these numbers, kept as one pattern; None
    where it must be unrolled: an index does more than select, what i selects at a number is
    not what j selects there, or the parts do not differ in names alone.

    The body means something for the first pair: what is wrong with it is already reported.
    """
    inner = quantifier.args[2]
    indices, body = (str(quantifier.value), str(inner.value)), inner.args[2]
    ones = slotted(body, indices[0]) if indices[0] != indices[1] else None
    others = slotted(ones.body, indices[1], len(ones.selections)) if ones is not None else None
    if ones is None or others is None or not (ones.cached and others.cached):
        return None
    partners: list[list[Typed]] = []
    for number in numbers:
        mine, theirs = (
            part.selected(resolve, indexed(scope, index, number), known, number)
            for part, index in zip((ones, others), indices, strict=True)
        )
        if mine != theirs or any(e.op is not Op.VARIABLE for e, _ in mine):
            return None
        partners.append(mine)
    kinds = [kind for _, kind in partners[0]]
    if None in kinds or any([kind for _, kind in p] != kinds for p in partners):
        return None
    count = len(kinds)
    slots = [slot(i) for i in range(2 * count)]
    bound = {
        name: Binding(variable(name), kind, NameRole.VARIABLE)
        for name, kind in zip(slots, kinds + kinds, strict=True)
    }
    pattern, kind = resolve(others.body, Scope(scope, bound))
    mentioned = free_variables(pattern)
    names = [e.name for partner in partners for e, _ in partner]
    if kind != BOOL or not mentioned.issuperset(slots):
        return None
    if len(set(names)) < len(names) or not mentioned.isdisjoint(names):
        return None
    return Pairwise(
        pattern,
        (tuple(slots[:count]), tuple(slots[count:])),
        tuple(tuple(e.name for e, _ in partner) for partner in partners),
        quantifier.span,
    ), BOOL

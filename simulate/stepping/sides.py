"""Conjunctions that ask for different sides of one surface.

Within tolerance a state at the surface g = 0 counts as being on either side of it, and on it:
of `x > 1 && x < 1` both parts hold at x = 1. A state is in one of these places only. So such a
conjunction is written as its cases: on this side, on that side, on the surface itself, where
what does not hold there is false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from workbench.models.expressions.expression import (
    FALSE,
    Expression,
    conjunction,
    disjunction,
    subtract,
)
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.polynomial import polynomial_form
from workbench.models.expressions.simplify import simplify
from workbench.models.expressions.traversal import free_variables

MAX_SURFACES = 4
"""Of one conjunction at most so many surfaces are told apart."""

Sides = frozenset[int]

_HOLDS_ON = {
    Op.GREATER: frozenset({1}),
    Op.GREATER_EQUAL: frozenset({1, 0}),
    Op.LESS: frozenset({-1}),
    Op.LESS_EQUAL: frozenset({-1, 0}),
    Op.EQUAL: frozenset({0}),
    Op.NOT_EQUAL: frozenset({1, -1}),
}
"""On which sides of left - right = 0 a comparison holds."""


def one_side_at_a_time(
    condition: Expression, is_tolerant: Callable[[Expression], bool]
) -> Expression:
    """A condition without negations, equivalent, that holds within tolerance only where it does
    so on one side of every surface; `is_tolerant` tells the comparisons with a tolerance."""
    made: dict[int, Expression] = {}
    for node in boolean_parts(condition):
        parts = [made[id(a)] for a in node.args] if node.op in (Op.AND, Op.OR) else []
        if node.op is Op.AND:
            made[id(node)] = _told_apart(parts, is_tolerant)
        else:
            made[id(node)] = disjunction(*parts) if node.op is Op.OR else node
    return made[id(condition)]


def boolean_parts(root: Expression) -> Iterator[Expression]:
    """The conjunctions and disjunctions of a condition and what they join, parts first."""
    stack = [(root, False)]
    while stack:
        node, expanded = stack.pop()
        if expanded or node.op not in (Op.AND, Op.OR):
            yield node
        else:
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(node.args))


def _told_apart(
    parts: Sequence[Expression], is_tolerant: Callable[[Expression], bool]
) -> Expression:
    """A conjunction as the cases of the surfaces of which its parts ask for several sides."""
    cases = [conjunction(*parts)]
    for surface in _contested(parts, is_tolerant)[:MAX_SURFACES]:
        lost = {
            s: frozenset(c for c, sides in surface.items() if s not in sides) for s in (1, -1, 0)
        }
        least = [one for one in lost.values() if not any(other < one for other in lost.values())]
        cases = [_without(case, one) for case in cases for one in dict.fromkeys(least)]
    return cases[0] if len(cases) == 1 else disjunction(*dict.fromkeys(cases))


def _contested(
    parts: Sequence[Expression], is_tolerant: Callable[[Expression], bool]
) -> list[dict[Expression, Sides]]:
    """The surfaces no side of which fulfils all that is said about them, in several parts."""
    related: dict[frozenset[str], dict[Expression, set[int]]] = {}
    for i, part in enumerate(parts):
        for node in boolean_parts(part):
            if node.op in COMPARISONS and is_tolerant(node):
                related.setdefault(free_variables(node), {}).setdefault(node, set()).add(i)
    found = []
    for comparisons in related.values():
        if len(comparisons) < 2:
            continue
        surfaces: dict[object, dict[Expression, Sides]] = {}
        for node in comparisons:
            key, sides = _surface(node)
            surfaces.setdefault(key, {})[node] = sides
        for surface in surfaces.values():
            places = set().union(*(comparisons[node] for node in surface))
            if len(places) > 1 and not frozenset.intersection(*surface.values()):
                found.append(surface)
    return found


def _surface(node: Expression) -> tuple[object, Sides]:
    """What comparisons of proportional functions have in common, and the sides of it on which
    this one holds."""
    left, right = node.args
    difference, sides = subtract(left, right), _HOLDS_ON[node.op]
    try:
        form = polynomial_form(difference)
    except ExpressionTooLargeError:
        return difference, sides
    if form is None:
        return simplify(difference), sides
    lead = next((form[m] for m in sorted(form) if m), None)
    if lead is None:
        return node, sides
    if lead < 0:
        sides = frozenset(-side for side in sides)
    return frozenset((m, c / lead) for m, c in form.items()), sides


def _without(condition: Expression, lost: frozenset[Expression]) -> Expression:
    """The condition where some of its comparisons are false."""
    made: dict[int, Expression] = {}
    for node in boolean_parts(condition):
        if node.op in (Op.AND, Op.OR):
            join = conjunction if node.op is Op.AND else disjunction
            made[id(node)] = join(*(made[id(a)] for a in node.args))
        else:
            made[id(node)] = FALSE if node in lost else node
    return made[id(condition)]

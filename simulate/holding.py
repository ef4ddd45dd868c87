"""Inclusions: which derivative out of a range, and giving way at the invariant's boundary.

A derivative in [l, u] is l + share*(u - l) with a held share. Where that leads out of the
invariant g >= 0, but some value of the range does not, the derivative that keeps g constant is
taken instead: the inclusion is *held* until its own choice points inwards again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.models.automaton import TIME, Range
from workbench.models.expressions.differentiate import NotDifferentiableError, differentiate
from workbench.models.expressions.expression import (
    ZERO,
    Expression,
    add,
    multiply,
    subtract,
    variable,
)
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.simplify import simplify
from workbench.models.expressions.traversal import free_variables


def inclusion_share(name: str) -> str:
    """The held value that says where in its inclusion a derivative lies, 0 (low) to 1."""
    return f"{name}.inclusion"


def inward(part: Expression) -> Expression:
    """The g of an invariant part `g >= 0`."""
    left, right = part.args
    if part.op in (Op.LESS, Op.LESS_EQUAL):
        return subtract(right, left)
    return subtract(left, right)


def joint_rates(
    holds: Sequence[tuple[str, Expression]], flows: Mapping[str, Expression]
) -> dict[str, Expression] | None:
    """The derivatives of the held variables that keep all their parts constant at once.

    One linear equation for each part: the sum over held h of g_h h' is -(g_t + the sum over
    the others of g_x x'). None where they do not determine the derivatives.
    """
    names = [held for held, _ in holds]
    rows: list[list[Expression]] = []
    for _, part in holds:
        g = inward(part)
        rest = differentiate(g, TIME)
        for name in sorted(free_variables(g) - {*names, TIME}):
            rest = rest + differentiate(g, name) * flows.get(name, ZERO)
        rows.append([*(differentiate(g, name) for name in names), simplify(-rest)])
    for k in range(len(names)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k] != ZERO), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [simplify(entry / rows[k][k]) for entry in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][k] != ZERO:
                factor = rows[i][k]
                rows[i] = [simplify(a - factor * b) for a, b in zip(rows[i], rows[k], strict=True)]
    return {name: rows[k][-1] for k, name in enumerate(names)}


def may_hold(part: Expression, candidates: Sequence[str]) -> tuple[str, ...]:
    """The inclusions that could keep a part of the invariant by giving way."""
    if part.op not in COMPARISONS or part.op in (Op.EQUAL, Op.NOT_EQUAL):
        return ()
    found = []
    for name in candidates:
        try:
            if differentiate(inward(part), name) != ZERO:
                found.append(name)
        except NotDifferentiableError:
            return ()
    return tuple(found)


def resolved(name: str, given: Range) -> Expression:
    """One derivative out of a range, by the held share of the inclusion."""
    if given.exact is not None:
        return given.exact
    if given.low is not None and given.high is not None:
        width = simplify(subtract(given.high, given.low))
        return add(given.low, multiply(variable(inclusion_share(name)), width))
    if given.low is not None:
        return given.low
    return ZERO if given.high is None else given.high

"""Constant bounds of an expression over the states that satisfy a condition."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, inf

import numpy as np

from workbench.abstraction.refinement.subdivision import enclosed_over
from workbench.models.automaton import Range
from workbench.models.expressions.expression import Expression, constant
from workbench.models.linear import Form, Rows, affine
from workbench.models.lowering.alternatives import alternatives
from workbench.reach.sets.support import SupportOracle

GRID = 10**6


def bounds_over(given: Range, condition: Expression) -> tuple[Fraction | None, Fraction | None]:
    """Numbers l <= given.low and u >= given.high wherever the condition holds; None where
    there is none. Found in floating point and rounded outwards: to be proved by the caller."""
    low = None if given.low is None else _least(given.low, condition)
    high = None if given.high is None else _least(-given.high, condition)
    return low, None if high is None else -high


def constant_range(given: Range, condition: Expression) -> Range:
    """The range with constant bounds."""
    low, high = bounds_over(given, condition)
    bottom = None if low is None else constant(low)
    if low is not None and low == high:
        return Range(bottom, bottom)
    return Range(bottom, None if high is None else constant(high))


def _least(expression: Expression, condition: Expression) -> Fraction | None:
    if expression.is_constant:
        return expression.constant
    form = affine(expression)
    if form is None:
        box = enclosed_over(expression, condition)
        return None if box is None else box[0]
    least = min((_least_in(form, rows) for rows in alternatives(condition)), default=inf)
    return None if not np.isfinite(least) else _rounded_down(least)


def _least_in(form: Form, rows: Rows) -> float:
    names = sorted({n for row in rows for n in row.form.coefficients} | set(form.coefficients))
    matrix = np.array([[float(r.form.coefficients.get(n, 0)) for n in names] for r in rows])
    bound = np.array([-float(row.form.constant) for row in rows])
    if not rows:
        return -inf
    direction = np.array([-float(form.coefficients.get(n, 0)) for n in names])
    found = SupportOracle(matrix, bound)(direction)
    return inf if found is None else float(form.constant) - found.value


def _rounded_down(value: float) -> Fraction:
    nearest = Fraction(round(value * GRID), GRID)
    if abs(float(nearest) - value) <= 1e-9 * (1 + abs(value)):
        return nearest
    return (
        Fraction(floor(value * GRID), GRID) if value >= 0 else -Fraction(ceil(-value * GRID), GRID)
    )

"""Bounds of single names that follow from rows, by propagating intervals.

From a*x + rest <= 0 and bounds of the rest follows a bound of x. Every bound found is
implied by the rows, so the box of all bounds contains every solution.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from workbench.models.proof.linear import Rows

Bounds: TypeAlias = dict[str, tuple[Fraction | None, Fraction | None]]

PASSES = 3
"""How often the rows are gone through; more can only tighten the bounds."""


def implied_bounds(rows: Rows) -> Bounds:
    """Lower and upper bounds of each name; None where none was found."""
    bounds: Bounds = {}
    for _ in range(PASSES):
        for row in rows:
            for name, a in row.form.coefficients.items():
                rest = row.form.constant
                for other, b in row.form.coefficients.items():
                    if other == name:
                        continue
                    low, high = bounds.get(other, (None, None))
                    least = low if b > 0 else high
                    if least is None:
                        break
                    rest += b * least
                else:
                    _tighten(bounds, name, -rest / a, is_upper=a > 0)
    return bounds


def _tighten(bounds: Bounds, name: str, value: Fraction, *, is_upper: bool) -> None:
    low, high = bounds.get(name, (None, None))
    if is_upper:
        bounds[name] = (low, value if high is None else min(high, value))
    else:
        bounds[name] = (value if low is None else max(low, value), high)

"""Bounds of single names that follow from rows, by propagating intervals.

From a*x + rest <= 0 and bounds of the rest follows a bound of x. Every bound found is implied by
the rows, so the box of all bounds contains every solution.
"""

from __future__ import annotations

from fractions import Fraction

from workbench.models.linear import Bounds, Rows

PASSES = 3
"""How often the rows are gone through; more can only tighten the bounds."""


def bounds_of(rows: Rows) -> Bounds:
    """Lower and upper bounds of names; None where none was found."""
    found: Bounds = {}
    for _ in range(PASSES):
        for row in rows:
            for name, a in row.form.coefficients.items():
                rest = row.form.constant
                for other, b in row.form.coefficients.items():
                    if other == name:
                        continue
                    low, high = found.get(other, (None, None))
                    least = low if b > 0 else high
                    if least is None:
                        break
                    rest += b * least
                else:
                    _tighten(found, name, -rest / a, is_upper=a > 0)
    return found


def _tighten(found: Bounds, name: str, value: Fraction, *, is_upper: bool) -> None:
    low, high = found.get(name, (None, None))
    if is_upper:
        found[name] = (low, value if high is None else min(high, value))
    else:
        found[name] = (value if low is None else max(low, value), high)

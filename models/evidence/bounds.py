"""Bounds of single names that follow from rows, by propagating intervals.

From a*x + rest <= 0 and bounds of the rest follows a bound of x. Every bound found is
implied by the rows, so the box of all bounds contains every solution; the multipliers of the
rows from which it follows can be told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from workbench.models.linear import Bounds, Rows

PASSES = 3
"""How often the rows are gone through; more can only tighten the bounds."""


@dataclass(frozen=True, eq=False)
class Derived:
    """A bound of a name that follows from a row, divided by `size`, and bounds of other names,
    each times a number."""

    value: Fraction
    row: int
    size: Fraction
    others: tuple[tuple[Fraction, Derived], ...]

    @cached_property
    def multipliers(self) -> Mapping[int, Fraction]:
        """Factors of rows that add up to value - name <= 0, or to name - value <= 0."""
        found = {self.row: 1 / self.size}
        for factor, other in self.others:
            for row, a in other.multipliers.items():
                found[row] = found.get(row, Fraction(0)) + a * factor / self.size
        return found


Sides: TypeAlias = tuple[Derived | None, Derived | None]
"""A lower bound and an upper one."""


def implied_bounds(rows: Rows) -> Bounds:
    """Lower and upper bounds of each name; None where none was found."""
    return {
        name: (None if low is None else low.value, None if high is None else high.value)
        for name, (low, high) in derived_bounds(rows).items()
    }


def derived_bounds(rows: Rows) -> Mapping[str, Sides]:
    """Lower and upper bounds of each name, with the rows from which they follow."""
    bounds: dict[str, Sides] = {}
    for _ in range(PASSES):
        for number, row in enumerate(rows):
            for name, a in row.form.coefficients.items():
                rest = row.form.constant
                others = []
                for other, b in row.form.coefficients.items():
                    if other == name:
                        continue
                    low, high = bounds.get(other, (None, None))
                    least = low if b > 0 else high
                    if least is None:
                        break
                    rest += b * least.value
                    others.append((abs(b), least))
                else:
                    found = Derived(-rest / a, number, abs(a), tuple(others))
                    _tighten(bounds, name, found, is_upper=a > 0)
    return bounds


def _tighten(bounds: dict[str, Sides], name: str, found: Derived, *, is_upper: bool) -> None:
    low, high = bounds.get(name, (None, None))
    if is_upper:
        bounds[name] = (low, found if high is None or found.value < high.value else high)
    else:
        bounds[name] = (found if low is None or found.value > low.value else low, high)

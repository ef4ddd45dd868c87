"""Lookup tables of one or two coordinates with a stated interpolation.

Between grid points a table is `linear` (bilinear in two dimensions) or `previous` (the
value at the last grid point not beyond the argument). Outside the grid the argument is
clamped to it. Values are exact rationals, so a table of rational arguments is exact.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise


class Interpolation(StrEnum):
    """How a table is read between its grid points."""

    LINEAR = "linear"
    PREVIOUS = "previous"


@dataclass(frozen=True, slots=True)
class Table:
    """A grid of values; `axes` has one or two strictly increasing coordinates, and
    `values` one row per point of the first axis (a single number each in one dimension)."""

    name: str
    axes: tuple[tuple[Fraction, ...], ...]
    values: tuple[tuple[Fraction, ...], ...]
    interpolation: Interpolation = Interpolation.LINEAR

    def __post_init__(self) -> None:
        if len(self.axes) not in (1, 2):
            raise ValueError("a table has one or two axes")
        for axis in self.axes:
            if not axis or any(a >= b for a, b in pairwise(axis)):
                raise ValueError("the grid points of a table must increase")
        width = len(self.axes[1]) if len(self.axes) == 2 else 1
        if len(self.values) != len(self.axes[0]) or any(len(r) != width for r in self.values):
            raise ValueError("a table needs one value for every grid point")

    @property
    def dimension(self) -> int:
        """The number of arguments: one or two."""
        return len(self.axes)

    def __call__(self, *arguments: Fraction) -> Fraction:
        """The exact value at the given coordinates.

        >>> Table("t", ((Fraction(0), Fraction(2)),), ((Fraction(0),), (Fraction(1),)))(Fraction(1))
        Fraction(1, 2)
        """
        row, along = self._cell(0, arguments[0])
        if self.dimension == 1:
            return self._between(self._value(row, 0), self._value(row + 1, 0), along)
        column, across = self._cell(1, arguments[1])
        low, high = (
            self._between(self._value(r, column), self._value(r, column + 1), across)
            for r in (row, row + 1)
        )
        return self._between(low, high, along)

    def _cell(self, axis: int, argument: Fraction) -> tuple[int, Fraction]:
        """The grid interval that holds the clamped argument, and how far along it is."""
        grid = self.axes[axis]
        index = max(0, min(bisect_right(grid, argument) - 1, len(grid) - 1))
        if index == len(grid) - 1 or argument <= grid[0]:
            return index, Fraction(0)
        return index, (argument - grid[index]) / (grid[index + 1] - grid[index])

    def _value(self, row: int, column: int) -> Fraction:
        last = self.values[min(row, len(self.values) - 1)]
        return last[min(column, len(last) - 1)]

    def _between(self, low: Fraction, high: Fraction, along: Fraction) -> Fraction:
        return low if self.interpolation is Interpolation.PREVIOUS else low + along * (high - low)

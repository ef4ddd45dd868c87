"""A lookup table as the polynomial of the one cell in which its arguments are.

In the cell from (x0, y0) on, a linear table is a + b (x - x0) + c (y - y0) + d (x - x0)(y - y0),
and one of steps is constant. All of these numbers are tables of steps themselves: they are held
while the arguments stay in the cell. Outside the grid, where arguments are clamped, the cells
reach as far as numbers do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from workbench.models.expressions.expression import Expression, lookup
from workbench.models.expressions.table import Interpolation, Table

FAR = Fraction(10) ** 300
"""Beyond all arguments."""

Axis = tuple[Fraction, ...]
Hold = Callable[[Expression], Expression]
Watch = Callable[[Expression], None]


def table_piece(
    node: Expression, arguments: Sequence[Expression], hold: Hold, watch: Watch
) -> Expression:
    """The table as a polynomial of `arguments`, which equal those of the node. `hold` keeps a
    value from the start of a stretch on, and `watch` is given the conditions that end it."""
    table: Table = node.table
    lows = []
    for axis, place in zip(table.axes, node.args, strict=True):
        low = hold(lookup(_steps((axis,), (-FAR, *axis)), place))
        high = hold(lookup(_steps((axis,), (*axis, FAR)), place))
        watch(place >= high)
        watch(place < low)
        lows.append(low)
    if table.interpolation is Interpolation.PREVIOUS:
        return hold(node)
    ways = [argument - low for argument, low in zip(arguments, lows, strict=True)]
    total = hold(lookup(_coefficients(table, ()), *node.args))
    for i, way in enumerate(ways):
        total = total + hold(lookup(_coefficients(table, (i,)), *node.args)) * way
    if len(ways) == 2:
        total = total + hold(lookup(_coefficients(table, (0, 1)), *node.args)) * ways[0] * ways[1]
    return total


def _steps(axes: Sequence[Axis], values: Sequence[Fraction]) -> Table:
    """A table of steps over all cells, those outside the grid included; values row by row."""
    longer = tuple((-FAR, *axis) for axis in axes)
    width = len(longer[1]) if len(longer) == 2 else 1
    rows = tuple(tuple(values[i : i + width]) for i in range(0, len(values), width))
    return Table("cells", longer, rows, Interpolation.PREVIOUS)


def _coefficients(table: Table, powers: tuple[int, ...]) -> Table:
    """The coefficients of the products of these distances, one for each cell: mixed divided
    differences over the corners of the cell."""
    cells = [tuple(zip((axis[0], *axis), (*axis, axis[-1]), strict=True)) for axis in table.axes]
    found = []
    for cell in product(*cells):
        sides = [cell[i][1] - cell[i][0] for i in powers]
        if 0 in sides:
            found.append(Fraction(0))
            continue
        total = Fraction(0)
        for ends in product((0, 1), repeat=len(powers)):
            corner = [low for low, _ in cell]
            for i, end in zip(powers, ends, strict=True):
                corner[i] = cell[i][end]
            total += (-1) ** (len(powers) - sum(ends)) * table(*corner)
        for side in sides:
            total /= side
        found.append(total)
    return _steps(table.axes, found)

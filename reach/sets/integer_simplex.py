"""Non-negative solutions of small systems of equations, exactly, in whole numbers.

The first phase of the simplex method on a tableau of integers: a pivot multiplies rows across
and divides by the pivot before it, which is known to leave no remainder (the entries are
minors of the first tableau). Bland's rule makes it end. No solver is loaded and nothing is
rounded; for many columns `reach.programs.linear_program` is quicker.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from workbench.reach.sets.double_description import Vector


def nonnegative_solution(columns: Sequence[Vector], target: Vector) -> dict[int, Fraction] | None:
    """The positive y_j of a basic solution of sum_j y_j column_j = target, y >= 0; None if
    there is none."""
    signs = [-1 if entry < 0 else 1 for entry in target]
    table = [
        [sign * column[i] for column in columns] + [sign * target[i]]
        for i, sign in enumerate(signs)
    ]
    width = len(columns)
    # Every row begins with an artificial unknown in the basis; `cost` is minus their sum.
    basis = [width + i for i in range(len(table))]
    cost = [-sum(entries) for entries in zip(*table, strict=True)]
    before = 1
    while cost[width]:
        entering = next((j for j in range(width) if cost[j] < 0), None)
        if entering is None:
            return None
        leaving = _leaving(table, basis, entering)
        pivot_row, pivot = table[leaving], table[leaving][entering]
        for i, row in enumerate(table):
            if i != leaving:
                table[i] = _reduced(row, row[entering], pivot_row, pivot, before)
        cost = _reduced(cost, cost[entering], pivot_row, pivot, before)
        basis[leaving] = entering
        before = pivot
    return {
        j: Fraction(row[width], before)
        for j, row in zip(basis, table, strict=True)
        if j < width and row[width]
    }


def _leaving(table: list[list[int]], basis: list[int], entering: int) -> int:
    """The row that first becomes zero; of several the one with the least unknown."""
    found = -1
    for i, row in enumerate(table):
        a = row[entering]
        if a > 0:
            if found >= 0:
                best = table[found]
                order = row[-1] * best[entering] - best[-1] * a
                if order > 0 or (order == 0 and basis[i] > basis[found]):
                    continue
            found = i
    assert found >= 0, "the sum of artificial unknowns is bounded below"
    return found


def _reduced(row: list[int], a: int, pivot_row: list[int], pivot: int, before: int) -> list[int]:
    if not a:
        return row if pivot == before else [x * pivot // before for x in row]
    return [(x * pivot - a * y) // before for x, y in zip(row, pivot_row, strict=True)]

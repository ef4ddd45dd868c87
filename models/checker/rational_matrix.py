"""Inverses of rational matrices, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TypeAlias

Matrix: TypeAlias = Sequence[Sequence[Fraction]]


def inverse(matrix: Matrix) -> list[list[Fraction]] | None:
    """The inverse; None if the matrix has none.

    Bareiss' elimination without fractions, on rows cleared of denominators: after the k-th
    round the first k columns are those of the k-th minor times the identity, and every
    division is exact.
    """
    size = len(matrix)
    units = [lcm(*(a.denominator for a in row)) for row in matrix]
    rows = [
        [*(int(a * unit) for a in row), *(unit * (i == j) for j in range(size))]
        for i, (row, unit) in enumerate(zip(matrix, units, strict=True))
    ]
    before = 1
    for k in range(size):
        choice = next((i for i in range(k, size) if rows[i][k]), None)
        if choice is None:
            return None
        rows[k], rows[choice] = rows[choice], rows[k]
        top, pivot = rows[k], rows[k][k]
        for i in range(size):
            factor = rows[i][k]
            if i == k:
                continue
            if factor:
                rows[i] = [
                    (pivot * a - factor * b) // before for a, b in zip(rows[i], top, strict=True)
                ]
            elif pivot != before:
                rows[i] = [pivot * a // before for a in rows[i]]
        before = pivot
    return [[Fraction(a, before) for a in row[size:]] for row in rows]

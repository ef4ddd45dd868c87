"""Inverses of rational matrices, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

Matrix: TypeAlias = Sequence[Sequence[Fraction]]


def inverse(matrix: Matrix) -> list[list[Fraction]] | None:
    """The inverse by Gauss and Jordan; None if the matrix has none."""
    size = len(matrix)
    rows = [[*row, *(Fraction(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for k in range(size):
        choice = next((i for i in range(k, size) if rows[i][k]), None)
        if choice is None:
            return None
        rows[k], rows[choice] = rows[choice], rows[k]
        top = rows[k][k]
        rows[k] = [a / top if a else a for a in rows[k]]
        for i in range(size):
            factor = rows[i][k]
            if i != k and factor:
                rows[i] = [
                    a - factor * b if b else a for a, b in zip(rows[i], rows[k], strict=True)
                ]
    return [row[size:] for row in rows]

"""Exact linear algebra on small rational matrices: definiteness and solving."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TypeAlias

Vector: TypeAlias = Sequence[Fraction]
Matrix: TypeAlias = Sequence[Vector]


def is_positive_definite(matrix: Matrix) -> bool:
    """Whether a symmetric matrix is positive definite, by Sylvester's criterion.

    All leading principal minors must be positive. They are the pivots of fraction-free
    elimination (Bareiss), carried out in integers after clearing denominators.
    """
    size = len(matrix)
    if any(matrix[i][j] != matrix[j][i] for i in range(size) for j in range(i)):
        return False
    common = lcm(*(entry.denominator for row in matrix for entry in row))
    work = [[int(entry * common) for entry in row] for row in matrix]
    previous = 1
    for k in range(size):
        pivot = work[k][k]
        if pivot <= 0:
            return False
        for i in range(k + 1, size):
            factor, row, top = work[i][k], work[i], work[k]
            for j in range(k + 1, size):
                row[j] = (row[j] * pivot - factor * top[j]) // previous
        previous = pivot
    return True


def is_positive_semidefinite(matrix: Matrix) -> bool:
    """Whether a symmetric matrix is positive semidefinite, by symmetric elimination.

    A zero pivot needs a zero row: otherwise two of its entries make a negative minor. What is
    left below a positive pivot (the Schur complement) must be semidefinite in turn.
    """
    size = len(matrix)
    if any(matrix[i][j] != matrix[j][i] for i in range(size) for j in range(i)):
        return False
    work = [list(row) for row in matrix]
    for k in range(size):
        pivot = work[k][k]
        if pivot < 0 or (pivot == 0 and any(work[k][k:])):
            return False
        for i in range(k + 1, size):
            if work[i][k]:
                factor = work[i][k] / pivot
                for j in range(k + 1, size):
                    work[i][j] -= factor * work[k][j]
    return True


def solve(matrix: Matrix, right: Vector) -> list[Fraction]:
    """The solution y of matrix * y = right, for a positive definite matrix."""
    size = len(matrix)
    work = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(size):
        pivot = work[k][k]
        for i in range(k + 1, size):
            factor = work[i][k] / pivot
            if factor:
                work[i] = [a - factor * b for a, b in zip(work[i], work[k], strict=True)]
    solution = [Fraction(0)] * size
    for k in reversed(range(size)):
        known = sum((work[k][j] * solution[j] for j in range(k + 1, size)), Fraction(0))
        solution[k] = (work[k][size] - known) / work[k][k]
    return solution


def dot(left: Vector, right: Vector) -> Fraction:
    """The inner product."""
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def times(matrix: Matrix, vector: Vector) -> list[Fraction]:
    """The product of a matrix and a vector."""
    return [dot(row, vector) for row in matrix]

"""Is a constraint a consequence of others? With the factors that show it, exactly.

Rows are integer vectors (c, a), read as c + a*x >= 0. A goal follows from equations e and
inequalities r if goal = sum f_j e_j + sum l_i r_i + (s, 0), l, s >= 0. The equations are
eliminated first; then one row, two rows, or a linear program give the l_i.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from reach.double_description import Vector, coprime
from reach.linear_program import ExactProgram

Factors: TypeAlias = tuple[tuple[int, Fraction], ...]
"""Pairs (number of an inequality, positive factor)."""

_CONSTANT = "constant"


@lru_cache(maxsize=200_000)
def consequence(
    equations: tuple[Vector, ...], inequalities: tuple[Vector, ...], goal: Vector
) -> Factors | None:
    """The factors of inequalities that, with some multiple of the equations, show the goal;
    None if none were found."""
    basis = echelon(equations)
    scale, target = _reduced(goal, basis)
    if not any(target[1:]):
        return () if target[0] >= 0 else _by_program(scale, target, _rows(inequalities, basis))
    rows = _rows(inequalities, basis)
    return (
        _by_one(scale, target, rows)
        or _by_two(scale, target, rows)
        or _by_program(scale, target, rows)
    )


def echelon(equations: tuple[Vector, ...]) -> list[tuple[int, Vector]]:
    """Equations with pivots (not the constant), each with zeros at the others' pivots."""
    basis: list[tuple[int, Vector]] = []
    for equation in equations:
        _, row = _reduced(equation, basis)
        pivot = next((i for i in range(1, len(row)) if row[i]), 0)
        if not pivot:
            continue
        if row[pivot] < 0:
            row = tuple([-a for a in row])
        basis = [(p, _eliminated(other, pivot, row)[1]) for p, other in basis]
        basis.append((pivot, row))
    return basis


def _eliminated(row: Vector, pivot: int, equation: Vector) -> tuple[Fraction, Vector]:
    """A positive factor k and the vector k*row + multiple of the equation, zero at the pivot."""
    if not row[pivot]:
        return Fraction(1), row
    a, b = equation[pivot], row[pivot]
    mixed = [a * x - b * y for x, y in zip(row, equation, strict=True)]
    found = coprime(mixed)
    at = next((i for i, x in enumerate(mixed) if x), None)
    return (Fraction(a) if at is None else Fraction(a * found[at], mixed[at])), found


def _reduced(row: Vector, basis: list[tuple[int, Vector]]) -> tuple[Fraction, Vector]:
    factor = Fraction(1)
    for pivot, equation in basis:
        if row[pivot]:
            step, row = _eliminated(row, pivot, equation)
            factor *= step
    return factor, row


def _rows(
    inequalities: tuple[Vector, ...], basis: list[tuple[int, Vector]]
) -> list[tuple[Fraction, Vector]]:
    return [_reduced(row, basis) for row in inequalities]


def _by_one(scale: Fraction, goal: Vector, rows: list[tuple[Fraction, Vector]]) -> Factors | None:
    """goal = l*row + (s, 0)."""
    at = next(i for i in range(1, len(goal)) if goal[i])
    for number, (factor, row) in enumerate(rows):
        a, b = row[at], goal[at]
        if a * b <= 0:
            continue
        if b * row[0] * (1 if a > 0 else -1) > goal[0] * abs(a):
            continue
        if all(a * y == b * x for x, y in zip(row[1:], goal[1:], strict=True)):
            return ((number, Fraction(b, a) * factor / scale),)
    return None


def _by_two(scale: Fraction, goal: Vector, rows: list[tuple[Fraction, Vector]]) -> Factors | None:
    """goal = l*row + m*other + (s, 0)."""
    size = len(goal)
    support = {i for i in range(1, size) if goal[i]}
    useful = [(n, f, row) for n, (f, row) in enumerate(rows) if any(row[1:])]
    for first, (n, f, row) in enumerate(useful):
        for m, g, other in useful[first + 1 :]:
            for i in support:
                j = next((j for j in range(1, size) if row[i] * other[j] != row[j] * other[i]), 0)
                if j:
                    break
            else:
                continue
            det = row[i] * other[j] - row[j] * other[i]
            a = goal[i] * other[j] - goal[j] * other[i]
            b = row[i] * goal[j] - row[j] * goal[i]
            if a * det < 0 or b * det < 0:
                continue
            if (a * row[0] + b * other[0]) * (1 if det > 0 else -1) > goal[0] * abs(det):
                continue
            if all(
                a * x + b * y == det * z
                for x, y, z in zip(row[1:], other[1:], goal[1:], strict=True)
            ):
                parts = ((n, Fraction(a, det) * f / scale), (m, Fraction(b, det) * g / scale))
                return tuple(p for p in parts if p[1])
    return None


def _by_program(
    scale: Fraction, goal: Vector, rows: list[tuple[Fraction, Vector]]
) -> Factors | None:
    program = ExactProgram(_column(goal))
    for _, row in rows:
        program.add(_column(row), 1)
    slack = program.add({_CONSTANT: Fraction(1)})
    solution = program.solve()
    if solution is None:
        return None
    solution.pop(slack, None)
    return tuple((i, value * rows[i][0] / scale) for i, value in sorted(solution.items()))


def _column(row: Vector) -> dict[str, Fraction]:
    column = {str(i): Fraction(a) for i, a in enumerate(row[1:]) if a}
    if row[0]:
        column[_CONSTANT] = Fraction(row[0])
    return column

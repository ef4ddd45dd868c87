"""Is a constraint a consequence of others? With the factors that show it, exactly.

Rows are integer vectors (c, a), read as c + a*x >= 0. A goal follows from equations e and
inequalities r if goal = sum f_j e_j + sum l_i r_i + (s, 0), l, s >= 0. The equations are
eliminated first; then one row, two rows, or a linear program give the l_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from workbench.reach.programs.exact_program import ExactProgram
from workbench.reach.sets.double_description import Vector, coprime

Factors: TypeAlias = tuple[tuple[int, Fraction], ...]
"""Pairs (number of a row, factor that is not zero)."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """Positive factors of inequalities, and factors of any sign of equations (numbered as in
    `Premises.equations`), that add up to a goal or less."""

    inequalities: Factors
    equations: Factors


FEW_ROWS = 12
"""With more inequalities than this a program is quicker than trying pairs."""

FEW_ENTRIES = 1500
"""Programs with more entries than this go to the solver of `reach.programs.linear_program`."""

_CONSTANT = "constant"


class Premises:
    """Equations and inequalities, prepared for many goals. `equations` are in echelon form,
    each with its pivot."""

    def __init__(self, equations: tuple[Vector, ...], inequalities: tuple[Vector, ...]):
        self.equations = echelon(equations)
        self.inequalities = inequalities
        self._rows = [_reduced(row, self.equations) for row in inequalities]
        self._parallel: dict[Vector, list[int]] = {}
        for number, (_, row) in enumerate(self._rows):
            if any(row[1:]):
                self._parallel.setdefault(coprime(row[1:]), []).append(number)
        self._known: dict[Vector, Derivation | None] = {}

    def derivation(self, goal: Vector) -> Derivation | None:
        """What shows the goal; None if nothing was found."""
        if goal not in self._known:
            factors = self._found(goal)
            self._known[goal] = None if factors is None else self._completed(goal, factors)
        return self._known[goal]

    def _completed(self, goal: Vector, factors: Factors) -> Derivation:
        """The equations' factors: each alone has its pivot."""
        found: list[tuple[int, Fraction]] = []
        for k, (pivot, row) in enumerate(self.equations):
            left = Fraction(goal[pivot])
            for i, factor in factors:
                if a := self.inequalities[i][pivot]:
                    left -= factor * a
            if left:
                found.append((k, left / row[pivot]))
        return Derivation(factors, tuple(found))

    def _found(self, goal: Vector) -> Factors | None:
        scale, target = _reduced(goal, self.equations)
        if not any(target[1:]):
            return () if target[0] >= 0 else _by_program(scale, target, self._rows)
        found = self._by_one(scale, target)
        if found is None and len(self._rows) <= FEW_ROWS:
            found = _by_two(scale, target, self._rows)
        return _by_program(scale, target, self._rows) if found is None else found

    def _by_one(self, scale: Fraction, goal: Vector) -> Factors | None:
        """goal = l*row + (s, 0)."""
        direction = coprime(goal[1:])
        at = next(i for i, a in enumerate(direction) if a)
        for number in self._parallel.get(direction, ()):
            factor, row = self._rows[number]
            ratio = Fraction(goal[at + 1], row[at + 1])
            if ratio * row[0] <= goal[0]:
                return ((number, ratio * factor / scale),)
        return None


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
    """goal = sum l_i row_i + (s, 0)."""
    size = len(goal)
    if size * len(rows) <= FEW_ENTRIES:
        slack_row = (1, *([0] * (size - 1)))
        solution = nonnegative_solution([*(row for _, row in rows), slack_row], goal)
        slack = len(rows)
    else:
        slack = len(rows)
        columns = [*(_column(row) for _, row in rows), {_CONSTANT: Fraction(1)}]
        solution = ExactProgram(columns, [1] * slack + [0]).solve(_column(goal))
    if solution is None:
        return None
    solution.pop(slack, None)
    return tuple((i, value * rows[i][0] / scale) for i, value in sorted(solution.items()))


def _column(row: Vector) -> dict[str, Fraction]:
    column = {str(i): Fraction(a) for i, a in enumerate(row[1:]) if a}
    if row[0]:
        column[_CONSTANT] = Fraction(row[0])
    return column


# Non-negative solutions of small systems of equations, exactly, in whole numbers.
#
# The first phase of the simplex method on a tableau of integers: a pivot multiplies rows across
# and divides by the pivot before it, which is known to leave no remainder (the entries are
# minors of the first tableau). Bland's rule makes it end. No solver is loaded and nothing is
# rounded; for many columns `reach.programs.linear_program` is quicker.


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
                table[i] = _row_without(row, row[entering], pivot_row, pivot, before)
        cost = _row_without(cost, cost[entering], pivot_row, pivot, before)
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


def _row_without(
    row: list[int], a: int, pivot_row: list[int], pivot: int, before: int
) -> list[int]:
    if not a:
        return row if pivot == before else [x * pivot // before for x in row]
    return [(x * pivot - a * y) // before for x, y in zip(row, pivot_row, strict=True)]

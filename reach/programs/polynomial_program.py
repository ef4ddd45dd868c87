"""Semidefinite programs whose answers are rounded to exact ones.

Unknowns y_k, some of them non-negative; wanted is that every block, a polynomial
sum_k y_k p_k of degree two, is a sum of squares, and that certain sums of unknowns are at
least 1. The solver works in floating point, and feasible sets often have no interior: energy
that is conserved makes a block vanish. So the answer is rounded onto the face it lies on:

- a null vector n of a block's matrix M(y), rounded to simple fractions, gives the equations
  M(y) n = 0; unknowns that vanish are zero;
- the equations are linear and homogeneous, and solved in rationals: unknowns that stay free
  take rounded values, the others follow. The blocks are then definite off their null vectors.

Untrusted: nothing is claimed about the result, which the caller checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from workbench.models.evidence.quadratic_function import Polynomial
from workbench.reach.programs.semidefinite import Array, SemidefiniteProgram

LARGEST = 1e3
"""Bound of every unknown, in units in which its polynomials have coefficients up to 1."""
TOLERANCES = (1e-6, 1e-5, 1e-4, 1e-3)
"""What counts as zero, relative to the largest eigenvalue or unknown."""
DENOMINATORS = (16, 1000, 10**5)
"""Largest denominators of unknowns that stay free, relative to the largest unknown."""


@dataclass
class PolynomialProgram:
    """Unknowns and blocks; `scales` are typical sizes of the names."""

    scales: Mapping[str, Fraction]
    blocks: list[dict[int, Polynomial]] = field(default_factory=list)
    signed: list[bool] = field(default_factory=list)
    at_least_one: list[list[int]] = field(default_factory=list)

    def unknown(self, *, signed: bool = False) -> int:
        """A further unknown, non-negative unless signed."""
        self.signed.append(signed)
        return len(self.signed) - 1

    def solve(self, *, sparse: bool) -> Array | None:
        """A floating-point solution: in the middle of the solutions, or with small
        multipliers, many of which vanish."""
        count = len(self.signed)
        unit = self._units
        cost = np.array([0.0 if signed or not sparse else 1.0 for signed in self.signed])
        program = SemidefiniteProgram(count, cost)
        for coefficients in self._matrices:
            size = coefficients.shape[1]
            program.require(np.zeros((size, size)), coefficients * unit[:, None, None])
        for chosen in self.at_least_one:
            total = np.zeros((count, 1, 1))
            total[chosen] = 1.0
            program.require(np.full((1, 1), -1.0), total)
        for k, signed in enumerate(self.signed):
            own = np.zeros((count, 1, 1))
            own[k] = 1.0
            program.require(np.full((1, 1), LARGEST if signed else 0.0), own)
            program.require(np.full((1, 1), LARGEST), -own)
        return program.solve()

    def rounded(self, solution: Array) -> Iterator[list[Fraction]]:
        """Exact candidates near a solution, the simplest first."""
        seen: list[list[Fraction]] = []
        for tolerance in TOLERANCES:
            solved = self._face(solution, tolerance)
            for denominator in DENOMINATORS:
                found = self._on_face(solution, solved, denominator)
                if found not in seen:
                    seen.append(found)
                    yield found

    # Details

    @cached_property
    def _names(self) -> list[list[str]]:
        return [
            sorted({n for polynomial in block.values() for m in polynomial for n in m})
            for block in self.blocks
        ]

    @cached_property
    def _matrices(self) -> list[Array]:
        """For every block the matrices of the unknowns, in scaled names."""
        found = []
        for names, block in zip(self._names, self.blocks, strict=True):
            place = {name: i + 1 for i, name in enumerate(names)}
            total = np.zeros((len(self.signed), len(names) + 1, len(names) + 1))
            for k, polynomial in block.items():
                for monomial, a in polynomial.items():
                    value = float(a) / 2
                    for name in monomial:
                        value *= float(self.scales.get(name, 1))
                    i, j = [*(place[name] for name in monomial), 0, 0][:2]
                    total[k, i, j] += value
                    total[k, j, i] += value
            found.append(total)
        return found

    @cached_property
    def _units(self) -> Array:
        """One over the largest coefficient of every unknown."""
        largest = np.zeros(len(self.signed))
        for total in self._matrices:
            largest = np.maximum(largest, np.abs(total).max(axis=(1, 2)))
        return np.asarray(1.0 / np.where(largest > 0, largest, 1.0))

    def _face(self, solution: Array, tolerance: float) -> dict[int, dict[int, Fraction]]:
        """The solved equations: unknowns as combinations of those that stay free."""
        limit = tolerance * max(1.0, float(np.abs(solution).max()) / 10)
        zero = np.abs(solution) < limit
        solution = np.where(zero, 0.0, solution)
        equations = [{k: Fraction(1)} for k, vanishes in enumerate(zero.tolist()) if vanishes]
        for number, total in enumerate(self._matrices):
            matrix = np.tensordot(solution * self._units, total, axes=1)
            for vector in null_vectors(matrix, tolerance):
                equations.extend(self._annihilated(number, vector))
        return _eliminated(equations, self._units)

    def _annihilated(self, number: int, scaled: list[Fraction]) -> Iterator[dict[int, Fraction]]:
        """The equations M(y) n = 0, exactly; the vector is in scaled names."""
        names = self._names[number]
        vector: dict[tuple[str, ...], Fraction] = {(): scaled[0]}
        for name, a in zip(names, scaled[1:], strict=True):
            vector[(name,)] = a * self.scales.get(name, Fraction(1))
        rows: dict[tuple[str, ...], dict[int, Fraction]] = {}
        for k, polynomial in self.blocks[number].items():
            for monomial, a in polynomial.items():
                for left, right in _halves(monomial):
                    if vector.get(right):
                        row = rows.setdefault(left, {})
                        row[k] = row.get(k, Fraction(0)) + a * vector[right] / 2
        yield from rows.values()

    def _on_face(
        self, solution: Array, solved: dict[int, dict[int, Fraction]], denominator: int
    ) -> list[Fraction]:
        values = solution * self._units
        size = Fraction(float(np.abs(values).max()) or 1.0)
        found = [
            Fraction(0) if k in solved else (Fraction(v) / size).limit_denominator(denominator)
            for k, v in enumerate(values.tolist())
        ]
        for k, combination in solved.items():
            found[k] = sum((a * found[j] for j, a in combination.items()), Fraction(0))
        return found


def _halves(monomial: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The two ways to write a monomial as a product of entries of [1; z]."""
    left, right = monomial[:1], monomial[1:]
    yield left, right
    yield right, left


def simplest(value: float, tolerance: float) -> Fraction:
    """A fraction with a small denominator within the tolerance."""
    exact, denominator = Fraction(value), 1
    while abs((found := exact.limit_denominator(denominator)) - exact) > tolerance:
        denominator *= 2
    return found


def null_vectors(matrix: Array, tolerance: float) -> list[list[Fraction]]:
    """A basis of the null space in echelon form, entries rounded to simple fractions."""
    values, vectors = np.linalg.eigh(matrix)
    rows = vectors[:, values < tolerance * max(1.0, float(values[-1]))].T.copy()
    done = 0
    for _ in range(len(rows)):
        left = np.abs(rows[done:])
        row, column = np.unravel_index(int(left.argmax()), left.shape)
        if left[row, column] < 1e-6:
            break
        rows[[done, done + int(row)]] = rows[[done + int(row), done]]
        rows[done] /= rows[done, column]
        for other in range(len(rows)):
            if other != done:
                rows[other] -= rows[other, column] * rows[done]
        done += 1
    return [[simplest(v, 10 * tolerance) for v in row] for row in rows[:done].tolist()]


def _eliminated(
    equations: list[dict[int, Fraction]], units: Array
) -> dict[int, dict[int, Fraction]]:
    """Gaussian elimination of homogeneous equations: solved unknowns by free ones."""
    solved: dict[int, dict[int, Fraction]] = {}
    for equation in equations:
        left: dict[int, Fraction] = {}
        for k, a in equation.items():
            for j, b in solved.get(k, {k: Fraction(1)}).items():
                left[j] = left.get(j, Fraction(0)) + a * b
        left = {k: a for k, a in left.items() if a}
        if not left:
            continue
        pivot = max(left, key=lambda k: abs(float(left[k])) * float(units[k]))
        factor = left.pop(pivot)
        value = {k: -a / factor for k, a in left.items()}
        for k, known in solved.items():
            if a := known.pop(pivot, Fraction(0)):
                for j, b in value.items():
                    known[j] = known.get(j, Fraction(0)) + a * b
                solved[k] = {j: b for j, b in known.items() if b}
        solved[pivot] = value
    return solved

"""The one door to the semidefinite-programming solver (Clarabel).

A `SemidefiniteProgram` minimises a linear cost over a vector y subject to matrix inequalities
constant + sum_i y_i coefficient_i >= 0 (positive semidefinite). Floating point; what is found
is rounded and proved exactly elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from workbench.models.work import spend

Array = NDArray[np.float64]


@dataclass
class SemidefiniteProgram:
    """minimise cost * y subject to matrix inequalities, in `unknowns` real unknowns."""

    unknowns: int
    cost: Array
    _constants: list[Array] = field(default_factory=list)
    _coefficients: list[Array] = field(default_factory=list)

    def require(self, constant: Array, coefficients: Array) -> None:
        """constant + sum_i y_i coefficients[i] >= 0; all matrices symmetric."""
        self._constants.append(constant)
        self._coefficients.append(coefficients)

    def solve(self, tolerance: float = 1e-9) -> Array | None:
        """The minimiser, or None if the solver found none."""
        import clarabel
        from scipy import sparse

        blocks, rights, cones = [], [], []
        for constant, coefficients in zip(self._constants, self._coefficients, strict=True):
            size = len(constant)
            row, column = np.triu_indices(size)
            order = np.lexsort((row, column))  # column by column, as the solver wants it
            row, column = row[order], column[order]
            scale = np.where(row == column, 1.0, np.sqrt(2.0))
            blocks.append(-(coefficients[:, row, column] * scale).T)
            rights.append(constant[row, column] * scale)
            cones.append(clarabel.PSDTriangleConeT(size))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix((self.unknowns, self.unknowns)),
            self.cost,
            sparse.csc_matrix(np.vstack(blocks)),
            np.concatenate(rights),
            cones,
            settings,
        )
        solution = solver.solve()
        rows = sum(len(right) for right in rights)
        spend(0.5 + solution.iterations * (0.02 + 1e-7 * rows * self.unknowns * (rows + 50)))
        if str(solution.status) not in ("Solved", "AlmostSolved"):
            return None
        return np.array(solution.x)

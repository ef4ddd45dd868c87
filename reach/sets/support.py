"""Support functions of polyhedra by linear programming, many directions in a row.

`SupportOracle` keeps one solver object: successive directions start from the last optimal
basis, which is several times faster than a fresh program. Floating point, not directed: for
searches whose results are proved afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reach.programs.linear_program import new_solver
from reach.time_limit import check_time

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Supported:
    """The largest value, and the multipliers of the rows that show it."""

    value: float
    multipliers: Array


class SupportOracle:
    """max direction * z subject to matrix * z <= bound, z free."""

    def __init__(self, matrix: Array, bound: Array):
        import highspy

        rows, columns = matrix.shape
        free = np.full(columns, highspy.kHighsInf)
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = columns, rows
        program.col_cost_ = np.zeros(columns)
        program.col_lower_, program.col_upper_ = -free, free
        program.row_lower_ = np.full(rows, -highspy.kHighsInf)
        program.row_upper_ = bound
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.arange(rows + 1, dtype=np.int32) * columns
        program.a_matrix_.index_ = np.tile(np.arange(columns, dtype=np.int32), rows)
        program.a_matrix_.value_ = matrix.ravel().copy()
        self._solver: Any = new_solver()
        self._solver.setOptionValue("presolve", "off")
        self._solver.passModel(program)
        self._columns = np.arange(columns, dtype=np.int32)
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._infeasible = highspy.HighsModelStatus.kInfeasible

    def rebound(self, bound: Array) -> None:
        """Replace all bounds; infinite ones switch their rows off."""
        import highspy

        rows = len(bound)
        lower = np.full(rows, -highspy.kHighsInf)
        self._solver.changeRowsBounds(rows, np.arange(rows, dtype=np.int32), lower, bound)

    def __call__(self, direction: Array) -> Supported | None:
        """The support in a direction: infinite where unbounded, None for an empty set."""
        check_time()
        self._solver.changeColsCost(len(self._columns), self._columns, -direction)
        self._solver.run()
        status = self._solver.getModelStatus()
        if status == self._optimal:
            duals = np.maximum(0.0, -np.array(self._solver.getSolution().row_dual))
            return Supported(-self._solver.getObjectiveValue(), duals)
        if status == self._infeasible:
            return None
        return Supported(np.inf, np.zeros(0))

    def maximiser(self, direction: Array) -> Array | None:
        """A point that attains the support, or None if the set is empty or unbounded there."""
        if (supported := self(direction)) is None or not np.isfinite(supported.value):
            return None
        return self.point()

    def point(self) -> Array:
        """Where the last support was attained."""
        return np.array(self._solver.getSolution().col_value)

"""Support functions of polyhedra by linear programming, many directions in a row.

The largest value in a direction is attained at a corner, and that of the next direction at a
corner nearby: `SupportOracle` walks from one to the other in compiled code (`reach/core/vertex.c`),
also after the bounds have changed. The first corner, and whatever a walk cannot settle, comes from
the solver of linear programs, which is kept as well. Floating point, not directed: for searches
whose results are proved afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.reach.programs.linear_program import new_solver, run
from workbench.reach.time_limit import check_time

_support: Any
try:
    from workbench.reach import _support  # type: ignore[attr-defined,no-redef]
except ImportError:  # built without a C compiler: the solver does all of it, more slowly
    _support = None

Array = NDArray[np.float64]

PATIENCE = 3
"""So often the solver may give no corner before walks are given up."""


@dataclass(frozen=True)
class Supported:
    """The largest value, and the multipliers of the rows that show it."""

    value: float
    multipliers: Array


UNBOUNDED = Supported(np.inf, np.zeros(0))


class SupportOracle:
    """max direction * z subject to matrix * z <= bound, z free."""

    def __init__(self, matrix: Array, bound: Array):
        self._matrix = np.ascontiguousarray(matrix, dtype=float)
        self._bound = np.ascontiguousarray(bound, dtype=float)
        self._point = np.zeros(matrix.shape[1])
        self._failures = 0
        self._walk: Any = None
        if _support is not None and matrix.shape[1]:
            self._walk = _support.Oracle(self._matrix, *matrix.shape)
            self._walk.rebound(self._bound)

    def rebound(self, bound: Array) -> None:
        """Replace all bounds; infinite ones switch their rows off."""
        self._bound = np.ascontiguousarray(bound, dtype=float)
        if self._walk is not None:
            self._walk.rebound(self._bound)
        if "_program" in self.__dict__:
            self._program.rebound(self._bound)

    def __call__(self, direction: Array) -> Supported | None:
        """The support in a direction: infinite where unbounded, None for an empty set."""
        check_time()
        direction = np.ascontiguousarray(direction, dtype=float)
        if self._walk is not None:
            multipliers, point = np.zeros(len(self._bound)), np.empty(len(direction))
            outcome, value = self._walk.climb(direction, multipliers, point)
            if outcome == _support.ATTAINED:
                self._point = point
                return Supported(value, multipliers)
            if outcome == _support.UNBOUNDED:
                return UNBOUNDED
            if outcome == _support.EMPTY:
                return None
        return self._solved(direction)

    def maximiser(self, direction: Array) -> Array | None:
        """A point that attains the support, or None if the set is empty or unbounded there."""
        if (supported := self(direction)) is None or not np.isfinite(supported.value):
            return None
        return self.point()

    def point(self) -> Array:
        """Where the last support was attained."""
        return self._point

    def _solved(self, direction: Array) -> Supported | None:
        """By the solver, whose corner is where the next walk starts."""
        program = self._program
        supported = program.solve(direction)
        if supported is None or not np.isfinite(supported.value):
            return supported
        self._point = program.point()
        if self._walk is not None and not self._walk.start(program.corner()):
            self._failures += 1
            if self._failures >= PATIENCE:
                self._walk = None
        return supported

    @cached_property
    def _program(self) -> _SupportProgram:
        return _SupportProgram(self._matrix, self._bound)


class _SupportProgram:
    """The same by the solver of linear programs, which starts from its last basis."""

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
        self._basic = highspy.HighsBasisStatus.kBasic

    def rebound(self, bound: Array) -> None:
        """Replace all bounds."""
        import highspy

        rows = len(bound)
        lower = np.full(rows, -highspy.kHighsInf)
        self._solver.changeRowsBounds(rows, np.arange(rows, dtype=np.int32), lower, bound)

    def solve(self, direction: Array) -> Supported | None:
        """The support in a direction."""
        self._solver.changeColsCost(len(self._columns), self._columns, -direction)
        status = run(self._solver)
        if status == self._optimal:
            duals = np.maximum(0.0, -np.array(self._solver.getSolution().row_dual))
            return Supported(-self._solver.getObjectiveValue(), duals)
        return None if status == self._infeasible else UNBOUNDED

    def point(self) -> Array:
        """Where the last support was attained."""
        return np.array(self._solver.getSolution().col_value)

    def corner(self) -> tuple[int, ...]:
        """The rows that hold with equality in the last basis."""
        rows = self._solver.getBasis().row_status
        return tuple(i for i, status in enumerate(rows) if status != self._basic)

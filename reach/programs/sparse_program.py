"""Linear programs written down row by row, for searches (floating point, not directed)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from workbench.reach.programs.linear_program import new_solver, run
from workbench.reach.time_limit import check_time

Array = NDArray[np.float64]


@dataclass
class SparseProgram:
    """minimise the sum of cost * unknown within bounds and rows low <= sum a_j z_j <= high."""

    _low: list[float] = field(default_factory=list)
    _high: list[float] = field(default_factory=list)
    _cost: list[float] = field(default_factory=list)
    _starts: list[int] = field(default_factory=lambda: [0])
    _columns: list[int] = field(default_factory=list)
    _values: list[float] = field(default_factory=list)
    _row_low: list[float] = field(default_factory=list)
    _row_high: list[float] = field(default_factory=list)

    def unknown(self, low: float, high: float, cost: float = 0.0) -> int:
        """A further unknown; its number is returned."""
        self._low.append(low)
        self._high.append(high)
        self._cost.append(cost)
        return len(self._low) - 1

    def unknowns(self, count: int, low: float, high: float) -> list[int]:
        """Several unknowns with the same bounds and no cost."""
        return [self.unknown(low, high) for _ in range(count)]

    def row(self, factors: Mapping[int, float], high: float, low: float = -np.inf) -> None:
        """A further constraint."""
        self._columns.extend(factors)
        self._values.extend(factors.values())
        self._starts.append(len(self._columns))
        self._row_low.append(low)
        self._row_high.append(high)

    def equation(self, terms: Iterable[tuple[int, float]], value: float = 0.0) -> None:
        """A constraint with one value; an unknown may occur several times."""
        factors: dict[int, float] = {}
        for unknown, factor in terms:
            factors[unknown] = factors.get(unknown, 0.0) + factor
        self.row(factors, value, value)

    def solve(self) -> Array | None:
        """The values of the unknowns at the minimum; None if it was not found."""
        import highspy

        check_time()
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = len(self._low), len(self._row_low)
        program.col_cost_ = np.array(self._cost)
        program.col_lower_, program.col_upper_ = np.array(self._low), np.array(self._high)
        program.row_lower_, program.row_upper_ = np.array(self._row_low), np.array(self._row_high)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.array(self._starts, dtype=np.int32)
        program.a_matrix_.index_ = np.array(self._columns, dtype=np.int32)
        program.a_matrix_.value_ = np.array(self._values, dtype=float)
        solver = new_solver()
        solver.passModel(program)
        if run(solver) != highspy.HighsModelStatus.kOptimal:
            return None
        return np.array(solver.getSolution().col_value)

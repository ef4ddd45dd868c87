"""The one door to the linear-programming solver, and exact answers through it.

The solver (HiGHS) works in floating point. `ExactProgram.solve` takes only the optimal
*basis* from it, solves the basis system again in rationals, and checks feasibility there: an
answer it returns is exactly feasible, whatever the solver's rounding did; where the basis does
not survive the check the answer is None, which callers must read as "not found".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:  # many proofs need no program: numpy and the solver are loaded for the first
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]


def new_solver() -> Any:
    """A silent, single-threaded solver object."""
    import highspy

    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    return solver


@dataclass
class ExactProgram:
    """minimise sum cost_j y_j subject to sum_j y_j column_j = target, y_j >= 0.

    Columns are sparse, keyed by row names. Add columns, then `solve`.
    """

    target: Mapping[str, Fraction]
    _columns: list[Mapping[str, Fraction]] = field(default_factory=list)
    _costs: list[Fraction] = field(default_factory=list)

    def add(self, column: Mapping[str, Fraction], cost: Fraction | int = 0) -> int:
        """A further non-negative unknown; its number is returned."""
        self._columns.append(column)
        self._costs.append(Fraction(cost))
        return len(self._columns) - 1

    def solve(self) -> dict[int, Fraction] | None:
        """The non-zero unknowns of an exactly feasible solution, or None if none was found."""
        names = sorted({n for c in self._columns for n in c} | set(self.target))
        if any(self.target.get(n) for n in names if not any(n in c for c in self._columns)):
            return None
        support = self._float_support(names)
        if support is None:
            return None
        solution = _solve_exactly(
            [self._columns[j] for j in support],
            [self.target.get(n, Fraction(0)) for n in names],
            names,
        )
        if solution is None or any(value < 0 for value in solution):
            return None
        return {j: v for j, v in zip(support, solution, strict=True) if v != 0}

    def _float_support(self, names: list[str]) -> list[int] | None:
        """The unknowns that are basic in the solver's optimal solution."""
        import highspy
        import numpy as np

        row_number = {name: i for i, name in enumerate(names)}
        columns = [
            [value.numerator / value.denominator for value in column.values()]
            for column in self._columns
        ]
        scale = [max(map(abs, values), default=1.0) or 1.0 for values in columns]
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = len(self._columns), len(names)
        program.col_cost_ = np.array(
            [float(c) / s for c, s in zip(self._costs, scale, strict=True)], dtype=float
        )
        program.col_lower_ = np.zeros(len(self._columns))
        program.col_upper_ = np.full(len(self._columns), highspy.kHighsInf)
        right = np.array([float(self.target.get(n, 0)) for n in names])
        program.row_lower_ = right
        program.row_upper_ = right
        starts = [0]
        index: list[int] = []
        value: list[float] = []
        for column, values, s in zip(self._columns, columns, scale, strict=True):
            index.extend([row_number[name] for name in column])
            value.extend([entry / s for entry in values])
            starts.append(len(index))
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_ = np.array(starts, dtype=np.int32)
        program.a_matrix_.index_ = np.array(index, dtype=np.int32)
        program.a_matrix_.value_ = np.array(value, dtype=float)
        solver = _solver()
        solver.passModel(program)
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        basic = highspy.HighsBasisStatus.kBasic
        return [j for j, s in enumerate(solver.getBasis().col_status) if s == basic]


_kept_solver: list[Any] = []


def _solver() -> Any:
    """One solver object kept for the whole process: making one costs more than a solve."""
    if not _kept_solver:
        _kept_solver.append(new_solver())
    return _kept_solver[0]


def _solve_exactly(
    columns: Sequence[Mapping[str, Fraction]], target: list[Fraction], names: list[str]
) -> list[Fraction] | None:
    """The unique y with sum y_j column_j = target; None if there is none or not just one."""
    zero = Fraction(0)
    rows = [
        [*(c.get(name, zero) for c in columns), goal]
        for name, goal in zip(names, target, strict=True)
    ]
    pivots: list[int] = []
    for k in range(len(columns)):
        choice = next((i for i in range(k, len(rows)) if rows[i][k] != 0), None)
        if choice is None:
            return None
        rows[k], rows[choice] = rows[choice], rows[k]
        top = rows[k]
        for i in range(k + 1, len(rows)):
            if rows[i][k]:
                factor = rows[i][k] / top[k]
                rows[i] = [a - factor * b if b else a for a, b in zip(rows[i], top, strict=True)]
        pivots.append(k)
    if any(row[-1] != 0 for row in rows[len(columns) :]):
        return None
    solution = [zero] * len(columns)
    for k in reversed(pivots):
        known = sum((rows[k][j] * solution[j] for j in range(k + 1, len(columns))), zero)
        solution[k] = (rows[k][-1] - known) / rows[k][k]
    return solution


def minimise(
    cost: Array, matrix: Array, bound: Array, low: Array, high: Array | None = None
) -> Array | None:
    """The z that minimises cost * z subject to matrix * z <= bound and low <= z <= high, in
    floating point; None where there is none."""
    import highspy
    import numpy as np

    rows, columns = matrix.shape
    row, column = np.nonzero(matrix)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = columns, rows
    program.col_cost_ = cost
    program.col_lower_ = low
    program.col_upper_ = np.full(columns, highspy.kHighsInf) if high is None else high
    program.row_lower_ = np.full(rows, -highspy.kHighsInf)
    program.row_upper_ = bound
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.searchsorted(row, np.arange(rows + 1)).astype(np.int32)
    program.a_matrix_.index_ = column.astype(np.int32)
    program.a_matrix_.value_ = matrix[row, column]
    solver = new_solver()
    solver.passModel(program)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value)

"""The solver of linear programs (HiGHS), and dense programs in floating point through it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.models.work import spend

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


def run(solver: Any) -> Any:
    """Solve the program that a solver holds, and count the work: a call, its iterations, and the
    size of what it looks at in each. Returns the status."""
    solver.run()
    steps = max(solver.getInfo().simplex_iteration_count, 1)
    spend(0.15 + 2e-3 * steps + 2e-7 * solver.getNumNz() * (steps + 20))
    return solver.getModelStatus()


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
    if run(solver) != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value)

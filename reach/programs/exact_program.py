"""Linear programs with exact answers.

The solver works in floating point. `ExactProgram.solve` takes only the optimal *basis* from it,
solves the basis system again in integers, and checks feasibility there: an answer it returns is
exactly feasible, whatever the solver's rounding did; where the basis does not survive the check
the answer is None, which callers must read as "not found".

Programs that differ in nothing but the target share their columns: they are handed to the solver
once, and the solver goes on from the basis of the target before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, inf, lcm
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.models.work import spend
from workbench.reach.programs.linear_program import new_solver, run

if TYPE_CHECKING:  # many proofs need no program: numpy and the solver are loaded for the first
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

Column: TypeAlias = Mapping[str, Fraction]
"""A vector by the names of its rows; what is not mentioned is 0."""

KEPT_SOLVERS = 4
"""So many programs stay loaded; making a solver object costs more than a solve."""


Costs: TypeAlias = Sequence[Fraction | int]


class ExactProgram:
    """minimise sum cost_j y_j subject to sum_j y_j column_j = target, y_j >= 0.

    Where the optimal basis is not exactly feasible, that of further costs may be. A basis to go on
    from is fast, but may lead the solver astray: without `warm` each target is solved afresh.
    """

    def __init__(self, columns: Sequence[Column], *costs: Costs, warm: bool = True):
        self._columns = columns
        self._costs = costs
        self._names = sorted({name for column in columns for name in column})
        self._scales: list[float] = []
        self._whole: dict[int, tuple[int, dict[str, int]]] = {}
        self._free: int | None = None
        self._priced = 0
        self._is_warm = warm

    def solve(self, target: Column, free: int | None = None) -> dict[int, Fraction] | None:
        """The non-zero unknowns of an exactly feasible solution, or None if none was found; the
        unknown of the number `free` may be negative, and costs nothing."""
        if any(value and name not in self._names for name, value in target.items()):
            return None
        for pricing in range(len(self._costs)):
            support = self._float_support(target, free, pricing)
            if support is None:
                return None
            solution = self._solve_exactly(support, target)
            if solution is not None and all(v >= 0 for j, v in solution.items() if j != free):
                return {j: v for j, v in solution.items() if v}
        return None

    # In floating point

    def _float_support(self, target: Column, free: int | None, pricing: int) -> list[int] | None:
        """The unknowns that are basic in the solver's optimal solution for the costs of that
        number; None if there is none."""
        import highspy
        import numpy as np

        solver = self._loaded()
        right = np.array([float(target.get(name, 0)) for name in self._names])
        count = len(self._names)
        solver.changeRowsBounds(count, np.arange(count, dtype=np.int32), right, right)
        if free != self._free or pricing != self._priced:
            costs = self._scaled_costs(pricing)
            if self._free is not None:
                solver.changeColBounds(self._free, 0.0, inf)
            if free is not None:
                solver.changeColBounds(free, -inf, inf)
                costs[free] = 0.0
            numbers = np.arange(len(costs), dtype=np.int32)
            solver.changeColsCost(len(costs), numbers, costs)
            self._free, self._priced = free, pricing
        if not self._is_warm:
            solver.clearSolver()
        if run(solver) != highspy.HighsModelStatus.kOptimal:
            return None
        basic = highspy.HighsBasisStatus.kBasic
        return [j for j, s in enumerate(solver.getBasis().col_status) if s == basic]

    def _loaded(self) -> Any:
        """The solver that holds the columns of this program."""
        solver = _SOLVERS.get(id(self))
        if solver is not None and solver[0] is self:
            _SOLVERS.move_to_end(id(self))
            return solver[1]
        fresh = _SOLVERS.popitem(last=False)[1][1] if len(_SOLVERS) >= KEPT_SOLVERS else None
        fresh = new_solver() if fresh is None else fresh
        fresh.passModel(self._model())
        self._free, self._priced = None, 0
        _SOLVERS[id(self)] = (self, fresh)
        return fresh

    def _model(self) -> Any:
        """The program with the target 0; every column is scaled to a largest entry of 1."""
        import highspy
        import numpy as np

        row_number = {name: i for i, name in enumerate(self._names)}
        starts = [0]
        index: list[int] = []
        entries: list[float] = []
        self._scales = []
        for column in self._columns:
            values = [a.numerator / a.denominator for a in column.values()]
            scale = max(map(abs, values), default=1.0) or 1.0
            index.extend([row_number[name] for name in column])
            entries.extend([value / scale for value in values])
            starts.append(len(index))
            self._scales.append(scale)
        size = len(self._columns)
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = size, len(self._names)
        model.col_cost_ = self._scaled_costs(0)
        model.col_lower_ = np.zeros(size)
        model.col_upper_ = np.full(size, highspy.kHighsInf)
        model.row_lower_ = model.row_upper_ = np.zeros(len(self._names))
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = np.array(starts, dtype=np.int32)
        model.a_matrix_.index_ = np.array(index, dtype=np.int32)
        model.a_matrix_.value_ = np.array(entries, dtype=float)
        return model

    def _scaled_costs(self, pricing: int) -> Array:
        import numpy as np

        costs = zip(self._costs[pricing], self._scales, strict=True)
        return np.array([float(cost) / scale for cost, scale in costs], dtype=float)

    # Exactly

    def _solve_exactly(self, support: list[int], target: Column) -> dict[int, Fraction] | None:
        """The unique y with sum y_j column_j = target; None if there is none or not just one.

        The rows are eliminated in integers, each divided by what its entries have in common.
        """
        columns = [self._integers(j) for j in support]
        below = lcm(*(a.denominator for a in target.values()))
        goal = {name: a.numerator * (below // a.denominator) for name, a in target.items()}
        rows = [
            [*(whole.get(name, 0) for _, whole in columns), goal.get(name, 0)]
            for name in self._names
        ]
        spend(0.02 + 1e-4 * len(rows) * len(columns) ** 2)
        for k in range(len(columns)):
            choice = next((i for i in range(k, len(rows)) if rows[i][k]), None)
            if choice is None:
                return None
            rows[k], rows[choice] = rows[choice], rows[k]
            top = rows[k]
            pivot = top[k]
            for i, row in enumerate(rows):
                if i != k and (factor := row[k]):
                    rows[i] = _reduced(
                        [pivot * a - factor * b for a, b in zip(row, top, strict=True)]
                    )
        if any(row[-1] for row in rows[len(columns) :]):
            return None
        return {
            j: Fraction(rows[k][-1] * columns[k][0], rows[k][k] * below)
            for k, j in enumerate(support)
        }

    def _integers(self, number: int) -> tuple[int, dict[str, int]]:
        """A column over its common denominator."""
        found = self._whole.get(number)
        if found is None:
            column = self._columns[number]
            below = lcm(*(a.denominator for a in column.values()))
            whole = {name: a.numerator * (below // a.denominator) for name, a in column.items()}
            found = self._whole[number] = below, whole
        return found


_SOLVERS: OrderedDict[int, tuple[ExactProgram, Any]] = OrderedDict()
"""Solvers and the programs that they hold, the one used last at the end."""


def _reduced(row: list[int]) -> list[int]:
    common = gcd(*row)
    return row if common <= 1 else [a // common for a in row]

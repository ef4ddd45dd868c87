"""What follows from rows by non-negative combinations (Farkas' lemma), with exact multipliers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from workbench.models.linear import Form, Multipliers, Row
from workbench.reach.programs.exact_program import ExactProgram

CONSTANT = "1"
"""The row of a program that balances the constants (no variable has this name)."""

SLACK_COLUMN = {CONSTANT: Fraction(-1)}
"""The column of what a combination exceeds its goal by."""

MOST_RECENT = 16

_ONE = Fraction(1)


class Combinations:
    """The non-negative combinations of some rows; see `ExactProgram` for `warm`."""

    def __init__(self, rows: Sequence[Row], *, warm: bool = True):
        self.rows = rows
        self._is_warm = warm

    def refutation(self) -> Multipliers | None:
        """Multipliers that combine the rows to a positive number (or zero, strictly)."""
        solution = self._program.solve({CONSTANT: _ONE})
        if solution is None and any(row.strict for row in self.rows):
            solution = self._strict_program.solve({"strict": _ONE})
        return self._multipliers(solution)

    def implication(self, goal: Form) -> Multipliers | None:
        """Multipliers from which goal <= 0 follows: the smallest ones, or, where rounding hides
        how close the goal is, those with the most slack."""
        return self._multipliers(self._program.solve(column_of(goal)))

    def identity(self, goal: Form, own: int) -> tuple[Fraction, Multipliers] | None:
        """goal = mu * row + a non-negative combination - slack: mu, which may be negative, for
        the row of the number `own`, and the multipliers."""
        solution = self._program.solve(column_of(goal), free=own)
        mu = Fraction(0) if solution is None else solution.pop(own, Fraction(0))
        multipliers = self._multipliers(solution)
        return None if multipliers is None else (mu, multipliers)

    def _multipliers(self, solution: dict[int, Fraction] | None) -> Multipliers | None:
        """Without the slack."""
        if solution is None:
            return None
        solution.pop(len(self.rows), None)
        return tuple(sorted(solution.items()))

    @cached_property
    def _columns(self) -> list[dict[str, Fraction]]:
        """Those of the rows, then one for the slack."""
        return [*(column_of(row.form) for row in self.rows), SLACK_COLUMN]

    @cached_property
    def _program(self) -> ExactProgram:
        size = len(self.rows)
        smallest, most_slack = [1] * size + [0], [0] * size + [-1]
        return ExactProgram(self._columns, smallest, most_slack, warm=self._is_warm)

    @cached_property
    def _strict_program(self) -> ExactProgram:
        """Here the strict rows are counted, too."""
        columns = [
            {**column, "strict": _ONE} if row.strict else column
            for row, column in zip(self.rows, self._columns, strict=False)
        ]
        return ExactProgram([*columns, SLACK_COLUMN], [1] * len(columns) + [0])


def refutation(rows: Sequence[Row]) -> Multipliers | None:
    """Multipliers that show that rows have no common solution, if they were found."""
    return Combinations(rows).refutation()


_RECENT: OrderedDict[tuple[int, ...], Combinations] = OrderedDict()
"""By the identities of the rows, which the combinations keep alive."""


def combinations_of(rows: Sequence[Row]) -> Combinations:
    """The combinations of rows; those asked for lately are kept, for the facets of one cell
    have the very same rows."""
    key = tuple(map(id, rows))
    found = _RECENT.get(key)
    if found is None:
        if len(_RECENT) >= MOST_RECENT:
            _RECENT.popitem(last=False)
        found = _RECENT[key] = Combinations(rows)
    return found


def column_of(form: Form) -> dict[str, Fraction]:
    """The coefficients and the constant of a form, as a column of a program."""
    column = dict(form.coefficients)
    if form.constant:
        column[CONSTANT] = form.constant
    return column

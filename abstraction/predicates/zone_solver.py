"""Exact questions about a polyhedron and cells of predicates, where floating point is unsure."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from workbench.models.linear import Form, Row, Rows
from workbench.models.smt.rows import RowSession
from workbench.reach.time_limit import check_time


class ZoneSolver:
    """The exact rows of a polyhedron, met with others: a warm z3 solver.

    What z3 does not decide within its limits counts as met, so that sets are never too small.
    """

    def __init__(self, session: RowSession, rows: Rows):
        self._solver = session.solver(rows)
        self._general: dict[tuple[int, int], bool] = {}

    def meets(self, rows: Sequence[Row]) -> bool:
        """Whether the polyhedron has a point that satisfies the rows."""
        check_time()
        return self._solver.satisfiable(rows) is not False

    def meets_within(self, key: tuple[int, int], rows: Sequence[Row], cell: Sequence[Row]) -> bool:
        """Whether it has one in the cell. That no cell at all has one is asked first, once for
        each key: a polyhedron often touches a predicate because the predicate is one of its
        rows."""
        if key not in self._general:
            self._general[key] = self.meets(rows)
        return self._general[key] and self.meets([*cell, *rows])


def sides(forms: Sequence[Form], signs: Sequence[int]) -> list[Row]:
    """The rows s_p h_p <= 0 of a cell, for as many predicates as there are signs."""
    return [Row(form.scaled(Fraction(s))) for form, s in zip(forms, signs, strict=False)]


def closed(rows: Rows) -> Rows:
    """The rows with their boundaries: flow may end where a strict invariant does."""
    return tuple(Row(row.form) for row in rows)

"""Why statements hold in the initial states of a case."""

from __future__ import annotations

from models.proof.linear import Form, Rows
from reach.double_description import Vector
from reach.rectangular_goals import Others, PartRows, Terms
from reach.rectangular_rows import relation, resolved, substituted
from reach.rectangular_statements import Part, Statements


class StartRows:
    """The rows of initial states: values before entry resets, and what resets make of them.

    A statement about the values after is one about those before, by the definitions of the
    new values, and follows from the rows that are connected to it by names.
    """

    def __init__(self, rows: Rows):
        # No variable counts as discrete here: there is no node whose values are known.
        self._others = Others(rows, resolved(rows, relation(rows)), Statements({}))
        self._known: dict[tuple[str, ...], PartRows] = {}

    def derived(self, goal: Form) -> Terms | None:
        """Why a goal about the values after entry holds; None if nothing was found."""
        plain = substituted(goal, self._others.further.relation.forms)
        names, numbers = self._connected(plain)
        known = self._known.get(names)
        if known is None:
            rows = dict(self._others.further.rows)
            vectors = tuple(_vector(names, rows[i].form) for i in numbers)
            part = Part(names, (), (), (), ())
            known = self._known[names] = PartRows.of(self._others, part, (), vectors, numbers)
        return known.derived(_vector(names, plain), goal, (), plain.integral[0])

    def _connected(self, goal: Form) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """The names that rows connect with those of a goal, and these rows."""
        names = set(goal.coefficients)
        numbers: set[int] = set()
        while True:
            more = {
                i
                for i, row in self._others.further.rows
                if i not in numbers and not names.isdisjoint(row.form.coefficients)
            }
            if not more:
                return tuple(sorted(names)), tuple(sorted(numbers))
            numbers |= more
            for i, row in self._others.further.rows:
                if i in more:
                    names |= row.form.coefficients.keys()


def _vector(names: tuple[str, ...], form: Form) -> Vector:
    """form <= 0 as a vector >= 0, times the form's denominator."""
    _, coefficients, constant = form.integral
    return (-constant, *(-coefficients.get(name, 0) for name in names))

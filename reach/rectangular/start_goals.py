"""Why statements hold in the initial states of a case."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.models.linear import Form, Rows
from workbench.reach.rectangular.goals import Others, PartRows, Terms
from workbench.reach.rectangular.rows import relation, resolved, substituted
from workbench.reach.rectangular.statements import Part, Statements
from workbench.reach.sets.double_description import Vector


class StartRows:
    """The rows of initial states: values before entry resets, and what resets make of them.

    A statement about the values after is one about those before, by the definitions of the
    new values, and follows from the rows that are connected to it by names.
    """

    def __init__(self, rows: Rows):
        # No variable counts as discrete here: there is no node whose values are known.
        self._others = Others(rows, resolved(rows, relation(rows)), Statements({}))
        self._known: dict[tuple[tuple[str, ...], tuple[int, ...]], PartRows] = {}

    def derived(self, goal: Form) -> Terms | None:
        """Why a goal about the values after entry holds; None if nothing was found."""
        plain = substituted(goal, self._others.further.relation.forms)
        for names, numbers in self._connected(plain):
            known = self._known.get((names, numbers))
            if known is None:
                known = self._known[names, numbers] = self._part_rows(names, numbers)
            found = known.derived(_vector(names, plain), goal, (), plain.integral[0])
            if found is not None:
                return found
        return None

    def _part_rows(self, names: tuple[str, ...], numbers: tuple[int, ...]) -> PartRows:
        rows = dict(self._others.further.rows)
        vectors = tuple(_vector(names, rows[i].form) for i in numbers)
        return PartRows.of(self._others, Part(names, (), (), (), ()), (), vectors, numbers)

    def _connected(self, goal: Form) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
        """Ever more names and rows: those of a goal and the rows about nothing else, then the
        rows that mention one of them, and so on."""
        names = set(goal.coefficients)
        rows = [(i, row.form.coefficients.keys()) for i, row in self._others.further.rows]
        while True:
            inside = tuple(i for i, mentioned in rows if mentioned and mentioned <= names)
            yield tuple(sorted(names)), inside
            more = {
                n for _, mentioned in rows if not names.isdisjoint(mentioned) for n in mentioned
            }
            if more <= names:
                return
            names |= more


def _vector(names: tuple[str, ...], form: Form) -> Vector:
    """form <= 0 as a vector >= 0, times the form's denominator."""
    _, coefficients, constant = form.integral
    return (-constant, *(-coefficients.get(name, 0) for name in names))

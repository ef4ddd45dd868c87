"""Why time keeps the statements of a node: the bounds of the derivatives say so.

A statement h <= 0 of an `elapsed` set, which is closed under time, has h' <= 0 for every
derivative that a location allows: h' is at most a sum of the bounds of single derivatives, and
so their rows, with the coefficients of h as factors, are the whole reason. Where time does not
pass at all, because discrete values contradict the invariant or enable an urgent edge, those
values are the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

from workbench.models.evidence.polyhedral import FacetReason
from workbench.models.linear import Rows
from workbench.models.lowering.problem import Dynamics
from workbench.reach.rectangular.goals import Others, Terms
from workbench.reach.rectangular.moves import Place
from workbench.reach.rectangular.rows import NOTHING_DEFINED, Resolved
from workbench.reach.rectangular.split import NotRectangularError
from workbench.reach.rectangular.statements import Statements
from workbench.reach.rectangular.system import RectangularSystem

Reason: TypeAlias = tuple[FacetReason, Terms]


class FlowReasons:
    """The reasons for statements, one for each case of a location in which time passes."""

    def __init__(self, system: RectangularSystem, statements: Statements):
        self.system = system
        self.statements = statements
        self._locations: dict[str, _Location] = {}

    def reasons(self, place: Place, number: int) -> Iterator[Reason | None]:
        """For each case why a statement is kept; None where that is not known."""
        here = self._locations.get(place.location)
        if here is None:
            here = _Location(self.system, self.statements, place.location)
            self._locations[place.location] = here
        for case, condition in enumerate(self.system.flowing(place.location)):
            failing = condition.failing(place.values)
            if failing is None:
                yield here.inward(case, number)
                continue
            terms = here.others[case].refuted(failing, place.values)
            yield None if terms is None else (FacetReason.EMPTY, terms)


class _Location:
    """The rows of the flow's cases in a location."""

    def __init__(self, system: RectangularSystem, statements: Statements, location: str):
        corners = system.problem.dynamics(location)
        if len(corners) != 1:
            raise NotRectangularError(f"the flow of {location} has several cases")
        (self.dynamics,) = corners
        self.statements = statements
        self.others: list[Others] = []
        for condition in system.flowing(location):
            rows = condition.rows + self.dynamics.rows
            further = Resolved(NOTHING_DEFINED, tuple(enumerate(rows)))
            self.others.append(Others(rows, further, statements))
        self._bounds = _bounds(self.dynamics)
        self._known: dict[int, list[tuple[int, Fraction]] | None] = {}

    def inward(self, case: int, number: int) -> Reason | None:
        """That the bounds of the derivatives keep a statement."""
        if number not in self._known:
            self._known[number] = self._factors(number)
        factors = self._known[number]
        if factors is None:
            return None
        first = len(self.others[case].rows) - len(self.dynamics.rows)
        return FacetReason.INWARD, tuple([(~(first + i), factor) for i, factor in factors])

    def _factors(self, number: int) -> list[tuple[int, Fraction]] | None:
        """Rows of the derivatives that add up to the growth of a statement, or to more."""
        growth = self.dynamics.along(self.statements.form(number))
        constant = growth.constant
        factors: list[tuple[int, Fraction]] = []
        for name, a in growth.coefficients.items():
            bound = self._bounds.get((name, a > 0))
            if bound is None:
                return None
            form = self.dynamics.rows[bound].form
            factor = a / form.coefficients[name]
            factors.append((bound, factor))
            constant -= factor * form.constant
        return factors if constant <= 0 else None


def _bounds(dynamics: Dynamics) -> dict[tuple[str, bool], int]:
    """The rows that bound one derivative by a number, by name and whether from above; of
    several the tightest."""
    rows: Rows = dynamics.rows
    found: dict[tuple[str, bool], int] = {}
    limits: dict[tuple[str, bool], Fraction] = {}
    for i, row in enumerate(rows):
        if len(row.form.coefficients) == 1:
            ((name, a),) = row.form.coefficients.items()
            slack = row.form.constant / abs(a)
            key = name, a > 0
            if key not in limits or slack > limits[key]:
                found[key], limits[key] = i, slack
    return found

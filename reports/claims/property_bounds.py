"""The bounds that properties set to single variables, for plots."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.models.automaton import Automaton, PropertyKind
from workbench.models.expressions.expression import negation
from workbench.models.lowering.alternatives import TooManyCasesError, alternatives
from workbench.models.lowering.pieces import by_cases
from workbench.models.lowering.problem import linear_problem
from workbench.reports.pictures.projection import Shadow


@dataclass(frozen=True)
class PropertyBound:
    """Values of a variable that break a property whatever the others are: `low` to `high`, one
    of which may be infinite."""

    claim: str
    variable: str
    low: float
    high: float

    @property
    def edges(self) -> tuple[float, ...]:
        """The ends that are bounds."""
        return tuple(end for end in (self.low, self.high) if math.isfinite(end))


def property_bounds(automaton: Automaton) -> tuple[PropertyBound, ...]:
    """The bounds of all properties, as far as they are about one variable each."""
    return tuple(dict.fromkeys(_found(automaton)))


def _found(automaton: Automaton) -> Iterable[PropertyBound]:
    for claim in automaton.properties:
        if claim.kind is PropertyKind.PROGRESS:
            continue
        problem = linear_problem(automaton, claim)
        told = problem.claim.condition
        bad = told if claim.kind is PropertyKind.FORBIDDEN else negation(told)
        try:
            cases = alternatives(by_cases(bad, problem.types), problem.types)
        except TooManyCasesError:
            continue
        for rows in cases:
            used = {name for row in rows for name in row.form.coefficients}
            interval = Shadow(rows, {}).interval(min(used)) if len(used) == 1 else None
            if interval is not None and interval[0] < interval[1]:
                yield PropertyBound(claim.name, min(used), *interval)

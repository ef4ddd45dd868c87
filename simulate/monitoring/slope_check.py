"""Which derivatives the locations of a model allow, at single states."""

from __future__ import annotations

import math
from collections.abc import Mapping

from workbench.models.automaton import TIME
from workbench.models.expressions.expression import Expression
from workbench.simulate.place import Prepared
from workbench.simulate.stepping.calculator import Calculator

SLOPE_TOLERANCE = 1e-4
"""Relative to the size of the numbers: dense output knows derivatives less exactly than states."""


class SlopeCheck:
    """Compares derivatives with the flows of one location; all of them are calculated together."""

    def __init__(self, prepared: Prepared, location: str):
        places: dict[Expression, int] = {}
        self._ends: list[tuple[str, int, float]] = []
        for change in prepared.view.location(location).flows:
            for bound, sign in ((change.range.low, -1.0), (change.range.high, 1.0)):
                if bound is not None and change.variable != TIME:
                    place = places.setdefault(bound, len(places))
                    self._ends.append((change.variable, place, sign))
        self._calculate = Calculator([*places], prepared.symbols, prepared.externals)
        self._unknown = dict.fromkeys(self._calculate.names, math.nan)

    def wrong(self, values: Mapping[str, float], slopes: Mapping[str, float]) -> str | None:
        """A variable whose derivative (0 where none is given) is not allowed in a state; what is
        unknown does not count."""
        size = 1.0 + size_of(values)
        limits = self._calculate({**self._unknown, **values})
        for variable, place, sign in self._ends:
            slope, limit = slopes.get(variable, 0.0), limits[place]
            if sign * (slope - limit) > SLOPE_TOLERANCE * (size + abs(slope) + abs(limit)):
                return variable
        return None


def size_of(values: Mapping[str, float]) -> float:
    """The largest absolute value among those that are finite."""
    return max((abs(v) for v in values.values() if math.isfinite(v)), default=0.0)

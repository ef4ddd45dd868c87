"""Margins: how far a run stays from the border of what is claimed, where, and from which face.

Runs are computed in floating point. `ALLOWANCE` is the share of a state's size that a run may
stray: ten times what two computations of a run may differ by before it ends (see
`reports.crosscheck.certain_runs`), and far below anything that would be a defect.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.models.expressions.expression import Expression
from workbench.models.trace import Scalar, Segment, Trace
from workbench.reports.claims.claimed_set import CellSet, ClaimedSet, Stay, Worst

ALLOWANCE = 1e-6

MOST_TOUCHED = 6
"""So many faces that a run touches are told; beyond, no distance from the others is."""


@dataclass(frozen=True)
class Place:
    """Where a margin was smallest: time, location, state, and the predicate concerned."""

    time: float
    location: str
    values: Mapping[str, Scalar]
    predicate: str


@dataclass(frozen=True)
class Margin:
    """How far a run stays from a border; None where nothing could be tested. `exact` tells
    that every atom was a polynomial along the run.

    A run that touches faces of a set (it starts on the border of the initial states, or rests
    where a variable is clamped) has no distance from it: `touched` are these faces, and `rest`
    is the margin that it keeps from all others.
    """

    value: float | None
    place: Place | None = None
    exact: bool = True
    allowance: float = 0.0
    touched: tuple[Place, ...] = ()
    rest: Margin | None = None

    @property
    def broken(self) -> bool:
        """Whether the run is beyond the border by more than arithmetic can explain."""
        return self.value is not None and self.value < -self.allowance

    @property
    def touches(self) -> bool:
        """Whether the run is on the border, as far as arithmetic can tell."""
        return self.value is not None and abs(self.value) <= self.allowance


def set_margin(claimed: ClaimedSet, trace: Trace, whole: Sequence[Stay]) -> Margin:
    """The margin that a run keeps from the border of a set, and from the faces of an invariant
    that it does not touch."""
    margin, face = _margin(claimed, trace, whole)
    touched: list[Place] = []
    rest: Margin | None = margin
    while rest is not None and rest.touches and rest.place is not None:
        touched.append(rest.place)
        if face is None or not isinstance(claimed, CellSet) or len(touched) == MOST_TOUCHED:
            rest = None
        else:
            claimed = claimed.without(face)
            rest, face = _margin(claimed, trace, whole)
    return replace(margin, touched=tuple(touched), rest=rest) if touched else margin


def _margin(
    claimed: ClaimedSet, trace: Trace, whole: Sequence[Stay]
) -> tuple[Margin, Expression | None]:
    """The least distance from the border, and the face there."""
    worst: tuple[Worst, Stay] | None = None
    exact = True
    for stay in whole:
        found = claimed.worst(stay)
        if found is not None:
            exact = exact and found.exact
            if worst is None or found.value > worst[0].value:
                worst = (found, stay)
    if worst is None:
        return Margin(None), None
    found, stay = worst
    part = next((p for p in stay.pieces if p.segment.end >= found.time), stay.pieces[-1])
    place = place_of(trace, part.segment, found.time, found.predicate())
    return Margin(-found.value, place, exact, allowance(place)), found.face()


def place_of(trace: Trace, segment: Segment, time: float, predicate: str) -> Place:
    """The state of a run at a time, as the place of a margin."""
    known = segment.valuation(time)
    names = [*trace.variables, *trace.parameters]
    values = {n: known.get(n, trace.parameters.get(n, math.nan)) for n in names}
    return Place(time, segment.location, values, predicate)


def allowance(place: Place) -> float:
    """How far a run may stray at a place."""
    return ALLOWANCE * _size(place)


def _size(place: Place) -> float:
    """The size of a state: 1 and the largest of its finite numbers."""
    numbers = [abs(v) for v in place.values.values() if isinstance(v, float) and math.isfinite(v)]
    return max([1.0, *numbers])

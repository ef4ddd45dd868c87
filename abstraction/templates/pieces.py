"""Locations cut into pieces, each to get a polyhedron of its own.

Where no convex set will do, a location is cut into slabs b_k <= n * x <= b_(k+1) + overlap, in
one direction n or in several (a grid). A state belongs to one piece until it meets one of that
piece's bounds from inside; then it *crosses* to a piece in which it lies by at least half the
overlap. So every run of the location is a run through pieces with finitely many crossings in
finite time, whatever the inputs do at a border (see `exits` in `models.evidence.polyhedral`), and
pieces are to the search what locations are: their bounds are invariants, crossings are
switches that keep the state, possible only where some input drives it over the bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np

from workbench.abstraction.templates.sampled_runs import SampledRuns
from workbench.abstraction.templates.system import (
    Array,
    Flow,
    Piece,
    Polyhedron,
    Start,
    Switch,
    TemplateSystem,
)
from workbench.models.linear import Form
from workbench.reach.sets.support import SupportOracle

MAX_PIECES = 96


@dataclass(frozen=True)
class Cut:
    """The slabs of one direction: at levels b_1 < b_2 < ..., with an overlap above each."""

    normal: tuple[Fraction, ...]
    levels: tuple[Fraction, ...]
    overlap: Fraction


@dataclass(frozen=True)
class _Slab:
    """One slab of a cut: between two of its levels, None where it is unbounded."""

    cut: Cut
    low: Fraction | None
    high: Fraction | None

    def rows(self, above_low: float, above_high: float) -> list[tuple[Array, float]]:
        """n * x >= low + above_low overlaps and n * x <= high + above_high overlaps."""
        normal = np.array([float(a) for a in self.cut.normal])
        overlap = float(self.cut.overlap)
        found: list[tuple[Array, float]] = []
        if self.low is not None:
            found.append((-normal, -float(self.low) - above_low * overlap))
        if self.high is not None:
            found.append((normal, float(self.high) + above_high * overlap))
        return found

    def exits(self, names: tuple[str, ...]) -> Iterator[Form]:
        """The bounds as forms that are at most 0 in the slab."""
        form = Form({v: a for v, a in zip(names, self.cut.normal, strict=True) if a})
        if self.low is not None:
            yield Form({}, self.low) - form
        if self.high is not None:
            yield form - Form({}, self.high + self.cut.overlap)


Rows = tuple[Array, Array]
"""A matrix over the variables, and the bounds of its products."""


@dataclass(frozen=True)
class _Part:
    """A piece under construction: its slabs, one for each cut of the location."""

    name: str
    location: str
    slabs: tuple[_Slab, ...]

    def rows(self, above_low: float, above_high: float, n: int) -> Rows:
        """All slabs' bounds, shifted by so many overlaps."""
        found = [row for slab in self.slabs for row in slab.rows(above_low, above_high)]
        matrix = np.array([normal for normal, _ in found]).reshape(len(found), n)
        return matrix, np.array([bound for _, bound in found])

    def whole(self, n: int) -> Rows:
        """The piece itself."""
        return self.rows(0.0, 1.0, n)

    def entered(self, n: int) -> Rows:
        """What initial states and switches enter this piece with."""
        return self.rows(1.0, 1.0, n)

    def landing(self, n: int) -> Rows:
        """What crosses over into this piece."""
        return self.rows(0.5, 0.5, n)

    def own(self, n: int) -> Rows:
        """The states that no other piece contains."""
        return self.rows(1.0, 0.0, n)


def cut_system(system: TemplateSystem, cuts: Mapping[str, tuple[Cut, ...]]) -> TemplateSystem:
    """The system with locations replaced by their pieces; those without cuts stay."""
    n = len(system.names)
    parts = _parts(system, cuts)
    by_location: dict[str, list[_Part]] = {}
    for part in parts:
        by_location.setdefault(part.location, []).append(part)
    flows = tuple(
        replace(flow, location=part.name, domain=_within(flow.domain, part.whole(n), 0))
        for flow in system.flows
        for part in by_location[flow.location]
    )
    starts = tuple(
        Start(part.name, _within(start.relation, part.entered(n), n))
        for start in system.starts
        for part in by_location[start.location]
    )
    switches = tuple(
        Switch(source.name, target.name, relation, switch.keeps_state)
        for switch in system.switches
        for source in by_location[switch.source]
        for target in by_location[switch.target]
        for relation in [
            _within(_within(switch.relation, source.whole(n), 0), target.entered(n), n)
        ]
    )
    crossings = tuple(
        crossing
        for flow in system.flows
        for part in by_location[flow.location]
        for crossing in _crossings(flow, part, by_location[flow.location])
    )
    bad = tuple(
        (part.name, _within(polyhedron, part.whole(n), 0))
        for location, polyhedron in system.bad
        for part in by_location[location]
    )
    return TemplateSystem(
        system.names,
        tuple(part.name for part in parts),
        tuple(start for start in starts if _nonempty(start.relation)),
        tuple(flow for flow in flows if _nonempty(flow.domain)),
        tuple(switch for switch in (*switches, *crossings) if _nonempty(switch.relation)),
        bad,
        {part.name: _piece(part, system.names) for part in parts if part.slabs},
    )


def cut_runs(
    system: TemplateSystem, runs: SampledRuns, cuts: Mapping[str, tuple[Cut, ...]]
) -> SampledRuns:
    """The sampled points by piece, without those that could belong to two."""
    n = len(system.names)

    def divided(points: dict[str, Array]) -> dict[str, Array]:
        found: dict[str, Array] = {}
        for part in _parts(system, cuts):
            if part.location in points:
                matrix, bound = part.own(n)
                here = points[part.location]
                inside = here[np.all(here @ matrix.T <= bound, axis=1)]
                if len(inside):
                    found[part.name] = inside
        return found

    return SampledRuns(divided(runs.early), divided(runs.late))


def _parts(system: TemplateSystem, cuts: Mapping[str, tuple[Cut, ...]]) -> list[_Part]:
    found: list[_Part] = []
    for location in system.locations:
        choices = [
            [
                _Slab(cut, low, high)
                for low, high in zip((None, *cut.levels), (*cut.levels, None), strict=True)
            ]
            for cut in cuts.get(location, ())
        ]
        for number, slabs in enumerate(product(*choices)):
            name = location if not slabs else f"{location}, piece {number + 1}"
            found.append(_Part(name, location, slabs))
    return found


def _piece(part: _Part, names: tuple[str, ...]) -> Piece:
    exits = tuple(form for slab in part.slabs for form in slab.exits(names))
    return Piece(part.location, exits, min(slab.cut.overlap for slab in part.slabs) / 2)


def _crossings(flow: Flow, part: _Part, beside: list[_Part]) -> Iterator[Switch]:
    """The ways out of a piece: on one of its bounds, where the flow may point outwards."""
    n, rest = len(flow.constant), flow.rest.shape[1]
    normals, bounds = part.whole(n)
    domain = _within(flow.domain, (normals, bounds), 0)
    unchanged = np.hstack([np.eye(n), -np.eye(n)])
    for normal, bound in zip(normals, bounds, strict=True):
        leaving = np.vstack(
            [
                np.concatenate([-normal, np.zeros(rest)]),
                -np.concatenate([normal @ flow.state, normal @ flow.rest]),
            ]
        )
        matrix = np.vstack([domain.matrix, leaving])
        wide = np.hstack([matrix[:, :n], np.zeros((len(matrix), n)), matrix[:, n:]])
        same = np.vstack([unchanged, -unchanged])
        wide = np.vstack([wide, np.hstack([same, np.zeros((2 * n, rest))])])
        right = np.concatenate(
            [domain.bound, [-bound, float(normal @ flow.constant)], np.zeros(2 * n)]
        )
        names = (*flow.domain.names[:n], *(f"{v}'" for v in flow.domain.names[:n]))
        relation = Polyhedron((*names, *flow.domain.names[n:]), wide, right)
        for other in beside:
            if other is not part:
                landing = _within(relation, other.landing(n), n)
                yield Switch(part.name, other.name, landing, True)


def _within(polyhedron: Polyhedron, rows: Rows, first: int) -> Polyhedron:
    """The polyhedron with rows over the unknowns from the given one on, put in front."""
    matrix, bound = rows
    if len(matrix) == 0:
        return polyhedron
    wide = np.zeros((len(matrix), polyhedron.matrix.shape[1]))
    wide[:, first : first + matrix.shape[1]] = matrix
    return Polyhedron(
        polyhedron.names,
        np.vstack([wide, polyhedron.matrix]),
        np.concatenate([bound, polyhedron.bound]),
    )


def _nonempty(polyhedron: Polyhedron) -> bool:
    oracle = SupportOracle(polyhedron.matrix, polyhedron.bound)
    return oracle(np.zeros(polyhedron.matrix.shape[1])) is not None

"""The reached part of every abstract state: the least polyhedra that flow and switches keep.

Every location of the (split) system has directions d_i of its own, and its part is the set of
x with d_i x <= h_i. h must hold the initial states, the images of switches, and the Euler
images x + tau f(x, w) of flows (which says that no facet is crossed outwards; tau is only a
multiplier). Each such image is a linear program whose value is concave and increasing in h, so
the least solution is found by *strategy iteration* from below: a strategy chooses for every
row one image that exceeds it, and the greatest solution of

    maximise sum h_i  subject to  h_i <= objective z_i + shift, z_i in the image's domain

(one sparse linear program over h and all z_i) is the least one of the whole system for that
strategy; rows that have none run into a limit far away and are given up. After finitely many
strategies no image exceeds its row. The parts never exceed the least invariant with these
directions. Floating point, untrusted: what is found is proved exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from workbench.abstraction.templates.sampled_runs import SampledRuns
from workbench.abstraction.templates.system import Array, Flow, Polyhedron, TemplateSystem
from workbench.reach.programs.sparse_program import SparseProgram
from workbench.reach.sets.support import SupportOracle

FAR = 1e4
"""Rows whose solution is this many times as large as anything seen have none."""
SETTLED = 1e-6
TOUCHING = 1e-8
RIGID = 1e-7
LEVELLINGS = 40


@dataclass
class Part:
    """normals * x <= offsets; minus infinity everywhere where nothing was reached, infinity
    in rows that hold nothing."""

    normals: Array
    offsets: Array

    @property
    def empty(self) -> bool:
        """Whether nothing was reached."""
        return bool(np.any(self.offsets == -np.inf))

    def finite(self) -> tuple[Array, Array]:
        """The rows that hold something."""
        known = np.isfinite(self.offsets)
        return self.normals[known], self.offsets[known]

    def within(self, domain: Polyhedron) -> tuple[Array, Array]:
        """The finite rows on the first unknowns of a domain, then the domain's rows."""
        normals, offsets = self.finite()
        padding = np.zeros((len(normals), domain.matrix.shape[1] - normals.shape[1]))
        matrix = np.vstack([np.hstack([normals, padding]), domain.matrix])
        return matrix, np.concatenate([offsets, domain.bound])


@dataclass(frozen=True)
class Image:
    """What a flow (then `flow` is set) or a switch makes of the part of its source."""

    source: str
    target: str
    domain: Polyhedron
    flow: Flow | None = None

    def objective(self, direction: Array, tau: float) -> tuple[Array, float]:
        """The direction's value after the step, as a linear function on the domain."""
        n = len(direction)
        found = np.zeros(self.domain.matrix.shape[1])
        if self.flow is None:
            found[n : 2 * n] = direction
            return found, 0.0
        found[:n] = direction + tau * direction @ self.flow.state
        found[n:] = tau * direction @ self.flow.rest
        return found, tau * float(direction @ self.flow.constant)


@dataclass(frozen=True)
class Excess:
    """A row that an image exceeds: the value, the slack in it, and a z in the image's domain
    where it is attained (empty if it is infinite)."""

    image: int
    row: int
    value: float
    slack: float
    witness: Array


RowKey = tuple[str, int]
Strategy = dict[RowKey, Excess]
"""What each row follows, by location and number."""


@dataclass
class ReachedParts:
    """The parts of all locations during the search."""

    system: TemplateSystem
    tau: float
    parts: dict[str, Part]
    images: tuple[Image, ...]
    programs: int = 0
    slack: float = 0.0
    """By how much parts shall exceed images, relative to the size, except in rows that only
    their own bound keeps: those cannot have any."""
    room: float = SETTLED
    """Excess below this, relative to the size, is none."""
    _caps: dict[tuple[str, bytes], float] = field(default_factory=dict)

    @property
    def size(self) -> float:
        """The magnitude of the offsets."""
        found = [p.offsets[np.isfinite(p.offsets)] for p in self.parts.values()]
        return max(1.0, *(float(np.abs(h).max(initial=1.0)) for h in found))

    def excesses(self) -> Iterator[Excess]:
        """The rows that images exceed, for each image those of its target."""
        room = self.room * self.size
        for k, image in enumerate(self.images):
            if self.parts[image.source].empty:
                continue
            oracle = SupportOracle(*self.parts[image.source].within(image.domain))
            part = self.parts[image.target]
            for i in np.flatnonzero(part.offsets < np.inf):
                objective, shift = image.objective(part.normals[i], self.tau)
                self.programs += 1
                supported = oracle(objective)
                if supported is None:
                    break
                slack = self._slack(image, int(i), supported.multipliers)
                value = supported.value + shift + slack
                if image.flow is not None and value > part.offsets[i] + room:
                    value = min(value, self._cap(image.target, part.normals[i]))
                if value > part.offsets[i] + room:
                    witness = oracle.point() if np.isfinite(supported.value) else np.zeros(0)
                    yield Excess(k, int(i), value, slack, witness)

    def _slack(self, image: Image, i: int, multipliers: Array) -> float:
        """None where one row alone decides: the row itself (a flow), or one just like it."""
        if not self.slack or len(multipliers) == 0:
            return 0.0
        source, target = self.parts[image.source], self.parts[image.target]
        known = np.flatnonzero(np.isfinite(source.offsets))
        heavy = known[multipliers[: len(known)] > 1 - RIGID]
        alike = (source.normals[heavy] == target.normals[i]).all(axis=1)
        return 0.0 if np.any(alike) else self.slack * self.size

    def _cap(self, location: str, direction: Array) -> float:
        """What the location's invariant itself allows: rows that it implies are kept."""
        key = location, direction.tobytes()
        if key not in self._caps:
            found = -np.inf
            for flow in self.system.flows:
                if flow.location == location:
                    oracle = SupportOracle(flow.domain.matrix, flow.domain.bound)
                    padded = np.zeros(flow.domain.matrix.shape[1])
                    padded[: len(direction)] = direction
                    supported = oracle(padded)
                    found = max(found, -np.inf if supported is None else supported.value)
            self._caps[key] = found
        return self._caps[key]

    def bad(self) -> tuple[str, Array] | None:
        """A location and a bad state in its part."""
        for location, polyhedron in self.system.bad:
            part = self.parts[location]
            if part.empty:
                continue
            margin = np.zeros(len(polyhedron.names))
            margin[-1] = 1.0
            self.programs += 1
            point = SupportOracle(*part.within(polyhedron)).maximiser(margin)
            if point is not None and point[-1] > TOUCHING * self.size:
                return location, point[: len(self.system.names)]
        return None

    def solved(self, strategy: Strategy) -> bool:
        """Raise the offsets to the least solution for the strategy; False if the solver
        found none."""
        far = FAR * self.size
        program = SparseProgram()
        index: dict[RowKey, int] = {}
        for location, part in self.parts.items():
            for i, h in enumerate(part.offsets):
                if (location, i) in strategy:
                    low = -far if h == -np.inf else float(h) - SETTLED * self.size
                    high = self._ceiling(strategy, location, i, far)
                    index[location, i] = program.unknown(low, max(low, high), -1.0)
                elif np.isfinite(h):
                    index[location, i] = program.unknown(float(h), float(h), 0.0)
        for row, followed in strategy.items():
            self._follow(program, index, row, followed)
        self.programs += 1
        solution = program.solve()
        if solution is None:
            return False
        for location, i in strategy:
            found = solution[index[location, i]]
            part = self.parts[location]
            part.offsets[i] = np.inf if found > far / 2 else max(part.offsets[i], found)
        return True

    def _ceiling(self, strategy: Strategy, location: str, i: int, far: float) -> float:
        if self.images[strategy[location, i].image].flow is None:
            return far
        return min(far, self._cap(location, self.parts[location].normals[i]))

    def _follow(
        self, program: SparseProgram, index: dict[RowKey, int], row: RowKey, followed: Excess
    ) -> None:
        """h_i <= objective z + shift for a z of its own in the image's domain."""
        image = self.images[followed.image]
        columns = program.unknowns(len(image.domain.names), -np.inf, np.inf)
        objective, shift = image.objective(self.parts[row[0]].normals[row[1]], self.tau)
        taken = {columns[j]: -objective[j] for j in np.flatnonzero(objective)}
        program.row(taken | {index[row]: 1.0}, shift + followed.slack)
        for q, normal in enumerate(self.parts[image.source].normals):
            if (image.source, q) in index:
                held = {columns[j]: normal[j] for j in np.flatnonzero(normal)}
                program.row(held | {index[image.source, q]: -1.0}, TOUCHING * self.size)
        for normal, bound in zip(image.domain.matrix, image.domain.bound, strict=True):
            program.row({columns[j]: normal[j] for j in np.flatnonzero(normal)}, float(bound))


def reached_parts(
    system: TemplateSystem, directions: dict[str, Array], tau: float, runs: SampledRuns | None
) -> ReachedParts:
    """Parts that hold the initial states and the sampled runs."""
    parts = {
        location: Part(normals, np.full(len(normals), -np.inf))
        for location, normals in directions.items()
    }
    n = len(system.names)
    for start in system.starts:
        oracle = SupportOracle(start.relation.matrix, start.relation.bound)
        part = parts[start.location]
        for i, direction in enumerate(part.normals):
            objective = np.zeros(len(start.relation.names))
            objective[n : 2 * n] = direction
            supported = oracle(objective)
            if supported is not None:
                part.offsets[i] = max(part.offsets[i], supported.value)
    if runs is not None:
        for location, part in parts.items():
            part.offsets = np.maximum(part.offsets, runs.supports([location], part.normals))
    flows = (Image(flow.location, flow.location, flow.domain, flow) for flow in system.flows)
    leaps = (Image(s.source, s.target, s.relation) for s in system.switches)
    return ReachedParts(system, tau, parts, (*flows, *leaps))


def levelled(reached: ReachedParts) -> bool:
    """Raise rows by what is left of their excess, until rows that only pass a bound on agree
    with those they have it from; False if that does not end soon."""
    for _ in range(LEVELLINGS):
        found = list(reached.excesses())
        for excess in found:
            part = reached.parts[reached.images[excess.image].target]
            part.offsets[excess.row] = max(part.offsets[excess.row], excess.value)
        if not found:
            return True
    return False


def improved(reached: ReachedParts, strategy: Strategy, found: list[Excess]) -> None:
    """Let every exceeded row follow the image that exceeds it most."""
    best: Strategy = {}
    for excess in found:
        row = reached.images[excess.image].target, excess.row
        if row not in best or excess.value > best[row].value:
            best[row] = excess
    strategy.update(best)
    for location, i in list(strategy):
        if reached.parts[location].offsets[i] == np.inf:
            del strategy[location, i]

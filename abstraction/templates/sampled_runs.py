"""Runs followed in floating point, to learn where a system goes before proving anything.

Points start at corners of the initial sets and follow the exact flow of each location over
short steps, with inputs held at corners of their bounds; half of them switch eagerly, the
others only where they must. Every point visited is (up to rounding) reachable, so supports of
the points are lower bounds of every invariant. Nothing here is trusted.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from workbench.abstraction.templates.system import Array, Flow, Polyhedron, Switch, TemplateSystem
from workbench.models.work import FLOATING, spend
from workbench.reach.affine.matrix_exponential import matrix_exponential
from workbench.reach.sets.convex_hull import HullRefusedError, corners
from workbench.reach.sets.support import SupportOracle
from workbench.reach.time_limit import check_time

Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]

POINTS = 240
STEPS = 400
HOLD = 0.04
"""The chance, at each step, that a point draws a new input."""
EAGER = 0.15
"""The chance, at each step, that an eager point takes a switch that is open to it."""
HALVINGS = 5
"""How often a step that would leave the invariant is halved."""
LONG_STAY = 40
"""So many steps, on average, shall a run stay in a location."""
MAX_CORNERS = 243
MAX_RELATED = 6
"""The corners of bounds that relate inputs are computed for at most so many inputs."""
LARGEST = 1e9
"""Points beyond this are given up."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class SampledRuns:
    """The points visited in each location, those of the last fifth of the runs apart."""

    early: dict[str, Array]
    late: dict[str, Array]

    def points(self, locations: list[str] | tuple[str, ...]) -> Array | None:
        """All points of some locations, or None where there are none."""
        found = [
            part[name] for name in locations for part in (self.early, self.late) if name in part
        ]
        return np.vstack(found) if found else None

    def supports(self, locations: list[str], directions: Array) -> Array:
        """The largest value of each direction, infinite where the runs still grow at their
        end; minus infinity where no point was seen."""
        early, late = (
            [part[name] for name in locations if name in part] for part in (self.early, self.late)
        )
        before = _largest(early, directions)
        after = _largest(late, directions)
        best = np.maximum(before, after)
        known = np.isfinite(before) & np.isfinite(after)
        size = max(1.0, float(np.abs(best[np.isfinite(best)]).max(initial=1.0)))
        growing = known & (np.where(known, after, 0.0) > np.where(known, before, 0.0) + 0.02 * size)
        return np.where(growing, np.inf, best)


def sampled_runs(system: TemplateSystem, pace: float, generator: Generator) -> SampledRuns | None:
    """Points along runs of steps of length `pace`, or of shorter ones where runs would stay
    only a few steps in a location; None if the initial set has no corners."""
    begun = _starting_points(system, generator)
    if begun is None:
        return None
    tried = _run(system, *begun, pace, STEPS // 4, generator)
    if tried.switches:
        stay = len(begun[0]) * STEPS / 4 / tried.switches
        pace *= min(1.0, max(stay / LONG_STAY, 1 / 16))
    run = _run(system, *begun, pace, STEPS, generator)
    cut = STEPS * 4 // 5
    return SampledRuns(
        _by_location(system, run.visits[:cut]), _by_location(system, run.visits[cut:])
    )


@dataclass(frozen=True)
class _Run:
    """The points and places after every step, and how many switches were taken."""

    visits: list[tuple[Array, Indices]]
    switches: int


def _run(
    system: TemplateSystem,
    points: Array,
    places: Indices,
    pace: float,
    steps: int,
    generator: Generator,
) -> _Run:
    movers = [_Mover(flow, system.locations.index(flow.location), pace) for flow in system.flows]
    leaps = [_Leap(switch, system) for switch in system.switches]
    eager = generator.random(len(points)) < 0.5
    drawn = [generator.integers(len(mover.inputs), size=len(points)) for mover in movers]
    visits: list[tuple[Array, Indices]] = [(points, places)]
    switches = 0
    for _ in range(steps):
        check_time()
        points, stuck = _moved(points, places, movers, drawn, generator)
        wants = stuck | (eager & (generator.random(len(points)) < EAGER))
        points, places, taken = _leapt(points, places, wants, leaps, generator)
        switches += taken
        with np.errstate(invalid="ignore"):
            sane = np.abs(points).max(axis=1) < LARGEST
        points, places, eager = points[sane], places[sane], eager[sane]
        drawn = [d[sane] for d in drawn]
        if len(points) == 0:
            break
        visits.append((points, places))
    return _Run(visits, switches)


def _by_location(system: TemplateSystem, visits: list[tuple[Array, Indices]]) -> dict[str, Array]:
    if not visits:
        return {}
    points, places = (np.concatenate(part) for part in zip(*visits, strict=True))
    return {
        name: points[places == k] for k, name in enumerate(system.locations) if np.any(places == k)
    }


def _largest(parts: list[Array], directions: Array) -> Array:
    found = np.full(len(directions), -np.inf)
    for points in parts:
        spend(FLOATING * points.size * len(directions))
        found = np.maximum(found, (points @ directions.T).max(axis=0))
    return found


# Starts


def _starting_points(system: TemplateSystem, generator: Generator) -> tuple[Array, Indices] | None:
    """Extreme points of the initial sets along the axes and in random directions."""
    n = len(system.names)
    points: list[Array] = []
    places: list[int] = []
    for start in system.starts:
        oracle = SupportOracle(start.relation.matrix, start.relation.bound)
        axes = np.vstack([np.eye(n), -np.eye(n)])
        directions = np.vstack([axes, generator.normal(size=(24, n))])
        for direction in directions:
            objective = np.zeros(len(start.relation.names))
            objective[n : 2 * n] = direction
            point = oracle.maximiser(objective)
            if point is not None:
                points.append(point[n : 2 * n])
                places.append(system.locations.index(start.location))
    if not points:
        return None
    chosen = np.concatenate(
        [np.arange(len(points)), generator.integers(len(points), size=max(0, POINTS - len(points)))]
    )
    return np.array(points)[chosen], np.array(places, dtype=np.intp)[chosen]


# Flow


class _Mover:
    """The exact step of one flow, for every corner of what is no state, at halved lengths."""

    def __init__(self, flow: Flow, place: int, pace: float):
        self.place = place
        self.inputs = corner_inputs(flow)
        n = len(flow.constant)
        stated = ~np.any(flow.domain.matrix[:, n:], axis=1)
        self.rows, self.bound = flow.domain.matrix[stated, :n], flow.domain.bound[stated]
        mixed = _mixed_rows(flow)
        self.mixed, self.mixed_bound = flow.domain.matrix[mixed, :n], flow.domain.bound[mixed]
        self.mixed_inputs = self.inputs @ flow.domain.matrix[mixed, n:].T
        pushes = self.inputs @ flow.rest.T + flow.constant
        self.steps = [_exact_step(flow.state, pace / 2**k) for k in range(HALVINGS)]
        self.shifts = [pushes @ gain.T for _, gain in self.steps]

    def inside(self, points: Array, chosen: Indices) -> Flags:
        """Which points lie in the domain, each with the inputs that were chosen for it."""
        slack = self.bound + ROUNDING * np.maximum(1.0, np.abs(self.bound))
        spend(0.02 + FLOATING * points.size * len(self.rows))
        inside: Flags = np.all(points @ self.rows.T <= slack, axis=1)
        slack = self.mixed_bound + ROUNDING * np.maximum(1.0, np.abs(self.mixed_bound))
        reach = points @ self.mixed.T + self.mixed_inputs[chosen]
        inside &= np.all(reach <= slack, axis=1)
        return inside

    def up_to_boundary(self, points: Array, targets: Array) -> Array:
        """The last points of straight ways inside the invariant, for guards on its edge."""
        before, after = points @ self.rows.T - self.bound, targets @ self.rows.T - self.bound
        rising = after - before
        share = np.where(rising > 1e-15, -before / np.where(rising > 1e-15, rising, 1.0), 1.0)
        reach = np.clip(share.min(axis=1, initial=1.0), 0.0, 1.0)
        between: Array = points + reach[:, None] * (targets - points)
        return between


def _exact_step(matrix: Array, length: float) -> tuple[Array, Array]:
    """exp(A t), and its integral over time from 0 to t."""
    n = len(matrix)
    augmented = np.zeros((2 * n, 2 * n))
    augmented[:n, :n], augmented[:n, n:] = matrix * length, np.eye(n) * length
    exponential = matrix_exponential(augmented)
    return exponential[:n, :n], exponential[:n, n:]


def _moved(
    points: Array,
    places: Indices,
    movers: list[_Mover],
    drawn: list[Indices],
    generator: Generator,
) -> tuple[Array, Flags]:
    """One step of every point that can make it, and which points could not."""
    following = points.copy()
    stuck = np.ones(len(points), dtype=bool)
    for k in generator.permutation(len(movers)):
        mover = movers[k]
        here = np.flatnonzero((places == mover.place) & stuck)
        renew = here[generator.random(len(here)) < HOLD]
        drawn[k][renew] = generator.integers(len(mover.inputs), size=len(renew))
        inside = mover.inside(points[here], drawn[k][here])
        drawn[k][here[~inside]] = generator.integers(len(mover.inputs), size=int(np.sum(~inside)))
        here = here[inside]
        for (transition, _), shift in zip(mover.steps, mover.shifts, strict=True):
            if len(here) == 0:
                break
            target = points[here] @ transition.T + shift[drawn[k][here]]
            kept = mover.inside(target, drawn[k][here])
            following[here[kept]] = target[kept]
            stuck[here[kept]] = False
            here, target = here[~kept], target[~kept]
        if len(here):
            following[here] = mover.up_to_boundary(points[here], target)
        drawn[k][here] = generator.integers(len(mover.inputs), size=len(here))
    return following, stuck


def _mixed_rows(flow: Flow) -> Flags:
    """The rows that relate states to inputs with bounds of their own, such as the branch of a
    `min` that an input decides."""
    n = len(flow.constant)
    stated, rest = np.any(flow.domain.matrix[:, :n], axis=1), flow.domain.matrix[:, n:] != 0
    bounded = np.any(rest[~stated], axis=0)
    mixed: Flags = stated & np.any(rest, axis=1) & ~np.any(rest[:, ~bounded], axis=1)
    return mixed


def corner_inputs(flow: Flow) -> Array:
    """Corners of the bounds of everything that is no state, and 0 where it lies between (the
    mean of the corners where bounds relate several); what has no bounds is taken as 0."""
    n = len(flow.constant)
    rest = flow.domain.matrix[:, n:]
    count = rest.shape[1]
    if count == 0:
        return np.zeros((1, 0))
    alone = ~np.any(flow.domain.matrix[:, :n], axis=1) & np.any(rest, axis=1)
    related = _related_corners(rest[alone], flow.domain.bound[alone])
    if related is not None:
        return related
    oracle = SupportOracle(rest[alone], flow.domain.bound[alone])
    sides: list[tuple[float, ...]] = []
    for axis in np.eye(count):
        high, low = oracle(axis), oracle(-axis)
        if high is None or low is None or not np.isfinite([high.value, low.value]).all():
            sides.append((0.0,))
        else:
            ends = (-low.value, high.value)
            sides.append((*ends, 0.0) if ends[0] < 0 < ends[1] else ends)
    while np.prod([len(side) for side in sides]) > MAX_CORNERS:
        longest = max(range(count), key=lambda j: len(sides[j]))
        sides[longest] = sides[longest][:-1]
    return np.array(list(product(*sides)))


def _related_corners(matrix: Array, bound: Array) -> Array | None:
    """The vertices of bounds of which some relate several inputs, and their mean; None where
    none does, or where there are too many."""
    if matrix.shape[1] > MAX_RELATED or not np.any(np.count_nonzero(matrix, axis=1) > 1):
        return None
    try:
        found = corners(matrix, bound).vertices
    except HullRefusedError:
        return None
    if not 0 < len(found) <= MAX_CORNERS:
        return None
    vertices = np.array([[float(v) for v in vertex] for vertex in found])
    return np.vstack([vertices, vertices.mean(axis=0)])


# Switches


class _Leap:
    """A switch as a map: each new value at its lower or its upper bound, then checked."""

    def __init__(self, switch: Switch, system: TemplateSystem):
        n = len(system.names)
        self.source = system.locations.index(switch.source)
        self.target = system.locations.index(switch.target)
        self.relation: Polyhedron = switch.relation
        known = ~np.any(switch.relation.matrix[:, 2 * n :], axis=1)
        self.matrix, self.bound = (
            switch.relation.matrix[known, : 2 * n],
            switch.relation.bound[known],
        )
        after = self.matrix[:, n:]
        self.open = ~np.any(after, axis=1)
        single = np.count_nonzero(after, axis=1) == 1
        self.by_variable = [np.flatnonzero(single & (after[:, j] != 0)) for j in range(n)]

    def apply(self, points: Array, generator: Generator) -> tuple[Array, Flags]:
        """The successors, and for which points they satisfy the whole relation."""
        n = points.shape[1]
        spend(0.03 * n + FLOATING * points.size * len(self.matrix))
        result = np.zeros_like(points)
        for j, rows in enumerate(self.by_variable):
            low, high = np.full(len(points), -np.inf), np.full(len(points), np.inf)
            for i in rows:
                factor = self.matrix[i, n + j]
                limit = (self.bound[i] - points @ self.matrix[i, :n]) / factor
                if factor > 0:
                    high = np.minimum(high, limit)
                else:
                    low = np.maximum(low, limit)
            low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
            high = np.where(np.isfinite(high), high, low)
            result[:, j] = np.where(generator.random(len(points)) < 0.5, low, high)
        both = np.hstack([points, result])
        slack = self.bound + ROUNDING * np.maximum(1.0, np.abs(self.bound))
        return result, np.all(both @ self.matrix.T <= slack, axis=1)


def _leapt(
    points: Array, places: Indices, wants: Flags, leaps: list[_Leap], generator: Generator
) -> tuple[Array, Indices, int]:
    """At most one switch of every point that wants one, and how many there were."""
    points, places, pending = points.copy(), places.copy(), wants.copy()
    for k in generator.permutation(len(leaps)):
        leap = leaps[k]
        here = np.flatnonzero(pending & (places == leap.source))
        if len(here) == 0:
            continue
        result, allowed = leap.apply(points[here], generator)
        taken = here[allowed]
        points[taken], places[taken] = result[allowed], leap.target
        pending[taken] = False
    return points, places, int(np.count_nonzero(wants & ~pending))

"""Template invariants: the smallest offsets h that make {H x <= h} inductive.

For a step tau the Euler image of a location is {x + tau f(x, u)}. If the supports of all
Euler images, switch images and initial states in the directions H are at most h, the
polyhedron is an invariant for unbounded time: on the facet H_i x = h_i the flow cannot point
outwards (tau is only a multiplier; there is no discretisation error).

The search climbs from below (supports of the initial set and of sampled points) by Kleene
iteration; every few rounds it jumps ahead along rows that still grow, and tries a *policy*:
the dual multipliers of the supports are held fixed, which turns the conditions into one linear
program in h. Any solution of that program is inductive, because dual multipliers bound the
supports for every h; so it does no harm that the jumps overshoot. (Images that were still
empty have no multipliers, so a solution is looked at once more.) From a solution the policy is
improved downwards until the bad sets are excluded.

All of this is floating point and untrusted: the result is rounded to rationals and proved
exactly by `reach.evidence` and the trusted checker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from abstraction.directions import Template
from abstraction.sampled_offsets import sampled_offsets
from abstraction.template_system import Array, Polyhedron, TemplateSystem
from models.proof.linear import Form
from models.proof.polyhedral import Region
from reach.linear_program import minimise
from reach.support import SupportOracle

Indices = NDArray[np.intp]
RowKey = tuple[int, int]
"""A group of locations and the number of a direction."""

OFFSET_GRID = 10**6
SLACKS = (1e-5, 0.0)
"""Margins, relative to the size of h, that leave room for rounding to rationals; without one
only exact numbers survive the rounding, but some invariants have no room at all."""
TOUCHING = 1e-8
"""A strict bad set whose states are all closer than this to its edge counts as missed; the
exact proof decides."""
NEGLIGIBLE = 1e-10
"""Multipliers below this are rounding noise of the solver."""


@dataclass(frozen=True)
class TemplateSearch:
    """How to look: `shared` uses one polyhedron for all locations; `euler_fraction` is tau in
    units of the template's own step; after every `rounds_per_policy` rounds a row that grows
    by g with ratio r jumps by g r/(1-r), at most by `longest_jump` times g."""

    shared: bool = True
    euler_fraction: float = 0.25
    rounds: int = 120
    rounds_per_policy: int = 6
    longest_jump: float = 100.0
    descents: int = 8
    seed: int = 0


@dataclass(frozen=True)
class Bound:
    """h[target] >= factors * h[source group] + constant: one direction of one image."""

    target: RowKey
    source: int
    factors: Array
    constant: float


@dataclass(frozen=True)
class _Setting:
    """What stays the same during a search."""

    system: TemplateSystem
    template: Template
    tau: float
    group: dict[str, int]
    start: Array


def find_invariant(
    system: TemplateSystem,
    template: Template,
    search: TemplateSearch,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Region, ...] | None:
    """Regions that are inductive and miss the bad sets, as far as floating point can tell;
    None if this template does not prove it, or `stop` says so."""
    group = {name: 0 if search.shared else k for k, name in enumerate(system.locations)}
    tau = template.step * search.euler_fraction
    setting = _Setting(system, template, tau, group, _start_offsets(system, template, group))
    offsets = setting.start
    if search.shared:
        sampled = sampled_offsets(system, template, tau, np.random.default_rng(search.seed))
        if sampled is not None:
            offsets = np.maximum(offsets, sampled[None, :])
    if _meets_bad(setting, offsets):
        return None
    growth = np.zeros_like(offsets)
    for number in range(1, search.rounds + 1):
        if stop():
            return None
        bounds = _image_bounds(setting, offsets)
        grown = _grown(offsets, bounds)
        before, growth = growth, _difference(grown, offsets)
        offsets = grown
        if number % search.rounds_per_policy == 0:
            found = _descended(setting, bounds, offsets, search.descents, stop)
            if found is None:
                offsets = offsets + _jump(growth, before, search.longest_jump)
                continue
            images = _grown(found, _image_bounds(setting, found))
            if not np.any(_difference(images, found) > TOUCHING * _size(setting.start)):
                return _regions(setting, found)
            offsets = np.where(np.isfinite(found), images, offsets)
    return None


def _start_offsets(system: TemplateSystem, template: Template, group: dict[str, int]) -> Array:
    offsets = np.full((max(group.values()) + 1, len(template.rows)), -np.inf)
    n = len(system.names)
    for start in system.starts:
        oracle = SupportOracle(start.relation.matrix, start.relation.bound)
        row = offsets[group[start.location]]
        for i, direction in enumerate(template.matrix):
            objective = np.zeros(len(start.relation.names))
            objective[n : 2 * n] = direction
            supported = oracle(objective)
            if supported is not None:
                row[i] = max(row[i], supported.value)
    return offsets


# Images and their bounds


def _image_bounds(setting: _Setting, offsets: Array) -> list[Bound]:
    return [*_flow_bounds(setting, offsets), *_switch_bounds(setting, offsets)]


def _flow_bounds(setting: _Setting, offsets: Array) -> Iterator[Bound]:
    directions, tau = setting.template.matrix, setting.tau
    for flow in setting.system.flows:
        g = setting.group[flow.location]
        inside = _inside(setting, offsets[g], flow.domain)
        if inside is None:
            continue
        images = np.hstack(
            [directions + tau * directions @ flow.state, tau * directions @ flow.rest]
        )
        shift = tau * directions @ flow.constant
        for i in np.flatnonzero(np.isfinite(offsets[g])):
            yield from _bound(inside, offsets[g], images[i], float(shift[i]), g, (g, int(i)))


def _switch_bounds(setting: _Setting, offsets: Array) -> Iterator[Bound]:
    directions = setting.template.matrix
    n = directions.shape[1]
    for switch in setting.system.switches:
        source, target = setting.group[switch.source], setting.group[switch.target]
        if source == target and switch.keeps_state:
            continue
        inside = _inside(setting, offsets[source], switch.relation)
        if inside is None:
            continue
        for i, direction in enumerate(directions):
            if offsets[target, i] < np.inf:
                objective = np.zeros(len(switch.relation.names))
                objective[n : 2 * n] = direction
                yield from _bound(inside, offsets[source], objective, 0.0, source, (target, i))


@dataclass(frozen=True)
class _Inside:
    """The polyhedron of a group within a domain, and which template rows bound it."""

    oracle: SupportOracle
    used: Indices


def _inside(setting: _Setting, offsets: Array, domain: Polyhedron) -> _Inside | None:
    """{H x <= h} within a domain over (x, ...); None for a group without states."""
    if np.any(offsets == -np.inf):
        return None
    used = np.flatnonzero(np.isfinite(offsets))
    rows = setting.template.matrix[used]
    padding = np.zeros((len(used), domain.matrix.shape[1] - rows.shape[1]))
    matrix = np.vstack([np.hstack([rows, padding]), domain.matrix])
    return _Inside(SupportOracle(matrix, np.concatenate([offsets[used], domain.bound])), used)


def _bound(
    inside: _Inside, offsets: Array, objective: Array, shift: float, source: int, target: RowKey
) -> Iterator[Bound]:
    supported = inside.oracle(objective)
    if supported is None:
        return
    factors = np.zeros(len(offsets))
    if supported.value == np.inf:
        yield Bound(target, source, factors, np.inf)
        return
    used = inside.used
    factors[used] = supported.multipliers[: len(used)]
    factors[factors < NEGLIGIBLE] = 0.0
    known = float(factors[used] @ offsets[used])
    yield Bound(target, source, factors, supported.value - known + shift)


def _grown(offsets: Array, bounds: list[Bound]) -> Array:
    """The offsets raised to hold every image."""
    grown = offsets.copy()
    for bound in bounds:
        used = bound.factors > 0
        value = float(bound.factors[used] @ offsets[bound.source][used]) + bound.constant
        grown[bound.target] = max(grown[bound.target], value)
    return grown


def _difference(grown: Array, offsets: Array) -> Array:
    finite = np.isfinite(grown) & np.isfinite(offsets)
    return np.where(finite, np.where(finite, grown, 0.0) - np.where(finite, offsets, 0.0), 0.0)


def _jump(growth: Array, before: Array, longest: float) -> Array:
    """Where geometric growth would end, for each row."""
    ratio = np.where(before > 0, growth / np.where(before > 0, before, 1.0), 0.0).clip(0.0, 1.0)
    factor = np.minimum(ratio / np.maximum(1.0 - ratio, 1e-12), longest)
    return growth * factor


# Policies


def _descended(
    setting: _Setting,
    bounds: list[Bound],
    offsets: Array,
    descents: int,
    stop: Callable[[], bool],
) -> Array | None:
    """The policy's solution, improved until it misses the bad sets; None if it does not."""
    for _ in range(descents):
        solutions = _policy_solutions(setting, bounds, offsets)
        if not solutions or stop():
            return None
        for solution in solutions:
            if not _meets_bad(setting, solution):
                return solution
        if not np.any(_difference(offsets, solutions[0]) > 1e-3 * _size(setting.start)):
            return None
        offsets = solutions[0]
        bounds = _image_bounds(setting, offsets)
    return None


def _policy_solutions(setting: _Setting, bounds: list[Bound], offsets: Array) -> list[Array]:
    """The least offsets that satisfy all bounds of the rows that the policy can hold, with
    each of the slacks that leave a solution."""
    live = _holdable(setting, bounds, offsets)
    index = {row: k for k, row in enumerate(sorted(live))}
    usable = [b for b in bounds if b.target in index]
    if not usable:
        return []
    matrix, right = _program(usable, index)
    rigid = np.array([matrix[k, index[b.target]] > -1e-7 for k, b in enumerate(usable)])
    low = _lower_limits(setting, index)
    found: list[Array] = []
    for slack in SLACKS:
        margin = np.where(rigid, 0.0, slack * _size(setting.start))
        solution = minimise(np.ones(len(index)), matrix, right - margin, low)
        if solution is not None:
            candidate = np.full_like(offsets, np.inf)
            for row, k in index.items():
                candidate[row] = max(solution[k], setting.start[row])
            found.append(candidate)
    return found


def _holdable(setting: _Setting, bounds: list[Bound], offsets: Array) -> set[RowKey]:
    """The rows left when those that need an infinite bound, or that no finite offsets
    satisfy together, have been dropped."""
    live = {(int(g), int(i)) for g, i in zip(*np.nonzero(np.isfinite(offsets)), strict=True)}
    while live:
        usable = [b for b in bounds if b.target in live]
        hopeless = {
            b.target
            for b in usable
            if b.constant == np.inf
            or any((b.source, int(q)) not in live for q in np.flatnonzero(b.factors))
        }
        hopeless = hopeless or _unsatisfiable(setting, usable, live)
        if not hopeless:
            break
        live -= hopeless
    return live


def _unsatisfiable(setting: _Setting, bounds: list[Bound], live: set[RowKey]) -> set[RowKey]:
    """The rows whose bounds must be relaxed for the others to have a solution."""
    index = {row: k for k, row in enumerate(sorted(live))}
    matrix, right = _program(bounds, index)
    relaxed = np.zeros((len(bounds), len(index)))
    for k, bound in enumerate(bounds):
        relaxed[k, index[bound.target]] = -1.0
    size = len(index)
    costs = np.concatenate([np.full(size, 1e-6), np.ones(size)])
    low = np.concatenate([_lower_limits(setting, index), np.zeros(size)])
    solution = minimise(costs, np.hstack([matrix, relaxed]), right, low)
    if solution is None:
        return live
    rows = list(index)
    return {rows[k] for k in np.flatnonzero(solution[size:] > 1e-7)}


def _program(bounds: list[Bound], index: dict[RowKey, int]) -> tuple[Array, Array]:
    """factors * h - h[target] <= -constant, one row for each bound."""
    matrix = np.zeros((len(bounds), len(index)))
    for k, bound in enumerate(bounds):
        for q in np.flatnonzero(bound.factors):
            matrix[k, index[bound.source, int(q)]] += bound.factors[q]
        matrix[k, index[bound.target]] -= 1.0
    return matrix, np.array([-bound.constant for bound in bounds])


def _lower_limits(setting: _Setting, index: dict[RowKey, int]) -> Array:
    low = np.array([setting.start[row] for row in index])
    return np.where(low == -np.inf, -1e6 * _size(setting.start), low)


def _size(offsets: Array) -> float:
    return max(1.0, float(np.abs(offsets[np.isfinite(offsets)]).max(initial=1.0)))


# Results


def _meets_bad(setting: _Setting, offsets: Array) -> bool:
    """Whether some bad set has a point in the polyhedron of its location."""
    for location, polyhedron in setting.system.bad:
        inside = _inside(setting, offsets[setting.group[location]], polyhedron)
        if inside is None:
            continue
        margin = np.zeros(len(polyhedron.names))
        margin[-1] = 1.0
        supported = inside.oracle(margin)
        if supported is not None and supported.value > TOUCHING * _size(setting.start):
            return True
    return False


def _regions(setting: _Setting, offsets: Array) -> tuple[Region, ...]:
    """The polyhedra with rational offsets, one region for each location that has states."""
    regions: list[Region] = []
    for location in setting.system.locations:
        h = offsets[setting.group[location]]
        if np.any(h == -np.inf):
            continue
        predicates = tuple(
            Form(
                {v: a for v, a in zip(setting.system.names, row, strict=True) if a != 0},
                -_rational(float(value)),
            )
            for row, value in zip(setting.template.rows, h, strict=True)
            if np.isfinite(value)
        )
        regions.append(Region(location, predicates, ((1,) * len(predicates),)))
    return tuple(regions)


def _rational(value: float) -> Fraction:
    """The value on the grid: the nearest point if it is very close, else rounded up."""
    scaled = value * OFFSET_GRID
    nearest = round(scaled)
    close = abs(scaled - nearest) <= 1e-9 * max(OFFSET_GRID, abs(scaled))
    return Fraction(nearest if close else int(np.ceil(scaled)), OFFSET_GRID)

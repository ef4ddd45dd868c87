"""What a template invariant has to contain: images, and linear bounds of their supports.

For a step tau the Euler image of a location is {x + tau f(x, u)}. If the supports of all Euler
images, switch images and initial states in the directions H are at most h, the polyhedron
{H x <= h} is an invariant for unbounded time: on the facet H_i x = h_i the flow cannot point
outwards (tau is only a multiplier; there is no discretisation error). A row that the
location's own invariant implies is kept whatever the flow does, so the image of a row is
capped by the invariant's support.

Each support is a linear program; its dual multipliers give a bound that is linear in h and
holds for every h.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from workbench.abstraction.templates.directions import Template
from workbench.abstraction.templates.system import Array, Flow, Polyhedron, Switch, TemplateSystem
from workbench.reach.sets.support import Supported, SupportOracle

Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
RowKey = tuple[int, int]
"""A group of locations and the number of a direction."""

RIGID = 1e-7
DEEPEST = 1e3
"""Depths in bad sets are not followed beyond this, in units of the offsets."""
NEGLIGIBLE = 1e-10
"""Multipliers below this are rounding noise of the solver."""


@dataclass(frozen=True)
class Bound:
    """h[target] >= factors * h[source group] + constant: one direction of one image, attained
    by the state `before`, whose image is `after` (both empty where there is none)."""

    image: int
    target: RowKey
    source: int
    factors: Array
    constant: float
    before: Array
    after: Array

    def value(self, offsets: Array) -> float:
        """The bound, where these are the offsets."""
        used = self.factors > 0
        return float(self.factors[used] @ offsets[self.source][used]) + self.constant


@dataclass(frozen=True)
class BadBound:
    """How deep a group's polyhedron reaches into a bad set: `factors` * h + a constant, at
    `point`; negative where it stays away."""

    group: int
    depth: float
    factors: Array
    point: Array


@dataclass
class Image:
    """The image of one group in another: map * z + shift over the z = (x, ...) with H x <= h
    in a domain. In direction i that is objective_i * z + shift_i, at most cap_i (attained at
    a point of its own); the oracle knows the `rows` of H that the source uses."""

    source: int
    target: int
    rows: Indices
    oracle: SupportOracle
    domain_bound: Array
    map: Array
    shift: Array
    objectives: Array
    shifts: Array
    caps: Array
    cap_points: Array

    def bound(self, k: int, i: int, inside: Array, supported: Supported, value: float) -> Bound:
        """The bound that the oracle's last answer gives for a value of direction i."""
        factors = np.zeros(len(inside))
        factors[self.rows] = supported.multipliers[: len(self.rows)]
        factors[(factors < NEGLIGIBLE) | ~np.isfinite(inside)] = 0.0
        known = float(factors @ np.where(factors > 0, inside, 0.0))
        point = self.oracle.point()
        before, after = point[: len(self.map)], self.map @ point + self.shift
        target = (self.target, i)
        return Bound(k, target, self.source, factors, value - known, before, after)


@dataclass
class Setting:
    """What stays the same during a search: the system, the directions in use by group, the
    least offsets that the initial states need, and every image."""

    system: TemplateSystem
    template: Template
    group: dict[str, int]
    used: Flags
    start: Array
    images: list[Image] = field(default_factory=list)
    slack: float = 0.0
    """By how much h shall exceed the images, except in rows that only their own bound keeps,
    here or in the location before: handed on in circles, those cannot have any. Nor do rows
    that rest on the model's own numbers alone need it, such as a speed that a guard says is 0."""

    @cached_property
    def size(self) -> float:
        """The magnitude of the offsets."""
        return size_of(self.start)

    def bounds(
        self, offsets: Array, wanted: Iterable[tuple[int, RowKey]] | None = None
    ) -> list[Bound]:
        """Bounds of the images of {H x <= offsets}: all, or only the wanted images and rows.

        Rows with an infinite offset have given up and get no bounds.
        """
        chosen: dict[int, list[int]] = {}
        if wanted is None:
            for k, image in enumerate(self.images):
                chosen[k] = np.flatnonzero(offsets[image.target] < np.inf).tolist()
        else:
            for k, (group, row) in wanted:
                if offsets[group, row] < np.inf:
                    chosen.setdefault(k, []).append(row)
        found: list[Bound] = []
        for k, rows in chosen.items():
            found.extend(self._image_bounds(k, rows, offsets))
        return found

    def _image_bounds(self, k: int, rows: list[int], offsets: Array) -> Iterable[Bound]:
        image = self.images[k]
        inside = offsets[image.source]
        if np.any(inside == -np.inf):
            return
        image.oracle.rebound(np.concatenate([inside[image.rows], image.domain_bound]))
        for i in rows:
            supported = image.oracle(image.objectives[i])
            if supported is None:
                return
            factors = np.zeros(len(inside))
            value = supported.value + image.shifts[i]
            if value >= image.caps[i]:
                there = image.cap_points[i]
                cap = float(image.caps[i])
                yield Bound(k, (image.target, i), image.source, factors, cap, there, there)
            elif value < np.inf:
                found = image.bound(k, i, inside, supported, value)
                rigid = found.factors[i] > 1 - RIGID or not np.any(found.factors)
                slack = 0.0 if rigid else self.slack
                yield replace(found, constant=found.constant + slack) if slack else found
            else:
                none = np.zeros(0)
                yield Bound(k, (image.target, i), image.source, factors, np.inf, none, none)

    def near_bounds(self, offsets: Array, spread: float) -> Iterator[Bound]:
        """For every image and row bounds that are attained close to the largest value, at
        different corners: of objectives that are turned by `spread` along each axis."""
        n = len(self.system.names)
        for k, image in enumerate(self.images):
            inside = offsets[image.source]
            if np.any(inside == -np.inf):
                continue
            image.oracle.rebound(np.concatenate([inside[image.rows], image.domain_bound]))
            for i in np.flatnonzero(offsets[image.target] < np.inf).tolist():
                objective = image.objectives[i]
                for j, sign in product(range(n), (spread, -spread)):
                    aside = objective.copy()
                    aside[j] += sign
                    supported = image.oracle(aside)
                    if supported is None or not np.isfinite(supported.value):
                        continue
                    value = float(objective @ image.oracle.point()) + image.shifts[i]
                    if value < image.caps[i]:
                        yield image.bound(k, i, inside, supported, value)

    def meets_bad(self, offsets: Array, touching: float) -> str | None:
        """A location where a bad set has points in the polyhedron, deeper than `touching`."""
        for location, polyhedron in self.system.bad:
            inside = offsets[self.group[location]]
            if np.any(inside == -np.inf):
                continue
            oracle = _within(self.template.matrix, polyhedron)
            oracle.rebound(np.concatenate([inside, polyhedron.bound]))
            margin = np.zeros(len(polyhedron.names))
            margin[-1] = 1.0
            supported = oracle(margin)
            if supported is not None and supported.value > touching:
                return location
        return None

    def bad_bounds(self, offsets: Array) -> list[BadBound]:
        """For every bad set how deep the polyhedron reaches into it, all of its rows counted
        as strict."""
        found: list[BadBound] = []
        for location, polyhedron in self.system.bad:
            g = self.group[location]
            if np.any(offsets[g] == -np.inf):
                continue
            relaxed = polyhedron.matrix.copy()
            relaxed[:-1, -1] = 1.0
            names, bound = polyhedron.names, polyhedron.bound.copy()
            bound[-1] = DEEPEST * self.size
            oracle = _within(self.template.matrix, Polyhedron(names, relaxed, bound))
            oracle.rebound(np.concatenate([offsets[g], bound]))
            margin = np.zeros(len(names))
            margin[-1] = 1.0
            supported = oracle(margin)
            if supported is not None and np.isfinite(supported.value):
                factors = supported.multipliers[: len(offsets[g])].copy()
                factors[factors < NEGLIGIBLE] = 0.0
                point = oracle.point()[: len(self.system.names)]
                found.append(BadBound(g, supported.value, factors, point))
        return found

    def excluding_rows(self, offsets: Array) -> set[RowKey]:
        """Rows that together keep every bad set away."""
        return {
            (bad.group, int(i))
            for bad in self.bad_bounds(offsets)
            for i in np.flatnonzero(bad.factors)
        }


def setting_of(
    system: TemplateSystem, template: Template, group: dict[str, int], tau: float
) -> Setting:
    """The images of all flows and switches; switches that keep the state inside a group have
    nothing to show."""
    groups = max(group.values()) + 1
    used = np.ones((groups, len(template.rows)), dtype=bool)
    for location, rows in template.only.items():
        if groups > 1:
            used[group[location]] = rows
    setting = Setting(system, template, group, used, _start_offsets(system, template, group, used))
    for flow in system.flows:
        setting.images.append(_flow_image(setting, flow, tau))
    for switch in system.switches:
        if group[switch.source] != group[switch.target] or not switch.keeps_state:
            setting.images.append(_switch_image(setting, switch))
    return setting


def _start_offsets(
    system: TemplateSystem, template: Template, group: dict[str, int], used: Flags
) -> Array:
    offsets = np.where(used, -np.inf, np.inf)
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


def _flow_image(setting: Setting, flow: Flow, tau: float) -> Image:
    directions = setting.template.matrix
    rows, n = directions.shape
    alone = SupportOracle(flow.domain.matrix, flow.domain.bound)
    caps, points = np.full(rows, np.inf), np.zeros((rows, n))
    for i, direction in enumerate(directions):
        supported = alone(np.concatenate([direction, np.zeros(flow.rest.shape[1])]))
        if supported is not None and np.isfinite(supported.value):
            caps[i], points[i] = supported.value, alone.point()[:n]
    place = setting.group[flow.location]
    step = np.hstack([np.eye(n) + tau * flow.state, tau * flow.rest])
    shift = tau * flow.constant
    return _image(setting, place, place, flow.domain, step, shift, caps, points)


def _switch_image(setting: Setting, switch: Switch) -> Image:
    rows, n = setting.template.matrix.shape
    after = np.zeros((n, len(switch.relation.names)))
    after[:, n : 2 * n] = np.eye(n)
    source, target = setting.group[switch.source], setting.group[switch.target]
    none = np.full(rows, np.inf), np.zeros((rows, n))
    return _image(setting, source, target, switch.relation, after, np.zeros(n), *none)


def _image(
    setting: Setting,
    source: int,
    target: int,
    domain: Polyhedron,
    step: Array,
    shift: Array,
    caps: Array,
    cap_points: Array,
) -> Image:
    directions = setting.template.matrix
    known = np.flatnonzero(setting.used[source])
    return Image(
        source,
        target,
        known,
        _within(directions[known], domain),
        domain.bound,
        step,
        shift,
        directions @ step,
        directions @ shift,
        caps,
        cap_points,
    )


def _within(directions: Array, domain: Polyhedron) -> SupportOracle:
    """An oracle for {H x <= h} within a domain over (x, ...); h is set before it is asked."""
    padding = np.zeros((len(directions), domain.matrix.shape[1] - directions.shape[1]))
    matrix = np.vstack([np.hstack([directions, padding]), domain.matrix])
    return SupportOracle(matrix, np.concatenate([np.full(len(directions), np.inf), domain.bound]))


def size_of(offsets: Array) -> float:
    """The largest finite magnitude, at least 1."""
    return max(1.0, float(np.abs(offsets[np.isfinite(offsets)]).max(initial=1.0)))

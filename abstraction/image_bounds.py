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

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from abstraction.directions import Template
from abstraction.template_system import Array, Flow, Polyhedron, Switch, TemplateSystem
from reach.support import SupportOracle

Flags = NDArray[np.bool_]
RowKey = tuple[int, int]
"""A group of locations and the number of a direction."""

RIGID = 1e-7
NEGLIGIBLE = 1e-10
"""Multipliers below this are rounding noise of the solver."""


@dataclass(frozen=True)
class Bound:
    """h[target] >= factors * h[source group] + constant: one direction of one image."""

    image: int
    target: RowKey
    source: int
    factors: Array
    constant: float


@dataclass
class Image:
    """The image of one group in another: objective_i * z + shift_i over the z = (x, ...) with
    H x <= h in a domain, and at most cap_i."""

    source: int
    target: int
    oracle: SupportOracle
    domain_bound: Array
    objectives: Array
    shifts: Array
    caps: Array


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
    """By how much h shall exceed the images, except in rows that only their own bound keeps:
    those cannot have any."""

    @property
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
        image.oracle.rebound(np.concatenate([inside, image.domain_bound]))
        for i in rows:
            supported = image.oracle(image.objectives[i])
            if supported is None:
                return
            factors = np.zeros(len(inside))
            value = supported.value + image.shifts[i]
            if value >= image.caps[i]:
                yield Bound(k, (image.target, i), image.source, factors, float(image.caps[i]))
            elif value < np.inf:
                factors = supported.multipliers[: len(inside)].copy()
                factors[(factors < NEGLIGIBLE) | ~np.isfinite(inside)] = 0.0
                known = float(factors @ np.where(factors > 0, inside, 0.0))
                rigid = image.source == image.target and factors[i] > 1 - RIGID
                constant = value - known + (0.0 if rigid else self.slack)
                yield Bound(k, (image.target, i), image.source, factors, constant)
            else:
                yield Bound(k, (image.target, i), image.source, factors, np.inf)

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

    def excluding_rows(self, offsets: Array) -> set[RowKey]:
        """Rows that together keep every bad set away."""
        found: set[RowKey] = set()
        for location, polyhedron in self.system.bad:
            g = self.group[location]
            if np.any(offsets[g] == -np.inf):
                continue
            relaxed = polyhedron.matrix.copy()
            relaxed[:-1, -1] = 1.0
            names, bound = polyhedron.names, polyhedron.bound
            oracle = _within(self.template.matrix, Polyhedron(names, relaxed, bound))
            oracle.rebound(np.concatenate([offsets[g], bound]))
            margin = np.zeros(len(names))
            margin[-1] = 1.0
            supported = oracle(margin)
            if supported is not None and np.isfinite(supported.value):
                used = supported.multipliers[: len(offsets[g])] > NEGLIGIBLE
                found |= {(g, int(i)) for i in np.flatnonzero(used)}
        return found


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
    objectives = np.hstack(
        [directions + tau * directions @ flow.state, tau * directions @ flow.rest]
    )
    alone = SupportOracle(flow.domain.matrix, flow.domain.bound)
    caps = np.full(len(directions), np.inf)
    for i, direction in enumerate(directions):
        objective = np.zeros(len(flow.domain.names))
        objective[: len(direction)] = direction
        supported = alone(objective)
        caps[i] = np.inf if supported is None else supported.value
    place = setting.group[flow.location]
    return Image(
        place,
        place,
        _within(directions, flow.domain),
        flow.domain.bound,
        objectives,
        tau * directions @ flow.constant,
        caps,
    )


def _switch_image(setting: Setting, switch: Switch) -> Image:
    directions = setting.template.matrix
    rows, n = directions.shape
    objectives = np.zeros((rows, len(switch.relation.names)))
    objectives[:, n : 2 * n] = directions
    return Image(
        setting.group[switch.source],
        setting.group[switch.target],
        _within(directions, switch.relation),
        switch.relation.bound,
        objectives,
        np.zeros(rows),
        np.full(rows, np.inf),
    )


def _within(directions: Array, domain: Polyhedron) -> SupportOracle:
    """An oracle for {H x <= h} within a domain over (x, ...); h is set before it is asked."""
    padding = np.zeros((len(directions), domain.matrix.shape[1] - directions.shape[1]))
    matrix = np.vstack([np.hstack([directions, padding]), domain.matrix])
    return SupportOracle(matrix, np.concatenate([np.full(len(directions), np.inf), domain.bound]))


def size_of(offsets: Array) -> float:
    """The largest finite magnitude, at least 1."""
    return max(1.0, float(np.abs(offsets[np.isfinite(offsets)]).max(initial=1.0)))

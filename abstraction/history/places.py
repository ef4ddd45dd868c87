"""Places: polyhedra in one location, which flow keeps or leaves at once.

A `Node` has an entry set {H x <= e}, what starts and switches bring. From it follows the node's
polyhedron: the least one with the same directions that flow keeps (`template_invariant`).

Where a whole set lies on a bound g x = b of the invariant over which the flow leads out, a stay
takes no time, and flow has nothing to keep: the set is a *transit*. (So it is when a guard lets
runs switch back over the border that they have just crossed.) To the certificate it goes with
tilted rows. On g x = b, where g x' >= s > 0, the rows d x <= h and d x - k (g x - b) <= h say
the same, and if k s is more than d x' can be, flow keeps the latter.

Where an entry set lies on a bound from which flow leads inwards at some speed, the same kind of
rows says that states near the bound are those that have just entered: a node learns them when it
is settled for the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from workbench.abstraction.history.directions import Vector
from workbench.abstraction.templates.directions import Template
from workbench.abstraction.templates.image_bounds import Setting, setting_of
from workbench.abstraction.templates.invariant import (
    OFFSET_GRID,
    SLACK,
    Missed,
    TemplateSearch,
    least_invariant,
)
from workbench.abstraction.templates.simple_rationals import on_grid
from workbench.abstraction.templates.system import Array, Flow, Polyhedron, TemplateSystem
from workbench.models.checker.covers import Region
from workbench.models.linear import Form
from workbench.reach.sets.support import SupportOracle

ON_BOUND = 1e-7
"""States closer than this to a bound, relative to their size, lie on it."""
OUTWARDS = 1e-3
"""The least speed, relative to the size of states, at which flow is known to lead on."""
STEEPER = 1.25
"""By how much tilts are steeper than they must be."""
SLOPES = (1.5, 5.0)
"""The same for rows that are learned: the speeds are those of the first entry set."""
FINENESS = 16
"""Slopes are multiples of a part of 1."""
SEARCH = TemplateSearch(shared=False)


@dataclass(frozen=True)
class Scene:
    """What places of one location have in common: its flows, and rows that are known to hold
    in it."""

    location: str
    names: tuple[str, ...]
    flows: tuple[Flow, ...]
    known: tuple[Array, Array]


@dataclass(frozen=True)
class Border:
    """A bound of a flow's invariant on which a whole set lies: the number of its row, and the
    least speed outwards across it."""

    row: int
    speed: float


@dataclass
class Place:
    """A polyhedron in a location (offsets may be infinite); a transit has one exit for each
    flow."""

    scene: Scene
    template: Template
    offsets: Array
    exits: tuple[Border, ...] = ()

    def within(self, domain: Polyhedron) -> SupportOracle:
        """Supports of the polyhedron within a domain."""
        return within(self.template.matrix, self.offsets, domain)

    def meets(self, bad: Polyhedron, touching: float) -> bool:
        """Whether the polyhedron reaches that deep into a bad set."""
        margin = np.zeros(len(bad.names))
        margin[-1] = 1.0
        supported = self.within(bad)(margin)
        return supported is not None and supported.value > touching

    def region(self) -> Region:
        """The polyhedron with rational rows."""
        finite = np.isfinite(self.offsets)
        names = self.scene.names
        forms = [
            Form({v: a for v, a in zip(names, row, strict=True) if a}, -on_grid(h, OFFSET_GRID))
            for row, h in zip(self.template.rows, self.offsets.tolist(), strict=True)
            if np.isfinite(h)
        ]
        if self.exits:
            forms = self._tilted(forms, self.template.matrix[finite])
        return Region(self.scene.location, tuple(forms), ((1,) * len(forms),))

    def _tilted(self, forms: list[Form], matrix: Array) -> list[Form]:
        """Rows tilted against the bound over which the transit is left."""
        slopes = np.zeros(len(forms))
        for flow, border in zip(self.scene.flows, self.exits, strict=True):
            inside = self.within(flow.domain)
            for k, row in enumerate(matrix):
                rise = _speeds(inside, flow, row)[1]
                if 0 < rise < np.inf:
                    slopes[k] = max(slopes[k], STEEPER * rise / border.speed)
        bound = self.scene.flows[0].domain.rows[self.exits[0].row].form
        tilted = [
            form - bound.scaled(_slope(k)) for form, k in zip(forms, slopes.tolist(), strict=True)
        ]
        return [bound.scaled(Fraction(-1)), *tilted]


def transit(scene: Scene, template: Template, offsets: Array, size: float) -> Place | None:
    """A set over which all flows of its location lead out at once; None if it is not known to
    be one."""
    exits: list[Border] = []
    for flow in scene.flows:
        out = [
            border
            for border in borders(flow, template.matrix, offsets, size)
            if border.speed > OUTWARDS * size and (not exits or border.row == exits[0].row)
        ]
        if not out:
            return None
        exits.append(out[0])
    return Place(scene, template, offsets, tuple(exits)) if exits else None


def borders(flow: Flow, matrix: Array, offsets: Array, size: float) -> list[Border]:
    """The bounds of a flow's invariant on which a whole polyhedron lies."""
    n = matrix.shape[1]
    inside = within(matrix, offsets, flow.domain)
    found: list[Border] = []
    for number, row in enumerate(flow.domain.matrix[: len(flow.domain.rows)]):
        if not np.any(row[:n]) or np.any(row[n:]):
            continue
        lowest = inside(-row)
        if lowest is not None and -lowest.value >= flow.domain.bound[number] - ON_BOUND * size:
            found.append(Border(number, _speeds(inside, flow, row[:n])[0]))
    return found


@dataclass
class Node(Place):
    """A place with its entry set (minus infinity: nothing has entered)."""

    setting: Setting = field(kw_only=True)
    entry: Array = field(kw_only=True)
    visits: int = 0

    @property
    def entered(self) -> bool:
        """Whether anything has entered."""
        return bool(np.all(self.entry > -np.inf))

    @property
    def settled(self) -> bool:
        """Whether the polyhedron has been computed."""
        return len(self.offsets) > 0

    @property
    def caps(self) -> Array:
        """What is known of each direction from the location alone: nothing where no time
        passes."""
        images = self.setting.images
        if not images:
            return np.full(len(self.template.rows), np.inf)
        caps: Array = np.max([image.caps for image in images], axis=0)
        return caps

    def settle(self, size: float, stop: Callable[[], bool]) -> bool:
        """Compute the polyhedron from the entry set; False if it was not found."""
        self.visits += 1
        if not self._solve(size, stop):
            return False
        if self.visits == 1 and (tilts := self._tilts(size)):
            self._learn(tilts, SLACK * size)
            return self._solve(size, stop)
        return True

    def _solve(self, size: float, stop: Callable[[], bool]) -> bool:
        """The least polyhedron that holds the entry set, what it held before, and its flow."""
        start = self.entry[None, :]
        self.setting.start = start
        self.setting.slack = SLACK * size
        low = start.copy()
        if len(self.offsets) == len(self.entry):
            low = np.maximum(low, np.where(np.isfinite(self.offsets), self.offsets, low))
        found = least_invariant(self.setting, low, SEARCH, stop, {}, avoid_bad=False)
        if isinstance(found, Missed):
            return False
        self.offsets = found[0]
        return True

    def _tilts(self, size: float) -> list[Vector]:
        """Rows that say how far states can be from where they entered, by their distance from
        the border, if all flows lead away from it in the whole polyhedron."""
        scene = self.scene
        if not scene.flows:
            return []
        flows = [(self.within(flow.domain), flow) for flow in scene.flows]
        found: list[Vector] = []
        first = scene.flows[0]
        for border in borders(first, self.template.matrix, self.entry, size):
            bound = first.domain.matrix[border.row, : len(scene.names)]
            away = min(-_speeds(inside, flow, bound)[1] for inside, flow in flows)
            if not away > OUTWARDS * size:
                continue
            form = first.domain.rows[border.row].form
            exact = [form.coefficients.get(name, Fraction(0)) for name in scene.names]
            for row in _axes(len(scene.names)):
                direction = np.array([float(v) for v in row])
                rise = max(_speeds(inside, flow, direction)[1] for inside, flow in flows)
                for slope in SLOPES if 0 < rise < np.inf else ():
                    k = _slope(slope * rise / away)
                    found.append(tuple(a + k * b for a, b in zip(row, exact, strict=True)))
        return [row for row in dict.fromkeys(found) if row not in self.template.rows and any(row)]

    def _learn(self, rows: list[Vector], slack: float) -> None:
        """Further directions; what enters is bounded in them by what is known of it."""
        matrix = np.array([[float(v) for v in row] for row in rows])
        used = np.isfinite(self.entry)
        oracle = SupportOracle(self.template.matrix[used], self.entry[used])
        supports = [oracle(direction) for direction in matrix]
        entered = [np.inf if found is None else found.value + slack for found in supports]
        self.entry = np.append(self.entry, entered)
        whole = np.vstack([self.template.matrix, matrix])
        self.template = Template((*self.template.rows, *rows), whole, self.template.step)
        self.setting = _setting(self.scene, self.template, slack)


def node_of(scene: Scene, template: Template, slack: float) -> Node:
    """A node that nothing has entered."""
    nothing = np.full(len(template.rows), -np.inf)
    return Node(
        scene, template, np.zeros(0), setting=_setting(scene, template, slack), entry=nothing
    )


def _setting(scene: Scene, template: Template, slack: float) -> Setting:
    """The Euler images of a location alone, capped by what is known of it: with some slack, so
    that a row that has come to its cap has no facet."""
    name = scene.location
    alone = TemplateSystem(scene.names, (name,), (), scene.flows, (), ())
    setting = setting_of(alone, template, {name: 0}, template.step * SEARCH.euler_fraction)
    oracle = SupportOracle(*scene.known)
    for i, direction in enumerate(template.matrix):
        supported = oracle(direction) if len(scene.known[1]) else None
        if supported is not None and np.isfinite(supported.value):
            cap = supported.value + (0.0 if np.count_nonzero(direction) == 1 else slack)
            for image in setting.images:
                if cap < image.caps[i]:
                    image.caps[i], image.cap_points[i] = cap, oracle.point()
    return setting


def within(directions: Array, offsets: Array, domain: Polyhedron) -> SupportOracle:
    """Supports of {H x <= h} within a domain over (x, ...)."""
    used = np.isfinite(offsets)
    padding = np.zeros((int(used.sum()), domain.matrix.shape[1] - directions.shape[1]))
    matrix = np.vstack([np.hstack([directions[used], padding]), domain.matrix])
    return SupportOracle(matrix, np.concatenate([offsets[used], domain.bound]))


def _speeds(inside: SupportOracle, flow: Flow, direction: Array) -> tuple[float, float]:
    """The least and the largest direction * x' within a set."""
    objective = np.concatenate([direction @ flow.state, direction @ flow.rest])
    drift = float(direction @ flow.constant)
    most, least = inside(objective), inside(-objective)
    if most is None or least is None:
        return np.inf, -np.inf
    return drift - least.value, drift + most.value


def _slope(value: float) -> Fraction:
    return Fraction(int(np.ceil(value * FINENESS)), FINENESS)


def _axes(n: int) -> Sequence[Vector]:
    unit = [tuple(Fraction(int(i == j)) for j in range(n)) for i in range(n)]
    return [tuple(sign * v for v in row) for row in unit for sign in (1, -1)]

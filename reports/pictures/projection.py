"""Projections of polyhedra on two axes, for pictures.

A polygon is found by support functions: every edge between two known vertices is tested in
its outward normal; a support beyond the edge is a new vertex. With all edges tested the
polygon is the exact projection, up to floating point. Sets are cut to a box first, so that
unbounded ones can be drawn. For pictures only: nothing is proved here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.models.linear import Rows
from workbench.reach.sets.support import SupportOracle

Point: TypeAlias = tuple[float, float]
Box: TypeAlias = Mapping[str, tuple[float, float]]

MAX_VERTICES = 40
FLAT = 1e-6
"""An edge whose normal finds a point closer than this share of the box counts as tested."""


@dataclass
class Shadow:
    """A polyhedron that can be projected on any two names of a box, within that box; without a
    box it tells what it allows of every single name."""

    rows: Rows
    box: Box

    def __post_init__(self) -> None:
        names = {n for row in self.rows for n in row.form.coefficients} | set(self.box)
        self.names = sorted(names)
        place = {name: i for i, name in enumerate(self.names)}
        matrix = np.zeros((len(self.rows) + 2 * len(self.box), len(self.names)))
        bound = np.zeros(len(matrix))
        for i, row in enumerate(self.rows):
            for name, a in row.form.coefficients.items():
                matrix[i, place[name]] = float(a)
            bound[i] = -float(row.form.constant)
        for k, (name, (low, high)) in enumerate(self.box.items()):
            i = len(self.rows) + 2 * k
            matrix[i, place[name]], bound[i] = 1.0, high
            matrix[i + 1, place[name]], bound[i + 1] = -1.0, -low
        self._place = place
        self._oracle = SupportOracle(matrix, bound)

    def interval(self, name: str) -> tuple[float, float] | None:
        """The values of one name, an end infinite where there is none; None for an empty set."""
        if name not in self._place:
            return -math.inf, math.inf
        direction = np.zeros(len(self.names))
        direction[self._place[name]] = 1.0
        highest, lowest = self._oracle(direction), self._oracle(-direction)
        return None if highest is None or lowest is None else (-lowest.value, highest.value)

    def polygon(self, x: str, y: str) -> list[Point]:
        """The projection as a polygon, counter-clockwise; empty for an empty set."""
        scale = tuple(max(self.box[n][1] - self.box[n][0], 1e-300) for n in (x, y))

        def support(dx: float, dy: float) -> Point | None:
            found = self._farthest({x: dx / scale[0], y: dy / scale[1]})
            if found is None:
                return None
            return float(found[self._place[x]]) / scale[0], float(found[self._place[y]]) / scale[1]

        corners = [support(*d) for d in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))]
        if any(c is None for c in corners):
            return []
        hull = _refined([c for c in corners if c is not None], support)
        return [(px * scale[0], py * scale[1]) for px, py in hull]

    def _farthest(self, direction: Mapping[str, float]) -> NDArray[np.float64] | None:
        vector = np.zeros(len(self.names))
        for name, value in direction.items():
            vector[self._place[name]] = value
        return self._oracle.maximiser(vector)


def _refined(corners: list[Point], support: object) -> list[Point]:
    """Insert a vertex beyond every edge that is not yet a border."""
    hull = list(dict.fromkeys(corners))
    pending = [(hull[i], hull[(i + 1) % len(hull)]) for i in range(len(hull))]
    while pending and len(hull) < MAX_VERTICES:
        p, q = pending.pop()
        dx, dy = q[1] - p[1], p[0] - q[0]
        length = math.hypot(dx, dy)
        if length < FLAT:
            continue
        new = support(dx / length, dy / length)  # type: ignore[operator]
        if new is None:
            continue
        if (new[0] - p[0]) * dx / length + (new[1] - p[1]) * dy / length > FLAT:
            hull.insert(hull.index(p) + 1, new)
            pending += [(p, new), (new, q)]
    return hull


def hull_box(
    samples: Mapping[str, Sequence[float]], margin: float = 0.75
) -> dict[str, tuple[float, float]]:
    """A box around values, enlarged by a share of its width on both sides."""
    box = {}
    for name, values in samples.items():
        finite = [v for v in values if math.isfinite(v)]
        low, high = (min(finite), max(finite)) if finite else (-1.0, 1.0)
        spread = (high - low) or max(abs(low), 1.0)
        box[name] = (low - margin * spread, high + margin * spread)
    return box

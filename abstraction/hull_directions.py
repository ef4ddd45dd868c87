"""Template directions from data: the outlines of sampled points, plane by plane.

For every pair of variables the points of a location are projected to their plane, and the
normals of the convex hull's edges are directions worth a half-space there: they hold relations
such as "x has grown by at most twice the timer". At most `EDGES` of them are kept, those of
the longest edges, in units in which the points fill a square.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from abstraction.template_system import Array

EDGES = 10
NEGLIGIBLE = 1e-7


def outline_normals(points: Array, edges: int = EDGES) -> list[Array]:
    """Normals of the points' outlines in every plane of two variables that both vary."""
    n = points.shape[1]
    low, high = points.min(axis=0), points.max(axis=0)
    span = high - low
    varying = [j for j in range(n) if span[j] > NEGLIGIBLE * max(1.0, abs(high[j]))]
    found: list[Array] = []
    for i, j in combinations(varying, 2):
        plane = (points[:, [i, j]] - low[[i, j]]) / span[[i, j]]
        for normal in _edge_normals(plane, edges):
            direction = np.zeros(n)
            direction[[i, j]] = normal / span[[i, j]]
            found.append(direction)
    return found


def _edge_normals(plane: Array, edges: int) -> list[Array]:
    """Outer normals of the longest edges of the hull of points in the plane."""
    corners = _hull(plane)
    if len(corners) < 2:
        return []
    sides = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(sides[:, 0], sides[:, 1])
    order = np.argsort(-lengths)
    kept = [k for k in order[:edges] if lengths[k] > 1e-3]
    return [np.array([sides[k, 1], -sides[k, 0]]) / lengths[k] for k in kept]


def _hull(plane: Array) -> Array:
    """The corners of the convex hull, counter-clockwise, nearly straight ones left out."""
    points = np.unique(plane.round(9), axis=0)
    if len(points) < 3:
        return points
    lower = _chain(points)
    upper = _chain(points[::-1])
    return np.array([*lower[:-1], *upper[:-1]])


def _chain(points: Array) -> list[Array]:
    chain: list[Array] = []
    for point in points:
        while len(chain) >= 2 and _turn(chain[-2], chain[-1], point) <= 1e-4:
            chain.pop()
        chain.append(point)
    return chain


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))

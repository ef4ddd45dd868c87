"""Template directions from data: the outlines of sampled points, plane by plane.

For every pair of variables the points of a location are projected to their plane, and the
normals of the convex hull's edges are directions worth a half-space there: they hold relations
such as "x has grown by at most twice the timer". An outline with many corners is first
replaced by the polygon of a few of them that comes closest to it, in units in which the points
fill a square. Directions in equal angles are added.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from abstraction.template_system import Array

NEGLIGIBLE = 1e-7
SHORTEST = 1e-3
"""Edges shorter than this, in units of the whole, say nothing."""


def outline_normals(points: Array, edges: int) -> list[Array]:
    """Normals of the points' outlines in every plane of two variables that both vary."""
    n = points.shape[1]
    low, high = points.min(axis=0), points.max(axis=0)
    span = high - low
    varying = [j for j in range(n) if span[j] > NEGLIGIBLE * max(1.0, abs(high[j]))]
    found: list[Array] = []
    for i, j in combinations(varying, 2):
        plane = (points[:, [i, j]] - low[[i, j]]) / span[[i, j]]
        for normal in (*_edge_normals(plane, edges), *_spokes(edges)):
            direction = np.zeros(n)
            direction[[i, j]] = normal / span[[i, j]]
            found.append(direction)
    return found


def _spokes(count: int) -> list[Array]:
    """Unit vectors in equal angles: where a flow bends inwards, the edge to hold it is flatter
    than any of the outline's."""
    angles = 2 * np.pi * np.arange(count) / count
    return [np.array([np.cos(angle), np.sin(angle)]) for angle in angles]


def _edge_normals(plane: Array, edges: int) -> list[Array]:
    """Outer normals of a polygon with at most that many edges, close to the points' hull."""
    corners = _simplified(_hull(plane), edges)
    sides = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(sides[:, 0], sides[:, 1])
    return [
        np.array([side[1], -side[0]]) / length
        for side, length in zip(sides, lengths, strict=True)
        if length > SHORTEST
    ]


def _simplified(corners: Array, edges: int) -> Array:
    """Some of a polygon's corners: those extreme along the axes, then again and again the one
    that lies farthest outside the polygon so far."""
    chosen = {int(k) for part in (corners, -corners) for k in np.argmax(part, axis=0)}
    while len(chosen) < min(edges, len(corners)):
        order = sorted(chosen)
        best, far = -1, SHORTEST**2
        for first, last in zip(order, [*order[1:], order[0] + len(corners)], strict=True):
            between = np.arange(first + 1, last) % len(corners)
            if len(between) == 0:
                continue
            side = corners[last % len(corners)] - corners[first]
            offset = corners[between] - corners[first]
            distance = np.abs(side[0] * offset[:, 1] - side[1] * offset[:, 0])
            distance = distance / max(float(np.hypot(*side)), 1e-12)
            k = int(np.argmax(distance))
            if distance[k] > far:
                best, far = int(between[k]), float(distance[k])
        if best < 0:
            break
        chosen.add(best)
    return corners[sorted(chosen)]


def _hull(plane: Array) -> Array:
    """The corners of the convex hull, counter-clockwise."""
    points = np.unique(plane.round(9), axis=0)
    if len(points) < 3:
        return points
    lower = _chain(points)
    upper = _chain(points[::-1])
    return np.array([*lower[:-1], *upper[:-1]])


def _chain(points: Array) -> list[Array]:
    chain: list[Array] = []
    for point in points:
        while len(chain) >= 2 and _turn(chain[-2], chain[-1], point) <= 1e-9:
            chain.pop()
        chain.append(point)
    return chain


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))

"""Template directions from data: the facets of a polytope between sampled points.

The polytope starts with the points extreme along the axes and takes in, again and again, the
point farthest outside, until it has as many facets as wanted. So it comes as close to the hull
of all points as so few facets allow, in units in which the points fill a cube. That is done

- plane by plane (`outline_normals`): edges of the points' projections hold relations such as "x
  has grown by at most twice the timer"; directions in equal angles are added;
- for all variables at once (`facet_normals`): fewer directions, which relate all of them.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from workbench.abstraction.templates.system import Array
from workbench.models.work import FLOATING, spend
from workbench.reach.sets.convex_hull import HullRefusedError, convex_hull

NEGLIGIBLE = 1e-7
CLOSE_OUTLINE = 1e-3
CLOSE_FACETS = 1e-2
"""Points no farther outside than this, in units of the whole, are left there."""
GRID = 2**12
"""Corners are moved to multiples of 1/GRID, so that rounding makes no facets of its own."""


def outline_normals(points: Array, edges: int) -> list[Array]:
    """Normals of the points' outlines in every plane of two variables that both vary."""
    cube, varying, span = _in_cube(points)
    found: list[Array] = []
    for pair in combinations(range(len(varying)), 2):
        plane = _polytope_normals(cube[:, pair], edges, CLOSE_OUTLINE)
        for normal in (*plane, *_spokes(edges)):
            direction = np.zeros(points.shape[1])
            direction[varying[list(pair)]] = normal / span[list(pair)]
            found.append(direction)
    return found


def facet_normals(points: Array, most: int) -> list[Array]:
    """Outer normals of at most so many facets (or of the first polytope tried, if it has
    more) that relate all variables that vary."""
    cube, varying, span = _in_cube(points)
    if len(varying) < 2:
        return []
    found: list[Array] = []
    for normal in _polytope_normals(cube, most, CLOSE_FACETS):
        direction = np.zeros(points.shape[1])
        direction[varying] = normal / span
        found.append(direction)
    return found


def _in_cube(points: Array) -> tuple[Array, NDArray[np.intp], Array]:
    """The points in units in which they fill a cube, in the variables that vary; which those
    are, and how far they do."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = high - low
    varying = np.flatnonzero(span > NEGLIGIBLE * np.maximum(1.0, np.abs(high)))
    return (points[:, varying] - low[varying]) / span[varying], varying, span[varying]


def _spokes(count: int) -> list[Array]:
    """Unit vectors in equal angles: where a flow bends inwards, the edge to hold it is flatter
    than any of the outline's."""
    angles = 2 * np.pi * np.arange(count) / count
    return [np.array([np.cos(angle), np.sin(angle)]) for angle in angles]


def _polytope_normals(cube: Array, most: int, close: float) -> Array:
    """Unit outer normals of the last polytope with few enough facets."""
    corners = np.vstack([cube[np.argmax(cube, axis=0)], cube[np.argmin(cube, axis=0)]])
    corners = np.round(corners * GRID) / GRID
    normals: Array = np.zeros((0, cube.shape[1]))
    while True:
        try:
            hull = convex_hull(corners)
        except HullRefusedError:
            return normals
        if len(hull.facets) > most and len(normals):
            return normals
        normals = hull.outer_normals()
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        spend(0.2 + FLOATING * cube.size * len(normals))
        corners = corners[list(hull.vertices)]
        beyond = (cube @ normals.T - (corners @ normals.T).max(axis=0)).max(axis=1)
        cube, beyond = cube[beyond > close], beyond[beyond > close]
        if len(cube) == 0:
            return normals
        farthest = cube[np.argmax(beyond)]
        corners = np.vstack([corners, np.round(farthest * GRID) / GRID])

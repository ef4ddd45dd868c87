"""Directions from data: the facets that sampled points suggest."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from workbench.abstraction.templates.hull_directions import (
    CLOSE_FACETS,
    facet_normals,
    outline_normals,
)
from workbench.reach.sets import convex_hull as door

Array = NDArray[np.float64]


def unit(normals: list[Array]) -> Array:
    rows = np.array(normals)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def has(normals: list[Array], wanted: list[float], close: float = 1e-3) -> bool:
    direction = np.array(wanted) / np.linalg.norm(wanted)
    return bool((unit(normals) @ direction).max() > 1 - close)


def simplex_cloud(n: int, count: int) -> Array:
    """Points in { x >= 0, sum x <= 1 }, its corners among them."""
    inside = np.random.default_rng(n).dirichlet(np.ones(n + 1), size=count)[:, :n]
    return np.vstack([inside, np.eye(n), np.zeros((1, n))])


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_facets_of_a_simplex(n: int) -> None:
    found = facet_normals(simplex_cloud(n, 500), 40)
    assert len(found) == n + 1
    assert has(found, [1.0] * n)
    assert all(has(found, list(-axis)) for axis in np.eye(n))


def test_units_do_not_matter() -> None:
    scale = np.array([1e-4, 1.0, 1e5])
    found = facet_normals(simplex_cloud(3, 200) * scale + 7 * scale, 40)
    assert has([normal * scale for normal in found], [1.0, 1.0, 1.0])


@pytest.mark.parametrize("most", [8, 20, 40])
def test_round_sets_get_as_many_facets_as_allowed(most: int) -> None:
    ball = np.random.default_rng(0).normal(size=(5000, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    found = facet_normals(ball, most)
    assert most - 4 <= len(found) <= most


def test_no_point_is_far_outside_when_facets_suffice() -> None:
    """The corners of a hull of so many facets as needed leave out no point by more than that."""
    points = np.random.default_rng(5).random((300, 3))
    normals = unit(facet_normals(points, 1000))
    exact = unit(list(door.convex_hull(points).outer_normals()))
    reach = (points @ normals.T).max(axis=0)
    for direction in exact:  # the polyhedron of the normals is no larger than the hull by much
        cut = linprog(-direction, normals, reach, bounds=(None, None))
        assert -cut.fun <= (points @ direction).max() + 10 * CLOSE_FACETS


def test_flat_sets_are_held_from_both_sides() -> None:
    plane = np.random.default_rng(1).random((100, 2))
    points = np.column_stack([plane, plane.sum(axis=1)])
    found = facet_normals(points, 40)
    assert has(found, [1.0, 1.0, -1.0], 1e-2) and has(found, [-1.0, -1.0, 1.0], 1e-2)


def test_variables_that_do_not_vary_are_left_out() -> None:
    points = np.column_stack([simplex_cloud(2, 50), np.full(53, 3.0)])
    assert all(
        normal[2] == 0 for normal in (*facet_normals(points, 40), *outline_normals(points, 8))
    )
    assert facet_normals(points[:, [0, 2]], 40) == []


def test_outlines_have_the_edges_of_a_triangle() -> None:
    found = outline_normals(simplex_cloud(2, 500), 8)
    assert all(has(found, edge) for edge in ([1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]))


def test_without_a_hull_there_are_no_facets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_guessed_incidence", lambda floats: [])
    monkeypatch.setattr(door, "EXACT_WORK", 0)
    assert facet_normals(simplex_cloud(3, 50), 40) == []

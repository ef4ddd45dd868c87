"""Pictures of quadratic invariants, against sampled states."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.evidence.quadratic import Ellipsoid, QuadraticInvariant
from workbench.reports.claims.ellipsoids import (
    clipped,
    ellipsoid_intervals,
    ellipsoid_pairs,
    is_always,
)
from workbench.reports.pictures.projection import Point

BOX = dict.fromkeys("xyz", (-50.0, 50.0))


def invariant(*bodies: tuple[list[list[float]], list[float]]) -> QuadraticInvariant:
    ellipsoids = tuple(
        Ellipsoid(
            tuple(tuple(Fraction(a) for a in row) for row in shape),
            tuple(Fraction(c) for c in center),
            {},
        )
        for shape, center in bodies
    )
    return QuadraticInvariant(("x", "y", "z"), ("here",), ellipsoids)


def inside(polygon: list[Point], x: float, y: float, slack: float = 0.0) -> bool:
    for k, (px, py) in enumerate(polygon):
        qx, qy = polygon[(k + 1) % len(polygon)]
        length = math.hypot(qx - px, qy - py)
        if length and ((qx - px) * (y - py) - (qy - py) * (x - px)) / length < -slack:
            return False
    return True


matrices = st.lists(
    st.lists(st.floats(-2, 2).map(lambda v: round(v, 2)), min_size=3, max_size=3),
    min_size=3,
    max_size=3,
)


@settings(max_examples=40, deadline=None)
@given(matrix=matrices, seed=st.integers(0, 10**6))
def test_the_shadow_holds_the_ellipsoid_and_no_more(matrix: list[list[float]], seed: int) -> None:
    factor = np.array(matrix)
    shape = factor @ factor.T + 0.2 * np.eye(3)
    found = ellipsoid_pairs(invariant((shape.tolist(), [1.0, -2.0, 0.5])), "xyz", BOX, 10)
    root = np.linalg.inv(np.linalg.cholesky(shape)).T
    random = Random(seed)
    for (a, b), polygon in found.items():
        i, j = "xyz".index(a), "xyz".index(b)
        size = max(math.dist(p, (1, 1)) for p in polygon)
        for _ in range(50):
            direction = np.array([random.gauss(0, 1) for _ in range(3)])
            state = root @ (direction / np.linalg.norm(direction)) + [1.0, -2.0, 0.5]
            assert inside(polygon, state[i], state[j], 0.01 * size)  # a polygon cuts corners
        inverse = np.linalg.inv(shape)
        for x, y in polygon:  # every corner is the shadow of a border point
            offset = np.array([x, y]) - np.array([1.0, -2.0, 0.5])[[i, j]]
            value = offset @ np.linalg.inv(inverse[np.ix_([i, j], [i, j])]) @ offset
            assert value == pytest.approx(1.0, abs=1e-6)


def test_several_ellipsoids_are_drawn_where_they_overlap() -> None:
    unit = np.eye(3).tolist()
    two = invariant((unit, [0, 0, 0]), (unit, [1, 0, 0]))
    assert ellipsoid_intervals(two, "xy") == {"x": (0.0, 1.0), "y": (-1.0, 1.0)}
    lens = ellipsoid_pairs(two, "xyz", BOX, 10)["x", "y"]
    assert inside(lens, 0.5, 0.8, 0.01) and not inside(lens, -0.1, 0.0, 0.01)
    assert max(x for x, _ in lens) == pytest.approx(1.0, abs=1e-2)


def test_an_ellipsoid_without_end_is_cut_to_the_box() -> None:
    flat = [[1.0, 0, 0], [0, 0, 0], [0, 0, 1.0]]  # nothing is said about y
    body = invariant((flat, [0, 0, 0]))
    assert ellipsoid_intervals(body, "y")["y"] == (-math.inf, math.inf)
    polygon = ellipsoid_pairs(body, "xyz", BOX, 10)["x", "y"]
    assert max(y for _, y in polygon) == 50.0 and min(y for _, y in polygon) == -50.0
    assert max(x for x, _ in polygon) == pytest.approx(1.0, rel=1e-2)


def test_polygons_that_share_nothing() -> None:
    square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    far = [(5.0, 5.0), (6.0, 5.0), (6.0, 6.0), (5.0, 6.0)]
    assert clipped(square, far) == []
    assert sorted(clipped(square, square)) == sorted(square)


def test_functions_that_say_nothing() -> None:
    assert is_always({(): Fraction(-1)}) and is_always({(): Fraction(0), ("x",): Fraction(0)})
    assert not is_always({(): Fraction(1)}) and not is_always({("x",): Fraction(1)})

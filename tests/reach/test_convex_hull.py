"""Checked hulls against hand examples, the exact twin, hostile sets and spoiled guesses."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from workbench.reach.sets import convex_hull as door
from workbench.reach.sets.convex_hull import ConvexHull, HullRefusedError, convex_hull, corners
from workbench.reach.sets.double_description import coprime, dot, independent
from workbench.reach.sets.polyhedron import Polyhedron, integer_row, point_vector

Array = NDArray[np.float64]
Incidence = list[frozenset[int]]


def twin(points: Array) -> Polyhedron:
    """The hull by double description of every point, in integers."""
    vectors = [point_vector([Fraction(float(v)) for v in point]) for point in points]
    return Polyhedron.generated(points.shape[1], vectors)


def region(hull: ConvexHull, n: int) -> Polyhedron:
    """The set that the constraints of a hull describe."""
    return Polyhedron.universe(n).restricted(hull.facets, hull.equations)


def assert_exact(points: Array, hull: ConvexHull) -> None:
    expected = twin(points)
    found = region(hull, points.shape[1])
    assert found.contains(expected) and expected.contains(found)
    if len(expected.generators) > 1:  # for a point the twin may keep a disguise of 1 >= 0
        assert len(hull.facets) == len(expected.inequalities)
    assert len(hull.equations) == len(expected.equations)
    exact = {point_vector([Fraction(float(v)) for v in points[i]]) for i in hull.vertices}
    assert exact == {coprime(g) for g in expected.generators}
    assert len(hull.vertices) == len(exact)


def cube(n: int) -> Array:
    return np.array(list(product([-1.0, 1.0], repeat=n)))


# By hand


def test_square_with_points_inside_on_edges_and_twice() -> None:
    points = np.array([[0, 0], [2, 0], [0, 2], [2, 2], [1, 1], [1, 0], [0, 0.0]])
    hull = convex_hull(points)
    assert hull.guessed
    assert set(hull.facets) == {(0, 1, 0), (0, 0, 1), (2, -1, 0), (2, 0, -1)}
    assert hull.vertices == (0, 1, 2, 3)
    assert {tuple(row) for row in hull.outer_normals()} == {(-1, 0), (0, -1), (1, 0), (0, 1)}


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_cubes_and_cross_polytopes(n: int) -> None:
    solid = convex_hull(cube(n))
    assert solid.guessed and len(solid.facets) == 2 * n and len(solid.vertices) == 2**n
    cross = convex_hull(np.vstack([np.eye(n), -np.eye(n)]))
    assert cross.guessed and len(cross.facets) == 2**n and len(cross.vertices) == 2 * n


def test_flat_sets_have_equations() -> None:
    single = convex_hull(np.array([[1.0, 2.0, 3.0]] * 4))
    assert len(single.equations) == 3 and not single.facets and single.vertices == (0,)
    line = convex_hull(np.array([[float(k)] * 3 for k in range(5)]))
    assert len(line.equations) == 2 and len(line.facets) == 2 and line.vertices == (0, 4)
    tilted = np.array([[x, y, x + 2 * y] for x in (0.0, 1.0) for y in (0.0, 1.0)])
    plane = convex_hull(tilted)
    assert plane.guessed and len(plane.equations) == 1 and len(plane.facets) == 4
    assert len(plane.outer_normals()) == 6


def test_half_spaces_to_corners() -> None:
    box = np.vstack([np.eye(2), -np.eye(2)])
    square = corners(box, np.array([1.0, 1.0, 0.0, 0.0]))
    assert set(square.vertices) == {(0, 0), (0, 1), (1, 0), (1, 1)} and square.guessed
    open_above = corners(box[[0, 2, 3]], np.array([1.0, 0.0, 0.0]))
    assert set(open_above.vertices) == {(0, 0), (1, 0)} and open_above.directions == ((0, 1),)
    strip = corners(box[[0, 2]], np.array([1.0, 0.0]))
    assert len(strip.lines) == 1 and len(strip.vertices) == 2
    assert not corners(box, np.array([1.0, 1.0, -2.0, 0.0])).vertices
    flat = corners(box, np.array([1.0, 1.0, -1.0, 0.0]))
    assert set(flat.vertices) == {(1, 0), (1, 1)}
    assert not corners(np.zeros((1, 2)), np.array([-1.0])).vertices


def test_what_is_no_set_of_points_is_refused() -> None:
    for bad in (np.zeros((0, 2)), np.zeros((3, 0)), np.zeros(3), np.array([[np.nan, 0.0]])):
        with pytest.raises(ValueError, match="hull"):
            convex_hull(bad)
    with pytest.raises(ValueError, match="infinite"):
        corners(np.eye(2), np.array([1.0, np.inf]))


# Against the exact twin

coordinates = st.one_of(
    st.integers(-3, 3).map(float), st.floats(-1, 1, width=16), st.floats(-1e3, 1e3)
)


@st.composite
def clouds(draw: st.DrawFn) -> Array:
    n = draw(st.integers(2, 4))
    point = st.lists(coordinates, min_size=n, max_size=n)
    return np.array(draw(st.lists(point, min_size=1, max_size=9)))


@settings(max_examples=150, deadline=None)
@given(clouds())
def test_hulls_are_those_of_the_exact_twin(points: Array) -> None:
    assert_exact(points, convex_hull(points))


@settings(max_examples=100, deadline=None)
@given(clouds(), st.data())
def test_corners_are_those_of_the_exact_twin(matrix: Array, data: st.DataObject) -> None:
    bound = np.array(data.draw(st.lists(coordinates, min_size=len(matrix), max_size=len(matrix))))
    n = matrix.shape[1]
    rows = [
        integer_row(Fraction(float(b)), {i: -Fraction(float(a)) for i, a in enumerate(row)}, n)
        for row, b in zip(matrix, bound, strict=True)
    ]
    expected = Polyhedron.universe(n).restricted(rows)
    found = corners(matrix, bound)
    assert bool(found.vertices) != expected.is_empty
    if found.vertices:
        generators = [point_vector(v) for v in found.vertices]
        generators += [(0, *direction) for direction in found.directions]
        rebuilt = Polyhedron.generated(n, generators, [(0, *line) for line in found.lines])
        assert rebuilt.contains(expected) and expected.contains(rebuilt)


# Where floating point is in trouble


@pytest.mark.parametrize("exponent", range(6, 17))
@pytest.mark.parametrize("n", [2, 3, 4])
def test_nearly_flat_sets(n: int, exponent: int) -> None:
    generator = np.random.default_rng(exponent)
    points = generator.normal(size=(9, n))
    points[:, -1] = points[:, :-1].sum(axis=1) + 10.0**-exponent * generator.normal(size=9)
    assert_exact(points, convex_hull(points))


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e-9, 1e9, 1e30, 1e150])
def test_tiny_and_huge_sets(scale: float) -> None:
    points = np.random.default_rng(1).normal(size=(10, 3))
    assert_exact(points * scale, convex_hull(points * scale))
    uneven = points * np.array([scale, 1.0, 1 / scale])
    assert_exact(uneven, convex_hull(uneven))


def test_far_from_the_origin() -> None:
    points = np.random.default_rng(2).normal(size=(10, 3)) * 1e-3 + 1e9
    assert_exact(points, convex_hull(points))


def test_nearly_degenerate_sets_in_six_dimensions_are_right_or_refused() -> None:
    """Points next to a cube's corners: floats take twelve facets for granted, where every
    facet of the true hull is a simplex."""
    generator = np.random.default_rng(3)
    for size in (1e-8, 1e-9, 1e-12):
        points = cube(6)[generator.permutation(64)[:14]] + size * generator.normal(size=(14, 6))
        try:
            hull = convex_hull(points)
        except HullRefusedError:
            continue
        vectors = [point_vector([Fraction(float(v)) for v in point]) for point in points]
        for facet in hull.facets:
            products = [dot(facet, vector) for vector in vectors]
            assert min(products) == 0
            touching = [v for v, product in zip(vectors, products, strict=True) if product == 0]
            assert len(independent(touching)) == 6


def test_too_much_exact_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_guessed_incidence", lambda floats: [])
    points = np.random.default_rng(4).normal(size=(60, 6))
    with pytest.raises(HullRefusedError, match="more than"):
        convex_hull(points)


# Guesses that are wrong

GUESS = door._guessed_incidence


def without_one(guess: Incidence) -> Incidence:
    return guess[1:]


def only_half(guess: Incidence) -> Incidence:
    return guess[::2]


def nothing(guess: Incidence) -> Incidence:
    return []


def one_through_the_middle(guess: Incidence) -> Incidence:
    return [*guess, frozenset(list(guess[0])[:-1]) | (guess[-1] - guess[0])]


def too_few_touching(guess: Incidence) -> Incidence:
    return [frozenset(list(guess[0])[:1]), *guess[1:]]


def one_touching_too_many(guess: Incidence) -> Incidence:
    return [guess[0] | guess[-1], *guess[1:]]


SPOILED = [without_one, only_half, nothing, too_few_touching, one_touching_too_many]


@pytest.mark.parametrize("spoil", [*SPOILED, one_through_the_middle])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_wrong_guess_is_found_out(
    n: int, spoil: Callable[[Incidence], Incidence], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "_guessed_incidence", lambda floats: spoil(GUESS(floats)))
    generator = np.random.default_rng(n)
    for points in (generator.normal(size=(10, n)), cube(n), np.vstack([np.eye(n), -np.eye(n)])):
        hull = convex_hull(points)
        assert not hull.guessed
        assert_exact(points, hull)


@pytest.mark.parametrize("spoil", SPOILED)
def test_wrong_corners_are_found_out(
    spoil: Callable[[Incidence], Incidence], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "_guessed_incidence", lambda floats: spoil(GUESS(floats)))
    found = corners(np.vstack([np.eye(3), -np.eye(3)]), np.ones(6))
    assert not found.guessed
    assert set(found.vertices) == set(product([-1, 1], repeat=3))


def test_a_pyramid_without_its_base_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The base is no simplex: its edges are known only from the facets beside it."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0.5, 0.5, 1.0]])
    assert convex_hull(points).guessed
    monkeypatch.setattr(
        door, "_guessed_incidence", lambda floats: [t for t in GUESS(floats) if len(t) == 3]
    )
    hull = convex_hull(points)
    assert not hull.guessed
    assert_exact(points, hull)


def test_an_exception_of_the_library_is_no_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    import cdd

    def fails(*arguments: object) -> None:
        raise RuntimeError("failed to run polyhedron_from_matrix: numerically inconsistent")

    monkeypatch.setattr(cdd, "polyhedron_from_matrix", fails)
    hull = convex_hull(cube(3))
    assert not hull.guessed and len(hull.facets) == 6

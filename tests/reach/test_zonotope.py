"""Zonotopes in floating point: a hand example, sampled points, and the exact twin."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from workbench.models.checker.start_set import Measured, StartSet
from workbench.reach.affine.forecast import FloatZonotope, zonotope_of

numbers = st.floats(-8, 8, width=32)


def test_a_hexagon() -> None:
    hexagon = FloatZonotope(np.array([1.0, 0.0]), np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]))
    directions = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    assert hexagon.dimension == 2
    assert hexagon.upper_bounds(directions).tolist() == [2.5, 1.5, 4.0, 3.0]


def test_a_box_without_width_is_its_centre() -> None:
    point = FloatZonotope.box([(1, 1), (2, 2)])
    assert point.generators.shape == (0, 2)
    assert point.upper_bounds(np.array([[1.0, 1.0]])).tolist() == [3.0]


@given(
    arrays(float, 3, elements=numbers),
    arrays(float, (4, 3), elements=numbers),
    arrays(float, 3, elements=numbers),
)
def test_the_bound_is_attained_at_a_corner(
    centre: np.ndarray, generators: np.ndarray, direction: np.ndarray
) -> None:
    bound = FloatZonotope(centre, generators).upper_bounds(direction[None])[0]
    corners = [direction @ (centre + np.array(t) @ generators) for t in product((-1, 1), repeat=4)]
    assert abs(max(corners) - bound) <= 1e-9 * (1 + abs(bound))


halves = st.integers(-6, 6).map(lambda n: Fraction(n, 2))


@given(
    st.lists(halves, min_size=3, max_size=3),
    halves,
    st.lists(st.integers(-5, 5), min_size=3, max_size=3),
)
def test_it_agrees_with_the_exact_start_set(
    lows: list[Fraction], factor: Fraction, vector: list[int]
) -> None:
    frame = (
        Measured({0: factor, 2: Fraction(1)}, Fraction(-1, 4), Fraction(1, 2), {2: Fraction(1)}),
    )
    start = StartSet(tuple((low, low + 1) for low in lows), (), frame)
    top = start.largest(start.support(vector), 1)
    assert top is not None
    found = zonotope_of(start).upper_bounds(np.array([vector], dtype=float))[0]
    assert abs(found - top / start.denominator) <= 1e-9 * (1 + abs(found))

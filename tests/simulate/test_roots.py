"""Where polynomials are non-negative, against their known roots."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workbench.simulate.stepping.reference.roots import nonnegative


def polynomial(roots: list[float], sign: float = 1.0) -> list[float]:
    c = [sign]
    for root in roots:
        c = [
            (c[i - 1] if i else 0.0) - (c[i] * root if i < len(c) else 0.0)
            for i in range(len(c) + 1)
        ]
    return c


def inside(t: float, found: list[tuple[float, float]]) -> bool:
    return any(a <= t <= b for a, b in found)


ROOTS = st.lists(st.integers(-40, 80).map(lambda i: i / 20), min_size=1, max_size=6, unique=True)


@given(ROOTS, st.sampled_from([1.0, -1.0]))
def test_signs_between_simple_roots(roots: list[float], sign: float) -> None:
    found = nonnegative(polynomial(roots, sign), len(roots), 2.0)
    for k in range(201):
        t = k / 100
        if min(abs(t - r) for r in roots) < 1e-6:
            continue
        value = sign
        for root in roots:
            value *= t - root
        assert inside(t, found) == (value > 0), (t, found)


def test_two_roots_inside_the_interval() -> None:
    ((low, high),) = nonnegative(polynomial([0.5, 0.5001], -1.0), 2, 2.0)
    assert low == pytest.approx(0.5, abs=1e-9) and high == pytest.approx(0.5001, abs=1e-9)


@given(st.floats(0.01, 1.99), st.floats(0.1, 5))
def test_double_root_is_a_sliver(root: float, scale: float) -> None:
    c = [-scale * v for v in polynomial([root, root])]
    found = nonnegative(c, 2, 2.0)
    assume(found)  # a rounding error may lift the parabola off zero
    assert len(found) <= 2
    for low, high in found:
        assert high - low < 1e-5 and abs(low - root) < 1e-5


def test_rising_root_is_approached_from_the_negative_side() -> None:
    ((low, high),) = nonnegative([-1.0, 3.0], 1, 1.0)
    assert -1.0 + 3.0 * low < 0.0 or low == pytest.approx(1 / 3, abs=1e-15)
    assert low == pytest.approx(1 / 3, abs=1e-14) and high == 1.0


def test_constants_and_overflow() -> None:
    assert nonnegative([1.0], 0, 5.0) == [(0.0, 5.0)]
    assert nonnegative([-1.0], 0, 5.0) == []
    assert nonnegative([-1.0, float("inf")], 1, 1.0) == []

"""Support functions: every answer shows itself, by a point that attains it and by multipliers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench.reach.sets.support as module
from workbench.reach.sets.support import Array, SupportOracle

needs_walks = pytest.mark.skipif(module._support is None, reason="the extension is not built")


@pytest.fixture(params=["walks", "solver"], autouse=True)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With and without the compiled walks."""
    if request.param == "solver":
        monkeypatch.setattr(module, "_support", None)
    return str(request.param)


SQUARE = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])


def test_a_square() -> None:
    oracle = SupportOracle(SQUARE, np.array([2.0, 1, 3, 0]))
    for direction, value, corner in (
        ((1, 1), 5, (2, 3)),
        ((-2, 1), 5, (-1, 3)),
        ((-1, -1), 1, (-1, 0)),
        ((3, -1), 6, (2, 0)),
    ):
        found = oracle(np.array(direction, dtype=float))
        assert found is not None and found.value == pytest.approx(value)
        assert oracle.point() == pytest.approx(corner)


def test_bounds_that_change() -> None:
    oracle = SupportOracle(SQUARE, np.array([2.0, 1, 3, 0]))
    up = np.array([0.0, 1])
    assert oracle(up).value == pytest.approx(3)  # type: ignore[union-attr]
    oracle.rebound(np.array([2.0, 1, 7, 0]))
    assert oracle(up).value == pytest.approx(7)  # type: ignore[union-attr]
    oracle.rebound(np.array([2.0, 1, np.inf, 0]))
    assert oracle(up).value == np.inf  # type: ignore[union-attr]
    assert oracle.maximiser(up) is None
    oracle.rebound(np.array([2.0, -3, 7, 0]))
    assert oracle(up) is None
    oracle.rebound(np.array([2.0, -2, 7, -7]))
    assert oracle(np.array([1.0, 1])).value == pytest.approx(9)  # type: ignore[union-attr]


def test_sets_without_corners() -> None:
    strip = SupportOracle(np.array([[1.0, 1], [-1, -1]]), np.array([2.0, 1]))
    for _ in range(5):
        assert strip(np.array([2.0, 2])).value == pytest.approx(4)  # type: ignore[union-attr]
        assert strip(np.array([1.0, 0])).value == np.inf  # type: ignore[union-attr]
    everything = SupportOracle(np.zeros((0, 2)), np.zeros(0))
    assert everything(np.array([1.0, 0])).value == np.inf  # type: ignore[union-attr]
    assert SupportOracle(np.zeros((1, 2)), np.array([-1.0]))(np.array([1.0, 0])) is None


@st.composite
def polyhedra(draw: st.DrawFn) -> tuple[Array, list[Array], list[Array]]:
    """Rows, several lists of bounds for them, and directions; small whole numbers, so that many
    rows meet in a corner, some are parallel and some sets are flat or empty."""
    size = draw(st.integers(1, 4))
    count = draw(st.integers(1, 14))
    entries = st.integers(-2, 2).map(float)
    rows = draw(
        st.lists(st.lists(entries, min_size=size, max_size=size), min_size=count, max_size=count)
    )
    levels = st.one_of(st.integers(-1, 4).map(float), st.just(float("inf")))
    bounds = draw(
        st.lists(st.lists(levels, min_size=count, max_size=count), min_size=1, max_size=3)
    )
    directions = draw(
        st.lists(st.lists(entries, min_size=size, max_size=size), min_size=1, max_size=6)
    )
    return np.array(rows), [np.array(b) for b in bounds], [np.array(d) for d in directions]


@settings(max_examples=300, deadline=None)
@given(polyhedra())
def test_every_answer_shows_itself(given_case: tuple[Array, list[Array], list[Array]]) -> None:
    matrix, levels, directions = given_case
    oracle = SupportOracle(matrix, levels[0])
    for bound in levels:
        oracle.rebound(bound)
        finite = np.isfinite(bound)
        for direction in directions:
            found = oracle(direction)
            alone = SupportOracle(matrix, bound)(direction)
            assert (found is None) == (alone is None)
            if found is None or alone is None:
                continue
            assert np.isfinite(found.value) == np.isfinite(alone.value)
            if np.isfinite(found.value):
                point = oracle.point()
                assert np.all(matrix[finite] @ point <= bound[finite] + 1e-6)
                assert direction @ point == pytest.approx(found.value, abs=1e-6)
                assert np.all(found.multipliers >= 0) and not np.any(found.multipliers[~finite])
                assert matrix.T @ found.multipliers == pytest.approx(direction, abs=1e-6)
                shown = float(found.multipliers[finite] @ bound[finite])
                assert shown == pytest.approx(found.value, abs=1e-6)


@needs_walks
def test_walks_do_what_they_are_there_for(kind: str) -> None:
    """After the first direction the solver is not asked any more."""
    if kind == "solver":
        pytest.skip("there are no walks then")
    generator = np.random.default_rng(3)
    matrix = generator.normal(size=(60, 5))
    oracle = SupportOracle(matrix, np.ones(60))
    oracle(generator.normal(size=5))
    del oracle.__dict__["_program"]
    for _ in range(200):
        oracle(generator.normal(size=5))
    assert oracle._walk is not None and "_program" not in oracle.__dict__

"""The compiled core of double descriptions against the Python that specifies it, and without it."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench.reach.sets.double_description as module
from workbench.reach.sets.conic import nonnegative_solution
from workbench.reach.sets.double_description import (
    Description,
    Vector,
    dot,
    narrow,
    narrow_in_python,
    outside,
    transposed,
    whole_space,
    widen,
)
from workbench.reach.sets.polyhedron import Polyhedron
from workbench.reach.time_limit import OutOfTimeError, time_limit

needs_core = pytest.mark.skipif(module._cone is None, reason="the extension is not built")


def entries(largest: int) -> st.SearchStrategy[int]:
    return st.one_of(st.sampled_from([0, 0, 1, -1]), st.integers(-largest, largest))


def vectors(size: int, largest: int, most: int = 6) -> st.SearchStrategy[list[Vector]]:
    return st.lists(st.tuples(*[entries(largest)] * size), max_size=most)


largest_entries = st.sampled_from([3, 10**3, 2**31, 2**59, 2**60, 2**63, 2**70])


@needs_core
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_core_repeats_the_python(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 6))
    largest = data.draw(largest_entries)
    cone = whole_space(size)
    for _ in range(3):
        inequalities = data.draw(vectors(size, largest))
        equations = data.draw(vectors(size, largest, 1))
        expected = narrow_in_python(cone, inequalities, equations)
        assert narrow(cone, inequalities, equations) == expected
        cone = expected.dual if data.draw(st.booleans()) else expected


@needs_core
def test_what_does_not_fit_is_left_to_python() -> None:
    huge = 2**200
    cone = narrow(whole_space(2), [(huge, 1), (huge + 1, 1)])
    assert cone == narrow_in_python(whole_space(2), [(huge, 1), (huge + 1, 1)])
    assert module._compiled(whole_space(2), ((huge, 1),), ()) is None
    # Entries fit, but what they are combined to does not.
    large = 2**59
    rows = ((large - 1, large - 3, 1), (large - 5, 7, large - 9), (3, large - 11, large - 13))
    assert module._compiled(whole_space(3), rows, ()) is None
    assert narrow(whole_space(3), rows) == narrow_in_python(whole_space(3), rows)


@needs_core
def test_cones_of_many_dimensions_are_left_to_python() -> None:
    size = 80
    row = tuple(range(1, size + 1))
    assert module._compiled(whole_space(size), (row,), ()) is None
    assert narrow(whole_space(size), [row]) == narrow_in_python(whole_space(size), [row])


@needs_core
def test_more_inequalities_than_bits_of_a_word() -> None:
    rows = [(1 + k * k, 2 * k, -1) for k in range(-70, 71)]  # tangents of a parabola
    cone = narrow(whole_space(3), rows)
    assert cone == narrow_in_python(whole_space(3), rows)
    assert len(cone.inequalities) == len(rows)
    assert any(mask >> 64 for mask in cone.masks)


@needs_core
@pytest.mark.parametrize(
    "arguments",
    [
        (2, ((1,),), (), (), (), (), (), ()),
        (2, (), (), (), ((1, 2),), (), (), ()),
        (2, (), (), (), ((1, 2),), (-1,), (), ()),
        (2, (), (), (), (), (), ((1, 2.5),), ()),
        (2, (), (), (), (), (), ([1, 2],), ()),
    ],
)
def test_hostile_arguments_are_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises((ValueError, TypeError, OverflowError)):
        module._cone.narrow(*arguments, 100.0, float("inf"))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_outside_is_what_violates_a_constraint(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 4))
    largest = data.draw(largest_entries)
    cone = narrow(
        whole_space(size), data.draw(vectors(size, largest)), data.draw(vectors(size, largest, 1))
    )
    tried = tuple(data.draw(vectors(size, largest)))
    rows, equations = cone.inequalities, cone.equations
    assert outside(cone, tried) == [
        v
        for v in tried
        if any(dot(row, v) < 0 for row in rows) or any(dot(row, v) for row in equations)
    ]
    assert outside(cone, tried, are_lines=True) == [
        v for v in tried if any(dot(row, v) for row in (*rows, *equations))
    ]


@given(st.lists(st.integers(0, 2**130 - 1), max_size=70))
def test_transposed_twice_is_the_same(masks: list[int]) -> None:
    across = transposed(masks, 130)
    assert len(across) == 130
    assert list(transposed(across, len(masks))) == masks


def test_all_of_it_works_without_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    def described() -> list[Description]:
        square = Polyhedron.universe(2).restricted([(1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1)])
        wider = square.with_generators([(1, 3, 0)], [(0, 0, 1)])
        assert wider.contains(square) and not square.contains(wider)
        return [square.cone, wider.cone, widen(square.cone, [(1, 0, 5)])]

    expected = described()
    monkeypatch.setattr(module, "_cone", None)
    assert described() == expected


def cyclic(points: int, dimension: int) -> list[Vector]:
    """Points of the moment curve: their hull has as many facets as any can."""
    return [tuple(t**k for k in range(dimension + 1)) for t in range(points)]


@pytest.mark.parametrize("compiled", [True, False])
def test_a_long_call_ends_after_its_deadline(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        monkeypatch.setattr(module, "_cone", None)
    with time_limit(time.monotonic() - 1), pytest.raises(OutOfTimeError):
        Polyhedron.generated(8, cyclic(60, 8))
    # Outside the limit the same kind of work is done.
    assert len(Polyhedron.generated(3, cyclic(8, 3)).inequalities) == 12


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_programs_in_whole_numbers_against_all_bases(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 3))
    columns = data.draw(vectors(size, 4, 5))
    target = data.draw(st.tuples(*[st.integers(-4, 4)] * size))
    found = nonnegative_solution(columns, target)
    assert (found is None) == (not any(solves(columns, target)))
    if found is not None:
        assert all(value > 0 for value in found.values())
        total = [sum(v * columns[j][i] for j, v in found.items()) for i in range(size)]
        assert tuple(total) == target


def solves(columns: list[Vector], target: Vector) -> list[bool]:
    """For each set of independent columns whether it has the target in its cone."""
    return [
        in_simplicial_cone([columns[j] for j in chosen], target)
        for count in range(len(target) + 1)
        for chosen in combinations(range(len(columns)), count)
    ]


def in_simplicial_cone(columns: list[Vector], target: Vector) -> bool:
    rows = [[*(Fraction(c[i]) for c in columns), Fraction(t)] for i, t in enumerate(target)]
    for k in range(len(columns)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return False
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [a / rows[k][k] for a in rows[k]]
        for i in range(len(rows)):
            if i != k:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    solved, rest = rows[: len(columns)], rows[len(columns) :]
    return all(row[-1] >= 0 for row in solved) and not any(row[-1] for row in rest)

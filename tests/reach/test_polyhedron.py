"""Exact polyhedra against hand examples, brute force and Fourier-Motzkin elimination."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.reach.sets.conic import Premises
from workbench.reach.sets.double_description import TooManyRaysError, Vector, dot, independent
from workbench.reach.sets.polyhedron import Polyhedron, integer_row, point_vector

SQUARE = [(0, 1, 0), (2, -1, 0), (0, 0, 1), (2, 0, -1)]


def polyhedron(*rows: Vector, equations: tuple[Vector, ...] = ()) -> Polyhedron:
    size = len((*rows, *equations)[0])
    return Polyhedron.universe(size - 1).restricted(rows, equations)


def vertices(p: Polyhedron) -> set[tuple[Fraction, ...]]:
    return {tuple(Fraction(a, g[0]) for a in g[1:]) for g in p.generators if g[0]}


def test_square() -> None:
    square = polyhedron(*SQUARE)
    assert vertices(square) == {(0, 0), (0, 2), (2, 0), (2, 2)}
    assert not square.lines
    assert len(square.inequalities) == 4
    assert not square.equations


def test_redundant_and_implied_rows_go() -> None:
    p = polyhedron(*SQUARE, (5, -1, -1), (4, -1, -1), (9, 1, 0))
    assert len(p.inequalities) == 4  # touching at a corner is not a facet
    edge = p.restricted([(0, -1, 0)])
    assert [abs(a) for a in edge.equations[0]] == [0, 1, 0]
    assert vertices(edge) == {(0, 0), (0, 2)}


def test_unbounded_sets_have_directions_and_lines() -> None:
    quadrant = polyhedron((0, 1, 0), (0, 0, 1))
    assert {g for g in quadrant.generators if not g[0]} == {(0, 1, 0), (0, 0, 1)}
    strip = polyhedron((0, 1, 0), (1, -1, 0))
    assert len(strip.lines) == 1
    assert not Polyhedron.universe(3).inequalities


def test_empty_sets() -> None:
    assert polyhedron((-1, 1), (0, -1)).is_empty
    assert Polyhedron.empty(2).is_empty
    assert polyhedron(*SQUARE).contains(Polyhedron.empty(2))
    assert not Polyhedron.empty(2).contains(polyhedron(*SQUARE))
    assert Polyhedron.empty(2).hull(polyhedron(*SQUARE)).contains(polyhedron(*SQUARE))


def test_time_elapse_by_hand() -> None:
    """From the square along (1, [1, 2]): below y <= 2x + 2, above y >= x - 2."""
    elapsed = polyhedron(*SQUARE).with_generators([(0, 1, 1), (0, 1, 2)])
    expected = polyhedron((0, 1, 0), (0, 0, 1), (2, 2, -1), (2, -1, 1))
    assert elapsed.contains(expected)
    assert expected.contains(elapsed)


def test_images() -> None:
    """(x, y) -> (y/2, 3)."""
    image = polyhedron(*SQUARE).mapped([(2, 0, 0), (0, 0, 1), (6, 0, 0)])
    assert vertices(image) == {(0, 3), (1, 3)}


def test_cross_polytope_has_its_facets() -> None:
    for n in (2, 3, 4):
        units = [tuple(s * int(i == j) for j in range(n)) for i in range(n) for s in (1, -1)]
        cross = Polyhedron.generated(n, [(1, *u) for u in units])
        assert len(cross.inequalities) == 2**n


def test_too_many_generators_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.reach.sets.double_description.MAX_PAIRS", 3)
    with pytest.raises(TooManyRaysError):
        polyhedron(*SQUARE).restricted([(1, -1, 0)])


# Random sets

numbers = st.integers(-3, 3)


def rows(n: int, most: int = 7) -> st.SearchStrategy[list[Vector]]:
    return st.lists(st.tuples(*[numbers] * (n + 1)), max_size=most)


def brute_force_vertices(n: int, constraints: list[Vector]) -> set[tuple[Fraction, ...]]:
    """The feasible points at which n independent constraints are tight."""
    found = set()
    for chosen in combinations(constraints, n):
        point = solution(chosen, n)
        if point is not None and all(holds(row, point) for row in constraints):
            found.add(point)
    return found


def solution(chosen: tuple[Vector, ...], n: int) -> tuple[Fraction, ...] | None:
    matrix = [[Fraction(a) for a in row[1:]] + [Fraction(-row[0])] for row in chosen]
    for k in range(n):
        pivot = next((i for i in range(k, n) if matrix[i][k]), None)
        if pivot is None:
            return None
        matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
        matrix[k] = [a / matrix[k][k] for a in matrix[k]]
        for i in range(n):
            if i != k:
                factor = matrix[i][k]
                matrix[i] = [a - factor * b for a, b in zip(matrix[i], matrix[k], strict=True)]
    return tuple(row[-1] for row in matrix)


def holds(row: Vector, point: tuple[Fraction, ...]) -> bool:
    return row[0] + sum(a * x for a, x in zip(row[1:], point, strict=True)) >= 0


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_vertices_are_those_of_brute_force(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 3))
    box = [tuple(v) for i in range(n) for v in _unit_bounds(n, i)]
    constraints = [*box, *data.draw(rows(n))]
    found = Polyhedron.universe(n).restricted(constraints)
    assert vertices(found) == brute_force_vertices(n, constraints)


def _unit_bounds(n: int, i: int) -> list[list[int]]:
    low, high = [4] + [0] * n, [4] + [0] * n
    low[i + 1], high[i + 1] = 1, -1
    return [low, high]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_both_descriptions_describe_the_same_set(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 3))
    constraints, equations = data.draw(rows(n)), data.draw(rows(n, 1))
    p = Polyhedron.universe(n).restricted(constraints, equations)
    for point in product((-2, Fraction(-1, 2), 0, 1, 3), repeat=n):
        inside = all(holds(row, point) for row in constraints) and all(
            dot(row, (1, *point)) == 0 for row in equations
        )
        assert p.contains_generator(point_vector([Fraction(a) for a in point])) == inside
    if not p.is_empty:
        again = Polyhedron.generated(n, p.generators, p.lines)
        assert again.contains(p)
        assert p.contains(again)
        assert len(again.cone.inequalities) == len(p.cone.inequalities)
        assert len(again.equations) == len(p.equations)
        witness = p.some_point()
        assert witness is not None
        assert all(holds(row, witness) for row in constraints)


def eliminated(constraints: list[Vector]) -> list[Vector]:
    """Fourier-Motzkin elimination of the last variable."""
    below = [row for row in constraints if row[-1] > 0]
    above = [row for row in constraints if row[-1] < 0]
    kept = [row[:-1] for row in constraints if not row[-1]]
    for low, high in product(below, above):
        kept.append(
            tuple(-high[-1] * a + low[-1] * b for a, b in zip(low[:-1], high[:-1], strict=True))
        )
    return kept


@settings(max_examples=150, deadline=None)
@given(rows(3))
def test_projection_is_fourier_motzkin_elimination(constraints: list[Vector]) -> None:
    p = Polyhedron.universe(3).restricted(constraints)
    image = p.mapped([(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)])
    expected = Polyhedron.universe(2).restricted(eliminated(constraints))
    assert expected.is_empty == p.is_empty
    if not p.is_empty:
        assert image.contains(expected)
        assert expected.contains(image)


@settings(max_examples=100, deadline=None)
@given(rows(2, 5), rows(2, 5))
def test_hulls_are_the_smallest(first: list[Vector], second: list[Vector]) -> None:
    """{x : x = y + z, y in t*P, z in (1-t)*Q}: eliminate y and t (closure: P, Q not empty)."""
    p, q = (Polyhedron.universe(2).restricted(rows) for rows in (first, second))
    hull = p.hull(q)
    assert hull.contains(p)
    assert hull.contains(q)
    if p.is_empty or q.is_empty:
        return
    # order of variables: x1, x2, y1, y2, t
    lifted = [(0, 0, 0, a, b, c) for c, a, b in first]
    lifted += [(c, a, b, -a, -b, -c) for c, a, b in second]
    lifted += [(0, 0, 0, 0, 0, 1), (1, 0, 0, 0, 0, -1)]
    for _ in range(3):
        lifted = eliminated(lifted)
    expected = Polyhedron.universe(2).restricted(lifted)
    assert hull.contains(expected)
    assert expected.contains(hull)


def test_integer_rows_are_coprime_and_keep_their_sign() -> None:
    assert integer_row(Fraction(1, 2), {1: Fraction(-3, 4)}, 2) == (2, 0, -3)
    assert integer_row(Fraction(-4), {0: Fraction(6)}, 1) == (-2, 3)


def test_independent_rows_span_the_same_space() -> None:
    assert len(independent([(1, 2, 3), (2, 4, 6), (0, 1, 1), (1, 3, 4)])) == 2


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_consequences_multiply_out(data: st.DataObject) -> None:
    """Factors are found exactly for the goals that hold on the whole set."""
    n = data.draw(st.integers(1, 3))
    inequalities = tuple(data.draw(rows(n, 6)))
    equations = tuple(data.draw(rows(n, 1)))
    goal = data.draw(st.tuples(*[numbers] * (n + 1)))
    p = Polyhedron.universe(n).restricted(inequalities, equations)
    if p.is_empty:
        return
    follows = all(dot(goal, g) >= 0 for g in p.generators) and all(
        dot(goal, line) == 0 for line in p.lines
    )
    premises = Premises(equations, inequalities)
    found = premises.derivation(goal)
    assert (found is not None) == follows
    if found is not None:
        assert all(factor > 0 for _, factor in found.inequalities)
        left = [Fraction(a) for a in goal]
        for i, factor in found.inequalities:
            left = [a - factor * b for a, b in zip(left, inequalities[i], strict=True)]
        for k, factor in found.equations:
            row = premises.equations[k][1]
            left = [a - factor * b for a, b in zip(left, row, strict=True)]
        assert not any(left[1:])
        assert left[0] >= 0
        spanned = Polyhedron.universe(n).restricted((), equations)
        assert all(not dot(row, g) for _, row in premises.equations for g in spanned.generators)

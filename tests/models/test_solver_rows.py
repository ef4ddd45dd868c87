"""Exact feasibility of rows, against elimination in rationals and linear programs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.linear import Form, Row, combination
from workbench.models.smt.rows import RowSession
from workbench.models.smt.solver import Limits
from workbench.reach.sets.support import SupportOracle

NAMES = ("x", "y", "z")
CLEAR = 1e-6


def feasible_by_elimination(rows: list[Row]) -> bool:
    """Fourier-Motzkin in rationals: the exact twin, independent of z3."""
    for name in NAMES:
        upper = [r for r in rows if r.form.coefficients.get(name, 0) > 0]
        lower = [r for r in rows if r.form.coefficients.get(name, 0) < 0]
        rows = [r for r in rows if not r.form.coefficients.get(name, 0)]
        for a, b in product(upper, lower):
            factors = 1 / a.form.coefficients[name], -1 / b.form.coefficients[name]
            form = combination(((factors[0], a.form), (factors[1], b.form)))
            rows.append(Row(form, a.strict or b.strict))
    return all(r.form.constant < 0 or (r.form.constant == 0 and not r.strict) for r in rows)


@st.composite
def polyhedra(draw: st.DrawFn) -> list[Row]:
    """Few small numbers, so that sets often only touch."""
    number = st.integers(-2, 2)
    rows = []
    for _ in range(draw(st.integers(1, 7))):
        values = {n: Fraction(draw(number)) for n in NAMES}
        scale = Fraction(1, draw(st.sampled_from([1, 3, 7])))
        form = Form({n: a * scale for n, a in values.items() if a}, draw(number) * scale)
        rows.append(Row(form, draw(st.booleans())))
    return rows


def widest(rows: list[Row]) -> float | None:
    """The largest margin, at most 1, by which all rows hold; None if there is none at all."""
    matrix = [[float(r.form.coefficients.get(n, 0)) for n in NAMES] + [1.0] for r in rows]
    bound = [-float(r.form.constant) for r in rows]
    oracle = SupportOracle(np.array([*matrix, [0.0, 0.0, 0.0, 1.0]]), np.array([*bound, 1.0]))
    supported = oracle(np.array([0.0, 0.0, 0.0, 1.0]))
    return None if supported is None else supported.value


@given(st.lists(polyhedra(), min_size=1, max_size=4), polyhedra())
@settings(deadline=None)
def test_against_elimination_and_linear_programs(cells: list[list[Row]], shared: list[Row]) -> None:
    solver = RowSession().solver(shared)
    for cell in cells:
        rows = [*shared, *cell]
        answer = solver.satisfiable(cell)
        assert answer == feasible_by_elimination(rows)
        margin = widest(rows)
        assert margin is not None
        if abs(margin) > CLEAR:
            assert answer == (margin > 0)


@pytest.mark.parametrize(("strict", "expected"), [(False, True), (True, False)])
def test_sets_that_only_touch(strict: bool, expected: bool) -> None:
    """3 x <= 1 and x >= 1/3; floating point cannot tell the strict case from the other."""
    third = Form({"x": Fraction(-1)}, Fraction(1, 3))
    session = RowSession()
    solver = session.solver([Row(Form({"x": Fraction(3)}, Fraction(-1)))])
    assert solver.satisfiable([Row(third, strict)]) is expected
    assert solver.satisfiable([Row(third)]) is True
    assert session.calls == 2


@pytest.mark.parametrize("gap", [Fraction(1, 10**12), Fraction(1, 10**40)])
def test_gaps_and_overlaps_far_below_floating_point(gap: Fraction) -> None:
    solver = RowSession().solver([Row(Form({"x": Fraction(1)}, Fraction(-1)))])
    assert solver.satisfiable([Row(Form({"x": Fraction(-1)}, 1 + gap))]) is False
    assert solver.satisfiable([Row(Form({"x": Fraction(-1)}, 1 - gap), strict=True)]) is True


def test_what_was_popped_is_forgotten() -> None:
    solver = RowSession().solver([])
    below, above = Row(Form({"x": Fraction(1)})), Row(Form({"x": Fraction(-1)}, Fraction(1)))
    assert solver.satisfiable([below, above]) is False
    assert solver.satisfiable([below]) is True
    assert solver.satisfiable([above]) is True


def test_a_limit_is_told() -> None:
    generator = np.random.default_rng(0)
    names = [f"v{k}" for k in range(15)]
    rows = [
        Row(Form({n: Fraction(int(a)) for n, a in zip(names, row, strict=True) if a}, Fraction(1)))
        for row in generator.integers(-9, 10, (30, 15))
    ]
    assert RowSession(Limits(resources=10)).solver(rows).satisfiable() is None

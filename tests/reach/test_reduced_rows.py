"""Rows with primed names eliminated: multipliers found there hold for the original rows."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.checker.farkas import implies, refutes
from workbench.models.linear import Form, Row
from workbench.reach.affine.reduced_rows import ReducedRows


def row(constant: int | Fraction, **coefficients: int | Fraction) -> Row:
    names = {name.replace("_", "'"): Fraction(a) for name, a in coefficients.items()}
    return Row(Form(names, Fraction(constant)))


def test_a_value_after_a_jump_is_bounded_through_its_equation() -> None:
    """x in [1, 2] and x' = 3 - 2x: x' is at most 1 and at least -1."""
    rows = (row(1, x=-1), row(-2, x=1), row(-3, x_=1, x=2), row(3, x_=-1, x=-2))
    reduced = ReducedRows(rows)
    for sign, value in ((1, 1), (-1, 1)):
        goal = Form({"x'": Fraction(sign)})
        found = reduced.largest(goal)
        assert found is not None
        assert found.value == value
        assert implies(rows, Row(goal - Form({}, found.value)), found.multipliers)


def test_equations_may_use_each_other() -> None:
    """y' = x' + 1, x' = x, x <= 4."""
    rows = (
        row(-1, y_=1, x_=-1),
        row(1, y_=-1, x_=1),
        row(0, x_=1, x=-1),
        row(0, x_=-1, x=1),
        row(-4, x=1),
    )
    found = ReducedRows(rows).largest(Form({"y'": Fraction(1)}))
    assert found is not None
    assert found.value == 5
    assert implies(rows, row(-5, y_=1), found.multipliers)


def test_what_is_not_bounded_has_no_bound() -> None:
    assert ReducedRows((row(-4, x=1),)).largest(Form({"x": Fraction(-1)})) is None


small = st.integers(-4, 4)


@given(
    st.lists(st.tuples(small, small, st.integers(0, 6)), min_size=4, max_size=8),
    st.tuples(small, small),
    st.tuples(small, small, small),
)
@settings(max_examples=60, deadline=None)
def test_bounds_are_right_and_proved(
    planes: list[tuple[int, int, int]], goal: tuple[int, int], reset: tuple[int, int, int]
) -> None:
    """A polygon around the origin, a reset x' = a x + b y + c: every corner obeys the bound,
    and some corner attains it."""
    rows = [row(-c, x=a, y=b) for a, b, c in planes if (a, b) != (0, 0)]
    rows += [row(-9, x=1), row(-9, x=-1), row(-9, y=1), row(-9, y=-1)]
    a, b, c = reset
    rows += [row(-c, x_=1, x=-a, y=-b), row(c, x_=-1, x=a, y=b)]
    reduced = ReducedRows(tuple(rows))
    form = Form({n: Fraction(v) for n, v in zip(("x'", "y"), goal, strict=True) if v})
    found = reduced.largest(form) if form.coefficients else None
    if found is None:
        return
    assert implies(tuple(rows), Row(form - Form({}, found.value)), found.multipliers)
    lines = [(r.form.coefficients, -r.form.constant) for r in rows[:-2]]
    values = []
    for i, (one, p) in enumerate(lines):
        for other, q in lines[:i]:
            ax, ay = one.get("x", Fraction(0)), one.get("y", Fraction(0))
            bx, by = other.get("x", Fraction(0)), other.get("y", Fraction(0))
            det = ax * by - ay * bx
            if det:
                x, y = (p * by - q * ay) / det, (ax * q - bx * p) / det
                if all(f.get("x", 0) * x + f.get("y", 0) * y <= r for f, r in lines):
                    values.append(goal[0] * (a * x + b * y + c) + goal[1] * y)
    assert values
    assert found.value == max(values)


def test_contradictions_are_proved() -> None:
    rows = (row(1, x_=1, x=-1), row(-1, x_=-1, x=1), row(0, x=1), row(0, x_=-1))
    multipliers = ReducedRows(rows).refutation()
    assert multipliers is not None
    assert refutes(rows, multipliers)

from __future__ import annotations

from fractions import Fraction

from tests.support.report_models import compare
from workbench.models.expressions.expression import add, divide, multiply, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.printing import to_text
from workbench.models.linear import Form
from workbench.reports.words.inequalities import bounds, readable


def form(constant: int | str, **coefficients: int | str) -> Form:
    return Form({n: Fraction(a) for n, a in coefficients.items()}, Fraction(constant))


def test_opposite_rows_make_one_bound() -> None:
    rows = [form(-3, x=1), form(1, x=-1), form(-4, x=2, y=-1), form("-1/3", y=2)]
    assert [str(b) for b in bounds(rows)] == ["1 ≤ x ≤ 3", "y ≤ 0.16667", "x − 0.5·y ≤ 2"]


def test_equal_ends_make_an_equation() -> None:
    assert [str(b) for b in bounds([form(-3, x=1), form(3, x=-1)])] == ["x = 3"]


def test_the_tightest_of_parallel_rows_is_kept() -> None:
    assert [str(b) for b in bounds([form(-3, x=1), form(-4, x=2)])] == ["x ≤ 2"]


def test_conditions() -> None:
    x, y = variable("x"), variable("y")
    assert readable(compare(Op.LESS_EQUAL, multiply(-1, x), 4)) == "x ≥ −4"
    assert readable(compare(Op.GREATER, x, y)) == "x − y > 0"
    assert readable(compare(Op.LESS, multiply(x, y), 1)) == "x·y < 1"


def test_polynomials_have_their_constant_on_the_right() -> None:
    x, y = variable("x"), variable("y")
    half = Fraction(1, 2)
    told = readable(compare(Op.LESS_EQUAL, half * x * x - 3 * x * y + y * y * y, x + 7))
    assert told == "y³ + 0.5·x² − 3·x·y − x ≤ 7"
    assert readable(compare(Op.GREATER_EQUAL, x * x * x * x, -1)) == "x^4 ≥ −1"
    assert readable(compare(Op.LESS, x * y, y * x)) == "0 < 0"
    far = [variable(f"x{k}") for k in range(9)]
    square = multiply(add(*far), add(*far))  # 45 terms
    assert readable(compare(Op.LESS, square, 1)) == to_text(compare(Op.LESS, square, 1))
    assert readable(compare(Op.LESS, divide(1, x), 1)) == "1/x < 1"

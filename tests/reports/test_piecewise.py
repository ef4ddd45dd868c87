from __future__ import annotations

from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.report_models import compare
from workbench.models.expressions.expression import (
    constant,
    disjunction,
    multiply,
    negation,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.text import parse_expression
from workbench.models.trace import Segment
from workbench.reports.crosscheck.condition_tree import condition_tree
from workbench.reports.crosscheck.piecewise import joined, largest, pieces_of

COEFFICIENT = st.floats(-10, 10, allow_nan=False)


def segment(rows: list[list[float]], length: float = 2.0) -> Segment:
    """One piece; x and y are polynomials of the time since 0."""
    degree = len(rows[0]) - 1
    final = [sum(c * length**j for j, c in enumerate(row)) for row in rows]
    return Segment(
        "here",
        ("x", "y"),
        array("d", [0.0, length]),
        array("i", [degree]),
        array("d", [c for row in rows for c in row]),
        {},
        array("d", final),
    )


@given(st.lists(st.lists(COEFFICIENT, min_size=6, max_size=6), min_size=2, max_size=2))
def test_the_largest_value_is_no_less_than_any_sample_and_is_attained(
    rows: list[list[float]],
) -> None:
    x, y = variable("x"), variable("y")
    condition = disjunction(
        negation(compare(Op.LESS_EQUAL, x, 1)), compare(Op.GREATER, multiply(2, y), x)
    )
    pieces = pieces_of(segment(rows), {}, {})
    found = largest(condition_tree(condition), pieces)
    times = np.linspace(0, 2, 2001)
    xs, ys = (sum(c * times**j for j, c in enumerate(row)) for row in rows)
    robustness = np.maximum(xs - 1, 2 * ys - xs)
    assert found is not None and found.exact
    scale = 1 + abs(found.value)
    assert found.value >= robustness.max() - 1e-8 * scale
    at = [sum(c * found.time**j for j, c in enumerate(row)) for row in rows]
    assert max(at[0] - 1, 2 * at[1] - at[0]) == pytest.approx(found.value, abs=1e-6 * scale)


def test_a_spike_between_the_points_is_seen() -> None:
    # x = 1 - 4 (t - 1)^2 is negative at both ends and positive between them.
    pieces = pieces_of(segment([[-3, 8, -4], [0, 0, 0]]), {}, {})
    found = largest(condition_tree(compare(Op.GREATER, variable("x"), 0)), pieces)
    assert found is not None
    assert found.value == pytest.approx(1) and found.time == pytest.approx(1, abs=1e-4)


def test_windows_cut_the_time() -> None:
    pieces = pieces_of(segment([[0, 1, 0], [0, 0, 0]]), {}, {})
    tree = condition_tree(compare(Op.GREATER, variable("x"), 0))
    found = largest(tree, pieces, (0.5, 0.75))
    assert found is not None and found.value == pytest.approx(0.75)
    assert largest(tree, pieces, (5, 6)) is None


def test_what_is_no_polynomial_is_interpolated_and_says_so() -> None:
    pieces = pieces_of(segment([[0, 1, 0], [0, 0, 0]]), {}, {})
    sine = multiply(constant(1), type(variable("x"))(Op.SIN, (variable("x"),)))
    found = largest(condition_tree(compare(Op.GREATER, sine, 0)), pieces)
    assert found is not None and not found.exact
    assert found.value == pytest.approx(1, abs=1e-5)


def test_products_of_polynomials_are_exact() -> None:
    pieces = pieces_of(segment([[0, 1, 0], [2, -1, 0]]), {}, {})
    tree = condition_tree(compare(Op.GREATER, multiply(variable("x"), variable("y")), 0))
    found = largest(tree, pieces)
    assert found is not None and found.exact and found.value == pytest.approx(1)


@given(st.lists(st.lists(COEFFICIENT, min_size=4, max_size=4), min_size=2, max_size=2))
def test_absolute_values_and_extremes_are_exact(rows: list[list[float]]) -> None:
    text = "abs(x - 1) - 2*max(y, x, -3) + min(x, 4) <= 3*abs(abs(y) - 1)"
    pieces = pieces_of(segment(rows), {}, {})
    found = largest(condition_tree(parse_expression(text)), pieces)
    times = np.linspace(0, 2, 2001)
    x, y = (sum(c * times**j for j, c in enumerate(row)) for row in rows)
    left = abs(x - 1) - 2 * np.maximum(np.maximum(y, x), -3) + np.minimum(x, 4)
    robustness = 3 * abs(abs(y) - 1) - left
    assert found is not None and found.exact
    scale = 1 + np.abs(x).max() + np.abs(y).max()
    assert found.value >= robustness.max() - 1e-8 * scale
    assert found.value <= robustness.max() + 0.05 * scale


@given(
    st.lists(
        st.lists(st.lists(COEFFICIENT, min_size=3, max_size=5), min_size=2, max_size=2),
        min_size=1,
        max_size=4,
    )
)
def test_joined_pieces_have_the_extremes_of_their_parts(runs: list[list[list[float]]]) -> None:
    padded = [[[*row, 0.0, 0.0][:5] for row in rows] for rows in runs]
    parts = [pieces_of(segment(rows), {}, {}) for rows in padded]
    tree = condition_tree(parse_expression("x*y > 1 || x - y < -2"))
    (table,) = joined(parts)
    whole = largest(tree, table)
    single = [found for part in parts if (found := largest(tree, part)) is not None]
    assert whole is not None
    best = max(single, key=lambda found: found.value)
    assert whole.value == pytest.approx(best.value, rel=1e-8, abs=1e-8)
    values = whole.segment.valuation(whole.time)
    robustness = max(values["x"] * values["y"] - 1, values["y"] - values["x"] - 2)
    assert robustness == pytest.approx(whole.value, rel=1e-6, abs=1e-6)

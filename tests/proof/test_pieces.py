"""Piecewise linear values by cases: nothing that satisfies a condition is lost."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from models.automaton import BOOL
from models.expressions.evaluation import evaluate
from models.expressions.expression import Expression
from models.expressions.text import parse_expression
from models.expressions.traversal import free_variables
from models.proof.linear import Row, alternatives
from models.proof.obligation import Obligation, ObligationKind
from models.proof.pieces import without_pieces
from reach.combinations import refutation

CONDITIONS = [
    "min(x, 2 * y, 1) > y - max(x, 0)",
    "abs(x - y) <= 1 && abs(x) + abs(y) >= 1",
    "sign(x) * 2 + y >= sign(y - x)",
    "floor(x) <= y && floor(2 * y) > x",
    "(x > y ? x - y : (y > 1 ? 1 : y)) < max(y, -x)",
    "max(-1, min(1, x + abs(y))) == x || !(min(x, y) < 0)",
]


def holds(row: Row, values: dict[str, Fraction]) -> bool:
    found = row.form.constant + sum(a * values[n] for n, a in row.form.coefficients.items())
    return found < 0 if row.strict else found <= 0


def pieces(condition: Expression, values: dict[str, Fraction]) -> dict[str, Fraction] | None:
    """Values of the unknown numbers under which the condition holds; among small halves."""
    names = sorted(free_variables(condition) - values.keys())
    found = dict(values)
    grid = [Fraction(k, 2) for k in range(-12, 13)]

    def extended(k: int) -> bool:
        if k == len(names):
            return evaluate(condition, found) is True
        for value in grid:
            found[names[k]] = value
            parts = [p for p in condition.args if free_variables(p) <= set(found)]
            if all(evaluate(p, found) is True for p in parts) and extended(k + 1):
                return True
        found.pop(names[k], None)
        return False

    return found if extended(0) else None


@pytest.mark.parametrize("text", CONDITIONS)
def test_every_solution_is_in_a_case(text: str) -> None:
    condition = parse_expression(text)
    plain = without_pieces(condition, {})
    cases = alternatives(plain)
    random, seen = Random(1), 0
    for _ in range(60):
        values = {n: Fraction(random.randint(-4, 4), 2) for n in ("x", "y")}
        found = pieces(plain, values)
        assert (found is not None) is (evaluate(condition, values) is True)
        if found is not None:
            seen += 1
            assert any(all(holds(row, found) for row in rows) for rows in cases)
    assert seen


@pytest.mark.parametrize("text", ["min(1 / x, 2) > 2", "abs(1 / x) < 0", "(x > 0 ? 1 / x : 1) < 0"])
def test_what_is_not_defined_everywhere_is_left_alone(text: str) -> None:
    condition = parse_expression(text)
    assert without_pieces(condition, {}) == condition


def test_truth_values_are_no_numbers() -> None:
    condition = parse_expression("x > 0 ? a : b")
    assert without_pieces(condition, {"a": BOOL, "b": BOOL}) == condition


@pytest.mark.parametrize(
    ("text", "refuted"),
    [
        ("max(-1, min(1, x)) > 1", True),
        ("max(-1, min(1, x)) >= 1", False),
        ("x - floor(x) >= 1", True),
        ("abs(x) + abs(y) < abs(x + y)", True),
        ("(x > 1 ? 2 : 0) == 1", True),
        ("sign(x) * 3 + 1 == 0", True),
    ],
)
def test_evidence(text: str, refuted: bool) -> None:
    obligation = Obligation(ObligationKind.FLOW, "", "", parse_expression(text))
    found = [refutation(rows) for rows in obligation.cases()]
    assert all(m is not None for m in found) is refuted


def test_too_many_cases_leave_the_values_unknown() -> None:
    text = " + ".join(f"abs(x{k})" for k in range(20))
    obligation = Obligation(ObligationKind.FLOW, "", "", parse_expression(f"{text} < 0 && x > 1"))
    assert len(obligation.cases()) == 1

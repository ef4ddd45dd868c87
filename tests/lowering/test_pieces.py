"""Piecewise linear values by cases: nothing that satisfies a condition is lost."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import verify
from workbench.models.automaton import BOOL
from workbench.models.checker.obligation import Obligation, ObligationKind
from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import Op
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import free_variables, postorder
from workbench.models.linear import Row
from workbench.models.load import load
from workbench.models.lowering.alternatives import alternatives
from workbench.models.lowering.pieces import by_cases, without_pieces
from workbench.models.verdict import Verdict, Verified
from workbench.reach.combinations import refutation

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


GRID = [Fraction(k, 4) for k in range(-8, 9)]


@pytest.mark.parametrize("text", CONDITIONS)
def test_branches_hold_in_the_same_states(text: str) -> None:
    """Brute force: on a grid with all the corners of the pieces on it."""
    condition = parse_expression(text)
    plain = by_cases(condition, {})
    cases = alternatives(plain)
    exact = "floor" not in text
    for x in GRID:
        for y in GRID:
            values = {"x": x, "y": y}
            truth = evaluate(condition, values)
            assert evaluate(plain, values) == truth
            covered = any(all(holds(row, values) for row in rows) for rows in cases)
            assert covered or not truth
            assert not exact or covered == truth


def test_every_piece_is_taken_apart() -> None:
    for text in CONDITIONS:
        plain = by_cases(parse_expression(text), {})
        ops = {node.op for node in postorder(plain)}
        assert ops.isdisjoint({Op.MINIMUM, Op.MAXIMUM, Op.ABSOLUTE, Op.SIGN, Op.IF})


def test_comparisons_with_too_many_cases_are_left_alone() -> None:
    condition = parse_expression(" + ".join(f"abs(x{k})" for k in range(20)) + " < 1")
    assert by_cases(condition, {}) == condition


@pytest.mark.parametrize("text", ["min(1 / x, 2) > 2", "abs(1 / x) < 0", "(x > 0 ? 1 / x : 1) < 0"])
def test_what_is_not_defined_everywhere_is_left_alone(text: str) -> None:
    condition = parse_expression(text)
    assert without_pieces(condition, {}) == condition
    assert by_cases(condition, {}) == condition


def test_truth_values_are_no_numbers() -> None:
    condition = parse_expression("x > 0 ? a : b")
    assert without_pieces(condition, {"a": BOOL, "b": BOOL}) == condition
    assert by_cases(condition, {"a": BOOL, "b": BOOL}) == condition


STABLE = """
mode M() {{ write analog real x, y; diff {{ d(x) == 0.5*y - x; d(y) == -y; }} {invariant} }}
agent A() {{
  private analog real x, y;
  init {{ x in [-1, 1]; y in [-1, 1]; }}
  mode top = M();
  assert "claim" {{ {claim} }}
}}
system A() until 3;
"""


def judged(folder: Path, method: str, claim: str, invariant: str = "") -> Verdict:
    (folder / "stable.charon").write_text(STABLE.format(claim=claim, invariant=invariant))
    automaton = load(folder / "stable.charon").automaton
    return verify(Task(automaton, automaton.properties[0], time.monotonic() + 30), method)


@pytest.mark.parametrize("method", ["template", "flowpipe"])
@pytest.mark.parametrize(
    "claim",
    [
        "abs(x) <= 1.2",
        "max(x, y) <= 1.2",
        "abs(x) + abs(y) <= 2.2",
        "(x > 0 ? x : -x) <= 1.2",
        "sign(x - 3) < 0",
    ],
)
def test_claims_about_pieces_are_proved(method: str, claim: str, tmp_path: Path) -> None:
    assert isinstance(judged(tmp_path, method, claim), Verified)


@pytest.mark.parametrize("method", ["template", "flowpipe", "quadratic", "nonlinear"])
@pytest.mark.parametrize(
    "claim", ["abs(x) <= 0.9", "min(x, y) >= -0.9", "abs(x) + abs(y) <= 1.9", "sign(x) >= 0"]
)
def test_false_claims_about_pieces_are_not(method: str, claim: str, tmp_path: Path) -> None:
    assert not isinstance(judged(tmp_path, method, claim), Verified)


@pytest.mark.slow
def test_invariants_with_pieces_count(tmp_path: Path) -> None:
    inside = "inv { abs(x) + abs(y) <= 1 }"
    assert isinstance(judged(tmp_path, "template", "abs(x) <= 1", inside), Verified)
    assert not isinstance(judged(tmp_path, "template", "abs(x) <= 0.99", inside), Verified)


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

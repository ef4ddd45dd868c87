"""Integers are whole numbers: in rows, in proofs, and in exact runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import deadline, verify
from workbench.models.automaton import INT
from workbench.models.expressions.expression import add, compare, constant, multiply, variable
from workbench.models.expressions.operators import Op
from workbench.models.linear import Row
from workbench.models.load import load
from workbench.models.lowering.alternatives import alternatives
from workbench.models.verdict import Falsified, Unknown, Verdict, Verified

K, M = variable("k"), variable("m")
TYPES = {"k": INT, "m": INT}

DIE = """
mode Roll() {{ write analog real clock; diff {{ d(clock) == 1; }} inv {{ clock <= 1 }} }}
mode Top() {{
  write analog real clock;
  write discrete int eyes;
  mode roll = Roll();
  trans from init to roll;
  trans #again from roll to roll when clock >= 1 do {{ clock = 0; eyes in [1, 6]; }}
}}
agent Die() {{
  private analog real clock = 0;
  private discrete int eyes;
  init {{ eyes in [1, 6]; }}
  mode top = Top();
  assert "claim" {{ {claim} }}
}}
"""

fractions = st.fractions(min_value=-3, max_value=3, max_denominator=6)


def _holds(row: Row, numbers: Mapping[str, int]) -> bool:
    terms = (a * numbers[name] for name, a in row.form.coefficients.items())
    value = row.form.constant + sum(terms, Fraction(0))
    return value < 0 if row.strict else value <= 0


@given(
    a=fractions,
    b=fractions,
    c=fractions,
    op=st.sampled_from([Op.LESS, Op.LESS_EQUAL, Op.EQUAL, Op.NOT_EQUAL, Op.GREATER]),
)
def test_rounded_rows_have_the_same_whole_solutions(
    a: Fraction, b: Fraction, c: Fraction, op: Op
) -> None:
    condition = compare(op, add(multiply(a, K), multiply(b, M)), constant(c))
    cases = alternatives(condition, TYPES)
    for k in range(-4, 5):
        for m in range(-4, 5):
            value = a * k + b * m
            truth = {
                Op.LESS: value < c,
                Op.LESS_EQUAL: value <= c,
                Op.EQUAL: value == c,
                Op.NOT_EQUAL: value != c,
                Op.GREATER: value > c,
            }[op]
            numbers = {"k": k, "m": m}
            met = any(all(_holds(row, numbers) for row in rows) for rows in cases)
            assert met == truth


def test_rows_that_mention_anything_else_are_not_rounded() -> None:
    ((row,),) = alternatives(K + variable("x") < constant(Fraction(1, 2)), TYPES)
    assert row.strict and row.form.constant == Fraction(-1, 2)


@pytest.fixture
def decide(tmp_path: Path) -> Callable[[str, str], Verdict]:
    def decided(claim: str, method: str) -> Verdict:
        path = tmp_path / "die.charon"
        path.write_text(DIE.format(claim=claim))
        automaton = load(path).automaton
        return verify(Task(automaton, automaton.properties[0], deadline(20)), method)

    return decided


@pytest.mark.parametrize("method", ["rectangular", "auto"])
def test_no_number_lies_between_two_integers(
    decide: Callable[[str, str], Verdict], method: str
) -> None:
    assert isinstance(decide("eyes != 2.5", method), Verified)
    assert isinstance(decide("eyes <= 2 || eyes >= 3", method), Verified)


def test_a_run_with_half_a_number_is_no_counterexample(
    decide: Callable[[str, str], Verdict],
) -> None:
    verdict = decide("!(eyes + clock == 2.5 && clock <= 0)", "rectangular")
    assert isinstance(verdict, Unknown), "with clock = 0 only eyes = 2.5 breaks the claim"
    assert "whole number" in verdict.reason


def test_whole_values_that_break_a_claim_are_found(decide: Callable[[str, str], Verdict]) -> None:
    assert isinstance(decide("eyes != 3", "auto"), Falsified)


@pytest.mark.parametrize("method", ["rectangular", "simulation", "auto"])
def test_a_whole_number_that_is_overwritten_was_a_whole_number(tmp_path: Path, method: str) -> None:
    text = DIE.format(claim="eyes != 3 && eyes != 7")
    text = text.replace("init { eyes in [1, 6]; }", "init { eyes = 2; }")
    assert "eyes in [1, 6]; }" in text
    path = tmp_path / "doubled.charon"
    path.write_text(text.replace("eyes in [1, 6]; }", "eyes in [1, 6]; eyes = 2*eyes; }"))
    automaton = load(path).automaton
    verdict = verify(Task(automaton, automaton.properties[0], deadline(5)), method)
    assert not isinstance(verdict, Falsified), "an even number is neither 3 nor 7"

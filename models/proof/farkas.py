"""Farkas multipliers: linear facts that are checked by multiplication alone.

Rows r_i state f_i <= 0 (or < 0). For multipliers m_i >= 0 the combination sum m_i f_i is
<= 0 wherever the rows hold, and < 0 if a strict row has a positive multiplier. So

- the rows have no common solution if the combination is a positive number, or zero with a
  strict row in it;
- they imply g <= 0 if g equals the combination minus a non-negative number.

Anyone can find the multipliers; here they are only multiplied out, in exact rationals.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from models.proof.linear import Form, Row, Rows, combination

Multipliers: TypeAlias = tuple[tuple[int, Fraction], ...]
"""Pairs (row number, multiplier); rows that are not named have multiplier 0."""


@dataclass(frozen=True, slots=True)
class Combined:
    """A non-negative combination of rows: `form` <= 0, or < 0 if `strict`."""

    form: Form
    strict: bool


def combine(rows: Rows, multipliers: Multipliers) -> Combined | None:
    """The combination, or None if a multiplier is negative or names no row."""
    for index, factor in multipliers:
        if not 0 <= index < len(rows) or factor < 0:
            return None
    strict = any(rows[index].strict and factor > 0 for index, factor in multipliers)
    return Combined(combination((factor, rows[i].form) for i, factor in multipliers), strict)


def refutes(rows: Rows, multipliers: Multipliers) -> bool:
    """Whether the multipliers prove that the rows have no common solution."""
    combined = combine(rows, multipliers)
    if combined is None or combined.form.coefficients:
        return False
    return combined.form.constant > 0 or (combined.form.constant == 0 and combined.strict)


def implies(rows: Rows, goal: Row, multipliers: Multipliers) -> bool:
    """Whether the multipliers prove that the goal holds wherever the rows do."""
    combined = combine(rows, multipliers)
    if combined is None:
        return False
    slack = combined.form - goal.form
    if slack.coefficients or slack.constant < 0:
        return False
    return slack.constant > 0 or combined.strict or not goal.strict

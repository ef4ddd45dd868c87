"""Farkas multipliers: linear facts that are checked by multiplication alone.

Rows r_i state f_i <= 0 (or < 0). For multipliers m_i >= 0 the combination sum m_i f_i is
<= 0 wherever the rows hold, and < 0 if a strict row has a positive multiplier. So

- the rows have no common solution if the combination is a positive number, or zero with a
  strict row in it;
- they imply g <= 0 if g equals the combination minus a non-negative number.

Anyone can find the multipliers; here they are only multiplied out, in exact rationals.
"""

from __future__ import annotations

from fractions import Fraction

from workbench.models.linear import Form, Multipliers, Row, Rows, sign_of

_MINUS_ONE = Fraction(-1)


def refutes(rows: Rows, multipliers: Multipliers) -> bool:
    """Whether the multipliers prove that the rows have no common solution."""
    sign = combined_sign(rows, multipliers)
    return sign == 1 or (sign == 0 and _has_strict(rows, multipliers))


def implies(rows: Rows, goal: Row, multipliers: Multipliers) -> bool:
    """Whether the multipliers prove that the goal holds wherever the rows do."""
    slack = combined_sign(rows, multipliers, (_MINUS_ONE, goal.form))
    return slack == 1 or (slack == 0 and (not goal.strict or _has_strict(rows, multipliers)))


def combined_sign(
    rows: Rows, multipliers: Multipliers, *further: tuple[Fraction, Form]
) -> int | None:
    """The sign of sum m_i f_i and further multiples of forms, if that is a number; None if it
    is not, or if a multiplier is negative or names no row."""
    parts = list(further)
    for index, factor in multipliers:
        if not 0 <= index < len(rows) or factor.numerator < 0:
            return None
        parts.append((factor, rows[index].form))
    return sign_of(parts)


def _has_strict(rows: Rows, multipliers: Multipliers) -> bool:
    return any(rows[index].strict and factor > 0 for index, factor in multipliers)

"""Numbers as people give them, and the exact rational that each of them means."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import TypeAlias

Number: TypeAlias = int | float | str | Fraction | Decimal
"""Besides these, every number that other libraries register as real, such as those of numpy. A
float means the decimal number that is written for it: `0.1` is one tenth, as it is in a model, and
so is `numpy.float32(0.1)`; `Fraction(0.1)` is what the machine holds instead."""

_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>\d{1,60}(\.\d{0,60})?|\.\d{1,60})"
    r"([eE](?P<exponent>[+-]?\d{1,3}))?(/(?P<divisor>\d{1,60}))?"
)


def exact(value: Number) -> Fraction:
    """The rational number that a value means. Raises ValueError for what is no finite number,
    and TypeError for what is no number at all."""
    if isinstance(value, str):
        return read_number(value)
    if isinstance(value, Rational) and not isinstance(value, bool):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Real | Decimal) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a finite number")
        written = float.__repr__(value) if isinstance(value, float) else str(value)
        return Fraction(written)
    raise TypeError(f"a number is expected, not {value!r:.40}")


def number_text(value: Fraction) -> str:
    """A number as a short exact decimal where there is one, as `p/q` otherwise."""
    from workbench.models.expressions.printing import number_text as written

    return written(value)


def read_number(text: str) -> Fraction:
    """A decimal or a ratio as an exact rational: `0.1` is 1/10, `-3/8` is -3/8.

    Raises ValueError; sizes are bounded so that no short text means a huge number.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a number like 2, 0.5, 1e-3 or 3/8")
    value = Fraction(match["digits"]) * Fraction(10) ** int(match["exponent"] or 0)
    divisor = int(match["divisor"] or 1)
    if divisor == 0:
        raise ValueError(f"{text!r} divides by zero")
    return (-value if match["sign"] == "-" else value) / divisor

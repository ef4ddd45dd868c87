"""Enclosures: the tape on intervals, the reference for `core/interval.c`.

Registers hold ranges of values. Operations are enclosed to within rounding (not rounded
outwards: this is for looking ahead, not for proofs); where an operation may be undefined, or
is not known, the range is everything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from simulate.stepping.reference.tape import External, operate, quotient
from simulate.stepping.tape import Code, FloatTable, Instruction

Span = tuple[float, float]
EVERYTHING: Span = (-math.inf, math.inf)
MAX_ARGUMENTS = 16
PI = 3.141592653589793


def enclose(
    instructions: Sequence[Instruction],
    low: list[float],
    high: list[float],
    tables: Sequence[FloatTable],
    externals: Sequence[External] = (),
    lipschitz: Sequence[float] = (),
) -> None:
    """Run a tape on ranges, given those of time, variables, held values and constants."""
    for code, d, a, b, c in instructions:
        x = (low[a], high[a])
        if code == Code.LOOKUP1:
            found = _lookup1(tables[b], x)
        elif code == Code.LOOKUP2:
            found = (min(tables[c].values), max(tables[c].values))
        elif code == Code.EXTERNAL:
            found = _external(externals[b], lipschitz[b], low[a : a + c], high[a : a + c])
        elif code == Code.SELECT:
            yes, no = (low[b], high[b]), (low[c], high[c])
            found = yes if x[0] > 0.0 else (no if x[1] <= 0.0 else _hull(yes, no))
        elif b >= 0:
            found = _binary(code, x, (low[b], high[b]))
        else:
            found = _unary(code, x)
        if not found[0] <= found[1]:
            found = EVERYTHING
        low[d], high[d] = found


def _external(
    function: External, constant: float, low: Sequence[float], high: Sequence[float]
) -> Span:
    """f(m) +- L r, with the middle m of the arguments and the sum r of their half widths."""
    reach = 0.0
    for a, b in zip(low, high, strict=True):
        reach += 0.5 * (b - a)
    if not constant < math.inf or not reach < math.inf or len(low) > MAX_ARGUMENTS:
        return EVERYTHING
    value = function(*(0.5 * (a + b) for a, b in zip(low, high, strict=True)))
    return value - constant * reach, value + constant * reach


def _hull(a: Span, b: Span) -> Span:
    return (a[0] if a[0] < b[0] else b[0], a[1] if a[1] > b[1] else b[1])


def _corners(values: tuple[float, float, float, float]) -> Span:
    """The least and the largest of four; everything where one is not a number."""
    low = high = values[0]
    for v in values:
        if v != v:
            return EVERYTHING
        low = v if v < low else low
        high = v if v > high else high
    return low, high


def _binary(code: int, x: Span, y: Span) -> Span:
    match code:
        case Code.ADD:
            return x[0] + y[0], x[1] + y[1]
        case Code.SUBTRACT:
            return x[0] - y[1], x[1] - y[0]
        case Code.MULTIPLY:
            return _corners((x[0] * y[0], x[0] * y[1], x[1] * y[0], x[1] * y[1]))
        case Code.DIVIDE:
            if y[0] <= 0.0 <= y[1]:
                return EVERYTHING
            return _corners((x[0] / y[0], x[0] / y[1], x[1] / y[0], x[1] / y[1]))
        case Code.POWER:
            if not x[0] > 0.0:
                return EVERYTHING
            ends = operate(code, x[0], y[0]), operate(code, x[1], y[0])
            return _corners((ends[0], ends[1], ends[0], ends[1]))
        case Code.MINIMUM:
            return operate(code, x[0], y[0]), operate(code, x[1], y[1])
        case Code.MAXIMUM:
            return operate(code, x[0], y[0]), operate(code, x[1], y[1])
        case Code.ATAN2:
            if not y[0] > 0.0:
                return -PI, PI
            ends = quotient(x[0], y[0]), quotient(x[0], y[1])
            others = quotient(x[1], y[0]), quotient(x[1], y[1])
            low, high = _corners((*ends, *others))
            return operate(Code.ATAN, low, 0.0), operate(Code.ATAN, high, 0.0)
        case Code.LESS:
            return (1.0, 1.0) if x[1] < y[0] else ((0.0, 0.0) if x[0] >= y[1] else (0.0, 1.0))
        case Code.LESS_EQUAL:
            return (1.0, 1.0) if x[1] <= y[0] else ((0.0, 0.0) if x[0] > y[1] else (0.0, 1.0))
        case Code.EQUAL:
            return (0.0, 0.0) if x[1] < y[0] or y[1] < x[0] else (0.0, 1.0)
        case Code.NOT_EQUAL:
            return (1.0, 1.0) if x[1] < y[0] or y[1] < x[0] else (0.0, 1.0)
        case Code.AND | Code.OR:
            return operate(code, x[0], y[0]), operate(code, x[1], y[1])
        case _:
            return EVERYTHING


def _unary(code: int, x: Span) -> Span:
    match code:
        case Code.NEGATE:
            return -x[1], -x[0]
        case Code.ABSOLUTE:
            if x[0] >= 0.0:
                return x
            if x[1] <= 0.0:
                return -x[1], -x[0]
            return 0.0, (x[1] if x[1] > -x[0] else -x[0])
        case Code.NOT:
            return 1.0 - x[1], 1.0 - x[0]
        case Code.SQRT | Code.LOG:
            if not x[1] >= 0.0:
                return EVERYTHING
            return operate(code, x[0] if x[0] > 0.0 else 0.0, 0.0), operate(code, x[1], 0.0)
        case Code.ASIN | Code.ACOS:
            if x[1] < -1.0 or x[0] > 1.0:
                return EVERYTHING
            low, high = (x[0] if x[0] > -1.0 else -1.0), (x[1] if x[1] < 1.0 else 1.0)
            ends = operate(code, low, 0.0), operate(code, high, 0.0)
            return ends if code == Code.ASIN else (ends[1], ends[0])
        case Code.SIN:
            return _wave(x[0], x[1])
        case Code.COS:
            return _wave(x[0] + 0.5 * PI, x[1] + 0.5 * PI)
        case Code.TAN:
            if not x[1] - x[0] < PI or not abs(x[0]) < 1e9:
                return EVERYTHING
            turn = math.floor((x[0] + 0.5 * PI) / PI)
            if x[1] + 0.5 * PI >= (turn + 1.0) * PI:
                return EVERYTHING
            return operate(code, x[0], 0.0), operate(code, x[1], 0.0)
        case Code.SIGN | Code.FLOOR | Code.EXP | Code.ATAN | Code.COPY:
            return operate(code, x[0], 0.0), operate(code, x[1], 0.0)
        case _:
            return EVERYTHING


def _wave(low: float, high: float) -> Span:
    """The range of the sine between two angles."""
    if not high - low < 2.0 * PI or not abs(low) < 1e9:
        return -1.0, 1.0
    ends = math.sin(low), math.sin(high)
    least, most = (ends[0], ends[1]) if ends[0] < ends[1] else (ends[1], ends[0])
    turn = math.floor((low - 0.5 * PI) / (2.0 * PI)) + 1.0
    if turn * (2.0 * PI) + 0.5 * PI <= high:
        most = 1.0
    turn = math.floor((low + 0.5 * PI) / (2.0 * PI)) + 1.0
    if turn * (2.0 * PI) - 0.5 * PI <= high:
        least = -1.0
    return least, most


def _lookup1(table: FloatTable, x: Span) -> Span:
    """The values of the grid points in the range and next to it."""
    axis, low, high = table.axes[0], math.inf, -math.inf
    last = len(axis) - 1
    for i, value in enumerate(table.values):
        after = axis[i + 1] if i < last else math.inf
        before = axis[i - 1] if i > 0 else -math.inf
        if after >= x[0] and before <= x[1]:
            low = value if value < low else low
            high = value if value > high else high
    return low, high

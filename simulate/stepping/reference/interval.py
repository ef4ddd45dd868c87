"""Enclosures: the tape on intervals, the reference for `core/interval.c`.

Registers hold ranges of values. Operations are enclosed to within rounding (not rounded
outwards: this is for looking ahead, not for proofs); where an operation is not known, the range
is everything. What has no value anywhere in the range (the root of negative numbers) has the
range `NOWHERE`, and what may have none somewhere in it has a gap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.simulate.stepping.reference.tape import External, lookup1, lookup2, operate, quotient
from workbench.simulate.stepping.tape import Code, FloatTable, Instruction

Span = tuple[float, float]
EVERYTHING: Span = (-math.inf, math.inf)
NOWHERE: Span = (math.nan, math.nan)
MAX_ARGUMENTS = 16
PI = 3.141592653589793

_COMPARISONS = (Code.LESS, Code.LESS_EQUAL, Code.EQUAL, Code.NOT_EQUAL)


def enclose(
    instructions: Sequence[Instruction],
    low: list[float],
    high: list[float],
    gaps: list[bool],
    tables: Sequence[FloatTable],
    externals: Sequence[External] = (),
    lipschitz: Sequence[float] = (),
) -> None:
    """Run a tape on ranges, given those of time, variables, held values and constants."""
    for code, d, a, b, c in instructions:
        x = (low[a], high[a])
        if code == Code.EXTERNAL:
            found = _external(externals[b], lipschitz[b], low[a : a + c], high[a : a + c])
            gap = any(gaps[a : a + c])
        elif code == Code.SELECT:
            yes, no = (low[b], high[b]), (low[c], high[c])
            if x[0] > 0.0:
                found, gap = yes, gaps[a] or gaps[b]
            elif x[1] <= 0.0:
                found, gap = no, gaps[a] or gaps[c]
            else:
                found, gap = _hull(yes, no), gaps[a] or gaps[b] or gaps[c]
        else:
            second = a if b < 0 or code == Code.LOOKUP1 else b
            y, gap = (low[second], high[second]), gaps[a] or gaps[second]
            found = _operation(code, x, y, tables, b, c)
            if gap:
                found = _beside_gap(code, x, y, found)
            gap = gap or _has_gap(code, x, y)
        low[d], high[d], gaps[d] = *found, gap or found[0] != found[0]


def _operation(code: int, x: Span, y: Span, tables: Sequence[FloatTable], b: int, c: int) -> Span:
    """One operation on ranges; what has no value anywhere gives none."""
    if x[0] != x[0] or y[0] != y[0]:
        if code in _COMPARISONS:
            return 0.0, 1.0
        return EVERYTHING if code in (Code.MINIMUM, Code.MAXIMUM) else NOWHERE
    if code == Code.LOOKUP1:
        return _lookup1(tables[b], x)
    if code == Code.LOOKUP2:
        return _lookup2(tables[c], x, y)
    if _is_outside(code, x, y):
        return NOWHERE
    found = _binary(code, x, y) if b >= 0 else _unary(code, x)
    return found if found[0] <= found[1] else EVERYTHING


def _beside_gap(code: int, x: Span, y: Span, found: Span) -> Span:
    """The range where an argument may have no value: a comparison is decided there all the same,
    and of two numbers the other one may be the least or the largest."""
    if code in _COMPARISONS:
        return 0.0, 1.0
    if code in (Code.MINIMUM, Code.MAXIMUM):
        return _hull(found, _hull(x, y))
    return found


def _is_outside(code: int, x: Span, y: Span) -> bool:
    """Whether a function has no value on the whole range."""
    if code in (Code.ASIN, Code.ACOS):
        return x[1] < -1.0 or x[0] > 1.0
    if code == Code.POWER:
        return x[1] < 0.0 and y[0] != math.floor(y[0])
    return code in (Code.SQRT, Code.LOG) and x[1] < 0.0


def _has_gap(code: int, x: Span, y: Span) -> bool:
    """Whether an operation may have no value somewhere in a range on which its arguments
    have values."""
    if code == Code.DIVIDE:
        return y[0] <= 0.0 <= y[1]
    if code in (Code.ASIN, Code.ACOS):
        return x[0] < -1.0 or x[1] > 1.0
    if code == Code.POWER:
        return x[0] < 0.0 and y[0] != math.floor(y[0])
    return code in (Code.SQRT, Code.LOG) and x[0] < 0.0


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
    """The least range around two; one without values adds nothing."""
    if a[0] != a[0] or b[0] != b[0]:
        return b if a[0] != a[0] else a
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
            return _power(x, y[0])
        case Code.MINIMUM:
            return operate(code, x[0], y[0]), operate(code, x[1], y[1])
        case Code.MAXIMUM:
            return operate(code, x[0], y[0]), operate(code, x[1], y[1])
        case Code.ATAN2:
            return _atan2(x, y)
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
            return operate(code, x[0] if x[0] > 0.0 else 0.0, 0.0), operate(code, x[1], 0.0)
        case Code.ASIN | Code.ACOS:
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


def _power(x: Span, exponent: float) -> Span:
    """x ** exponent: of what is not negative, unless the exponent is a whole number."""
    whole = exponent == math.floor(exponent)
    if whole and not x[0] > 0.0 and not exponent > 0.0:
        return EVERYTHING
    low = x[0] if whole or x[0] > 0.0 else 0.0
    a, b = operate(Code.POWER, low, exponent), operate(Code.POWER, x[1], exponent)
    if whole and low < 0.0 < x[1] and 0.5 * exponent == math.floor(0.5 * exponent):
        return 0.0, (a if a > b else b)
    return _corners((a, b, a, b))


def _atan2(y: Span, x: Span) -> Span:
    """The angle of (x, y): all angles where the range has points on both sides of the cut."""
    if x[0] == x[1] and y[0] == y[1]:
        return (operate(Code.ATAN2, y[0], x[0]),) * 2
    if x[0] > 0.0:
        low, high = _quotients(y, x)
        return math.atan(low), math.atan(high)
    if y[0] > 0.0 or y[1] < 0.0:
        quarter = 0.5 * PI if y[0] > 0.0 else -0.5 * PI
        low, high = _quotients(x, y)
        return quarter - math.atan(high), quarter - math.atan(low)
    return -PI, PI


def _quotients(x: Span, y: Span) -> Span:
    """x / y, where y does not contain zero."""
    ends = quotient(x[0], y[0]), quotient(x[0], y[1])
    return _corners((*ends, quotient(x[1], y[0]), quotient(x[1], y[1])))


def _lookup1(table: FloatTable, x: Span) -> Span:
    """The values at both ends of the range and at the grid points between them."""
    found = lookup1(table, x[0]), lookup1(table, x[1])
    low, high = found if found[0] < found[1] else (found[1], found[0])
    for point, value in zip(table.axes[0], table.values, strict=True):
        if x[0] < point < x[1]:
            low = value if value < low else low
            high = value if value > high else high
    return low, high


def _lookup2(table: FloatTable, x: Span, y: Span) -> Span:
    """The values at the ends of the ranges and at the grid points between them."""
    low, high = math.inf, -math.inf
    for u in (x[0], x[1], *table.axes[0]):
        for v in (y[0], y[1], *table.axes[1]):
            if x[0] <= u <= x[1] and y[0] <= v <= y[1]:
                value = lookup2(table, u, v)
                low = value if value < low else low
                high = value if value > high else high
    return low, high

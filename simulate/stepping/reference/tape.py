"""The tape in plain Python: values, Taylor series and sensitivities.

This is the reference for `core/tape.c`: the same operations in the same order, so that both
give the same floating-point numbers. It is also what runs where the extension is missing.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence

from workbench.simulate.stepping.tape import Code, FloatTable, Instruction

ROUNDING = 2.0**-53
NEAR_POLE = 16.0
"""A pole is near within so many tolerances."""

External = Callable[..., float]


def execute(
    instructions: Sequence[Instruction],
    r: list[float],
    tables: Sequence[FloatTable],
    externals: Sequence[External],
) -> None:
    """Run a tape on the registers `r`; undefined operations give NaN, as in C."""
    for code, d, a, b, c in instructions:
        match code:
            case Code.ADD:
                r[d] = r[a] + r[b]
            case Code.SUBTRACT:
                r[d] = r[a] - r[b]
            case Code.MULTIPLY:
                r[d] = r[a] * r[b]
            case Code.LOOKUP1:
                r[d] = lookup1(tables[b], r[a])
            case Code.LOOKUP2:
                r[d] = lookup2(tables[c], r[a], r[b])
            case Code.EXTERNAL:
                r[d] = float(externals[b](*r[a : a + c]))
            case Code.SELECT:
                r[d] = r[b] if r[a] != 0.0 else r[c]
            case _:
                r[d] = operate(code, r[a], r[b] if b >= 0 else 0.0)


def operate(code: int, x: float, y: float) -> float:
    """One operation on one or two numbers with the results C gives."""
    match code:
        case Code.DIVIDE:
            return quotient(x, y)
        case Code.NEGATE:
            return -x
        case Code.POWER:
            return _power(x, y)
        case Code.MINIMUM:
            return x if x < y else y
        case Code.MAXIMUM:
            return x if x > y else y
        case Code.ABSOLUTE:
            return abs(x)
        case Code.SIGN:
            return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x)
        case Code.FLOOR:
            return math.copysign(float(math.floor(x)), x) if math.isfinite(x) else x
        case Code.COPY:
            return x
        case Code.LESS:
            return 1.0 if x < y else 0.0
        case Code.LESS_EQUAL:
            return 1.0 if x <= y else 0.0
        case Code.EQUAL:
            return 1.0 if x == y else 0.0
        case Code.NOT_EQUAL:
            return 1.0 if x != y else 0.0
        case Code.AND:
            return 1.0 if x != 0.0 and y != 0.0 else 0.0
        case Code.OR:
            return 1.0 if x != 0.0 or y != 0.0 else 0.0
        case Code.NOT:
            return 1.0 if x == 0.0 else 0.0
        case Code.ATAN2:
            return math.atan2(x, y)
        case _:
            return _function(code, x)


_FUNCTIONS: dict[int, Callable[[float], float]] = {
    Code.SQRT: math.sqrt,
    Code.EXP: math.exp,
    Code.LOG: math.log,
    Code.SIN: math.sin,
    Code.COS: math.cos,
    Code.TAN: math.tan,
    Code.ASIN: math.asin,
    Code.ACOS: math.acos,
    Code.ATAN: math.atan,
}


def _function(code: int, x: float) -> float:
    try:
        return _FUNCTIONS[code](x)
    except OverflowError:
        return math.inf
    except ValueError:
        return -math.inf if code == Code.LOG and x == 0.0 else math.nan


def quotient(x: float, y: float) -> float:
    """x / y with the infinities and NaN of IEEE arithmetic."""
    if y != 0.0:
        return x / y
    if x == 0.0 or x != x:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _power(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except OverflowError:
        return math.inf if x > 0.0 or math.fmod(y, 2.0) == 0.0 else -math.inf
    except ValueError:
        return math.inf if x == 0.0 else math.nan


def _cell(axis: Sequence[float], x: float) -> tuple[int, int, float]:
    """The grid points around the clamped argument, and how far along it lies."""
    last = len(axis) - 1
    if not x > axis[0]:
        return 0, 0, 0.0
    i = bisect_right(axis, x) - 1
    if i >= last:
        return last, last, 0.0
    return i, i + 1, (x - axis[i]) / (axis[i + 1] - axis[i])


def lookup1(table: FloatTable, x: float) -> float:
    """The value of a table of one coordinate."""
    if x != x:
        return x
    i, j, s = _cell(table.axes[0], x)
    low = table.values[i]
    return low + s * (table.values[j] - low) if table.linear else low


def lookup2(table: FloatTable, x: float, y: float) -> float:
    """The value of a table of two coordinates."""
    if x != x or y != y:
        return math.nan
    width = len(table.axes[1])
    i, j, s = _cell(table.axes[0], x)
    k, m, u = _cell(table.axes[1], y)
    if not table.linear:
        return table.values[i * width + k]
    low = table.values[i * width + k]
    low = low + u * (table.values[i * width + m] - low)
    high = table.values[j * width + k]
    high = high + u * (table.values[j * width + m] - high)
    return low + s * (high - low)


def slope1(table: FloatTable, x: float) -> float:
    """The slope of a one-dimensional table at x (0 outside and for step tables)."""
    i, j, _ = _cell(table.axes[0], x)
    if i == j or not table.linear:
        return 0.0
    axis = table.axes[0]
    return (table.values[j] - table.values[i]) / (axis[j] - axis[i])


def slopes2(table: FloatTable, x: float, y: float) -> tuple[float, float, float]:
    """The partial slopes of a bilinear table at (x, y), and its mixed slope."""
    width = len(table.axes[1])
    i, j, s = _cell(table.axes[0], x)
    k, m, u = _cell(table.axes[1], y)
    if not table.linear:
        return 0.0, 0.0, 0.0
    v = table.values
    p, q, o, w = v[i * width + k], v[i * width + m], v[j * width + k], v[j * width + m]
    dx = table.axes[0][j] - table.axes[0][i]
    dy = table.axes[1][m] - table.axes[1][k]
    along = ((o + u * (w - o)) - (p + u * (q - p))) / dx if i != j else 0.0
    across = ((q + s * (w - q)) - (p + s * (o - p))) / dy if k != m else 0.0
    mixed = ((w - o) - (q - p)) / (dx * dy) if i != j and k != m else 0.0
    return along, across, mixed


Series = list[list[float]]


def extend_series(
    instructions: Sequence[Instruction],
    s: Series,
    k: int,
    tables: Sequence[FloatTable],
    externals: Sequence[External],
    degrees: Sequence[int],
) -> None:
    """Compute the k-th Taylor coefficient of every register from those below it.

    A register of degree 0 is known to have a constant series.
    """
    for instruction in instructions:
        _coefficient(instruction, s, k, tables, externals, degrees)


def complete_row(
    instruction: Instruction,
    s: Series,
    top: int,
    tables: Sequence[FloatTable],
    externals: Sequence[External],
    degrees: Sequence[int],
) -> None:
    """All coefficients of one instruction up to `top`, where its operands are complete."""
    code, d, a, b, _ = instruction
    if code == Code.MULTIPLY and degrees[a] and degrees[b]:
        x, y = s[a], s[b]
        nx, ny = _last_term(x, top), _last_term(y, top)
        for k in range(top + 1):
            s[d][k] = _convolve(x, y, k, k - ny if k > ny else 0, k if k < nx else nx)
        return
    for k in range(top + 1):
        _coefficient(instruction, s, k, tables, externals, degrees)


def _last_term(x: list[float], top: int) -> int:
    while top > 0 and x[top] == 0.0:
        top -= 1
    return top


def _convolve(a: list[float], b: list[float], k: int, low: int, high: int) -> float:
    """The sum of a[i] * b[k - i] for low <= i <= high."""
    total = 0.0
    for i in range(low, high + 1):
        total += a[i] * b[k - i]
    return total


def _weighted(a: list[float], b: list[float], k: int, high: int) -> float:
    """The sum of i * a[i] * b[k - i] for 1 <= i <= high."""
    total = 0.0
    for i in range(1, high + 1):
        total += i * a[i] * b[k - i]
    return total


def _coefficient(
    instruction: Instruction,
    s: Series,
    k: int,
    tables: Sequence[FloatTable],
    externals: Sequence[External],
    degrees: Sequence[int],
) -> None:
    code, d, a, b, c = instruction
    z, x = s[d], s[a]
    y = s[b] if b >= 0 and code not in (Code.LOOKUP1, Code.EXTERNAL) else x
    match code:
        case Code.ADD:
            z[k] = x[k] + y[k]
        case Code.SUBTRACT:
            z[k] = x[k] - y[k]
        case Code.NEGATE:
            z[k] = -x[k]
        case Code.COPY:
            z[k] = x[k]
        case Code.MULTIPLY:
            if degrees[a] == 0:
                z[k] = x[0] * y[k]
            elif degrees[b] == 0:
                z[k] = x[k] * y[0]
            else:
                z[k] = _convolve(x, y, k, 0, k)
        case Code.DIVIDE:
            z[k] = quotient(x[k] - _convolve(y, z, k, 1, k), y[0])
        case Code.SELECT:
            z[k] = y[k] if x[0] != 0.0 else s[c][k]
        case Code.MINIMUM:
            z[k] = x[k] if x[0] < y[0] else y[k]
        case Code.MAXIMUM:
            z[k] = x[k] if x[0] > y[0] else y[k]
        case Code.ABSOLUTE:
            z[k] = -x[k] if x[0] < 0.0 else x[k]
        case Code.LOOKUP1:
            z[k] = lookup1(tables[b], x[0]) if k == 0 else slope1(tables[b], x[0]) * x[k]
        case Code.LOOKUP2:
            z[k] = _lookup2_coefficient(tables[c], x, y, k)
        case Code.EXTERNAL:
            z[k] = float(externals[b](*(s[a + i][0] for i in range(c)))) if k == 0 else 0.0
        case _ if k == 0:
            z[0] = operate(code, x[0], y[0])
            _companion(code, z, x, y, s[c], 0)
        case _:
            _function_coefficient(code, z, x, y, s[c], k)


def _lookup2_coefficient(table: FloatTable, x: list[float], y: list[float], k: int) -> float:
    if k == 0:
        return lookup2(table, x[0], y[0])
    along, across, mixed = slopes2(table, x[0], y[0])
    return along * x[k] + across * y[k] + mixed * _convolve(x, y, k, 1, k - 1)


def _function_coefficient(
    code: int, z: list[float], x: list[float], y: list[float], w: list[float], k: int
) -> None:
    match code:
        case Code.SQRT:
            z[k] = quotient(x[k] - _convolve(z, z, k, 1, k - 1), 2.0 * z[0])
        case Code.EXP:
            z[k] = _weighted(x, z, k, k) / k
        case Code.LOG:
            z[k] = quotient(x[k] - _weighted(z, x, k, k - 1) / k, x[0])
        case Code.POWER:
            total = 0.0
            for i in range(1, k + 1):
                total += (y[0] * i - (k - i)) * x[i] * z[k - i]
            z[k] = quotient(total, k * x[0])
        case Code.SIN | Code.TAN:
            z[k] = _weighted(x, w, k, k) / k
        case Code.COS:
            z[k] = -_weighted(x, w, k, k) / k
        case Code.ASIN | Code.ATAN:
            z[k] = quotient(x[k] - _weighted(z, w, k, k - 1) / k, w[0])
        case Code.ACOS:
            z[k] = quotient(-x[k] - _weighted(z, w, k, k - 1) / k, w[0])
        case Code.ATAN2:
            total = _weighted(x, y, k, k) - _weighted(y, x, k, k) - _weighted(z, w, k, k - 1)
            z[k] = quotient(total, k * w[0])
        case _:
            z[k] = 0.0
    _companion(code, z, x, y, w, k)


def _companion(
    code: int, z: list[float], x: list[float], y: list[float], w: list[float], k: int
) -> None:
    """The companion series: cos for sin, 1 + tan^2 for tan, sqrt(1 - x^2) for asin, ..."""
    match code:
        case Code.SIN:
            w[k] = operate(Code.COS, x[0], 0.0) if k == 0 else -_weighted(x, z, k, k) / k
        case Code.COS:
            w[k] = operate(Code.SIN, x[0], 0.0) if k == 0 else _weighted(x, z, k, k) / k
        case Code.TAN:
            w[k] = _convolve(z, z, k, 0, k) + (1.0 if k == 0 else 0.0)
        case Code.ATAN:
            w[k] = _convolve(x, x, k, 0, k) + (1.0 if k == 0 else 0.0)
        case Code.ASIN:
            first = operate(Code.SQRT, 1.0 - x[0] * x[0], 0.0) if k == 0 else 0.0
            w[k] = first if k == 0 else -_weighted(z, x, k, k) / k
        case Code.ACOS:
            first = operate(Code.SQRT, 1.0 - x[0] * x[0], 0.0) if k == 0 else 0.0
            w[k] = first if k == 0 else _weighted(z, x, k, k) / k
        case Code.ATAN2:
            w[k] = _convolve(x, x, k, 0, k) + _convolve(y, y, k, 0, k)


def sensitivity(
    instructions: Sequence[Instruction],
    r: list[float],
    spread: list[float],
    noise: list[float],
    tables: Sequence[FloatTable],
    lipschitz: Sequence[float] = (),
) -> None:
    """Propagate how far each register moves: `spread` for a tolerance of the variables,
    sum |dz/dx_i| tol_i to first order, and `noise` for rounding errors; infinite where a pole
    is so near that the first order tells nothing."""
    for code, d, a, b, c in instructions:
        pa, pb = _partials(code, d, a, b, c, r, tables)
        if code == Code.EXTERNAL:
            factor = lipschitz[b] if lipschitz[b] < math.inf else 1.0
            spread[d] = noise[d] = 0.0
            for i in range(a, a + c):
                spread[d] += factor * spread[i]
                noise[d] += factor * noise[i]
        elif code == Code.SELECT:
            chosen = b if r[a] != 0.0 else c
            spread[d], noise[d] = spread[chosen], noise[chosen]
        else:
            second = b if b >= 0 and code != Code.LOOKUP1 else a
            spread[d] = pa * spread[a] + pb * spread[second]
            noise[d] = pa * noise[a] + pb * noise[second]
            if _is_near_pole(code, r[d], r[second], spread[second]):
                spread[d] = math.inf
            if _is_near_pole(code, r[d], r[second], noise[second]):
                noise[d] = math.inf
        noise[d] += ROUNDING * abs(r[d])


def _is_near_pole(code: int, value: float, last: float, change: float) -> bool:
    """Whether a change of the last operand may lead over a pole."""
    if code == Code.DIVIDE:
        return not NEAR_POLE * change < abs(last)
    return code == Code.TAN and not NEAR_POLE * change * abs(value) < 1.0


def _partials(
    code: int, d: int, a: int, b: int, c: int, r: list[float], tables: Sequence[FloatTable]
) -> tuple[float, float]:
    """The absolute partial derivatives of an operation (large where it is not smooth)."""
    x = r[a]
    match code:
        case Code.ADD | Code.SUBTRACT:
            return 1.0, 1.0
        case Code.MULTIPLY:
            return abs(r[b]), abs(x)
        case Code.DIVIDE:
            return quotient(1.0, abs(r[b])), quotient(abs(r[d]), abs(r[b]))
        case Code.POWER:
            return quotient(abs(r[b] * r[d]), abs(x)), 0.0
        case Code.MINIMUM:
            return (1.0, 0.0) if x < r[b] else (0.0, 1.0)
        case Code.MAXIMUM:
            return (1.0, 0.0) if x > r[b] else (0.0, 1.0)
        case Code.SQRT:
            return quotient(0.5, r[d]), 0.0
        case Code.EXP:
            return r[d], 0.0
        case Code.LOG:
            return quotient(1.0, abs(x)), 0.0
        case Code.TAN:
            return 1.0 + r[d] * r[d], 0.0
        case Code.ASIN | Code.ACOS:
            return quotient(1.0, operate(Code.SQRT, 1.0 - x * x, 0.0)), 0.0
        case Code.ATAN:
            return 1.0 / (1.0 + x * x), 0.0
        case Code.ATAN2:
            square = x * x + r[b] * r[b]
            return quotient(abs(r[b]), square), quotient(abs(x), square)
        case Code.LOOKUP1:
            return abs(slope1(tables[b], x)), 0.0
        case Code.LOOKUP2:
            along, across, _ = slopes2(tables[c], x, r[b])
            return abs(along), abs(across)
        case Code.NEGATE | Code.COPY | Code.ABSOLUTE | Code.SIN | Code.COS:
            return 1.0, 0.0
        case _:
            return 0.0, 0.0

"""Where a polynomial is non-negative: the reference for `core/roots.c`.

The polynomial is written in the Bernstein basis of [0, h]. Coefficients of one sign decide
a subinterval at once; one sign change isolates one root, which bisection encloses; anything
else is halved. So no root is skipped, however many lie inside the interval, and a root of
even order is found as a short interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

MAX_DEGREE = 24
MAX_INTERVALS = 8
"""Beyond this many intervals the last one is taken to reach the end (an over-approximation)."""

_NARROWEST = 2.0**-40
"""Subintervals of this relative width that are still undecided count as non-negative."""

_BINOMIAL = [[float(math.comb(n, k)) for k in range(MAX_DEGREE + 1)] for n in range(MAX_DEGREE + 1)]


def nonnegative(c: Sequence[float], degree: int, h: float) -> list[tuple[float, float]]:
    """The intervals of [0, h] on which sum c[j] s^j >= 0, in order.

    An interval that starts with a sign change starts on the negative side of the root, by
    less than one unit in the last place of the bisection; undecided slivers are included.
    """
    a, power = [], 1.0
    for j in range(degree + 1):
        a.append(c[j] * power)
        power *= h
    while degree > 0 and a[degree] == 0.0:
        degree -= 1
    rest = 0.0
    for j in range(1, degree + 1):
        rest += abs(a[j])
    if not rest < math.inf:
        rest, degree = 0.0, 0
    if a[0] - rest >= 0.0:
        return [(0.0, h)]
    if a[0] + rest < 0.0:
        return []
    found: list[tuple[float, float]] = []
    stack = [(0.0, 1.0, _bernstein(a, degree))]
    while stack:
        low, high, b = stack.pop()
        changes, last = 0, 0
        for value in b:
            sign = 1 if value >= 0.0 else -1
            changes += last != 0 and sign != last
            last = sign
        if changes == 0:
            if last > 0:
                _append(found, low, high)
        elif changes == 1:
            root = _bisect(a, degree, low, high, b[0] < 0.0)
            if b[0] < 0.0:
                _append(found, root, high)
            else:
                _append(found, low, root)
        elif high - low <= _NARROWEST:
            _append(found, low, high)
        else:
            left, right = _halves(b, degree)
            middle = 0.5 * (low + high)
            stack.append((middle, high, right))
            stack.append((low, middle, left))
    return [(low * h, high * h) for low, high in found]


def _append(found: list[tuple[float, float]], low: float, high: float) -> None:
    if found and low <= found[-1][1]:
        found[-1] = (found[-1][0], high)
    elif len(found) == MAX_INTERVALS:
        found[-1] = (found[-1][0], 1.0)
    else:
        found.append((low, high))


def _bernstein(a: Sequence[float], degree: int) -> list[float]:
    values = []
    for i in range(degree + 1):
        total = 0.0
        for j in range(i + 1):
            total += _BINOMIAL[i][j] / _BINOMIAL[degree][j] * a[j]
        values.append(total)
    return values


def _halves(b: list[float], degree: int) -> tuple[list[float], list[float]]:
    """De Casteljau: the coefficients on the left and right half."""
    left, right = [0.0] * (degree + 1), list(b)
    for i in range(degree + 1):
        left[i] = right[0]
        for j in range(degree - i):
            right[j] = 0.5 * (right[j] + right[j + 1])
    return left, right


def _bisect(a: Sequence[float], degree: int, low: float, high: float, rising: bool) -> float:
    """The last point before the sign change of a bracketed root."""
    for _ in range(64):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        value = a[degree]
        for j in range(degree - 1, -1, -1):
            value = value * middle + a[j]
        if (value < 0.0) == rising:
            low = middle
        else:
            high = middle
    return low

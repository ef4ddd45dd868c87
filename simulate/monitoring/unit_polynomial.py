"""Polynomials on the unit interval, as lists of coefficients, lowest power first.

Extrema and roots are found by isolation: in Bernstein form a polynomial lies between its
least and greatest coefficient, and has no root where these do not change sign and exactly
one where they change it once (Descartes); other intervals are halved. Nothing between
sampling points is missed, up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from math import comb, inf, isfinite

Polynomial = list[float]

DEPTH = 44
"""Intervals are halved at most so often: then they are as short as rounding allows."""

NEGLIGIBLE = 4e-16
"""Below this part of the largest coefficient a polynomial cannot be told from zero."""


def value(p: Sequence[float], u: float) -> float:
    """p(u), by Horner's rule."""
    total = 0.0
    for c in reversed(p):
        total = total * u + c
    return total


def scaled(coefficients: Sequence[float], length: float) -> Polynomial:
    """p(length * u) for a polynomial given in local time."""
    result, factor = [], 1.0
    for c in coefficients:
        result.append(c * factor)
        factor *= length
    return result


def product(p: Sequence[float], q: Sequence[float]) -> Polynomial:
    """p * q."""
    result = [0.0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        if a != 0.0:
            for j, b in enumerate(q):
                result[i + j] += a * b
    return result


def derivative(p: Sequence[float]) -> Polynomial:
    """dp/du."""
    return [i * c for i, c in enumerate(p)][1:] or [0.0]


def difference(p: Sequence[float], q: Sequence[float]) -> Polynomial:
    """p - q."""
    size = max(len(p), len(q))
    first = [*p, *([0.0] * (size - len(p)))]
    for i, c in enumerate(q):
        first[i] -= c
    return first


@cache
def _weights(degree: int) -> tuple[tuple[float, ...], ...]:
    return tuple(
        tuple(comb(i, k) / comb(degree, k) for k in range(i + 1)) for i in range(degree + 1)
    )


def bernstein(p: Sequence[float]) -> list[float]:
    """The Bernstein coefficients on [0, 1]."""
    return [sum(w * c for w, c in zip(row, p, strict=False)) for row in _weights(len(p) - 1)]


def bounds(p: Sequence[float]) -> tuple[float, float]:
    """An enclosure of the values on [0, 1] (up to rounding): cheap, not tight."""
    spread = sum(map(abs, p[1:]))
    if spread <= 1e-3 * abs(p[0]):
        return p[0] - spread, p[0] + spread
    b = bernstein(p)
    return min(b), max(b)


Settled = Callable[[float, float, Sequence[float]], Sequence[float] | None]
"""Of a piece and its Bernstein coefficients: what to take for its roots without looking closer;
None to look closer."""


def roots(p: Sequence[float], settled: Settled = lambda *_: None) -> list[float]:
    """Where p vanishes in [0, 1], in increasing order; a touching root may be reported
    twice, next to itself. A polynomial that is zero up to rounding has none."""
    spread = sum(map(abs, p[1:]))
    if abs(p[0]) > spread or not isfinite(abs(p[0]) + spread):
        return []
    b = bernstein(p)
    scale = max(map(abs, b))
    if scale == 0.0 or max(map(abs, p)) == 0.0:
        return []
    tiny = NEGLIGIBLE * max(scale, max(map(abs, p)))
    found: list[float] = []
    stack: list[tuple[float, float, list[float], int]] = [(0.0, 1.0, b, 0)]
    while stack:
        low, high, b, depth = stack.pop()
        if all(abs(c) <= tiny for c in b):
            if depth:
                found.append(0.5 * (low + high))
            continue
        changes = _sign_changes(b, tiny)
        if changes == 0:
            continue
        known = settled(low, high, b)
        if known is not None:
            found.extend(known)
        elif depth >= DEPTH:
            found.append(0.5 * (low + high))
        elif changes == 1 and b[0] * b[-1] < 0.0:
            found.append(_bisected(p, low, high))
        else:
            left, right = _halved(b)
            middle = 0.5 * (low + high)
            stack.append((middle, high, right, depth + 1))
            stack.append((low, middle, left, depth + 1))
    return found


def critical_points(p: Sequence[float], best: float = inf) -> list[float]:
    """Where the derivative vanishes inside (0, 1), as far as p may be below `best` there. A piece
    in which p changes by rounding only counts as one point."""
    if len(p) <= 2:
        return []
    rounding = NEGLIGIBLE * sum(map(abs, p))

    def settled(low: float, high: float, slopes: Sequence[float]) -> Sequence[float] | None:
        width = high - low
        falls, rises = -width * min(0.0, *slopes), width * max(0.0, *slopes)
        if falls <= rounding and rises <= rounding:
            return (0.5 * (low + high),)
        least = max(value(p, low) - falls, value(p, high) - rises)
        return () if least - rounding >= best else None

    return [u for u in roots(derivative(p), settled) if 0.0 < u < 1.0]


def _sign_changes(b: Sequence[float], tiny: float) -> int:
    """How often the sign changes; a coefficient near zero counts as a change to be sure."""
    changes, last = 0, 0
    for c in b:
        sign = (c > tiny) - (c < -tiny)
        if sign == 0:
            if c is b[0] or c is b[-1]:
                changes += 2
            continue
        if last and sign != last:
            changes += 1
        last = sign
    return changes


def _halved(b: Sequence[float]) -> tuple[list[float], list[float]]:
    """The Bernstein coefficients on both halves (de Casteljau)."""
    row, left, right = list(b), [b[0]], [b[-1]]
    while len(row) > 1:
        row = [0.5 * (x + y) for x, y in pairwise(row)]
        left.append(row[0])
        right.append(row[-1])
    return left, right[::-1]


def _bisected(p: Sequence[float], low: float, high: float) -> float:
    """The root of p between two points where its signs differ (false position, guarded)."""
    f_low, f_high = value(p, low), value(p, high)
    if f_low == 0.0 or f_high == 0.0 or (f_low > 0.0) == (f_high > 0.0):
        return low if abs(f_low) <= abs(f_high) else high
    for _ in range(80):
        width = high - low
        guess = low - f_low * width / (f_high - f_low)
        inside = low + 0.05 * width < guess < high - 0.05 * width
        middle = guess if inside else 0.5 * (low + high)
        f = value(p, middle)
        if f == 0.0 or width < 1e-16 or middle in (low, high):
            return middle
        if (f > 0.0) == (f_low > 0.0):
            low, f_low = middle, f
        else:
            high, f_high = middle, f
        if high - low > 0.6 * width:  # false position stalls: halve
            middle = 0.5 * (low + high)
            f = value(p, middle)
            if (f > 0.0) == (f_low > 0.0):
                low, f_low = middle, f
            else:
                high, f_high = middle, f
    return 0.5 * (low + high)

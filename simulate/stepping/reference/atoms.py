"""Where one atom becomes true along the extrapolation polynomial.

The reference for `core/atoms.c`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.simulate.stepping.program import EQUALITY, FROZEN, STEPWISE, STRICT, UNDEFINED_HOLDS
from workbench.simulate.stepping.reference.memory import CROSSING, UNILATERAL, Memory
from workbench.simulate.stepping.reference.roots import MAX_DEGREE, nonnegative
from workbench.simulate.stepping.tape import OPAQUE_DEGREE

Intervals = list[tuple[float, float]]

TOUCH = 2.0
"""A guard that is missed, or passed, by so many tolerances is touched."""

CLOSE = 64.0
"""Where the extrapolation stays so many tolerances below a guard, it is looked at more closely:
the way is known better than that at the end of a step."""

NOTHING_GAINED = 0.01
"""As near as it will come: what is left to the nearest point is this part of that."""

LEFT = 16.0
"""A guard that is no polynomial has been left after so many tolerances: then it can be enclosed."""

SOON = 2.0**-20
"""A guard is left at the earliest after this part of a step."""


def span(m: Memory, degree: int) -> int:
    """How many powers of the composition are kept."""
    exact = degree * m.degree
    if degree < OPAQUE_DEGREE and exact <= MAX_DEGREE:
        return exact
    return min(MAX_DEGREE, m.degree + 6)


def intervals(m: Memory, k: int, h: float) -> tuple[Intervals, float]:
    """Where an atom is (about to be) true within [0, h], and the step to which h must
    be cut because the composed series is not trusted further."""
    register, sign, kind, flags = m.p.atoms[k]
    v, whole = m.values[k], [(0.0, h)]
    if flags & FROZEN:
        return (whole if (v != 0.0) == (sign > 0) else []), h
    if v != v:
        return (whole if flags & UNDEFINED_HOLDS else []), h
    degree = span(m, m.p.degrees[register])
    cut = m.p.degrees[register] * m.degree > MAX_DEGREE
    row = m.series[register]
    flip = -1.0 if sign < 0 and not flags & EQUALITY else 1.0
    c = [flip * row[j] for j in range(degree + 1)]
    c[0] = v
    rest, power, last, before = 0.0, 1.0, 0.0, 0.0
    for j in range(1, degree + 1):
        power *= h
        before, last = last, abs(c[j]) * power
        rest += last
    if cut and not flags & EQUALITY and v > (0.0 if kind == CROSSING else m.eps[k]):
        m.departing[k] = False
        return whole, h  # what it does later, its series need not tell
    if not rest < math.inf:
        return (whole if v > 0.0 else []), h
    tail = last + before if cut else 0.0
    eps = m.eps[k]
    scale = m.scale[k] if m.scale[k] > eps else eps  # time alone has no spread
    if tail > scale and rest + 4.0 * tail >= 0.5 * abs(v):
        shorter = h * max(0.1, 0.9 * math.pow(scale / tail, 1.0 / (degree - 1)))
        if shorter < h:
            return [], shorter
    if flags & EQUALITY:
        return equality(m, k, sign, c, degree, h, rest), h
    if kind == CROSSING:
        return crossing(m, k, c, degree, h, rest), h
    if abs(v) > eps:
        m.departing[k] = False
        if v < 0.0 and rest < 0.5 * -v:
            return [], h
        if kind == UNILATERAL or v > 0.0:
            c[0] = v + delta(m, k, c, 0.5 * eps)
        return nonnegative(c, degree, h), h
    if m.first or m.departing[k] or (flags & STEPWISE and v == 0.0):
        way = direction(c, degree, h, eps)
        if way and c[way] > 0.0 and not (cut or exceeds(c, degree, h, eps)):
            way = 0
        if way == 0:  # it rests on the boundary; a strict one is looked at again
            m.departing[k] = bool(flags & STRICT)
            return ([] if flags & STRICT else whole), h
        if c[way] < 0.0:
            m.departing[k] = True
            gone = math.pow(LEFT * scale / abs(c[way]), 1.0 / way) if cut else h
            gone = SOON * h if gone < SOON * h else gone
            return (returning(c, degree, way, h), h) if gone >= h else ([], gone)
        m.departing[k] = False
    c[0] = 2.0 * eps
    return (whole if cut else nonnegative(c, degree, h)), h


def crossing(m: Memory, k: int, c: list[float], degree: int, h: float, rest: float) -> Intervals:
    """Where an atom is true that is reached just beyond its guard. On the boundary itself it
    counts as it is written, at the start, where it jumps there, and while it rests there."""
    v, flags = c[0], m.p.atoms[k][3]
    settled = m.first or flags & STEPWISE or rest == 0.0
    if v > 0.0 or (v == 0.0 and settled and not flags & STRICT):
        return nonnegative(c, degree, h)
    if rest == 0.0:
        return []
    c[0] = v - wanted(m, k, c, 2.0 * m.eps[k])
    found = nonnegative(c, degree, h)
    if found and found[0][0] == 0.0:  # not yet crossed, however near
        found[0] = (5e-324, found[0][1])
    return found


def delta(m: Memory, k: int, c: Sequence[float], least: float) -> float:
    """The distance kept from the guard: as wanted, at most half the present distance."""
    distance, half = wanted(m, k, c, least), 0.5 * abs(c[0])
    return distance if distance < half else half


def wanted(m: Memory, k: int, c: Sequence[float], least: float) -> float:
    """The guard's tolerance times the expected error of a step as short as the way."""
    reach = abs(c[0]) / abs(c[1]) if len(c) > 1 and abs(c[1]) > 0.0 else math.inf
    ratio = reach / m.h_before if m.h_before > 0.0 else math.inf
    part = 1.0
    if ratio < 1.0:
        for _ in range(m.order + 1):
            part *= ratio
    distance = m.scale[k] * part
    return least if distance < least else distance


def direction(c: Sequence[float], degree: int, h: float, eps: float) -> int:
    """The first power by which the guard leaves the band |g| <= eps; 0 for none."""
    power = 1.0
    for j in range(1, degree + 1):
        power *= h
        if abs(c[j]) * power > eps:
            return j
    return 0


def exceeds(c: Sequence[float], degree: int, h: float, eps: float) -> bool:
    """Whether the guard gets beyond eps."""
    return bool(nonnegative([c[0] - eps, *c[1:]], degree, h))


def stays(c: Sequence[float], degree: int, h: float, eps: float) -> bool:
    """Whether the guard stays in the band |g| <= eps."""
    if direction(c, degree, h, eps) == 0:
        return True
    return not (exceeds(c, degree, h, eps) or exceeds([-v for v in c], degree, h, eps))


def returning(c: Sequence[float], degree: int, way: int, h: float) -> Intervals:
    """A departing guard may come back: half the way to its return limits the step."""
    rest = list(c[way:])
    back = nonnegative(rest, degree - way, h)
    return [(0.5 * back[0][0], h)] if back else []


def equality(
    m: Memory, k: int, sign: int, c: list[float], degree: int, h: float, rest: float
) -> Intervals:
    """`g == 0` holds in the slab |P| <= delta; `g != 0` outside the band."""
    v, eps, whole = c[0], m.eps[k], [(0.0, h)]
    inside = abs(v) <= eps
    if sign < 0:
        return [] if inside and stays(c, degree, h, eps) else whole
    if not inside:
        m.departing[k] = False
        if rest < 0.5 * abs(v):
            return []
        if v > 0.0:
            c = [-value for value in c]
        c[0] = c[0] + delta(m, k, c, 0.5 * eps)
        return nonnegative(c, degree, h)
    if m.first or m.departing[k]:
        way = direction(c, degree, h, eps)
        if way:
            m.departing[k] = True
            if c[way] > 0.0:
                c = [-value for value in c]
            return returning(c, degree, way, h)
    return [(0.0, 0.0)]


def nearest(m: Memory, k: int, h: float) -> float:
    """When an atom that stays false comes nearest to its guard, if that is (or may turn out to
    be) a touch: it comes from further away than `TOUCH` tolerances, and is gone again before h.
    Infinite if not."""
    register, sign, kind, flags = m.p.atoms[k]
    v, band = m.values[k], TOUCH * m.scale[k]
    if flags & (FROZEN | EQUALITY | STEPWISE) or kind == CROSSING or not v < -m.eps[k]:
        return math.inf
    if v < -band:
        m.outside[k] = True
    if not m.outside[k]:
        return math.inf
    degree = span(m, m.p.degrees[register])
    c = [sign * m.series[register][j] for j in range(degree + 1)]
    c[0] = v
    rest, power = 0.0, 1.0
    for j in range(1, degree + 1):
        power *= h
        rest += abs(c[j]) * power
    close = CLOSE * m.scale[k]
    if degree < 1 or not v + rest >= -close or not value_at(c, degree, h) < -band:
        return math.inf
    for s, _ in nonnegative([-(j * c[j]) for j in range(1, degree + 1)], degree - 1, h):
        value = value_at(c, degree, s)
        if value - v <= NOTHING_GAINED * band:
            if v >= -band:
                return 0.0
        elif value >= -close:
            return s
    return math.inf


def value_at(c: Sequence[float], degree: int, s: float) -> float:
    """A polynomial at a point."""
    value = c[degree]
    for j in range(degree - 1, -1, -1):
        value = value * s + c[j]
    return value

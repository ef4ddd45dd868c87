"""Looking ahead: the watched guards along the extrapolation polynomial.

The reference for `core/plan.c`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from simulate.program import EQUALITY, FROZEN, STEPWISE, STRICT, UNDEFINED_HOLDS
from simulate.reference_interval import enclose
from simulate.reference_memory import CROSSING, UNILATERAL, Memory
from simulate.reference_roots import MAX_DEGREE, nonnegative
from simulate.reference_tape import complete_row
from simulate.tape import OPAQUE_DEGREE

Intervals = list[tuple[float, float]]

FINEST = 2.0**-6
"""A step is enclosed in pieces down to this part of it, or shortened."""

SHORTEST = 2.0**-30
"""Shortened by more than this a step is trusted to the series alone."""

MAX_ROUNDS = 256
"""At most so many enclosures for one step."""


def compose(m: Memory) -> None:
    """The series of the guards along the extrapolation polynomial."""
    s, q = m.series, m.degree
    s[0][0], s[0][1] = m.t, 1.0
    for i in range(m.n):
        row = s[1 + i]
        for k in range(MAX_DEGREE + 1):
            row[k] = m.poly[i][k] if k <= q else 0.0
    for instruction in m.p.guard:
        top = span(m, m.p.degrees[instruction[1]])
        complete_row(instruction, s, top, m.p.tables, m.p.externals, m.p.degrees)
        for k in range(top + 1, MAX_DEGREE + 1):
            s[instruction[1]][k] = 0.0
            if 14 <= instruction[0] <= 20:  # the companion series of a function
                s[instruction[4]][k] = 0.0


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
    if not rest < math.inf:
        return (whole if v > 0.0 else []), h
    tail = last + before if cut else 0.0
    eps, scale = m.eps[k], m.scale[k]
    if tail > scale and rest + 4.0 * tail >= 0.5 * abs(v):
        shorter = h * max(0.1, 0.9 * math.pow(scale / tail, 1.0 / (degree - 1)))
        if shorter < h:
            return [], shorter
    if flags & EQUALITY:
        return equality(m, k, sign, c, degree, h, rest), h
    if kind == CROSSING:
        if v == 0.0 and m.first and not flags & STRICT:
            return [(0.0, 0.0)], h
        if v <= 0.0:
            c[0] = v - wanted(m, k, c, 2.0 * eps)
        found = nonnegative(c, degree, h)
        if v <= 0.0 and found and found[0][0] == 0.0:  # not yet crossed, however near
            found[0] = (5e-324, found[0][1])
        return found, h
    if abs(v) > eps:
        m.departing[k] = False
        if v < 0.0 and rest < 0.5 * -v:
            return [], h
        if kind == UNILATERAL or v > 0.0:
            c[0] = v + delta(m, k, c, 0.5 * eps)
        return nonnegative(c, degree, h), h
    if m.first or m.departing[k] or (flags & STEPWISE and v == 0.0):
        way = direction(c, degree, h, eps)
        if way == 0:  # it rests on the boundary; a strict one is looked at again
            m.departing[k] = bool(flags & STRICT)
            return ([] if flags & STRICT else whole), h
        if c[way] < 0.0:
            m.departing[k] = True
            return returning(c, degree, way, h), h
        m.departing[k] = False
    c[0] = 2.0 * eps
    return nonnegative(c, degree, h), h


def delta(m: Memory, k: int, c: Sequence[float], least: float) -> float:
    """The distance kept from the guard: as wanted, at most half the present distance."""
    distance, half = wanted(m, k, c, least), 0.5 * abs(c[0])
    return distance if distance < half else half


def wanted(m: Memory, k: int, c: Sequence[float], least: float) -> float:
    """The guard's tolerance times the expected error of a step as short as the way."""
    reach = abs(c[0]) / abs(c[1]) if len(c) > 1 and abs(c[1]) > 0.0 else math.inf
    ratio = reach / m.h_before
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
        return [] if inside and direction(c, degree, h, eps) == 0 else whole
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


def earliest(m: Memory, watch: int, found: Sequence[Intervals]) -> float:
    """The first time at which a watch's formula is true; infinite for never."""
    times = [0.0]
    for token in m.p.watches[watch].tokens:
        if token >= 0:
            times.extend(low for low, _ in found[token])
    for time in sorted(set(times)):
        truth = [any(a <= time <= b for a, b in part) for part in found]
        if m.holds(watch, truth):
            return time
    return math.inf


def plan(m: Memory, h: float) -> tuple[float, list[int], list[int]]:
    """The step allowed by the watches, and the watches that are true now."""
    if not m.active:
        return h, [], []
    compose(m)
    if near(m, h):
        m.tolerances()
    found: list[Intervals] = [[] for _ in m.p.atoms]
    for _ in range(8):
        shortest = h
        for k, used in enumerate(m.used):
            if used:
                found[k], limit = intervals(m, k, h)
                shortest = min(shortest, limit)
        if shortest >= h:
            break
        h = shortest
    fired, limit = [], verified(m, h, found)
    for w in m.active:
        time = earliest(m, w, found)
        if time == 0.0:
            fired.append(w)
        elif time < limit:
            limit = time
    grazing = [w for w in fired if grazes(m, w, h)]
    return limit, fired, grazing


def ranges(m: Memory, a: float, b: float) -> None:
    """Enclose the guards between the times a and b of the extrapolation."""
    middle, half = 0.5 * (a + b), 0.5 * (b - a)
    m.low, m.high = list(m.r), list(m.r)
    m.low[0], m.high[0] = m.t + a, m.t + b
    for i in range(m.n):
        value, slope, power = 0.0, 0.0, 1.0
        for j in range(m.degree, -1, -1):
            value = value * middle + m.poly[i][j]
        for j in range(1, m.degree + 1):
            slope += j * abs(m.poly[i][j]) * power
            power *= b
        reach = half * slope
        m.low[1 + i], m.high[1 + i] = value - reach, value + reach
    enclose(m.p.guard, m.low, m.high, m.p.tables, m.p.externals, m.p.lipschitz)


def stays_false(m: Memory, k: int) -> bool:
    """Whether an atom that is false now is false over the whole range just enclosed."""
    register, sign, _, flags = m.p.atoms[k]
    low, high = m.low[register], m.high[register]
    if flags & EQUALITY:
        return high < 0.0 or low > 0.0
    return high < 0.0 if sign > 0 else low > 0.0


def unproved(m: Memory) -> list[int]:
    """The atoms that are false now and no polynomials: their series is not the whole truth."""
    found = []
    for k, (register, sign, _, flags) in enumerate(m.p.atoms):
        v, equality = m.values[k], bool(flags & EQUALITY)
        if not m.used[k] or flags & FROZEN or m.p.degrees[register] * m.degree <= MAX_DEGREE:
            continue
        if equality and sign < 0:
            continue
        if abs(v) > m.eps[k] if equality else v < -m.eps[k]:
            found.append(k)
    return found


def verified(m: Memory, h: float, found: Sequence[Intervals]) -> float:
    """How far the truth of guards that are no polynomials is excluded, or predicted by their
    series, when the way is enclosed piece by piece; where neither is the case, and not even
    close by, the step is shortened and enclosed more finely."""
    pending, a, width, finest, rounds = unproved(m), 0.0, h, h * FINEST, 0
    shortest = h * SHORTEST
    if pending:  # what is not even excluded here and now cannot be enclosed at all
        ranges(m, 0.0, 0.0)
        pending = [k for k in pending if stays_false(m, k)]
    while pending and a < h and rounds < MAX_ROUNDS:
        rounds += 1
        b = a + width if a + width < h else h
        ranges(m, a, b)
        failing = [k for k in pending if not stays_false(m, k)]
        if failing and width > finest:
            width *= 0.5
            continue
        unexplained = [k for k in failing if not (found[k] and found[k][0][0] <= b + width)]
        if unexplained and a > 0.0:
            return a
        if unexplained and b > shortest:
            h, width, finest = b, b, b * FINEST
            continue
        for k in failing:  # the series tells where, or it is too close to tell
            pending.remove(k)
        a, width = b, 2.0 * width
    return (a if a < h else h) if pending and a > 0.0 else h


def near(m: Memory, h: float) -> bool:
    """Whether some atom may matter within h, so that tolerances must be up to date."""
    if m.first:
        return True
    for k, used in enumerate(m.used):
        register, _, _, flags = m.p.atoms[k]
        if not used or flags & FROZEN:
            continue
        degree = span(m, m.p.degrees[register])
        row, rest, power, last, before = m.series[register], 0.0, 1.0, 0.0, 0.0
        for j in range(1, degree + 1):
            power *= h
            before, last = last, abs(row[j]) * power
            rest += last
        if m.p.degrees[register] * m.degree > MAX_DEGREE:
            rest += 4.0 * (last + before)
        v = abs(m.values[k])
        if not rest < 0.5 * v or v <= 4.0 * m.eps[k]:
            return True
    return False


def grazes(m: Memory, watch: int, h: float) -> bool:
    """Whether a true formula only touches: some atom is within its band, and none that
    is gets beyond its tolerance before it has left again."""
    touching = False
    for token in m.p.watches[watch].tokens:
        if token < 0 or m.p.atoms[token][3] & (FROZEN | EQUALITY):
            continue
        v, eps = m.values[token], m.eps[token]
        if not abs(v) <= eps:
            continue
        register, sign, _, _ = m.p.atoms[token]
        degree = span(m, m.p.degrees[register])
        c = [sign * m.series[register][j] for j in range(degree + 1)]
        c[0] = v - m.scale[token]
        if nonnegative(c, degree, h):
            return False
        end = 0.0
        for j in range(degree, 0, -1):
            end = (end + c[j]) * h
        touching = touching or v + end < -eps
    return touching

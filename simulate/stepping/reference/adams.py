"""The extrapolation polynomial: Taylor series, and Adams formulas from divided differences.

The reference for `core/adams.c` and, with `simulate.stepping.reference.core`, for `core/step.c`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.simulate.stepping.methods import Adams
from workbench.simulate.stepping.reference.memory import Memory, finite
from workbench.simulate.stepping.reference.roots import MAX_DEGREE
from workbench.simulate.stepping.reference.tape import extend_series

START_ORDER = 6
"""Adams steps start from a Taylor series of this order."""

INVERSE = (0.0, *(1.0 / k for k in range(1, MAX_DEGREE + 1)))

DEFECT_PLACE = 0.75
"""Where inside a step the defect is measured, as a part of it. There one measurement tells the
error of a step onto a square root, a logarithm or a pole within a fifth."""

UNCORRECTED = 0.2
"""The part of a measured error that is left when the step has been corrected by it."""

SLOW_DECAY = 0.5
WORTH_MEASURING = 0.1
"""The error is measured where the estimate, at least this large, shrinks by no more than this
factor when the order is raised: a sign that the derivatives grow along the step."""


def weight(m: Memory, i: int, other: float) -> float:
    """The error allowed in a variable on a step to the value `other`."""
    size = max(abs(m.x[i]), abs(other))
    return m.method.atol + m.method.rtol * size


def taylor_series(m: Memory, order: int) -> int:
    """Taylor coefficients of the state at (t, x), in `poly`; the order that is finite."""
    s, n = m.series, m.n
    s[0][0], s[0][1] = m.t, 1.0
    for k in range(2, MAX_DEGREE + 1):
        s[0][k] = 0.0
    for i in range(n):
        s[1 + i][0] = m.x[i]
    m.poly = [[0.0] * (MAX_DEGREE + 1) for _ in range(n)]
    for i in range(n):
        m.poly[i][0] = m.x[i]
    for k in range(order):
        extend_series(m.p.flow, s, k, m.p.tables, m.p.externals, m.p.degrees)
        m.evaluations += 1
        for i in range(n):
            value = s[m.p.derivatives[i]][k] / (k + 1)
            if not abs(value) < math.inf:
                m.singular += k == 0
                return k
            s[1 + i][k + 1] = value
        for i in range(n):
            m.poly[i][k + 1] = s[1 + i][k + 1]
    return order


def series_step(m: Memory, order: int) -> float:
    """The step at which the last two Taylor terms are within the tolerance."""
    h = math.inf
    for k in (order - 1, order):
        if k < 1:
            continue
        worst = 0.0
        for i in range(m.n):
            size = abs(m.poly[i][k]) / weight(m, i, m.x[i])
            worst = max(worst, size)
        if worst > 0.0:
            h = min(h, math.pow(worst, -1.0 / k))
    return h


def gap_at_the_end(m: Memory, order: int) -> bool:
    """Whether the last two Taylor terms of some variable are nothing although terms beyond its
    second derivative are not: then they tell nothing of those to come (x' = 2 - x^3 at 0 has
    only every third). A slower motion is taken for the polynomial that it nearly always is."""
    return any(
        row[order - 1] == row[order] == 0.0 and any(row[k] != 0.0 for k in range(3, order - 1))
        for row in m.poly
    )


def start_adams(m: Memory, shorter: float) -> bool:
    """Begin (again) at the current state; False where the derivative is not finite."""
    n = m.n
    if m.p.differentiable:
        order = taylor_series(m, min(START_ORDER, method_order(m)))
        if order == 0 and n:
            return False
        h = 0.8 * series_step(m, order) if n else math.inf
    else:
        f = m.flow(m.t, m.x)
        if not finite(f):
            return False
        m.poly = [[0.0] * (MAX_DEGREE + 1) for _ in range(n)]
        worst = 0.0
        for i in range(n):
            m.poly[i][0], m.poly[i][1] = m.x[i], f[i]
            worst = max(worst, abs(f[i]) / weight(m, i, m.x[i]))
        order, h = 1, 0.5 * math.sqrt(1.0 / worst) if worst > 0.0 else math.inf
    h = min(h, shorter, m.method.max_step)
    m.h = first_step(m, h)
    m.order = max(order, 1)
    m.times = [m.t - i * m.h for i in range(m.order)]
    virtual_history(m)
    m.h_before = m.h
    return True


def first_step(m: Memory, h: float) -> float:
    """A step that ends in time, and is one: past points must lie apart."""
    span, least = m.until - m.t, m.least()
    if span > 0.0 and not h < span:
        h = span
    if h < least:
        h = least
    return h if 0.0 < h < math.inf else 1.0


def virtual_history(m: Memory) -> None:
    """Divided differences of the derivative at equally spaced past points, taken from
    the Taylor polynomial of the derivative."""
    q, n = m.order, m.n
    table = []
    for j in range(q):
        s = -(j * m.h)
        row = []
        for i in range(n):
            value = 0.0
            for k in range(q, 0, -1):
                value = value * s + k * m.poly[i][k]
            row.append(value)
        table.append(row)
    m.differences = [table[0]]
    for j in range(1, q):
        for e in range(q - j):
            gap = m.times[e] - m.times[e + j]
            for i in range(n):
                table[e][i] = (table[e][i] - table[e + 1][i]) / gap
        m.differences.append(list(table[0]))
        table[0] = list(table[0])
    m.differences[0] = [m.poly[i][1] for i in range(n)]


def method_order(m: Memory) -> int:
    """The highest order that the method may use."""
    return m.method.max_order if isinstance(m.method, Adams) else m.method.order


def predictor(m: Memory) -> None:
    """The extrapolation polynomial x + integral of the interpolated derivatives, and
    the monomial coefficients of the Newton basis w_j(s) = prod_{i<j} (s - s_i)."""
    q, n, w = m.order, m.n, m.basis
    top = min(len(m.times), q + 1)
    w[0][0] = 1.0
    for j in range(top):
        s = m.times[j] - m.t
        w[j + 1][j + 1] = w[j][j]
        for e in range(j, 0, -1):
            w[j + 1][e] = w[j][e - 1] - s * w[j][e]
        w[j + 1][0] = -s * w[j][0]
    for i in range(n):
        row = m.poly[i]
        row[0] = m.x[i]
        for e in range(q):
            total = 0.0
            for j in range(e, q):
                total += m.differences[j][i] * (w[j][e] * INVERSE[e + 1])
            row[e + 1] = total
    m.degree = q


def at(m: Memory, h: float) -> list[float]:
    """The extrapolation polynomial after a step h."""
    values = []
    for row in m.poly:
        value = row[m.degree]
        for j in range(m.degree - 1, -1, -1):
            value = value * h + row[j]
        values.append(value)
    return values


def integrals(m: Memory, j: int, h: float) -> tuple[float, float]:
    """The integrals over [0, h] of w_j(s) and of w_{j-1}(s) (s - h)."""
    total, milne, power = 0.0, 0.0, h
    for e in range(j + 1):
        total += m.basis[j][e] * power * INVERSE[e + 1]
        if e < j:
            milne -= m.basis[j - 1][e] * power * h * INVERSE[e + 1] * INVERSE[e + 2]
        power *= h
    return total, milne


def new_differences(m: Memory, t: float, f: list[float], top: int) -> list[list[float]]:
    """Divided differences of the derivative with a new value f at t."""
    rows = [f]
    for j in range(1, top + 1):
        inverse = 1.0 / (t - m.times[j - 1])
        last, old = rows[j - 1], m.differences[j - 1]
        rows.append([(last[i] - old[i]) * inverse for i in range(m.n)])
    return rows


def error_of(m: Memory, row: list[float], factor: float, x: Sequence[float]) -> float:
    """The largest error |row * factor| in units of the tolerance."""
    worst = 0.0
    for i in range(m.n):
        size = abs(row[i] * factor) * (1.0 / weight(m, i, x[i]))
        if not size <= worst:
            worst = size
    return worst


def is_doubtful(
    m: Memory, rows: list[list[float]], error: float, h: float, x: Sequence[float]
) -> bool:
    """Whether the estimate may miss a singular derivative close by, which past values do not
    show: on the way onto a guard, or where higher differences do not get smaller."""
    if not m.p.edged or h <= m.least():
        return False
    if m.landing:
        return True
    above = m.order + 1
    if len(m.times) < above or not error > WORTH_MEASURING:
        return False
    _, milne = integrals(m, above, h)
    return error_of(m, rows[above], milne, x) > SLOW_DECAY * error


def defect_point(
    m: Memory, rows: list[list[float]], h: float
) -> tuple[float, list[float], list[float]]:
    """A time inside the step, and the corrected polynomial and its derivative there."""
    q, s = m.order, DEFECT_PLACE * h
    x, slope = [], []
    for i, row in enumerate(m.poly):
        value, rate = 0.0, 0.0
        for e in range(q + 1, -1, -1):
            c = row[0]
            if e:
                c = (row[e] if e <= q else 0.0) + rows[q][i] * (m.basis[q][e - 1] * INVERSE[e])
            rate = rate * s + value
            value = value * s + c
        x.append(value)
        slope.append(rate)
    return s, x, slope


def defect_row(m: Memory, f: list[float], slope: list[float], s: float, h: float) -> list[float]:
    """The divided difference that the defect f - P' = d w(s) at one place s shows, for the
    nodes of the corrector: w(s) = w_q(s) (s - h)."""
    w = 0.0
    for e in range(m.order, -1, -1):
        w = w * s + m.basis[m.order][e]
    w = w * (s - h)
    return [(f[i] - slope[i]) / w for i in range(m.n)]


def growth(error: float, order: int) -> float:
    """By how much a step of this order may grow."""
    if error <= 0.0:
        return 4.0
    return min(4.0, 0.8 * math.pow(error, -1.0 / (order + 1)))


def choose(m: Memory, rows: list[list[float]], error: float, h: float, x: Sequence[float]) -> None:
    """The order and step that promise most, from the errors at orders q-1, q, q+1 (all of them
    larger than estimated, if that was measured)."""
    q = m.order
    best, order = growth(error, q), q
    if q > 1:
        _, milne = integrals(m, q - 1, h)
        lower = growth(error_of(m, rows[q - 1], milne, x) * m.excess, q - 1)
        if lower > best:
            best, order = lower, q - 1
    if q < method_order(m) and len(m.times) > q:
        _, milne = integrals(m, q + 1, h)
        higher = growth(error_of(m, rows[q + 1], milne, x) * m.excess, q + 1)
        if higher > best:
            best, order = higher, q + 1
    m.order = order
    m.h = h * max(0.2, min(best, 2.5))


def begin(m: Memory, shorter: float) -> bool:
    """Start (again) at the current state with at most the given step; False if not finite."""
    if not m.taylor:
        return start_adams(m, shorter)
    order = taylor_series(m, method_order(m))
    if order == 0 and m.n:
        return False
    m.taylor_order = max(order, 1)
    h = 0.5 * series_step(m, order) if m.n else math.inf
    told = order == method_order(m) and not gap_at_the_end(m, order)
    m.trusted = h if told else 0.0  # a series that breaks off tells nothing
    m.h = max(h if h < shorter else shorter, m.least())
    m.h_before = m.h
    return True

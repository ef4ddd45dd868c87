"""Looking ahead: the watched guards along the extrapolation polynomial.

The reference for `core/plan.c`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.simulate.stepping.program import EQUALITY, FROZEN, STRICT
from workbench.simulate.stepping.reference.atoms import TOUCH, Intervals, intervals, nearest, span
from workbench.simulate.stepping.reference.memory import Memory
from workbench.simulate.stepping.reference.roots import MAX_DEGREE, nonnegative
from workbench.simulate.stepping.reference.tape import complete_row
from workbench.simulate.stepping.reference.verified import verified

FORESIGHT = 0.1


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
    while True:
        shortest = h
        for k, used in enumerate(m.used):
            if used:
                found[k], limit = intervals(m, k, h)
                shortest = min(shortest, limit)
        if shortest >= h or h <= m.least():
            break
        h = shortest
    fired, touched, limit = [], [], verified(m, h, found)
    for w in m.active:
        time = earliest(m, w, found)
        if time > 0.0 and m.p.watches[w].touch:
            touch = touch_time(m, w, h, found)
            if touch == 0.0:
                touched.append(w)
            time = touch if touch < time else time
        if time == 0.0:
            fired.append(w)
        elif time < limit:
            limit = time
    ahead = foresight(m, h)
    grazing = [w for w in fired if w in touched or grazes(m, w, ahead)]
    corners = [w for w in fired if w not in grazing and passes_corner(m, w, ahead)]
    return limit, fired, grazing + corners


def foresight(m: Memory, h: float) -> float:
    """How far the extrapolation tells whether a guard is left again: the next step, or, where
    an event made the last ones short, a part of the time from which it is made."""
    if m.taylor or not m.times:
        return h
    return max(h, FORESIGHT * (m.t - m.times[m.order - 1]))


def touch_time(m: Memory, watch: int, h: float, found: Sequence[Intervals]) -> float:
    """When a watch's formula, which stays false, first is true but for atoms that touch."""
    first = math.inf
    tokens = [k for k in m.p.watches[watch].tokens if k >= 0]
    times = {k: nearest(m, k, h) for k in tokens}
    for k in tokens:
        time = times[k]
        if time < first:
            truth = [any(a <= time <= b for a, b in part) for part in found]
            for other in tokens:
                truth[other] = truth[other] or times[other] == time
            if m.holds(watch, truth):
                first = time
    return first


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
        c[0] = v - TOUCH * m.scale[token]
        if nonnegative(c, degree, h):
            return False
        touching = touching or v + change(c, degree, h) < -eps
    return touching


def change(c: Sequence[float], degree: int, h: float) -> float:
    """By how much a polynomial changes until h."""
    end = 0.0
    for j in range(degree, 0, -1):
        end = (end + c[j]) * h
    return end


def passes_corner(m: Memory, watch: int, h: float) -> bool:
    """Whether a formula is true only because several of its atoms are within their bands at
    once: it is not on all their boundaries, nowhere on the way if these must get beyond their
    tolerances, and not at h."""
    found: list[Intervals] = [[] for _ in m.p.atoms]
    at_end = [False] * len(m.p.atoms)
    here = [False] * len(m.p.atoms)
    near = 0
    for token in m.p.watches[watch].tokens:
        if token < 0:
            continue
        v, eps = m.values[token], m.eps[token]
        register, sign, _, flags = m.p.atoms[token]
        if flags & FROZEN:
            here[token] = at_end[token] = (v != 0.0) == (sign > 0)
            found[token] = [(0.0, h)] if at_end[token] else []
            continue
        if flags & EQUALITY or v != v:
            return False
        degree = span(m, m.p.degrees[register])
        c = [sign * m.series[register][j] for j in range(degree + 1)]
        inside = abs(v) <= eps
        near += inside
        c[0] = v - TOUCH * m.scale[token] if inside else v
        found[token] = nonnegative(c, degree, h)
        here[token] = not flags & STRICT if inside else v > 0.0
        at_end[token] = v + change(c, degree, h) >= -eps
    if near < 2 or m.holds(watch, here) or m.holds(watch, at_end):
        return False
    return earliest(m, watch, found) == math.inf

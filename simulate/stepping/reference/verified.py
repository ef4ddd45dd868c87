"""Guards that are no polynomials: enclosed by intervals along the way.

The reference for `core/verified.c`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.simulate.stepping.program import EQUALITY, FROZEN, UNDEFINED_HOLDS
from workbench.simulate.stepping.reference.atoms import Intervals
from workbench.simulate.stepping.reference.interval import enclose
from workbench.simulate.stepping.reference.memory import Memory
from workbench.simulate.stepping.reference.roots import MAX_DEGREE
from workbench.simulate.stepping.tape import Instruction

FINEST = 2.0**-6
"""A step is enclosed in pieces down to this part of it, or shortened."""

SHORTEST = 2.0**-30
"""Shortened by more than this a step is trusted to the series alone."""

MAX_ROUNDS = 256
"""At most so many enclosures for one step."""


def ranges(m: Memory, tape: Sequence[Instruction], a: float, b: float) -> None:
    """Enclose what a tape computes between the times a and b of the extrapolation."""
    middle, half = 0.5 * (a + b), 0.5 * (b - a)
    m.low, m.high, m.gaps = list(m.r), list(m.r), [False] * len(m.r)
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
    enclose(tape, m.low, m.high, m.gaps, m.p.tables, m.p.externals, m.p.lipschitz)


def stays_false(m: Memory, k: int) -> bool:
    """Whether an atom that is false now is false over the whole range just enclosed."""
    register, sign, _, flags = m.p.atoms[k]
    low, high = m.low[register], m.high[register]
    if flags & UNDEFINED_HOLDS and m.gaps[register]:
        return False
    if low != low:  # it has no value
        return True
    if flags & EQUALITY:
        return sign > 0 and (high < 0.0 or low > 0.0)
    return high < 0.0 if sign > 0 else low > 0.0


def unproved(m: Memory) -> list[int]:
    """The atoms that are false now and no polynomials: their series is not the whole truth."""
    found = []
    for k, (register, sign, _, flags) in enumerate(m.p.atoms):
        v, equality = m.values[k], bool(flags & EQUALITY)
        if not m.used[k] or flags & FROZEN or m.p.degrees[register] * m.degree <= MAX_DEGREE:
            continue
        if v != v:
            false = not flags & UNDEFINED_HOLDS
        elif equality:
            false = sign > 0 and abs(v) > m.eps[k]
        else:
            false = v < -m.eps[k]
        if false:
            found.append(k)
    return found


def past_edge(m: Memory, h: float, atoms: Sequence[int]) -> float:
    """How far to go where guards have no value here and now (at a pole, say): to where all of
    them have one again, for what they are there no series made here tells; h if that is not
    close by."""
    s = m.least()
    while s < h * FINEST:
        ranges(m, m.p.guard, s, s)
        spans = [(m.low[m.p.atoms[k][0]], m.high[m.p.atoms[k][0]]) for k in atoms]
        if all(low != low or (low > -math.inf and high < math.inf) for low, high in spans):
            return s
        s *= 4.0
    return h


def verified(m: Memory, h: float, found: Sequence[Intervals]) -> float:
    """How far the truth of guards that are no polynomials is excluded, or predicted by their
    series, when the way is enclosed piece by piece; where neither is the case, and not even
    close by, the step is shortened and enclosed more finely."""
    pending, a, rounds = unproved(m), 0.0, 0
    if pending:  # what is not even excluded here and now cannot be enclosed at all
        ranges(m, m.p.guard, 0.0, 0.0)
        open_here = [k for k in pending if not stays_false(m, k)]
        at_edge = [k for k in open_here if m.gaps[m.p.atoms[k][0]]]
        pending = [k for k in pending if k not in open_here]
        if at_edge:
            h = past_edge(m, h, at_edge)
    width, finest, shortest = h, h * FINEST, h * SHORTEST
    while pending and a < h and rounds < MAX_ROUNDS:
        rounds += 1
        b = a + width if a + width < h else h
        ranges(m, m.p.guard, a, b)
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
            low = found[k][0][0] if found[k] else b
            h = b if low < b else (low if low < h else h)
        a, width = b, 2.0 * width
    return (a if a < h else h) if pending and a > 0.0 else h

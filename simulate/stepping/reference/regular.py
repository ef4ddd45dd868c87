"""How far a flow has values along the extrapolation: what a series cannot notice.

A Taylor series made at one point goes on smoothly beyond a pole and beyond the edge of a root's
domain, though no solution does (x' = -sqrt(x) refills the tank). So its way is enclosed, piece by
piece, and a step ends where a derivative may have no value. The reference for `core/regular.c`.
"""

from __future__ import annotations

import math

from workbench.simulate.stepping.reference.memory import Memory
from workbench.simulate.stepping.reference.verified import FINEST, ranges


def has_values(m: Memory) -> bool:
    """Whether every derivative is a finite number all over the range just enclosed."""
    return all(
        not m.gaps[r] and m.low[r] > -math.inf and m.high[r] < math.inf for r in m.p.derivatives
    )


def regular_length(m: Memory, h: float) -> float:
    """How far, up to h, all derivatives are known to have values; 0 if not even for the shortest
    step. A stretch may begin on the edge of a domain: its first instant is not looked at."""
    least = m.least()
    start = 0.0 if m.steps else least
    a, width, finest = start, h, h * FINEST
    while a < h:
        b = a + width if a + width < h else h
        ranges(m, m.p.flow, a, b)
        if has_values(m):
            a, width = b, 2.0 * width
        elif width > finest:
            width *= 0.5
        elif a > start:
            return a
        elif b - start <= least:
            return 0.0
        else:
            h, width = b, b - start
            finest = width * FINEST
    return h

"""How far two runs of one model are apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workbench.models.trace import Scalar, Trace


@dataclass(frozen=True, slots=True)
class Difference:
    """How two traces differ: the largest gap of a variable at common times (infinite between
    different words, and where only one trace has a number), where it is, and the first jump at
    which the logs part (-1: they agree; none: one has no log)."""

    largest: float
    variable: str
    time: float
    first_jump: int | None


def compare_traces(first: Trace, second: Trace, samples: int = 1000) -> Difference:
    """Compare two traces of one model on the time they share, in the variables that both have.

    The gap is sampled, so it is an under-approximation; of a table, at its rows, for what is
    between them it does not say. Jumps are compared by name and order. Samples that fall between
    a jump of one and the same jump of the other are part of the comparison.
    """
    low, high = max(first.start, second.start), min(first.end, second.end)
    worst = Difference(0.0, "", low, _parting(first, second))
    common = [name for name in first.variables if name in second.variables]
    rows = {t for one in (first, second) if not _has_log(one) for t, *_ in one.samples()}
    evenly = (low + (high - low) * i / samples for i in range(samples + 1))
    for t in sorted(t for t in rows if low <= t <= high) or evenly:
        a, b = first.at(t), second.at(t)
        for name in common:
            gap = _gap(a[name], b[name])
            if gap > worst.largest:
                worst = Difference(gap, name, t, worst.first_jump)
    return worst


def _gap(x: Scalar, y: Scalar) -> float:
    """How far two values are apart."""
    if isinstance(x, str) or isinstance(y, str):
        return 0.0 if x == y else math.inf
    a, b = float(x), float(y)
    if a == b or (a != a and b != b):
        return 0.0
    return abs(a - b) if math.isfinite(a) and math.isfinite(b) else math.inf


def _parting(first: Trace, second: Trace) -> int | None:
    if not (_has_log(first) and _has_log(second)):
        return None
    a = [(e.name, e.target) for e in first.jumps]
    b = [(e.name, e.target) for e in second.jumps]
    for i, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return i
    return -1 if len(a) == len(b) else min(len(a), len(b))


def _has_log(trace: Trace) -> bool:
    """Whether a trace knows its jumps; one that was read from a table does not."""
    return bool(trace.events or trace.counts.steps)

"""Sets of times, segment by segment, and what temporal operators do with them.

Time is superdense: a jump separates two values at one instant, each with its own place in
the order, so a set is kept as one list of disjoint closed intervals for each segment. `spans`
are the times of the segments. A complement is closed, and leaves out isolated points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Interval = tuple[float, float]
Truth = list[list[Interval]]
"""For each segment, disjoint closed intervals in order."""


def complement(truth: Truth, spans: Sequence[Interval]) -> Truth:
    """The closed gaps of positive length, and all of a segment without any truth."""
    found: Truth = []
    for intervals, (start, end) in zip(truth, spans, strict=True):
        if not intervals:
            found.append([(start, end)])
            continue
        gaps, last = [], start
        for low, high in intervals:
            if low > last:
                gaps.append((last, low))
            last = max(last, high)
        if last < end:
            gaps.append((last, end))
        found.append(gaps)
    return found


def union(a: list[Interval], b: list[Interval]) -> list[Interval]:
    """What lies in either of two sets of one segment."""
    return _merged(sorted([*a, *b]))


def _merged(ordered: Sequence[Interval]) -> list[Interval]:
    found: list[Interval] = []
    for low, high in ordered:
        if found and low <= found[-1][1]:
            if high > found[-1][1]:
                found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return found


def intersection(a: list[Interval], b: list[Interval]) -> list[Interval]:
    """What lies in both of two sets of one segment."""
    found, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        low, high = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if low <= high:
            found.append((low, high))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return found


def eventually(truth: Truth, spans: Sequence[Interval], low: float, high: float) -> Truth:
    """Times from which the set is reached after between `low` and `high`."""
    found: Truth = [[] for _ in spans]
    pairs = [(j, interval) for j, intervals in enumerate(truth) for interval in intervals]
    if math.isinf(high):  # whoever reaches one of them reaches the last
        pairs = pairs[-1:]
    for j, (p, q) in pairs:
        earliest = -math.inf if math.isinf(high) else p - high
        latest = q if math.isinf(q) else q - low
        for i in range(j, -1, -1):
            start, end = spans[i]
            if end < earliest:
                break
            a, b = max(start, earliest), min(end, latest)
            if a <= b:
                found[i].append((a, b))
    return [_merged(sorted(intervals)) for intervals in found]


def until(first: Truth, second: Truth, spans: Sequence[Interval], low: float, high: float) -> Truth:
    """Times t from which some t' in [t + low, t + high] satisfies the second set, while the
    first holds on [t, t')."""
    found: Truth = [[] for _ in spans]
    for j, intervals in enumerate(second):
        for p, q in intervals:
            if low == 0.0:
                found[j].append((p, q))
    for run in _runs(first, spans):
        begin, (last, finish) = run[0], (run[-1][0], run[-1][2])
        for j in range(begin[0], min(last + 2, len(spans))):
            for p, q in second[j]:
                if j == last + 1:  # the run fills its segment: the set may start after it
                    if finish < spans[last][1] or p > spans[j][0]:
                        continue
                    reach = (p, p)
                else:
                    part = next((r for r in run if r[0] == j), None)
                    if part is None:
                        continue
                    reach = (max(p, part[1]), min(q, part[2]))
                if reach[0] > reach[1]:
                    continue
                _add_shifted(found, run, j, reach, low, high)
    return [_merged(sorted(intervals)) for intervals in found]


def _add_shifted(
    found: Truth,
    run: Sequence[tuple[int, float, float]],
    j: int,
    reach: Interval,
    low: float,
    high: float,
) -> None:
    earliest = -math.inf if math.isinf(high) else reach[0] - high
    latest = reach[1] if math.isinf(reach[1]) else reach[1] - low
    for i, start, end in run:
        if i > j:
            return
        a, b = max(start, earliest), min(end, latest)
        if a <= b:
            found[i].append((a, b))


def _runs(truth: Truth, spans: Sequence[Interval]) -> list[list[tuple[int, float, float]]]:
    """Maximal stretches on which a set holds without a gap, also across jumps."""
    runs: list[list[tuple[int, float, float]]] = []
    for i, intervals in enumerate(truth):
        for low, high in intervals:
            joins = (
                runs
                and runs[-1][-1][0] == i - 1
                and runs[-1][-1][2] >= spans[i - 1][1]
                and low <= spans[i][0]
            )
            if joins:
                runs[-1].append((i, low, high))
            else:
                runs.append([(i, low, high)])
    return runs

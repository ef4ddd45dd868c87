"""Boxes that enclose a run: what is proved about it, as plain numbers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple


class Box(NamedTuple):
    """Bounds of all states of a run in a stretch of time."""

    start: float
    end: float
    location: str
    bounds: Mapping[str, tuple[float, float]]


def hull_at(boxes: Sequence[Box], t: float, location: str) -> dict[str, tuple[float, float]]:
    """Bounds of the states at a time in a location, from boxes in the order of time; none where
    no box is about them."""
    hull: dict[str, tuple[float, float]] = {}
    for box in boxes[: bisect_right(boxes, t, key=attrgetter("start"))][::-1]:
        if box.end >= t and box.location == location:
            for name, (low, high) in box.bounds.items():
                known = hull.get(name, (low, high))
                hull[name] = min(low, known[0]), max(high, known[1])
        elif box.end < t and hull:
            break
    return hull

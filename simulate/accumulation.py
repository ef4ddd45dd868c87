"""Events that pile up: Zeno behaviour, chattering, livelock, seen from the times of jumps."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

STEADY = 6
"""So many successive intervals must shrink by the same ratio before Zeno is reported."""

RATIO_SPREAD = 1e-3
REMAINING = 1e-4
"""Zeno is reported when the time left to the accumulation point is below this part of the
time that has passed: until then the run goes on, in case another edge ends the sequence."""

CHATTER_COUNT = 200
CHATTER_TIME = 1e-6
"""So many jumps within this part of the run's length are chattering."""


@dataclass(slots=True)
class Accumulation:
    """Watches the jumps of one run.

    Jumps of one edge at times t_1 < t_2 < ... with intervals d_k that shrink by a steady
    ratio r accumulate at t_Z = t + d*r/(1 - r).
    """

    span: float
    by_edge: dict[str, deque[float]] = field(default_factory=dict)
    states: dict[str, deque[Mapping[str, float]]] = field(default_factory=dict)
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=CHATTER_COUNT))

    def jump(self, edge: str, t: float, state: Mapping[str, float]) -> None:
        """Note a jump, and the state after it."""
        self.states.setdefault(edge, deque(maxlen=3)).append(state)
        times = self.by_edge.setdefault(edge, deque(maxlen=STEADY + 2))
        if not times or t > times[-1]:
            times.append(t)
        self.recent.append(t)

    def zeno(self, edge: str) -> float | None:
        """The accumulation time of the jumps of this edge, if they accumulate."""
        times = self.by_edge[edge]
        if len(times) < STEADY + 2:
            return None
        gaps = [b - a for a, b in pairwise(times)]
        ratios = [b / a for a, b in pairwise(gaps)]
        low, high = min(ratios), max(ratios)
        if high >= 1.0 - RATIO_SPREAD or high - low > RATIO_SPREAD:
            return None
        left = gaps[-1] * ratios[-1] / (1.0 - ratios[-1])
        return times[-1] + left if left <= REMAINING * max(times[-1], 1e-300) else None

    def limit(self, edge: str) -> dict[str, float]:
        """Where the states after the jumps of an edge lead: x + d q/(1 - q) for a variable whose
        changes d shrink by the ratio q, from the last three of them (extrapolated)."""
        first, second, last = self.states[edge]
        found = dict(last)
        for name, x in last.items():
            before, change = second[name] - first[name], x - second[name]
            ratio = change / before if before else 0.0
            if 0.0 < abs(ratio) < 1.0:
                found[name] = x + change * ratio / (1.0 - ratio)
        return found

    def stands(self) -> bool:
        """Whether no time at all passed between the last jumps."""
        return len(self.recent) == CHATTER_COUNT and self.recent[-1] == self.recent[0]

    def chatters(self) -> bool:
        """Whether the last jumps crowd together."""
        full = len(self.recent) == CHATTER_COUNT
        return full and self.recent[-1] - self.recent[0] <= CHATTER_TIME * self.span

"""Events that pile up: Zeno behaviour, chattering, livelock, seen from the times of jumps."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from workbench.models.record import record

STEADY = 3
"""So many successive intervals must shrink by the same ratio to be taken for geometric."""

STRIDES = 3
"""An edge may be taken so many times in one round of a cycle; its rounds are compared."""

RATIO_SPREAD = 1e-3
"""Ratios that differ by less are one ratio."""

RESOLVED = 1e-12
"""Zeno is reported when the time left to the accumulation is below this part of the time that
has passed, some thousand units in its last place: until then the run goes on, for intervals
that have shrunk a thousand times may yet stop shrinking."""

STUCK = 1e-4
"""... or when the jumps cannot be told apart any more because the state stays closer to the
guard than numbers tell, if at most this part of the time is left."""

LATE = 1e-8
"""Jumps that come later than an accumulation by this part of the time refute it."""

CONTRADICTION = 0.03
"""Estimates of one accumulation differ by a few of these parts of the time that is left."""

FINER = 0.5
"""An estimate replaces another if its error is so much smaller: of two that are as good the
earlier one is better, for the intervals from which it is made are resolved better."""

CHATTER_COUNT = 200
CHATTER_TIME = 1e-6
"""So many jumps within this part of the run's length are chattering."""


@record
class Limit:
    """Where jumps lead whose intervals shrink by a ratio: a time, known up to an error (an
    estimate), and a state."""

    time: float
    error: float
    ratio: float
    state: dict[str, float]
    stride: int
    """So many jumps make one round."""


@dataclass(slots=True)
class Series:
    """The instants at which one edge was taken, the number of times and the states after it.

    Instants t_1 < t_2 < ... with intervals d_k that shrink by a steady ratio r accumulate at
    t_Z = t + d*r/(1 - r). The best such estimate is kept until an instant refutes it by being
    later: intervals that have come near to what numbers resolve do not shrink steadily.
    """

    times: deque[float] = field(default_factory=lambda: deque(maxlen=STRIDES * (STEADY + 1) + 1))
    counts: deque[int] = field(default_factory=lambda: deque(maxlen=STEADY))
    states: deque[Mapping[str, float]] = field(
        default_factory=lambda: deque(maxlen=2 * STRIDES + 1)
    )
    limit: Limit | None = None
    unsteady: int = 0
    """So many instants came since the last ones that were geometric."""
    aim: Mapping[str, float] = field(default_factory=dict)
    moved: float = math.inf
    """Where the last states lead, and how far the best estimate of that was from the one before."""

    def add(self, t: float, state: Mapping[str, float]) -> None:
        """Note a jump, and the state after it."""
        if self.times and t <= self.times[-1]:
            self.counts[-1] += 1
            self.states[-1] = state
            return
        self.times.append(t)
        self.counts.append(1)
        self.states.append(state)
        if self.limit is not None and t > self.limit.time + 4.0 * self.limit.error + LATE * t:
            self.limit = None
        found = None
        for stride in range(1, STRIDES + 1):
            found = found or self.geometric(stride)
        self.unsteady = self.unsteady + 1 if found is None else 0
        if found is not None:
            self.settle(found)

    def settle(self, found: Limit) -> None:
        """Take an estimate for the limit if it is better than what is known. Of the states to
        which the jumps seem to lead that one is kept which differs least from the one before:
        they come nearer to the limit at first, and are lost in noise later."""
        if self.limit is None:
            self.moved = math.inf
        moved = math.inf
        if self.aim.keys() == found.state.keys():
            moved = max((abs(x - self.aim[n]) for n, x in found.state.items()), default=0.0)
        self.aim = found.state
        known = found if self.limit is None or self.better(found) else self.limit
        if self.limit is None or moved <= self.moved:
            self.moved, state = moved, found.state
        else:
            state = self.limit.state
        self.limit = replace(known, state=state)

    def better(self, found: Limit) -> bool:
        """Whether an estimate replaces the one that is known: it is finer, or says that the jumps
        end earlier, by more than intervals do that are hardly resolved. (That they go on for
        longer is not believed before they do.)"""
        known = self.limit
        if known is None or found.error < FINER * known.error:
            return True
        doubt = found.error + known.error + CONTRADICTION * abs(known.time - self.times[-1])
        return known.time - found.time > 4.0 * doubt + LATE * known.time

    def geometric(self, stride: int) -> Limit | None:
        """The limit of the last instants, each so many jumps after the other, if their intervals
        shrink by a steady ratio."""
        wanted, known = stride * (STEADY + 1) + 1, self.times
        if len(known) < wanted:
            return None
        highest = 1.0 - stride * RATIO_SPREAD / 2
        middle = known[-1 - stride]
        if known[-1] - middle >= highest * (middle - known[-1 - 2 * stride]):
            return None  # the usual case
        times = list(known)[-wanted::stride]
        gaps = [b - a for a, b in pairwise(times)]
        ratios = [b / a for a, b in pairwise(gaps)]
        low, high = min(ratios), max(ratios)
        if high >= highest or high - low > RATIO_SPREAD:
            return None
        ratio = (gaps[-1] / gaps[0]) ** (1.0 / STEADY)
        left = gaps[-1] * ratio / (1.0 - ratio)
        error = left * (high - low) / (1.0 - ratio) + RESOLVED * times[-1]
        return Limit(times[-1] + left, error, ratio, self.state(stride), stride)

    def state(self, stride: int) -> dict[str, float]:
        """Where the states lead: x + d q/(1 - q) for a variable whose changes d shrink by the
        ratio q, from the last three of them (extrapolated)."""
        first, second, last = (self.states[-1 - k * stride] for k in (2, 1, 0))
        found = dict(last)
        for name, x in last.items():
            before, change = second[name] - first[name], x - second[name]
            ratio = change / before if before else 0.0
            if 0.0 < abs(ratio) < 1.0:
                found[name] = x + change * ratio / (1.0 - ratio)
        return found

    def ended(self, exact: bool) -> Limit | None:
        """The accumulation of the jumps, if they have come as near to it as numbers tell; jumps
        that are `exact` happen at one instant because the model says so."""
        limit = self.limit
        if limit is None:
            return None
        left = limit.time - self.times[-1]
        gap = self.times[-1] - self.times[-2]
        if max(left, gap * limit.ratio / (1.0 - limit.ratio) / 2.0) <= RESOLVED * limit.time:
            return limit
        *earlier, now = self.counts
        stuck = now > max(earlier) and not exact
        return limit if stuck and left <= STUCK * limit.time else None


@dataclass(slots=True)
class Accumulation:
    """Watches the jumps of one run."""

    span: float
    by_edge: dict[str, Series] = field(default_factory=dict)
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=CHATTER_COUNT))
    tried: set[str] = field(default_factory=set)
    """Edges that accumulate, and after which the model has no way on."""

    def jump(self, edge: str, t: float, state: Mapping[str, float], fresh: bool) -> None:
        """Note a jump, and the state after it: a fresh one if the run was not there at this
        instant. Chains of those are finite, or end by the limit of jumps."""
        if edge not in self.by_edge:
            self.by_edge[edge] = Series()
        self.by_edge[edge].add(t, state)
        if not (fresh and self.recent and self.recent[-1] == t):
            self.recent.append(t)

    def again(self, edge: str, t: float) -> bool:
        """Whether this edge was taken at this instant already."""
        series = self.by_edge.get(edge)
        return series is not None and series.times[-1] == t

    def forget(self) -> None:
        """Start anew, after the jumps that were seen."""
        self.by_edge.clear()
        self.recent.clear()
        self.tried.clear()

    def stands(self) -> bool:
        """Whether no time at all passed between the last jumps, and states came back."""
        return len(self.recent) == CHATTER_COUNT and self.recent[-1] == self.recent[0]

    def chatters(self) -> bool:
        """Whether the last jumps crowd together, and not as jumps do that may accumulate: how
        those end is seen later."""
        first = self.recent[0]
        if len(self.recent) < CHATTER_COUNT or self.recent[-1] - first > CHATTER_TIME * self.span:
            return False
        return not any(
            s.limit and s.unsteady < CHATTER_COUNT and s.times[-1] > first
            for s in self.by_edge.values()
        )

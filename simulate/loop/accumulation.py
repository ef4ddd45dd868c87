"""Jumps that pile up: accumulation (Zeno), livelock, chattering.

What is known of the jumps of a run is a part of every instant (`Jumps`); where they end it, or say
that they may, is told here. How a run goes on beyond an accumulation: `simulate.loop.jump`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import NamedTuple

from workbench.models.record import record
from workbench.models.trace import Ending, Event, EventType
from workbench.simulate.loop.instant import Instant
from workbench.simulate.loop.past import made, newest_first
from workbench.simulate.place import Place

STEADY = 3
"""So many successive intervals must shrink by the same ratio to be taken for geometric."""

STRIDES = 3
"""An edge may be taken so many times in one round of a cycle; its rounds are compared."""

TIMES = STRIDES * (STEADY + 1) + 1
"""So many instants are remembered of each edge."""

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

CYCLE = 8
"""At most so many jumps of a cycle are named."""

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


class Series(NamedTuple):
    """The last instants at which one edge was taken, the number of times and the states after it.

    Instants t_1 < t_2 < ... with intervals d_k that shrink by a steady ratio r accumulate at
    t_Z = t + d*r/(1 - r). The best such estimate is kept until an instant refutes it by being
    later: intervals that have come near to what numbers resolve do not shrink steadily.
    """

    times: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    states: tuple[Mapping[str, float], ...] = ()
    limit: Limit | None = None
    unsteady: int = 0
    """So many instants came since the last ones that were geometric."""
    aim: Mapping[str, float] = {}
    moved: float = math.inf
    """Where the last states lead, and how far the best estimate of that was from the one before."""

    def with_jump(self, t: float, state: Mapping[str, float]) -> Series:
        """A jump more, and the state after it."""
        times, counts, states, limit, unsteady, aim, moved = self
        if times and t <= times[-1]:
            counts, states = (*counts[:-1], counts[-1] + 1), (*states[:-1], state)
            return Series(times, counts, states, limit, unsteady, aim, moved)
        if limit is not None and t > limit.time + 4.0 * limit.error + LATE * t:
            limit = None
        times, counts = (*times[1 - TIMES :], t), (*counts[1 - STEADY :], 1)
        states = (*states[-2 * STRIDES :], state)
        series = made(Series, (times, counts, states, limit, unsteady + 1, aim, moved))
        for stride in range(1, min(STRIDES, (len(times) - 1) // (STEADY + 1)) + 1):
            found = series.geometric(stride)
            if found is not None:
                return series.settled(found)
        return series

    def settled(self, found: Limit) -> Series:
        """With an estimate for the limit, if it is better than what is known. Of the states to
        which the jumps seem to lead that one is kept which differs least from the one before:
        they come nearer to the limit at first, and are lost in noise later."""
        least = math.inf if self.limit is None else self.moved
        moved = math.inf
        if self.aim.keys() == found.state.keys():
            moved = max((abs(x - self.aim[n]) for n, x in found.state.items()), default=0.0)
        known = found if self.limit is None or self.better(found) else self.limit
        if self.limit is None or moved <= least:
            least, state = moved, found.state
        else:
            state = self.limit.state
        limit = replace(known, state=state)
        return self._replace(limit=limit, unsteady=0, aim=found.state, moved=least)

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
        highest = 1.0 - stride * RATIO_SPREAD / 2
        middle = known[-1 - stride]
        if known[-1] - middle >= highest * (middle - known[-1 - 2 * stride]):
            return None  # the usual case
        times = known[-wanted::stride]
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


class Jumps(NamedTuple):
    """What is known of the jumps of a run: how many there were, and the last of each edge. The
    times of the `recent` ones are those within what counts as chattering before the last."""

    number: int = 0
    by_edge: Mapping[str, Series] = {}
    recent: tuple[float, ...] = ()
    tried: frozenset[str] = frozenset()
    """Edges that accumulate, and after which the model has no way on."""

    def with_jump(
        self, edge: str, t: float, state: Mapping[str, float], fresh: bool, span: float
    ) -> Jumps:
        """A jump more, and the state after it: a fresh one if the run was not there at this
        instant. Chains of those are finite, or end by the limit of jumps."""
        number, by_edge, recent, tried = self
        series = by_edge.get(edge, NO_JUMPS).with_jump(t, state)
        if not (fresh and recent and recent[-1] == t):
            recent = _crowding(recent, t, span)
        return made(Jumps, (number + 1, {**by_edge, edge: series}, recent, tried))

    def with_change(self, t: float, span: float) -> Jumps:
        """A change more that is no jump: of a branch, onto a surface or from it."""
        return self._replace(recent=_crowding(self.recent, t, span))

    def forgotten(self) -> Jumps:
        """Their number alone: what comes starts anew."""
        return Jumps(self.number)

    def again(self, edge: str, t: float) -> bool:
        """Whether this edge was taken at this instant already."""
        series = self.by_edge.get(edge)
        return series is not None and series.times[-1] == t

    def stands(self) -> bool:
        """Whether no time at all passed between the last jumps, and states came back."""
        return len(self.recent) == CHATTER_COUNT and self.recent[-1] == self.recent[0]

    def chatters(self) -> bool:
        """Whether the last jumps crowd together, and not as jumps do that may accumulate: how
        those end is seen later."""
        return len(self.recent) == CHATTER_COUNT and not any(
            s.limit and s.unsteady < CHATTER_COUNT and s.times[-1] > self.recent[0]
            for s in self.by_edge.values()
        )


NO_JUMPS = Series()


def _crowding(recent: tuple[float, ...], t: float, span: float) -> tuple[float, ...]:
    """The times that crowd together with the last one, at most as many as are chattering."""
    near = CHATTER_TIME * span
    if not recent or t - max(recent) > near:
        return (t,)
    return (*(earlier for earlier in recent[1 - CHATTER_COUNT :] if t - earlier <= near), t)


def last_round(now: Instant, name: str, limit: Limit) -> list[Event]:
    """The jumps since the edge was taken in the round before."""
    since = now.jumps.by_edge[name].times[-1 - limit.stride]
    late = takewhile(lambda e: e.time > since, newest_first(now.past.events))
    return [e for e in late if e.type is EventType.JUMP][::-1]


def no_rest(now: Instant, name: str, limit: Limit, cycle: Sequence[Event]) -> Instant:
    """The end of a run at an accumulation, when the model has no way on after any jump of the
    cycle; until all of them are tried, it goes on."""
    tried, names = now.jumps.tried, dict.fromkeys(e.name for e in cycle)
    if name not in tried and not names.keys() <= {*tried, name}:
        return now._replace(jumps=now.jumps._replace(tried=tried | {name}))
    times = now.jumps.by_edge[name].times
    raise now.ended(
        Ending.ZENO,
        f"The events {_listed(f'`{n}`' for n in names)} accumulate at t = {limit.time:.9g} (Zeno):"
        f" the time between them shrinks by the factor {limit.ratio:.4g} in each round, down to"
        f" {times[-1] - times[-1 - limit.stride]:.2g}; the run stops at t = {now.time:.10g}.",
        name,
        limit.time,
    )


def piled_up(now: Instant, place: Place, name: str) -> None:
    """The end of a run whose jumps follow one another without end, or are too many."""
    if len(now.jumps.recent) < CHATTER_COUNT and now.jumps.number < now.scenario.max_jumps:
        return
    if now.jumps.stands() and not _attracted(now, place):
        last = now.past.last_jumps(3 * CYCLE)
        raise now.ended(
            Ending.LIVELOCK,
            f"At t = {now.time:.10g} the jumps"
            f" {_listed(f'`{e.name}` ({e.source} to {e.target})' for e in last)} follow one another"
            " without end, and no time passes (livelock).",
            name,
        )
    if now.jumps.chatters():
        raise now.ended(Ending.CHATTERING, _chattering(now), name)
    if now.jumps.number >= now.scenario.max_jumps:
        raise now.ended(
            Ending.JUMP_LIMIT,
            f"The limit of {now.scenario.max_jumps} jumps was reached at t = {now.time:.10g}"
            f" (by `{name}`).",
            name,
        )


def _chattering(now: Instant) -> str:
    """What is said of many jumps in a short time: between locations they switch back and forth,
    and a run may slide; inside one there is no surface."""
    last = now.past.last_jumps(3 * CYCLE)
    names = _listed(f"`{e.name}`" for e in last)
    if len({e.name for e in last}) == 1:
        how = f"The edge {names} is taken again and again"
    else:
        how = f"The edges {names} switch back and forth"
    where = f"at t = {now.time:.10g} almost without time passing (chattering)"
    between = any(e.source != e.target for e in last)
    return f"{how} {where}{offer(now) if between else ''}."


def offer(now: Instant) -> str:
    """What to do about chattering."""
    sliding = now.scenario.sliding
    if sliding is None:
        return "; with --sliding (sliding=True) a run goes on along the surface"
    return " and the flows do not lead onto one surface from both sides" if sliding else ""


def _attracted(now: Instant, place: Place) -> bool:
    """Whether the jumps are those of a surface that attracts from both sides."""
    slides, loose = now.prepared.slides, now.scenario.tolerances
    return any(
        slides.at_edge(place, j, now.values, True, loose) is not None
        for j in range(len(place.edges))
    )


def _listed(names: Iterable[str]) -> str:
    """Names, each once, in words."""
    shown = list(dict.fromkeys(names))[:CYCLE]
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else shown[0]

"""The traces of many groups as one trace of the whole composition.

Every segment of the result lasts as long as no group jumps; its pieces lie between all the
times at which some group's piece begins. The polynomials are those of the groups, counted
from another time: exact up to rounding. Where jumps follow one another at one instant, the
states between them are segments without duration, in the order of the log.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter

from workbench.models.agents.composition import Product
from workbench.models.expressions.expression import Expression
from workbench.models.trace import Course, Event, EventType, Scalar, Segment, Trace
from workbench.simulate.agents.encounters import Grouping
from workbench.simulate.agents.traces import AgentEvent, AgentTraces


def merged(product: Product, found: AgentTraces) -> Trace:
    """One trace of all groups."""
    grouping, sizes = found.grouping, found.sizes
    traces = [found.traces[g.name] for g in grouping.groups]
    begun = traces and all(t.segments for t in traces)
    whole = _Whole(product, grouping, traces, found.events)
    return Trace(
        product.name,
        tuple(v.name for v in product.variables),
        tuple(whole.segments()) if begun else (),
        tuple(_event(sizes, e) for e in found.events),
        found.outcome,
        found.counts,
        (),
        traces[0].parameters,
        traces[0].method,
    )


def _event(sizes: Mapping[str, int], event: AgentEvent) -> Event:
    name = event.name
    if event.type is EventType.JUMP and len(event.agents) > 1:
        name = f"{name}({', '.join(event.agents)})"
    elif event.type is EventType.JUMP and len(sizes) > 1 and sizes[event.agents[0]] == 1:
        name = f"{event.agents[0]}: {name}"
    return Event(event.time, event.type, name)


class _Whole:
    def __init__(
        self,
        product: Product,
        grouping: Grouping,
        traces: Sequence[Trace],
        events: Sequence[AgentEvent],
    ):
        self.product, self.grouping, self.traces = product, grouping, traces
        self.numbers = {g.name: i for i, g in enumerate(grouping.groups)}
        self.jumps: dict[float, list[AgentEvent]] = {}
        for event in events:
            if event.type is EventType.JUMP:
                self.jumps.setdefault(event.time, []).append(event)

    def segments(self) -> Iterator[Segment]:
        """The segments of the whole, between any two jumps."""
        starts = sorted({s.start for t in self.traces for s in t.segments})
        ends = [*starts[1:], max(t.end for t in self.traces)]
        parts = [t.segments[0] for t in self.traces]
        for start, end in zip(starts, ends, strict=True):
            for between in self._between(start, parts):
                yield self._segment(start, start, between)
            parts = [t.segment_at(start) for t in self.traces]
            yield self._segment(start, end, parts)

    def _between(self, t: float, parts: list[Segment]) -> Iterator[list[Segment]]:
        """What the groups are in before each but the last of the jumps at one instant, and (if
        the run begins then) before the first."""
        jumps = self.jumps.get(t, [])
        waiting = [self._begun_at(trace, t) for trace in self.traces]
        if not jumps or any(
            len(segments) not in (0, sum(name in e.agents for e in jumps))
            for (name, _), segments in zip(self.numbers.items(), waiting, strict=True)
        ):
            return
        now = list(parts)
        if all(part.start == t for part in parts):
            yield list(now)
        for event in jumps[:-1]:
            for name in event.agents:
                i = self.numbers[name]
                now[i] = waiting[i].pop(0)
            yield list(now)

    def _begun_at(self, trace: Trace, t: float) -> list[Segment]:
        """The segments of a group that begin at an instant, without that in which the run does."""
        first = bisect_left(trace.segments, t, key=attrgetter("start"))
        last = bisect_right(trace.segments, t, key=attrgetter("start"))
        return list(trace.segments[max(first, 1) : last])

    def _segment(self, start: float, end: float, parts: Sequence[Segment]) -> Segment:
        flowing = tuple(n for p in parts for n in p.flowing)
        held: dict[str, Scalar] = {}
        derived: dict[str, Expression] = {}
        inputs: dict[str, Course] = {}
        for part in parts:
            held.update(part.held)
            derived.update(part.derived)
            inputs.update(part.inputs)
        inner = sorted({t for p in parts for t in p.times if start < t < end})
        times = [start, *inner, end] if end > start else [start]
        degrees, coefficients = array("i"), array("d")
        for a, b in pairwise(times):
            rows = [row for p in parts for row in self._rows(p, a, b)]
            degree = max((len(row) - 1 for row in rows), default=0)
            degrees.append(degree)
            for row in rows:
                coefficients.extend(row)
                coefficients.extend([0.0] * (degree + 1 - len(row)))
        final = array("d", [x for p in parts for x in p.state(end)])
        return Segment(
            self._location(parts), flowing, array("d", times), degrees, coefficients, held, final,
            derived, inputs=inputs, externals=parts[0].externals,
        )  # fmt: skip

    def _rows(self, part: Segment, a: float, b: float) -> Iterator[list[float]]:
        """The polynomials of a part in powers of the time since a."""
        if not part.degrees:
            before, after = part.state(a), part.state(b)
            for x, y in zip(before, after, strict=True):
                yield [x, (y - x) / (b - a) if b > a else 0.0]
            return
        piece = min(max(bisect_right(part.times, a) - 1, 0), len(part.degrees) - 1)
        n, degree = len(part.flowing), part.degrees[piece]
        place = n * (sum(part.degrees[:piece]) + piece)
        for i in range(n):
            at = place + i * (degree + 1)
            yield _shifted(part.coefficients[at : at + degree + 1], a - part.times[piece])

    def _location(self, parts: Sequence[Segment]) -> str:
        """The product location of which these are the parts."""
        where: dict[str, str] = {}
        for group, part in zip(self.grouping.groups, parts, strict=True):
            where.update(group.automaton.occupied(part.location))
        return self.product.location_name([where[c.name] for c in self.product.components])


def _shifted(c: Sequence[float], s: float) -> list[float]:
    a = list(c)
    if s != 0.0:
        for i in range(len(a) - 1):
            for j in range(len(a) - 2, i - 1, -1):
                a[j] += s * a[j + 1]
    return a

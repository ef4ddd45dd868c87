"""Traces: what a run did, as values that can be asked, compared, saved and read back.

A trace is a sequence of segments; in a segment one location is active and every flowing
variable is a piecewise polynomial of time (dense output, as exact as the integration that
made it). Between segments lie events: jumps, boundaries reached, violations. At the time of
a jump a trace has several values: `at(t)` gives the last, `before(t)` the first. Where jumps
follow one another without time passing, each state between them is a segment without duration.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import NamedTuple

from workbench.models.enumeration import plain_members
from workbench.models.expressions.evaluation import EvaluationError, External, evaluate
from workbench.models.expressions.expression import Expression
from workbench.models.record import record

Scalar = float | bool | str

Course = tuple[float, float] | Expression
"""An input in a segment: (a, b) is a + b*time; else a formula of `time`."""


def scalar_text(value: Scalar) -> str:
    """A value as the language writes it; numbers with six digits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else f"{value:.6g}"


def level(course: Course, t: float) -> Scalar:
    """The value of an input at a time; NaN where its formula has none."""
    if isinstance(course, tuple):
        return course[0] + course[1] * t
    try:
        value = evaluate(course, {"time": t})
    except EvaluationError:
        return float("nan")
    return float(value) if isinstance(value, Fraction) else value


@plain_members
class EventType(StrEnum):
    """What happened."""

    JUMP = "jump"
    ENABLED = "enabled"  # an edge's guard became true
    DISABLED = "disabled"  # an edge's guard became false
    BOUNDARY = "boundary"  # a part of the invariant is about to be violated
    GRAZING = "grazing"  # a guard was touched without being crossed
    HELD = "held"  # an inclusion gives way to keep the invariant
    RELEASED = "released"
    ACCUMULATION = "accumulation"  # infinitely many jumps lead to a state: the run goes on there
    SLIDES = "slides"  # the state goes on along a switching surface
    LEAVES = "leaves"  # the surface
    VIOLATION = "violation"  # a property was violated


@plain_members
class Ending(StrEnum):
    """How a run ended."""

    HORIZON = "horizon"
    VIOLATION = "violation"
    ZENO = "zeno"
    CHATTERING = "chattering"
    LIVELOCK = "livelock"
    BLOCKED = "blocked"
    ASSUMPTION = "assumption"
    NOT_FINITE = "not-finite"
    STEP_TOO_SMALL = "step-too-small"
    STEP_LIMIT = "step-limit"
    UNCERTAIN = "uncertain"  # rounding decides what comes next
    JUMP_LIMIT = "jump-limit"
    EMPTY_INITIAL = "empty-initial"
    EXTERNAL_FAILED = "external-failed"

    @property
    def gave_up(self) -> bool:
        """Whether the run has no end of its own: it could not be followed further."""
        return self in (
            Ending.CHATTERING,
            Ending.LIVELOCK,
            Ending.ASSUMPTION,
            Ending.NOT_FINITE,
            Ending.STEP_TOO_SMALL,
            Ending.STEP_LIMIT,
            Ending.UNCERTAIN,
            Ending.JUMP_LIMIT,
            Ending.EXTERNAL_FAILED,
        )

    @property
    def may_be_stuck(self) -> bool:
        """Whether the run may have ended for want of another state to go to: it is blocked, or
        jumps follow one another without end, which may lead nowhere."""
        return self in (Ending.BLOCKED, Ending.LIVELOCK)


@record
class Outcome:
    """How a run ended, as a sentence for people; `name` is the guard, property or function
    concerned, `accumulation` the time at which infinitely many events accumulate."""

    ending: Ending
    time: float
    sentence: str
    name: str = ""
    accumulation: float | None = None

    @property
    def completed(self) -> bool:
        """Whether the run reached its horizon."""
        return self.ending is Ending.HORIZON


class Event(NamedTuple):
    """One entry of the log.

    `residual` is how far the guard was from zero (negative: short of it) at the event, and
    `side` tells whether it was approached from `below`, landed `beyond`, was only touched
    (`grazing`), or was found by looking at single states (`checked`: the guard calls a
    function of which nothing is known). `together` names what happened at the same instant,
    in the order in which ties are resolved: properties, then edges in source order, then
    invariants.
    """

    time: float
    type: EventType
    name: str
    source: str = ""
    target: str = ""
    residual: float = 0.0
    side: str = "below"
    together: tuple[str, ...] = ()


@record
class Counts:
    """Work done: accepted and rejected steps, evaluations of the right-hand side (a Taylor
    coefficient counts as one), evaluations of the guards alone, right-hand sides evaluated
    beyond a unilateral guard, and right-hand sides that were not finite."""

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    guard_evaluations: int = 0
    beyond: int = 0
    singular: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.steps + other.steps,
            self.rejected + other.rejected,
            self.evaluations + other.evaluations,
            self.guard_evaluations + other.guard_evaluations,
            self.beyond + other.beyond,
            self.singular + other.singular,
        )


@record
class Segment:
    """A stretch of time in one location.

    Piece i of the dense output starts at `times[i]` and has `degrees[i]`; its coefficients
    (powers of the time since the start of the piece, lowest first) stand in `coefficients`
    variable by variable, in the order of `flowing`. `times` has one entry more, the end.
    `held` are the values that did not change; `derived` the variables that equations define;
    `inputs` what was fed in; `externals` the functions that equations call, as far as they are
    known: they are not saved with a trace.
    A segment without duration has one time, no pieces, and its inputs among the `held`.
    `sliding` is the switching surface along which the state moves, if it does, or the edge whose
    jumps accumulate: there the run is the limit of faster and faster switching.
    """

    location: str
    flowing: tuple[str, ...]
    times: array[float]
    degrees: array[int]
    coefficients: array[float]
    held: Mapping[str, Scalar]
    final: array[float]
    derived: Mapping[str, Expression] = field(default_factory=dict)
    sliding: str = ""
    inputs: Mapping[str, Course] = field(default_factory=dict)
    externals: Mapping[str, External] = field(default_factory=dict, repr=False, compare=False)
    _places: list[int] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def stay(self) -> str:
        """Where the state is, in words."""
        return f"{self.location}, sliding along {self.sliding}" if self.sliding else self.location

    @property
    def is_instant(self) -> bool:
        """Whether no time passes in the segment."""
        return self.end <= self.start

    @property
    def start(self) -> float:
        """When the segment begins."""
        return self.times[0]

    @property
    def end(self) -> float:
        """When the segment ends."""
        return self.times[-1]

    def state(self, t: float) -> list[float]:
        """The flowing variables at a time of the segment."""
        count = len(self.degrees)
        if t >= self.end or count == 0:
            return list(self.final)
        piece = min(max(bisect_right(self.times, t) - 1, 0), count - 1)
        s, degree = t - self.times[piece], self.degrees[piece]
        place = self._beginnings()[piece]
        if s == 0.0:
            return list(self.coefficients[place : self._places[piece + 1] : degree + 1])
        values = []
        for _ in self.flowing:
            value = self.coefficients[place + degree]
            for j in range(degree - 1, -1, -1):
                value = value * s + self.coefficients[place + j]
            values.append(value)
            place += degree + 1
        return values

    def polynomial(self, piece: int, variable: int) -> array[float]:
        """A flowing variable, by its number, on one piece; its value where there are none."""
        if not self.degrees:
            return self.final[variable : variable + 1]
        size = self.degrees[piece] + 1
        place = self._beginnings()[piece] + variable * size
        return self.coefficients[place : place + size]

    def _beginnings(self) -> list[int]:
        """Where each piece begins among the coefficients."""
        if not self._places:
            n = len(self.flowing)
            self._places.extend(accumulate((n * (d + 1) for d in self.degrees), initial=0))
        return self._places

    def pieces(self) -> Iterator[tuple[float, float, list[array[float]]]]:
        """Each piece: start, end and the polynomial of every flowing variable."""
        place = 0
        for i, degree in enumerate(self.degrees):
            rows = []
            for _ in self.flowing:
                rows.append(self.coefficients[place : place + degree + 1])
                place += degree + 1
            yield self.times[i], self.times[i + 1], rows

    def valuation(self, t: float) -> dict[str, Scalar]:
        """Every variable and input at a time of the segment; NaN where an equation has no
        value."""
        values: dict[str, Scalar] = dict(self.held)
        values.update(zip(self.flowing, self.state(t), strict=True))
        values["time"] = t
        values.update({name: level(course, t) for name, course in self.inputs.items()})
        for name, definition in self.derived.items():
            try:
                value = evaluate(definition, values, self.externals)
            except EvaluationError:
                value = float("nan")
            values[name] = float(value) if isinstance(value, Fraction) else value
        return values


@record
class Trace:
    """A run: its segments, events, outcome, and everything needed to repeat it.

    `decisions` are the numbers in [0, 1) that resolved what the model leaves open, in the
    order in which they were needed.
    """

    model: str
    variables: tuple[str, ...]
    segments: tuple[Segment, ...]
    events: tuple[Event, ...]
    outcome: Outcome
    counts: Counts = Counts()
    decisions: tuple[float, ...] = ()
    parameters: Mapping[str, float] = field(default_factory=dict)
    method: str = ""

    def __reduce__(self) -> tuple[Callable[[str], Trace], tuple[str]]:
        """Between processes a trace travels as its file; functions from outside stay behind."""
        from workbench.models.trace_files import from_json, to_json

        return from_json, (to_json(self),)

    @property
    def start(self) -> float:
        """The time of the first state (0 for a run that never began)."""
        return self.segments[0].start if self.segments else 0.0

    @property
    def end(self) -> float:
        """The time of the last state."""
        return self.segments[-1].end if self.segments else 0.0

    @property
    def jumps(self) -> tuple[Event, ...]:
        """The discrete switches alone."""
        return tuple(e for e in self.events if e.type is EventType.JUMP)

    def segment_at(self, t: float) -> Segment:
        """The last segment that contains a time; a run that never began has none."""
        if not self.segments:
            raise ValueError(f"the trace has no states: {self.outcome.sentence}")
        index = bisect_right(self.segments, t, key=lambda segment: segment.start)
        return self.segments[max(index - 1, 0)]

    def transitions(self) -> Iterator[tuple[Segment, tuple[Event, ...], Segment]]:
        """Neighbouring segments with the jumps between them: one, or none where a segment ends
        for another reason; several if the states between them are not recorded."""
        jumps, used, first = self.jumps, 0, 0
        segments = self.segments
        while first + 1 < len(segments):
            t, last = segments[first].end, first + 1
            while last + 1 < len(segments) and segments[last].end == t:
                last += 1
            here = used
            while used < len(jumps) and jumps[used].time <= segments[last].start:
                used += 1
            together = segments[first : last + 1]
            parts = _shared_out(jumps[here:used], together)
            yield from zip(together, parts, together[1:], strict=False)
            first = last

    def at(self, t: float) -> dict[str, Scalar]:
        """Every variable at time t; after the jumps if some happen then."""
        return self._listed(self.segment_at(t), t)

    def before(self, t: float) -> dict[str, Scalar]:
        """Every variable at time t, before the jumps that happen then."""
        segment = next((s for s in self.segments if s.end >= t), self.segments[-1])
        return self._listed(segment, t)

    def final(self) -> dict[str, Scalar]:
        """Every variable at the end."""
        return self._listed(self.segments[-1], self.end)

    def _listed(self, segment: Segment, t: float) -> dict[str, Scalar]:
        values = segment.valuation(t)
        return {name: values.get(name, float("nan")) for name in self.variables}

    def samples(self, step: float | None = None) -> Iterator[tuple[float, str, dict[str, Scalar]]]:
        """Rows (time, location, values) at the ends of all pieces, or every `step` and at
        both ends of every segment."""
        for t, segment, values in self.rows(step):
            yield t, segment.location, values

    def rows(self, step: float | None = None) -> Iterator[tuple[float, Segment, dict[str, Scalar]]]:
        """The samples, each with its segment."""
        for segment in self.segments:
            if step is None:
                times: Sequence[float] = list(dict.fromkeys(segment.times))
            else:
                count = int((segment.end - segment.start) / step)
                times = [segment.start + i * step for i in range(count + 1)]
                if times[-1] < segment.end:
                    times.append(segment.end)
            for t in times:
                yield t, segment, self._listed(segment, t)


def _shared_out(jumps: Sequence[Event], segments: Sequence[Segment]) -> list[tuple[Event, ...]]:
    """The jumps of one instant, in order, between the segments that meet there."""
    parts: list[tuple[Event, ...]] = []
    left = list(jumps)
    borders = list(pairwise(segments))
    for k, (before, after) in enumerate(borders):
        more = len(borders) - 1 - k
        if not more:
            parts.append(tuple(left))
        elif left and (len(left) > more or _leads(left[0], before, after)):
            parts.append((left.pop(0),))
        else:
            parts.append(())
    return parts


def _leads(jump: Event, before: Segment, after: Segment) -> bool:
    return (jump.source, jump.target) == (before.location, after.location)

"""What a run has done so far: its states, its events, its work.

A past is never changed: what is added makes a new one that shares all that came before. So every
instant of a run has its own, to go back to costs nothing, and runs that part have a common past.
Of the states all are kept, or the last alone.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from workbench.models.automaton import TIME
from workbench.models.trace import Course, Event, EventType, Scalar, Segment
from workbench.simulate.inputs.signals import Formula, Signal
from workbench.simulate.place import Place, Prepared, slope_of
from workbench.simulate.stepping.stretch import NO_WORK, Stretch, together

Values = Mapping[str, float]
"""The values of all names at an instant. No such mapping is changed once it is made."""

Chain = tuple[Any, Any] | None
"""Things that came one after the other: the last, and the chain of those before it."""


made = tuple.__new__
"""`made(C, (a, b))` is C(a, b) for a class of named tuples, in half the time: a run makes many."""


def newest_first(chain: Chain) -> Iterator[Any]:
    """The things in a chain."""
    while chain is not None:
        thing, chain = chain
        yield thing


class Passed(NamedTuple):
    """A stretch of time, and the values from which it started."""

    place: Place
    values: Values
    result: Stretch


class Leapt(NamedTuple):
    """A straight line to the values at a later time, and how the run went there."""

    place: Place
    values: Values
    time: float
    after: Values
    how: str


class Stood(NamedTuple):
    """A state of the run in which no time passes."""

    place: Place
    values: Values


class Past(NamedTuple):
    """See the module's docstring. `length` states were kept, with `kept` numbers of dense output;
    there are `logged` events; `work` are the numbers of `Counts`."""

    states: Chain = None
    length: int = 0
    kept: int = 0
    events: Chain = None
    logged: int = 0
    work: tuple[int, ...] = NO_WORK

    def __repr__(self) -> str:
        return f"<{self.length} states, {self.logged} events>"  # chains may be longer than a stack

    def passed(self, place: Place, values: Values, result: Stretch, whole: bool) -> Past:
        """A stretch of time more; only its work counts where no time has passed, or so little
        that the integration took no step."""
        states, length, kept, events, logged, work = self
        if result.t > values[TIME] and not (whole and not result.pieces[1]):
            states = (Passed(place, values, result), states if whole else None)
            length += 1
            kept += len(result.pieces[2]) // _NUMBER if whole else 0
        work = together(work, result.work)
        return made(Past, (states, length, kept, events, logged, work))

    def with_state(self, state: Leapt | Stood, whole: bool) -> Past:
        """One of the run's states more that is no stretch of time."""
        states = (state, self.states if whole else None)
        return self._replace(states=states, length=self.length + 1)

    def with_event(self, event: Event) -> Past:
        """An event more."""
        states, length, kept, events, logged, work = self
        return made(Past, (states, length, kept, (event, events), logged + 1, work))

    def with_states_of(self, earlier: Past) -> Past:
        """The same, without the states that were kept after those of an earlier past."""
        return self._replace(states=earlier.states, length=earlier.length)

    def without_events_after(self, time: float) -> Past:
        """The same, without the events after a time."""
        events, logged = self.events, self.logged
        while events is not None and events[0].time > time:
            events, logged = events[1], logged - 1
        return self._replace(events=events, logged=logged)

    def events_since(self, logged: int) -> list[Event]:
        """The events after the first so many."""
        newest = newest_first(self.events)
        return [next(newest) for _ in range(self.logged - logged)][::-1]

    def last_jumps(self, among: int) -> list[Event]:
        """The jumps among the last events."""
        last = self.events_since(max(self.logged - among, 0))
        return [e for e in last if e.type is EventType.JUMP]

    @property
    def steps(self) -> int:
        """The accepted steps."""
        return self.work[0]


_NUMBER = array("d").itemsize


class Recorder:
    """How the states of a run become segments of its trace: `whole`, or the last state alone."""

    def __init__(self, prepared: Prepared, signals: Mapping[str, Signal], whole: bool):
        self.prepared, self.signals, self.whole = prepared, signals, whole

    def segments(self, past: Past) -> tuple[Segment, ...]:
        """The states of a run, in order."""
        made = self._segment if self.whole else self._last
        return tuple(map(made, reversed(list(newest_first(past.states)))))

    def _segment(self, state: Passed | Leapt | Stood) -> Segment:
        place, values = state.place, state.values
        if isinstance(state, Passed):
            found = state.result
            dense = found.times, found.degrees, found.coefficients
            return self.segment(place, values, *dense, found.x)
        flowing = place.program.flowing
        if isinstance(state, Stood):
            made = self._alone(place, values, values[TIME], [values[n] for n in flowing])
            return replace(made, held={**made.held, **self._fed(values)})
        start, t, after = values[TIME], state.time, state.after
        line = array("d")
        for n in flowing:
            line.extend((values[n], (after[n] - values[n]) / (t - start)))
        times, final = array("d", (start, t)), [after[n] for n in flowing]
        made = self.segment(place, values, times, array("i", (1,)), line, final)
        return replace(made, sliding=state.how)

    def _last(self, state: Passed | Leapt | Stood) -> Segment:
        """The end of what is kept."""
        place, values = state.place, state.values
        if isinstance(state, Passed):
            return self._alone(place, values, state.result.t, state.result.x)
        flowing = place.program.flowing
        if isinstance(state, Stood):
            return self._alone(place, values, values[TIME], [values[n] for n in flowing])
        return self._alone(place, values, state.time, [state.after[n] for n in flowing])

    def _alone(self, place: Place, values: Values, t: float, x: Sequence[float]) -> Segment:
        """A segment without duration."""
        return self.segment(place, values, array("d", (t,)), array("i"), array("d"), x)

    def segment(
        self,
        place: Place,
        values: Values,
        times: array[float],
        degrees: array[int],
        coefficients: array[float],
        final: Sequence[float],
    ) -> Segment:
        """Dense output in a place, with the values that rest there."""
        p = self.prepared
        held: dict[str, Scalar] = {n: p.decode(n, values[n]) for n in place.resting}
        if place.derived:
            held.update({n: v for n, v in values.items() if n not in p.known})
        sliding = "" if place.slide is None else place.slide.text
        return Segment(
            place.name, place.program.flowing, times, degrees, coefficients, held,
            array("d", final), place.derived, sliding,
            {i.name: self._course(i.name, values) for i in p.inputs}, p.externals,
        )  # fmt: skip

    def _course(self, name: str, values: Values) -> Course:
        """What is fed into an input until something changes."""
        signal = self.signals.get(name)
        if isinstance(signal, Formula):
            return signal.expression
        return values[name], values.get(slope_of(name), 0.0)

    def _fed(self, values: Values) -> dict[str, Scalar]:
        """The present values of the inputs, which a state knows in which no time passes: at its
        instant they may have other values as well. Those of formulas are on the branches that are
        in force."""
        fed: dict[str, Scalar] = {
            i.name: values[i.name] for i in self.prepared.inputs if i.name in values
        }
        for name, formula in self.prepared.kinked.items():
            if all(branch in values for branch in formula.names):
                fed[name] = formula.value(values)
        return fed

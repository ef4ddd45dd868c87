"""What is kept of a run while it is made: all of it, or its last state alone.

A recorder is told of every stretch of time and of every instant; where a run goes back to an
earlier moment, its recorder forgets what came since a mark.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.models.automaton import TIME
from workbench.models.trace import Course, Scalar, Segment
from workbench.simulate.inputs.signals import Formula, Signal
from workbench.simulate.place import Place, Prepared, slope_of
from workbench.simulate.stepping.stretch import Stretch

Values = Mapping[str, float]


class Recorder(ABC):
    """What is common to all recorders: how states become segments."""

    count = 0
    """So many stretches and instants were recorded and not forgotten."""

    kept = 0
    """So many numbers of dense output are kept."""

    def __init__(self, prepared: Prepared, signals: Mapping[str, Signal]):
        self.prepared, self.signals = prepared, signals

    @abstractmethod
    def stretch(self, place: Place, values: dict[str, float], result: Stretch) -> None:
        """A stretch of time, with the values from which it started; nothing is to be recorded
        where no time has passed, or so little that the integration took no step."""

    @abstractmethod
    def line(self, place: Place, values: Values, t: float, after: Values, how: str) -> None:
        """A straight line to the values at a later time, marked by how the run went there."""

    @abstractmethod
    def instant(self, place: Place, values: dict[str, float]) -> None:
        """A state of the run in which no time passes. It knows its inputs, for at its instant
        they may have other values as well."""

    @abstractmethod
    def mark(self) -> Any:
        """Where the record ends, to come back to it."""

    @abstractmethod
    def forget_since(self, mark: Any) -> None:
        """Forget what was recorded after a mark."""

    @abstractmethod
    def segments(self) -> tuple[Segment, ...]:
        """What was kept."""

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
            {i.name: self.course(i.name, values) for i in p.inputs}, p.externals,
        )  # fmt: skip

    def course(self, name: str, values: Values) -> Course:
        """What is fed into an input until something changes."""
        signal = self.signals.get(name)
        if isinstance(signal, Formula):
            return signal.expression
        return values[name], values.get(slope_of(name), 0.0)

    def state(self, place: Place, values: Values, t: float, x: Sequence[float]) -> Segment:
        """A segment without duration."""
        return self.segment(place, values, array("d", (t,)), array("i"), array("d"), x)

    def fed(self, values: Values) -> dict[str, Scalar]:
        """The present values of the inputs; those of formulas on the branches that are in force,
        for at the instant of a jump they have others as well."""
        fed: dict[str, Scalar] = {
            i.name: values[i.name] for i in self.prepared.inputs if i.name in values
        }
        for name, formula in self.prepared.kinked.items():
            if all(branch in values for branch in formula.names):
                fed[name] = formula.value(values)
        return fed


class WholeRun(Recorder):
    """Keeps the dense output of every stretch."""

    def __init__(self, prepared: Prepared, signals: Mapping[str, Signal]):
        super().__init__(prepared, signals)
        self.list: list[Segment] = []

    def stretch(self, place: Place, values: dict[str, float], result: Stretch) -> None:
        """Keep its pieces."""
        degrees = result.degrees
        if result.t > values[TIME] and degrees:
            coefficients = result.coefficients
            self.kept += len(coefficients)
            self.add(self.segment(place, values, result.times, degrees, coefficients, result.x))

    def line(self, place: Place, values: Values, t: float, after: Values, how: str) -> None:
        """Keep it as one piece."""
        flowing, start = place.program.flowing, values[TIME]
        coefficients = array("d")
        for n in flowing:
            coefficients.extend((values[n], (after[n] - values[n]) / (t - start)))
        times, final = array("d", (start, t)), [after[n] for n in flowing]
        line = self.segment(place, values, times, array("i", (1,)), coefficients, final)
        self.add(replace(line, sliding=how))

    def instant(self, place: Place, values: dict[str, float]) -> None:
        """Keep it with its inputs."""
        x = [values[n] for n in place.program.flowing]
        state = self.state(place, values, values[TIME], x)
        self.add(replace(state, held={**state.held, **self.fed(values)}))

    def add(self, segment: Segment) -> None:
        """Keep a segment."""
        self.list.append(segment)
        self.count += 1

    def mark(self) -> int:
        """How many segments there are."""
        return self.count

    def forget_since(self, mark: int) -> None:
        """Forget the segments after those."""
        del self.list[mark:]
        self.count = mark

    def segments(self) -> tuple[Segment, ...]:
        """All of them."""
        return tuple(self.list)


class LastState(Recorder):
    """Keeps the last state alone, as a segment without duration."""

    def __init__(self, prepared: Prepared, signals: Mapping[str, Signal]):
        super().__init__(prepared, signals)
        self.last: tuple[Place, Values, float, Sequence[float]] | None = None

    def stretch(self, place: Place, values: dict[str, float], result: Stretch) -> None:
        """Keep its end."""
        if result.t > values[TIME]:
            self.last = place, values.copy(), result.t, result.x
            self.count += 1

    def line(self, place: Place, values: Values, t: float, after: Values, how: str) -> None:
        """Keep its end."""
        self.last = place, dict(values), t, [after[n] for n in place.program.flowing]
        self.count += 1

    def instant(self, place: Place, values: dict[str, float]) -> None:
        """Keep the state."""
        x = [values[n] for n in place.program.flowing]
        self.last = place, values.copy(), values[TIME], x
        self.count += 1

    def mark(self) -> tuple[int, Any]:
        """The last state."""
        return self.count, self.last

    def forget_since(self, mark: tuple[int, Any]) -> None:
        """It is the last state again."""
        self.count, self.last = mark

    def segments(self) -> tuple[Segment, ...]:
        """The last state, if there is one."""
        return () if self.last is None else (self.state(*self.last),)

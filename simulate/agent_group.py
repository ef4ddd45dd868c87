"""One group of components with a clock of its own: an execution that goes step by step.

Its integration runs ahead of what is decided: `cut` takes back the part of its path after an
event that another group brings about. A path never depends on other groups while no event
happens, so what is cut off was right as far as it went, and nothing else is taken back.
"""

from __future__ import annotations

from array import array
from dataclasses import replace

from models.trace import Counts, Outcome, Trace
from simulate.engine import Stepper
from simulate.execution import Execution
from simulate.stretch import Stop, Stretch

Piece = tuple[float, int, "array[float]"]
"""Start, degree and coefficients (variable by variable) of a piece of dense output."""


class AgentGroup(Execution):
    """See the module's docstring. `clock` is how far the group has been integrated;
    `ending` is set when its own stretch is over, and waits for its turn."""

    clock = 0.0
    version = 0
    finished = False
    cancelled = 0
    ending: Stretch | None = None
    stepper: Stepper | None = None
    _spent = Counts()
    _pieces: list[Piece]

    def open(self) -> None:
        """Ready for the first step, after `start`."""
        self.instant = (self.t, 0)
        self.visited: set[tuple[object, ...]] = {self.key(self.place.name, self.env)}
        self._single = replace(self.method, max_steps=1)
        self._forget()

    def step(self) -> Piece | None:
        """Make one step; its piece, or None if the stretch ended before it."""
        if self.stepper is None:
            program, x, held, self._goal, self._watches = self.outset()
            self.stepper = Stepper(program, self._single, self.t, x, held)
        result = self.stepper.advance(self._goal, self._watches)
        self._spent = self._spent + result.counts
        self.clock = result.t
        if result.stop is not Stop.STEP_LIMIT or self._spent.steps >= self.method.max_steps:
            self.ending = result
        if not result.degrees:
            return None
        piece = (result.times[0], result.degrees[0], result.coefficients)
        self._pieces.append(piece)
        return piece

    def conclude(self) -> None:
        """Let the group's own stretch take its effect."""
        assert self.ending is not None
        result = self._whole(self.ending)
        self._forget()
        self.settle(result)
        self.respond(result)
        self.clock = self.t

    def cut(self, t: float) -> None:
        """Take back everything after t; the stretch ends there."""
        if self.stepper is None:  # already there
            return
        flowing = len(self.place.program.flowing)
        while self._pieces and self._pieces[-1][0] >= t:
            self._pieces.pop()
            self.cancelled += 1
        x = [self.env[n] for n in self.place.program.flowing]
        if self._pieces:
            start, degree, c = self._pieces[-1]
            x = [_value(c, i * (degree + 1), degree, t - start) for i in range(flowing)]
        empty = array("d")
        end = Stretch(Stop.END, t, array("d", x), (), (), empty, empty, self._spent, empty,
                      array("i"), empty)  # fmt: skip
        result = self._whole(end)
        self._forget()
        self.settle(result)
        self.clock = self.t

    def trace(self, outcome: Outcome) -> Trace:
        """The trace of the group, at the end of the run."""
        segments = self.segments if self.tail is None else [*self.segments, self.tail]
        return Trace(
            self.prepared.base.name,
            tuple(v.name for v in self.prepared.base.variables),
            tuple(segments),
            tuple(self.events),
            outcome,
            self.counts,
            tuple(self.decisions.taken),
            self.parameters,
            repr(self.method),
        )

    def _forget(self) -> None:
        self.stepper = self.ending = None
        self._pieces = []
        self._spent = Counts()
        self.version += 1

    def _whole(self, last: Stretch) -> Stretch:
        """The stretch with all its pieces."""
        coefficients = array("d")
        for _, _, c in self._pieces:
            coefficients.extend(c)
        times = array("d", [start for start, _, _ in self._pieces])
        times.append(last.t)
        degrees = array("i", [degree for _, degree, _ in self._pieces])
        return replace(
            last, counts=self._spent, times=times, degrees=degrees, coefficients=coefficients
        )


def _value(c: array[float], place: int, degree: int, s: float) -> float:
    value = c[place + degree]
    for j in range(degree - 1, -1, -1):
        value = value * s + c[place + j]
    return value

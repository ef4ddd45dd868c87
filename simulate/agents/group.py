"""One group of components with a clock of its own: a run whose stretches of time are
made by a fleet.

The fleet integrates ahead of what is decided: a stretch is *concluded* when the group's own
event is due, and *cut* where an event with another group changes it. A path never depends on
other groups while no event happens, so what is cut off was right as far as it went, and
nothing else is taken back.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Mapping

from workbench.models.automaton import EventKind
from workbench.models.trace import Outcome, Trace
from workbench.simulate.agents.fleet import Fleet
from workbench.simulate.loop.advance import respond, trace_of
from workbench.simulate.loop.begin import Given, begin, check_names
from workbench.simulate.loop.ending import external_failed
from workbench.simulate.loop.flow import outset, pass_time, passed
from workbench.simulate.loop.instant import Departure, Instant, RunEnded, Scenario
from workbench.simulate.loop.jump import arrive
from workbench.simulate.place import Place
from workbench.simulate.run import failed_at_start, no_run
from workbench.simulate.stepping.program import ExternalError


class AgentGroup:
    """See the module's docstring; `position` is the group's number in the fleet, `now` the instant
    at which it is decided to be."""

    now: Instant

    def __init__(self, scenario: Scenario, position: int):
        self.scenario, self.prepared, self.position = scenario, scenario.prepared, position
        self.finished = self.begun = False
        self.cancelled = 0
        self._parameters: Mapping[str, float] = {}
        self._at_once: tuple[int, ...] = ()
        self._numbers: dict[int, tuple[Place, array[int]]] = {}

    def start(self, initial: Mapping[str, Given], parameters: Mapping[str, float]) -> None:
        """Find the first instant."""
        check_names(self.scenario, initial, parameters)
        self._parameters, decisions = parameters, self.scenario.first_decisions()
        self.now = begin(self.scenario, initial, None, parameters, decisions)
        self.begun = True

    def depart(self, fleet: Fleet) -> None:
        """Begin a stretch from the present state."""
        self.now, goal, watches, self._at_once = outset(self.now)
        program, values = self.now.place.program, self.now.values
        method = self.scenario.sampling if program.sampled else self.scenario.method
        x, held = [values[n] for n in program.flowing], [values[n] for n in program.held]
        fleet.depart(
            self.position, program, self.now.time, goal, method.max_step, x, held, watches,
            self._flowing(), self.values(),
        )  # fmt: skip

    def values(self) -> list[float]:
        """The present values of all variables, in the order of their names."""
        return [self.now.values[n] for n in self.prepared.names]

    def conclude(self, fleet: Fleet) -> None:
        """Let the end of the group's own stretch take its effect."""
        result = fleet.stretch(self.position)
        self._follow(lambda now: passed(now, result))
        self._follow(lambda now: respond(now, result, self._at_once))

    def cut(self, fleet: Fleet, t: float) -> None:
        """Take back everything after t; the stretch ends there."""
        result, cancelled = fleet.cut(self.position, t)
        self.cancelled += cancelled
        self._follow(lambda now: passed(now, result))

    def shares(self, count: int) -> list[float]:
        """Where in so many ranges values are taken."""
        decisions = self.scenario.decisions(self.now)
        found = [decisions.share() for _ in range(count)]
        self.now = self.now._replace(decided=decisions.taken)
        return found

    def interact(self, name: str, values: dict[str, float], assigned: Collection[str]) -> None:
        """Take part in an interaction, which assigns values and leads nowhere else."""
        place = self.now.place
        target = self.prepared.place(place.name)
        departure = Departure(place, self.now.values, None, EventKind.UNILATERAL)
        self._follow(lambda now: arrive(now, name, target, values, assigned, departure))

    def alone(self) -> None:
        """Go on to the next instant without a fleet."""
        try:
            self.now, result, at_once = pass_time(self.now)
        except RunEnded as ended:
            self.now = ended.now or self.now
            raise
        self._follow(lambda now: respond(now, result, at_once))

    def _follow(self, reaction: Callable[[Instant], Instant]) -> None:
        """Go on to the instant that a reaction leads to, or at which it ends the run."""
        try:
            self.now = reaction(self.now)
        except RunEnded as ended:
            self.now = ended.now or self.now
            raise

    def failed(self, failure: ExternalError) -> Outcome:
        """How the run ends where an external function failed."""
        if not self.begun:
            return failed_at_start(failure)
        return external_failed(self.now, failure).outcome

    def trace(self, outcome: Outcome) -> Trace:
        """What the group did, up to its present instant."""
        if not self.begun:
            return no_run(self.scenario, self._parameters, outcome)
        return trace_of(self.now, outcome)

    def _flowing(self) -> array[int]:
        """For every variable of the group its number among those that flow here, or -1."""
        place = self.now.place
        known = self._numbers.get(id(place))
        if known is None:
            flowing = {n: k for k, n in enumerate(place.program.flowing)}
            numbers = array("i", [flowing.get(n, -1) for n in self.prepared.names])
            known = self._numbers[id(place)] = (place, numbers)
        return known[1]

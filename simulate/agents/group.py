"""One group of components with a clock of its own: an execution whose stretches of time are
made by a fleet.

The fleet integrates ahead of what is decided: a stretch is *concluded* when the group's own
event is due, and *cut* where an event with another group changes it. A path never depends on
other groups while no event happens, so what is cut off was right as far as it went, and
nothing else is taken back.
"""

from __future__ import annotations

from array import array

from workbench.simulate.agents.fleet import Fleet
from workbench.simulate.execution import Execution
from workbench.simulate.place import Place


class AgentGroup(Execution):
    """See the module's docstring; `position` is the group's number in the fleet."""

    finished = False
    cancelled = 0

    def open(self, position: int) -> None:
        """Ready for the first stretch, after `start`."""
        self.position = position
        self.instant = (self.t, 0)
        self.visited: set[tuple[object, ...]] = {self.key(self.place.name, self.env)}
        self._numbers: dict[int, tuple[Place, array[int]]] = {}

    def depart(self, fleet: Fleet) -> None:
        """Begin a stretch from the present state."""
        goal, watches = self.outset()
        program, env = self.place.program, self.env
        longest = (self.sampling if program.sampled else self.method).max_step
        x, held = [env[n] for n in program.flowing], [env[n] for n in program.held]
        fleet.depart(
            self.position, program, self.t, goal, longest, x, held, watches, self._flowing(),
            self.values(),
        )  # fmt: skip

    def values(self) -> list[float]:
        """The present values of all variables, in the order of their names."""
        return [self.env[n] for n in self.prepared.names]

    def conclude(self, fleet: Fleet) -> None:
        """Let the end of the group's own stretch take its effect."""
        result = fleet.stretch(self.position)
        self.settle(result)
        self.respond(result)

    def cut(self, fleet: Fleet, t: float) -> None:
        """Take back everything after t; the stretch ends there."""
        result, cancelled = fleet.cut(self.position, t)
        self.cancelled += cancelled
        self.settle(result)

    def _flowing(self) -> array[int]:
        """For every variable of the group its number among those that flow here, or -1."""
        place = self.place
        known = self._numbers.get(id(place))
        if known is None:
            flowing = {n: k for k, n in enumerate(place.program.flowing)}
            numbers = array("i", [flowing.get(n, -1) for n in self.prepared.names])
            known = self._numbers[id(place)] = (place, numbers)
        return known[1]

"""The run of many agents: a trace for each group of components, and one log of all jumps."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

from workbench.models.record import record
from workbench.models.trace import Counts, EventType, Outcome, Scalar, Trace
from workbench.simulate.agents.encounters import Grouping


@record
class AgentEvent:
    """A jump (or a violation): when, what, and the groups concerned."""

    time: float
    name: str
    agents: tuple[str, ...]
    type: EventType = EventType.JUMP


@record
class StepRecord:
    """One accepted step of one group: from its clock before to its clock after, and how far
    the clocks of all groups lay apart then. It was agreed with another group where a meeting
    was foreseen."""

    agent: str
    start: float
    end: float
    spread: float
    agreed: bool


@record
class AgentTraces:
    """What `simulate_agents` returns.

    `traces` has one trace for each group of components, by its name; the traces end at the
    same time. `events` are all jumps in the order of time. `grouping` says which components
    have one clock; `cancelled` counts steps that were cut off by an event of another agent,
    `looks` the pairs that were examined closely; `steps` is only kept on request.
    """

    model: str
    traces: Mapping[str, Trace]
    events: tuple[AgentEvent, ...]
    outcome: Outcome
    grouping: Grouping
    cancelled: int = 0
    looks: int = 0
    steps: tuple[StepRecord, ...] = ()

    @property
    def sizes(self) -> dict[str, int]:
        """How many components each group has."""
        return {g.name: len(g.automaton.components) for g in self.grouping.groups}

    @property
    def counts(self) -> Counts:
        """The work of all groups."""
        total = Counts()
        for trace in self.traces.values():
            total = total + trace.counts
        return total

    @property
    def agent_steps(self) -> int:
        """Accepted steps, each counted once for every component that it moves."""
        sizes = self.sizes
        return sum(t.counts.steps * sizes[name] for name, t in self.traces.items())

    def at(self, t: float) -> dict[str, Scalar]:
        """Every variable of every agent at time t; after the jumps if some happen then."""
        values: dict[str, Scalar] = {}
        for trace in self.traces.values():
            values.update(trace.at(t))
        return values

    def final(self) -> dict[str, Scalar]:
        """Every variable at the end; none if the run never began."""
        values: dict[str, Scalar] = {}
        for trace in self.traces.values():
            if trace.segments:
                values.update(trace.final())
        return values

    def before(self, t: float) -> tuple[AgentEvent, ...]:
        """The events up to and including a time."""
        return self.events[: bisect_right(self.events, t, key=lambda e: e.time)]

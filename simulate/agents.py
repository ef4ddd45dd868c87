"""Many agents, each group of coupled components with its own clock, step and history.

The most lagging group is advanced by one step. Its new path is compared with the paths of the
others where they overlap in time: the conditions on pairs are composed with both dense
outputs, so that a meeting is found at a common time although the clocks differ, and pairs
whose bounding boxes keep apart are skipped. Everything that happens is decided in the order of
time: a meeting, when no clock is behind it; a group's own event, when it is the most lagging.
An event restarts only the groups that take part; a group that has run past an event is cut
back to it. A path depends on other groups only through such events, so the result does not
depend on how far clocks drift apart, and clocks are equal exactly where groups meet.

At one instant a group's own events come first (in the order of components), then bad states,
then interactions.
"""

from __future__ import annotations

import heapq
import math
from array import array
from collections.abc import Callable, Iterable, Mapping
from random import Random

from models.automaton import TIME, Automaton
from models.source import Diagnostic, ModelError
from models.trace import Ending, EventType, Outcome
from simulate.agent_group import AgentGroup, Piece
from simulate.agent_groups import Encounter
from simulate.agent_pairs import PreparedAgents
from simulate.agent_traces import AgentEvent, AgentTraces, StepRecord
from simulate.execution import Given, RunEnded
from simulate.fleet import FIRST, SECOND, Fleet, Meeting
from simulate.jump import Jump
from simulate.methods import Method
from simulate.policy import Decisions, Policy, Switching
from simulate.program import ExternalError
from simulate.reaction import arrive
from simulate.run import DEFAULT_METHOD, DEFAULT_POLICY
from simulate.signals import Signal, constant_signal
from simulate.tape import number


def simulate_agents(
    automaton: Automaton | PreparedAgents,
    *,
    until: float,
    method: Method = DEFAULT_METHOD,
    policy: Policy = DEFAULT_POLICY,
    inputs: Mapping[str, Signal | float] | None = None,
    initial: Mapping[str, Given] | None = None,
    parameters: Mapping[str, float] | None = None,
    seed: int = 0,
    externs: Mapping[str, Callable[..., float]] | None = None,
    stop_on_violation: bool = True,
    max_jumps: int = 100_000,
    synchronous: bool = False,
    record_steps: bool = False,
) -> AgentTraces:
    """One run of all agents from time 0 to `until`; see the module's docstring.

    With `synchronous` (or where edges are not taken at their earliest) all agents share one
    clock. The decisions of each
    group come from a generator of its own, so that they do not depend on the clocks.
    """
    signals = _signals(inputs)
    if not isinstance(automaton, PreparedAgents):
        one_clock = synchronous or policy.switching is not Switching.EARLIEST
        automaton = PreparedAgents(automaton, signals, externs or {}, one_clock)
    if policy.script:
        raise ModelError(
            Diagnostic("agents-script", "a script of decisions steers one run, not many agents")
        )
    run = _AgentRun(
        automaton, until, method, policy, signals, seed, stop_on_violation, max_jumps,
        record_steps,
    )  # fmt: skip
    return run.make(initial or {}, parameters or {})


def prepare_agents(
    automaton: Automaton,
    *,
    inputs: Mapping[str, Signal | float] | None = None,
    externs: Mapping[str, Callable[..., float]] | None = None,
    synchronous: bool = False,
) -> PreparedAgents:
    """Compile what can be compiled before a run; give it to `simulate_agents` in place of the
    automaton. `inputs` fixes the form of the signals."""
    return PreparedAgents(automaton, _signals(inputs), externs or {}, synchronous)


def _signals(inputs: Mapping[str, Signal | float] | None) -> dict[str, Signal]:
    return {
        name: constant_signal(float(s)) if isinstance(s, int | float) else s
        for name, s in (inputs or {}).items()
    }


class _AgentRun:
    """The state of one run of all agents."""

    def __init__(
        self,
        prepared: PreparedAgents,
        until: float,
        method: Method,
        policy: Policy,
        signals: Mapping[str, Signal],
        seed: int,
        stop_on_violation: bool,
        max_jumps: int,
        record_steps: bool,
    ):
        self.prepared = prepared
        self.product, self.grouping = prepared.product, prepared.grouping
        self.names = [g.name for g in prepared.grouping.groups]
        self.until, self.method, self.policy, self.seed = until, method, policy, seed
        self.stop_on_violation, self.record_steps = stop_on_violation, record_steps
        self.groups: list[AgentGroup] = []
        for name, group, known in zip(self.names, prepared.groups, prepared.signals, strict=True):
            mine = {n: s for n, s in signals.items() if n in known}
            decisions = Decisions(policy, Random(f"{seed} {name}"))
            self.groups.append(
                AgentGroup(
                    group, until, method, decisions, mine, stop_on_violation, max_jumps, True
                )
            )
        self.events: list[AgentEvent] = []
        self.steps: list[StepRecord] = []
        self.order: list[tuple[float, int, int]] = []
        self.stamps = [0] * len(self.groups)
        self.foreseen: list[tuple[float, int, int, int, Meeting, tuple[int, int]]] = []
        self.instant = (0.0, 0)
        self.t = 0.0

    # The run

    def make(self, initial: Mapping[str, Given], parameters: Mapping[str, float]) -> AgentTraces:
        try:
            self.start(initial, parameters)
            while self.order:
                self.proceed()
            outcome = Outcome(Ending.HORIZON, self.until, f"The run reached t = {self.until:g}.")
        except RunEnded as ended:
            outcome = ended.outcome
            self.stop_all(outcome.time)
        except ExternalError as failed:
            outcome = Outcome(Ending.EXTERNAL_FAILED, self.t, f"{failed}.", failed.name)
            self.stop_all(self.t)
        return AgentTraces(
            self.product.name,
            {
                g.name: r.trace(outcome)
                for g, r in zip(self.grouping.groups, self.groups, strict=True)
            },
            tuple(self.events),
            outcome,
            {g.name: len(g.automaton.components) for g in self.grouping.groups},
            sum(r.cancelled for r in self.groups),
            (self.fleet.looks if self.fleet is not None else 0) - self.looked,
            tuple(self.steps),
        )

    fleet: Fleet | None = None
    looked = 0

    def start(self, initial: Mapping[str, Given], parameters: Mapping[str, float]) -> None:
        values = self.parameters(parameters)
        self.check_names(initial, values)
        for run in self.groups:
            known = run.prepared.known
            mine = {n: v for n, v in initial.items() if n in known}
            run.start(mine, None, values)
            run.open()
        self.pairs = self.prepared.pairs(self.method, values)
        self.fleet = self.pairs.fleet
        self.looked = self.fleet.looks if self.fleet is not None else 0
        self.noted: set[tuple[int, int, str]] = set()
        if self.fleet is not None:
            for i, run in enumerate(self.groups):
                self.rest(i, run)
        for i in range(len(self.groups)):
            self.enqueue(i)
        self.look_at_jump(range(len(self.groups)))

    def parameters(self, given: Mapping[str, float]) -> dict[str, float]:
        """Uncertain constants, the same for all groups."""
        share = Decisions(self.policy, Random(f"{self.seed} parameters")).share
        values: dict[str, float] = {}
        for p in self.product.parameters:
            if p.name in given:
                values[p.name] = float(given[p.name])
            else:
                low = number(p.low) if p.low is not None else None
                high = number(p.high) if p.high is not None else None
                ends = [b for b in (low, high) if b is not None] or [0.0]
                values[p.name] = ends[0] + share() * (ends[-1] - ends[0])
        unknown = set(given) - values.keys()
        if unknown:
            name = min(unknown)
            raise ModelError(Diagnostic("unknown-name", f"the model has no parameter `{name}`"))
        return values

    def check_names(self, initial: Mapping[str, Given], _: Mapping[str, float]) -> None:
        known = frozenset(n for run in self.groups for n in run.prepared.known)
        for name in initial:
            if name not in known:
                raise ModelError(Diagnostic("unknown-name", f"the model has no variable `{name}`"))

    def rest(self, i: int, run: AgentGroup) -> None:
        """A path that has not begun."""
        assert self.fleet is not None
        c = array("d", [run.env[n] for n in run.prepared.names])
        self.fleet.move(i, run.t, run.t, run.t, 0, c)

    # One thing after another

    def enqueue(self, i: int) -> None:
        self.stamps[i] += 1
        if not self.groups[i].finished:
            heapq.heappush(self.order, (self.groups[i].clock, i, self.stamps[i]))

    def proceed(self) -> None:
        """Do what is next in time: a meeting, a group's own event, or a step."""
        clock, i, stamp = self.order[0]
        if stamp != self.stamps[i]:
            heapq.heappop(self.order)
            return
        run = self.groups[i]
        meeting = self.next_meeting()
        if meeting is not None and (
            meeting[0] < clock or (meeting[0] <= clock and run.ending is None)
        ):
            heapq.heappop(self.foreseen)
            self.meet(meeting[4], meeting[2])
        elif run.ending is not None:
            self.own_event(i, run)
        else:
            self.advance(i, run)

    def next_meeting(self) -> tuple[float, int, int, int, Meeting, tuple[int, int]] | None:
        while self.foreseen:
            entry = self.foreseen[0]
            _, _, i, j, _, versions = entry
            if (self.groups[i].version, self.groups[j].version) == versions:
                return entry
            heapq.heappop(self.foreseen)
        return None

    def advance(self, i: int, run: AgentGroup) -> None:
        start = run.clock
        piece = run.step()
        self.enqueue(i)
        if piece is None:
            return
        if self.record_steps:
            self.note_step(i, start, run.clock)
        if self.fleet is None:
            return
        self.show(i, run, piece, start, run.clock)
        for found in self.fleet.meetings(i):
            claim = self.encounters_of(i, found)[0].claim
            versions = (run.version, self.groups[found.other].version)
            entry = (found.time, 0 if claim else 1, i, found.other, found, versions)
            heapq.heappush(self.foreseen, entry)

    def note_step(self, i: int, start: float, end: float) -> None:
        clocks = [r.clock for r in self.groups if not r.finished]
        spread = max(clocks) - min(clocks)
        self.steps.append(StepRecord(self.names[i], start, end, spread))

    def show(self, i: int, run: AgentGroup, piece: Piece, start: float, end: float) -> None:
        """Tell the fleet the path of a group in a window of time."""
        assert self.fleet is not None
        base, degree, c = piece
        flowing = {n: k for k, n in enumerate(run.place.program.flowing)}
        width = degree + 1
        path = array("d")
        for name in run.prepared.names:
            k = flowing.get(name)
            if k is None:
                path.append(run.env[name])
                path.extend([0.0] * degree)
            else:
                path.extend(c[k * width : (k + 1) * width])
        self.fleet.move(i, base, start, end, degree, path)

    def encounters_of(self, i: int, found: Meeting) -> list[Encounter]:
        first, second = min(i, found.other), max(i, found.other)
        return self.pairs.watched[first, second, found.shape]

    def own_event(self, i: int, run: AgentGroup) -> None:
        before, jumps = len(run.events), run.jumps
        self.t = run.clock
        try:
            run.conclude()
        except RunEnded as ended:
            if ended.outcome.ending is not Ending.HORIZON:
                self.log_own(i, run, before)
                raise
            run.finished = True
        self.log_own(i, run, before)
        self.enqueue(i)
        if run.jumps > jumps:
            self.look_at_jump((i,))

    def log_own(self, i: int, run: AgentGroup, before: int) -> None:
        name = (self.names[i],)
        for event in run.events[before:]:
            if event.type in (EventType.JUMP, EventType.VIOLATION):
                self.events.append(AgentEvent(event.time, event.name, name))

    # Meetings

    def meet(self, found: Meeting, i: int) -> None:
        first, second = min(i, found.other), max(i, found.other)
        encounters = self.encounters_of(i, found)
        names = (self.names[first], self.names[second])
        self.t = found.time
        for k in found.fired:
            encounter = encounters[k]
            if encounter.claim:
                self.violated(encounter.name, first, second, names)
                continue
            self.tick(encounter.name)
            self.events.append(AgentEvent(found.time, encounter.name, names))
            self.interact(
                encounter.name, self.pairs.jump(first, second, found.shape, k), first, second
            )
            return

    def violated(self, name: str, first: int, second: int, agents: tuple[str, ...]) -> None:
        if (first, second, name) in self.noted:
            return
        self.noted.add((first, second, name))
        self.events.append(AgentEvent(self.t, name, agents))
        if self.stop_on_violation:
            raise RunEnded(
                Outcome(
                    Ending.VIOLATION,
                    self.t,
                    f"The property `{name}` is violated at t = {self.t:.10g}"
                    f" ({' and '.join(agents)}).",
                    name,
                )
            )

    def tick(self, name: str) -> None:
        count = self.instant[1] + 1 if self.instant[0] == self.t else 0
        self.instant = (self.t, count)
        if count > 1000:
            raise RunEnded(
                Outcome(
                    Ending.LIVELOCK,
                    self.t,
                    f"At t = {self.t:.10g} `{name}` happens again and again without time passing.",
                    name,
                )
            )

    def interact(self, event: str, jump: Jump, first: int, second: int) -> None:
        both = (self.groups[first], self.groups[second])
        for run in both:
            run.cut(self.t)
        values: dict[str, float] = {TIME: self.t}
        for who, run in zip((FIRST, SECOND), both, strict=True):
            for i, name in enumerate(run.prepared.names):
                values[f"{who} {i}"] = run.env[name]
        shares = [both[0].decisions.share() for _ in range(jump.choices)]
        changed = jump(values, shares)
        for who, run, i in zip((FIRST, SECOND), both, (first, second), strict=True):
            after = dict(run.env)
            for j, name in enumerate(run.prepared.names):
                after[name] = changed.get(f"{who} {j}", after[name])
            self.settle(event, run, after)
            self.enqueue(i)
            self.rest(i, run)
        self.look_at_jump((first, second))

    def settle(self, name: str, run: AgentGroup, values: dict[str, float]) -> None:
        """One side of an interaction: the state after it must be finite and allowed."""
        where = run.prepared.base.name
        if not all(map(math.isfinite, values.values())):
            sentence = f"At t = {self.t:.10g} `{name}` gives `{where}` a value that is not finite."
            raise RunEnded(Outcome(Ending.NOT_FINITE, self.t, sentence, name))
        allowed = run.prepared.invariant(run.place.name)
        if not allowed(values, self.method.rtol, self.method.atol):
            sentence = (
                f"The run blocks at t = {self.t:.10g}: `{name}` would take `{where}` out of"
                f" the invariant of `{run.place.name}`."
            )
            raise RunEnded(Outcome(Ending.BLOCKED, self.t, sentence, name))
        arrive(run, name, run.prepared.place(run.place.name), values)

    def look_at_jump(self, changed: Iterable[int]) -> None:
        """Bad states over discrete variables of several groups."""
        names = {n for i in changed for n in self.groups[i].prepared.names}
        for name, read, holds in self.pairs.claims:
            if not read & names:
                continue
            values: dict[str, float] = {TIME: self.t}
            for run in self.groups:
                values.update({n: run.env[n] for n in run.prepared.names if n in read})
            if holds(values)[0]:
                self.violated(name, -1, -1, (self.product.name,))

    def stop_all(self, t: float) -> None:
        """Bring every group to the time at which the run ended."""
        for run in self.groups:
            if run.t < t:
                while run.ending is None and run.clock < t:
                    run.step()
                run.cut(t)

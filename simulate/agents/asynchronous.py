"""Many agents, each group of coupled components with its own clock, step and history.

The most lagging group is advanced by one step. Its new path is compared with the paths of the
others where they overlap in time: the conditions on pairs are composed with both dense
outputs, so that a meeting is found at a common time although the clocks differ, and pairs
that keep apart are skipped. Where a meeting is foreseen the two groups agree on their steps,
so that guard and clock difference shrink together (g_{k+1} = gamma g_k, tau_{k+1} = gamma
tau_k); elsewhere clocks drift freely. Everything that happens is decided in the order of
time: a meeting, when no clock is behind it; a group's own event, when it is the most lagging.
An event restarts only the groups that take part; a group that has run past an event all the
same is cut back to it. A path depends on other groups only through such events, so the result
does not depend on how far clocks drift apart, and clocks are equal exactly where groups meet.

At one instant a group's own events come first (in the order of components), then bad states,
then interactions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from random import Random

from workbench.models.automaton import TIME, Automaton
from workbench.models.source import Diagnostic, ModelError
from workbench.models.trace import Ending, EventType, Outcome
from workbench.simulate.agents.fleet import Fleet, Meeting, canonical_names
from workbench.simulate.agents.group import AgentGroup
from workbench.simulate.agents.pairs import PreparedAgents
from workbench.simulate.agents.traces import AgentEvent, AgentTraces, StepRecord
from workbench.simulate.inputs.feed import within_bounds
from workbench.simulate.inputs.signals import Signal, constant_signal
from workbench.simulate.jump import Jump
from workbench.simulate.loop.begin import Given
from workbench.simulate.loop.flow import without_series
from workbench.simulate.loop.instant import INSTANT_LIMIT, RunEnded, Scenario
from workbench.simulate.policy import Decisions, Numbers, Policy, Switching
from workbench.simulate.run import DEFAULT_METHOD, DEFAULT_POLICY
from workbench.simulate.stepping.methods import Method, check_method
from workbench.simulate.stepping.program import ExternalError


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
    sliding: bool | None = None,
    synchronous: bool = False,
    foresee: bool = True,
    record_steps: bool = False,
) -> AgentTraces:
    """One run of all agents from time 0 to `until`; see the module's docstring.

    With `synchronous` all agents share one clock, as they do where edges are not taken at their
    earliest, and where a function from outside fails. Without `foresee` no steps are agreed, and
    groups are cut back instead; the events are the same. The decisions of each group come from a
    generator of its own, so that they do not depend on the clocks.
    """
    if not 0.0 <= until < math.inf:
        raise ModelError(
            Diagnostic("bad-horizon", f"a run ends at a finite time from 0 on, not at {until}")
        )
    check_method(method)
    signals = _signals(inputs)
    one_clock = synchronous or policy.switching is not Switching.EARLIEST
    if not isinstance(automaton, PreparedAgents):
        automaton = PreparedAgents(automaton, signals, externs or {}, one_clock)
    elif one_clock:
        automaton = automaton.on_one_clock
    if automaton.calls_functions:
        method = without_series(method)
    if policy.script:
        raise ModelError(
            Diagnostic("agents-script", "a script of decisions steers one run, not many agents")
        )
    options = (until, method, policy, signals, seed, stop_on_violation, max_jumps, sliding)
    start = (initial or {}, parameters or {}, foresee, record_steps)
    try:
        return _AgentRun(automaton, *options).make(*start)
    except ExternalError:  # a step looked ahead further than the run may get: on one clock that
        return _AgentRun(automaton.on_one_clock, *options).make(*start)  # is found out


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
        sliding: bool | None,
    ):
        self.prepared = prepared
        self.product, self.grouping = prepared.product, prepared.grouping
        self.names = [g.name for g in prepared.grouping.groups]
        self.until, self.method, self.policy, self.seed = until, method, policy, seed
        self.stop_on_violation = stop_on_violation
        self.groups: list[AgentGroup] = []
        given = zip(self.names, prepared.groups, prepared.signals, strict=True)
        for position, (name, group, known) in enumerate(given):
            scenario = Scenario.of(
                group,
                until,
                method,
                policy,
                {n: s for n, s in signals.items() if n in known},
                Random(f"{seed} {name}"),
                stop_on_violation=stop_on_violation,
                max_jumps=max_jumps,
                sliding=sliding,
            )
            self.groups.append(AgentGroup(scenario, position))
        self.events: list[AgentEvent] = []
        self.fleet: Fleet | None = None
        self.noted: set[tuple[int, int, str]] = set()
        self.instant = (0.0, 0)
        self.t = 0.0
        most = max(len(g.prepared.names) for g in self.groups)
        self.sides = canonical_names(most)

    # The run

    def make(
        self,
        initial: Mapping[str, Given],
        parameters: Mapping[str, float],
        foresee: bool,
        record: bool,
    ) -> AgentTraces:
        """Run to the end; what all groups did."""
        try:
            self.start(initial, parameters)
            if self.fleet is None:
                self.alone(self.groups[0])
            else:
                self.together(self.fleet, foresee, record)
            outcome = Outcome(Ending.HORIZON, self.until, f"The run reached t = {self.until:g}.")
        except RunEnded as ended:
            outcome = ended.outcome
            self.stop_all(outcome.time)
        except ExternalError as failed:
            if len(self.groups) > 1:
                raise
            outcome = self.groups[0].failed(failed)
        fleet = self.fleet
        return AgentTraces(
            self.product.name,
            {
                g.name: r.trace(outcome)
                for g, r in zip(self.grouping.groups, self.groups, strict=True)
            },
            tuple(self.events),
            outcome,
            self.grouping,
            sum(r.cancelled for r in self.groups),
            0 if fleet is None else fleet.looks,
            tuple(
                StepRecord(self.names[i], start, end, spread, agreed)
                for i, agreed, start, end, spread in (fleet.records() if fleet and record else ())
            ),
        )

    def alone(self, run: AgentGroup) -> None:
        """Everything on one clock."""
        try:
            while True:
                before = run.now.past.logged
                try:
                    run.alone()
                finally:
                    self.log_own(0, run, before)
                self.t = run.now.time
        except RunEnded as ended:
            if ended.outcome.ending is not Ending.HORIZON:
                raise

    def together(self, fleet: Fleet, foresee: bool, record: bool) -> None:
        """One thing after another, in the order of time."""
        fleet.begin(foresee, record)
        for run in self.groups:
            run.depart(fleet)
        while True:
            due = fleet.run()
            if due is None:
                return
            if isinstance(due, Meeting):
                self.meet(fleet, due)
            else:
                self.own_event(fleet, due)

    def start(self, initial: Mapping[str, Given], parameters: Mapping[str, float]) -> None:
        """Parameters and first states of all groups."""
        values = self.parameters(parameters)
        self.check_names(initial)
        for run in self.groups:
            known = run.prepared.known
            mine = {n: v for n, v in initial.items() if n in known}
            run.start(mine, values)
        pairs = self.prepared.pairs(self.method, values)
        self.claims, self.fleet = pairs.claims, pairs.fleet
        self.read = frozenset(n for _, read, _ in self.claims for n in read)
        self.shared: dict[str, float] = {}
        self.look_at_jump(range(len(self.groups)))

    def parameters(self, given: Mapping[str, float]) -> dict[str, float]:
        """Uncertain constants, the same for all groups."""
        drawn = Numbers((), Random(f"{self.seed} parameters"))
        share = Decisions(self.policy, drawn).share
        values: dict[str, float] = {}
        for p in self.product.parameters:
            if p.name in given:
                values[p.name] = float(given[p.name])
            else:
                values[p.name] = within_bounds(p, share)
        unknown = set(given) - values.keys()
        if unknown:
            name = min(unknown)
            raise ModelError(Diagnostic("unknown-name", f"the model has no parameter `{name}`"))
        return values

    def check_names(self, initial: Mapping[str, Given]) -> None:
        """Refuse names that the model does not have."""
        known = frozenset(n for run in self.groups for n in run.prepared.known)
        for name in initial:
            if name not in known:
                raise ModelError(Diagnostic("unknown-name", f"the model has no variable `{name}`"))

    # Events of one group

    def own_event(self, fleet: Fleet, i: int) -> None:
        """The stretch of a group is over, and no other is behind it."""
        run = self.groups[i]
        before, jumps = run.now.past.logged, run.now.jumps.number
        try:
            run.conclude(fleet)
        except RunEnded as ended:
            self.t = run.now.time
            self.log_own(i, run, before)
            run.finished = True
            if ended.outcome.ending is not Ending.HORIZON:
                raise
            fleet.retire(i)
            return
        self.t = run.now.time
        self.log_own(i, run, before)
        run.depart(fleet)
        if run.now.jumps.number > jumps:
            self.look_at_jump((i,))

    def log_own(self, i: int, run: AgentGroup, before: int) -> None:
        """Add the group's new jumps, touches and violations to the common log."""
        name = (self.names[i],)
        for event in run.now.past.events_since(before):
            if event.type in (EventType.JUMP, EventType.VIOLATION, EventType.GRAZING):
                self.events.append(AgentEvent(event.time, event.name, name, event.type))

    # Meetings

    def meet(self, fleet: Fleet, found: Meeting) -> None:
        """Two groups meet."""
        self.t = found.time
        encounter = fleet.layers[found.layer].encounter
        pair = (found.first, found.second)
        names = (self.names[found.first], self.names[found.second])
        if encounter.claim:
            self.violated(encounter.name, pair, names)
            return
        self.tick(encounter.name)
        self.events.append(AgentEvent(found.time, encounter.name, names))
        self.interact(fleet, encounter.name, fleet.jump(found.layer), pair)

    def violated(self, name: str, pair: tuple[int, int], agents: tuple[str, ...]) -> None:
        """Note the violation of a property once; end the run if it is to stop there."""
        if (*pair, name) in self.noted:
            return
        self.noted.add((*pair, name))
        self.events.append(AgentEvent(self.t, name, agents, EventType.VIOLATION))
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
        """Count what happens at one instant."""
        count = self.instant[1] + 1 if self.instant[0] == self.t else 0
        self.instant = (self.t, count)
        if count > INSTANT_LIMIT:
            raise RunEnded(
                Outcome(
                    Ending.LIVELOCK,
                    self.t,
                    f"At t = {self.t:.10g} `{name}` happens again and again without time passing.",
                    name,
                )
            )

    def interact(self, fleet: Fleet, event: str, jump: Jump, pair: tuple[int, int]) -> None:
        """The resets of an interaction; both groups restart."""
        both = (self.groups[pair[0]], self.groups[pair[1]])
        values: dict[str, float] = {TIME: self.t}
        for who, run in zip(self.sides, both, strict=True):
            run.cut(fleet, self.t)
            values.update(zip(who, run.values(), strict=False))
        shares = both[0].shares(jump.choices)
        if not jump.has_values(values, shares, self.method.rtol, self.method.atol):
            sentence = (
                f"The run blocks at t = {self.t:.10g}: a reset of `{event}`"
                f" ({' and '.join(self.names[i] for i in pair)}) has an empty range."
            )
            raise RunEnded(Outcome(Ending.BLOCKED, self.t, sentence, event))
        changed = jump(values, shares)
        for who, run in zip(self.sides, both, strict=True):
            new = {
                n: changed[c] for n, c in zip(run.prepared.names, who, strict=False) if c in changed
            }
            self.settle(event, run, new)
            run.depart(fleet)
        self.look_at_jump(pair)

    def settle(self, name: str, run: AgentGroup, new: dict[str, float]) -> None:
        """One side of an interaction: the state after it must be finite, and allowed as far
        as the interaction changed what the invariant speaks of."""
        where = run.prepared.base.name
        if not all(map(math.isfinite, new.values())):
            sentence = f"At t = {self.t:.10g} `{name}` gives `{where}` a value that is not finite."
            raise RunEnded(Outcome(Ending.NOT_FINITE, self.t, sentence, name))
        values = {**run.now.values, **new}
        allowed = run.prepared.invariant(run.now.place.name)
        if not allowed.names.isdisjoint(new) and not allowed(
            values, self.method.rtol, self.method.atol
        ):
            sentence = (
                f"The run blocks at t = {self.t:.10g}: `{name}` would take `{where}` out of"
                f" the invariant of `{run.now.place.name}`."
            )
            raise RunEnded(Outcome(Ending.BLOCKED, self.t, sentence, name))
        run.interact(name, values, new.keys())

    def look_at_jump(self, changed: Iterable[int]) -> None:
        """Bad states over discrete variables of several groups."""
        if not self.claims:
            return
        new = {
            n: self.groups[i].now.values[n] for i in changed for n in self.groups[i].prepared.names
        }
        new = {n: v for n, v in new.items() if n in self.read}
        self.shared.update(new)
        self.shared[TIME] = self.t
        for name, read, holds in self.claims:
            if not read.isdisjoint(new) and holds(self.shared)[0]:
                self.violated(name, (-1, -1), (self.product.name,))

    def stop_all(self, t: float) -> None:
        """Bring every group to the time at which the run ended; no clock is behind it."""
        for run in self.groups:
            if self.fleet is not None and not run.finished and run.now.time < t:
                run.cut(self.fleet, t)

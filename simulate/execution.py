"""The execution of one run: where it starts, its stretches of time, its log."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property

from workbench.models.automaton import TIME
from workbench.models.interruption import go_on
from workbench.models.source import Diagnostic, ModelError
from workbench.models.trace import Counts, Ending, Event, EventType, Outcome, Trace
from workbench.simulate.accumulation import Accumulation
from workbench.simulate.at_once import enabled_at_once, with_fired
from workbench.simulate.effort import spend_on_start, spend_on_stretch
from workbench.simulate.holding import inclusion_share
from workbench.simulate.input_jump import change_inputs
from workbench.simulate.inputs.feed import Feed, within_bounds
from workbench.simulate.inputs.signals import Signal
from workbench.simulate.jump import LastChance
from workbench.simulate.landing import Departure
from workbench.simulate.limits import (
    external_failed,
    failed,
    suited,
    too_many_steps,
    up_to_failure,
    within_memory,
)
from workbench.simulate.locking import branch_name
from workbench.simulate.place import Place, Prepared, Role
from workbench.simulate.policy import Decisions
from workbench.simulate.reaction import on_time, react
from workbench.simulate.recorder import LastState, Recorder, WholeRun
from workbench.simulate.sliding import Surface
from workbench.simulate.sliding_reaction import react_sliding
from workbench.simulate.start.initial import NoStart, StartFinder
from workbench.simulate.stepping.engine import stretch
from workbench.simulate.stepping.methods import Method
from workbench.simulate.stepping.program import ExternalError
from workbench.simulate.stepping.stretch import NO_WORK, Stop, Stretch, together

CHECKS = 1000
"""Guards that call functions of which nothing is known are looked at so often in a run."""

INSTANT_LIMIT = 1000
"""So many events without time passing, and without a new state, are a livelock."""

OUTSIDE = 10.0
"""A state further outside the invariant than this many tolerances ends the run."""

Given = float | int | str | bool
"""An initial value: a number, a truth value, or the name of an enumeration's value."""


class RunEnded(Exception):  # noqa: N818 - the regular end of a run, not an error
    """Leaves the loop of a run with its outcome."""

    def __init__(self, outcome: Outcome):
        super().__init__(outcome.sentence)
        self.outcome = outcome


class Execution:
    """The state of one run."""

    def __init__(
        self,
        prepared: Prepared,
        until: float,
        method: Method,
        decisions: Decisions,
        signals: Mapping[str, Signal],
        stop_on_violation: bool,
        max_jumps: int,
        dense: bool,
        sliding: bool | None = None,
    ):
        self.prepared, self.until, self.method = prepared, until, method
        self.sliding = sliding
        self.decisions, self.signals = decisions, signals
        self.stop_on_violation, self.max_jumps, self.dense = stop_on_violation, max_jumps, dense
        self.t = 0.0
        self.env: dict[str, float] = {TIME: 0.0}
        self.recorder: Recorder = (WholeRun if dense else LastState)(prepared, signals)
        self.events: list[Event] = []
        self.work = NO_WORK
        self.parameters: dict[str, float] = {}
        self.accumulation = Accumulation(until)
        self.entered: set[Surface] = set()  # surfaces on which sliding began at this instant
        self.jumps = 0
        self.inexact: frozenset[str] | None = frozenset()
        """What is known up to the tolerance only, where other values were given at this instant;
        None once time has passed since."""
        self.departures: list[Departure] = []  # the jumps of this instant
        self.at_once: tuple[int, ...] = ()  # watches of edges that are urgent at this instant
        self.feed = Feed(prepared, signals, decisions, until)
        self.begun = False
        self.place: Place
        self.begin_stay()

    def begin_stay(self) -> None:
        """Forget what belongs to one stay in a location."""
        self.stay_from = self.recorder.count
        self.enabled: dict[int, float] = {}
        self.ignored: set[int] = set()
        self.refused: set[int] = set()
        self.last_chance: LastChance | None = None
        self.former: dict[str, float] = {}  # of inputs that jumped at this instant
        self.grazed: frozenset[int] = frozenset()  # parts of the invariant that are touched
        self.missed: frozenset[int] = frozenset()  # edges whose guards are, and not taken
        self.grazed_until = math.inf
        self.before_touch: tuple[object, float, dict[str, float]]

    # The run

    def make(
        self, initial: Mapping[str, Given], location: str | None, parameters: Mapping[str, float]
    ) -> Trace:
        """Run to the end; the trace."""
        spend_on_start()
        try:
            self.start(initial, location, parameters)
            self.instant = (self.t, 0)
            self.visited: set[tuple[object, ...]] = {self.key(self.place.name, self.env)}
            while True:
                self.stretch()
        except RunEnded as ended:
            outcome = ended.outcome
        except ExternalError as failure:
            outcome = external_failed(self, failure).outcome
        return self.trace(outcome)

    def trace(self, outcome: Outcome) -> Trace:
        """What the run did, up to its last state."""
        if self.begun:
            self.keep_instant()
        return Trace(
            self.prepared.base.name,
            tuple(v.name for v in self.prepared.base.variables),
            self.recorder.segments(),
            tuple(self.events),
            outcome,
            Counts(*self.work),
            tuple(self.decisions.taken),
            self.parameters,
            repr(self.method),
        )

    def end(
        self, ending: Ending, sentence: str, name: str = "", accumulation: float | None = None
    ) -> RunEnded:
        """The end of the run at this time, to be raised."""
        return RunEnded(Outcome(ending, self.t, sentence, name, accumulation))

    def start(
        self, initial: Mapping[str, Given], location: str | None, parameters: Mapping[str, float]
    ) -> None:
        """Choose parameters, levels, the initial location and the initial state."""
        p = self.prepared
        self.check_names(initial, parameters)
        for parameter in p.view.parameters:
            value = parameters.get(parameter.name)
            if value is None:
                value = within_bounds(parameter, self.decisions.share)
            self.parameters[parameter.name] = self.env[parameter.name] = float(value)
        self.env.update(self.feed.levels(self.t))
        self.env.update(self.feed.signals(self.t))
        given = {name: self.number(value) for name, value in initial.items()}
        reasons = []
        for index, start in enumerate(p.starts()):
            if location is not None and start.location != location:
                continue
            finder = p.finders.get(index)
            if finder is None:
                finder = p.finders[index] = StartFinder(p, start)
            found = finder.find(given, self.env, self.decisions)
            if isinstance(found, NoStart):
                reasons.append(found.reason)
                continue
            shares = [self.decisions.share() for _ in range(finder.entry.choices)]
            values = {**self.env, **found}
            if not finder.entry.has_values(values, shares, self.method.rtol, self.method.atol):
                reasons.append(f"a range of first values in `{start.location}` is empty")
                continue
            found.update(finder.entry(values, shares))
            values = {**self.env, **found}
            if not p.invariant(start.location)(values, self.method.rtol, self.method.atol):
                reasons.append(f"the start is outside the invariant of `{start.location}`")
                continue
            self.env, self.place, self.begun = values, p.place(start.location), True
            return
        reason = reasons[0] if reasons else f"runs cannot start in `{location}`"
        raise self.end(Ending.EMPTY_INITIAL, f"There is no run: {reason}.")

    def check_names(self, initial: Mapping[str, Given], parameters: Mapping[str, float]) -> None:
        """Refuse names that the model does not have."""
        p = self.prepared
        known = {
            "variable": (initial, p.known),
            "parameter": (parameters, {q.name for q in p.view.parameters}),
            "input": (self.signals, {i.name for i in p.inputs} | {*self.inclusions()}),
        }
        for sort, (given, names) in known.items():
            for name in given:
                if name not in names:
                    raise ModelError(
                        Diagnostic("unknown-name", f"the model has no {sort} `{name}`")
                    )

    def inclusions(self) -> set[str]:
        """The names under which signals may steer inclusions."""
        return {inclusion_share(name) for name in self.prepared.names}

    def number(self, value: Given) -> float:
        """A given value as the core knows it."""
        if isinstance(value, str):
            if value not in self.prepared.symbols:
                raise ModelError(Diagnostic("unknown-symbol", f"`{value}` is not a value"))
            return float(self.prepared.symbols[value])
        return float(value)

    def key(self, location: str, values: Mapping[str, float]) -> tuple[object, ...]:
        """A state, to recognise it when it comes back at the same instant."""
        return (location, *map(values.get, self.prepared.names))

    def next_change(self) -> float:
        """When the next signal, level or wait changes, or the run ends."""
        change = min(self.until, self.feed.next_change, self.grazed_until)
        return min(change, *self.enabled.values()) if self.enabled else change

    def chance(self, edge: int) -> LastChance:
        """The present instant, to come back to it: before the jump of inputs, if that is what
        ends the chance."""
        change = self.t if self.former else self.feed.signal_change
        values = {**self.env, **self.former}
        return LastChance(self.recorder.mark(), self.t, values, edge, change)

    # One stretch of time

    def stretch(self) -> None:
        """Let time pass until something happens, and respond."""
        try:
            result = self.part(math.inf)
        except ExternalError as failure:
            result = up_to_failure(self, failure)
        self.settle(result)
        self.respond(result)

    def part(self, limit: float) -> Stretch:
        """What the next stretch does, up to a time at most."""
        until, active = self.outset()
        program, method = self.place.program, self.method
        if program.sampled or not program.differentiable:
            method = suited(program, self.sampling if program.sampled else method)
        if self.dense:
            method = within_memory(self, method, len(program.flowing))
        return stretch(program, method, self.env, min(until, limit), active, self.dense)

    def outset(self) -> tuple[float, array[int]]:
        """Make ready for the next stretch: its end, and the watches to look at."""
        place, env = self.place, self.env
        env[TIME] = self.t
        if place.branches is not None:
            env.update(place.branches(env))
        self.at_once = enabled_at_once(self)
        until = self.t if self.at_once else max(self.next_change(), self.t)
        return until, self.active(place)

    def settle(self, result: Stretch) -> None:
        """Store a stretch, and move to its end; the work is counted, and may be called off."""
        spend_on_stretch(self.place.program, result.work)
        go_on()
        self.work = together(self.work, result.work)
        self.recorder.stretch(self.place, self.env, result)
        self.tick(result.t)
        self.env.update(zip(self.place.program.flowing, result.x, strict=True))

    @cached_property
    def sampling(self) -> Method:
        """The method where guards are looked at now and then."""
        return replace(self.method, max_step=min(self.method.max_step, self.until / CHECKS))

    @property
    def steps(self) -> int:
        """The accepted steps so far."""
        return self.work[0]

    def respond(self, result: Stretch) -> None:
        """Do what the end of a stretch asks for; a run never goes on, and never proves
        anything, from a state outside the invariant."""
        if self.at_once:
            result = with_fired(result, self.at_once)
        stop, place = result.stop, self.place
        known = not self.grazed and (stop is Stop.EVENT or stop is Stop.END)
        if known and not self.inside(OUTSIDE * self.method.rtol, OUTSIDE * self.method.atol):
            raise self.end(
                Ending.BLOCKED,
                f"The run left the invariant of `{place.name}` before t = {self.t:.10g}"
                " by more than the tolerance; what it did since cannot be trusted.",
                place.name,
            )
        if stop is Stop.END:
            on_time(self, place)
        elif stop is not Stop.EVENT:
            raise failed(self, result)
        elif self.steps >= self.method.max_steps:
            raise too_many_steps(self)
        elif place.slide is not None:
            react_sliding(self, place, place.slide, result)
        else:
            react(self, place, result)
        if self.t >= self.feed.next_change:
            change_inputs(self)

    def inside(self, rtol: float, atol: float) -> bool:
        """Whether the state satisfies the invariant within tolerance: of both sides while it
        slides."""
        name, slide = self.place.name, self.place.slide
        if not self.prepared.invariant(name)(self.env, rtol, atol):
            return False
        if slide is None or slide.above == name:
            return True
        return self.prepared.invariant(slide.above)(self.env, rtol, atol)

    def active(self, place: Place) -> array[int]:
        """The watches to look at: guards of enabled edges for becoming false, others for
        becoming true."""
        special = self.enabled or self.ignored or self.refused or self.grazed or self.missed
        if not (special or place.branches):
            return place.ordinary
        wanted = []
        for i, (role, j) in enumerate(place.roles):
            if role is Role.BAD:
                use = j not in self.ignored
            elif role is Role.RISE:
                use = j not in self.enabled and j not in self.missed
            elif role is Role.FALL:
                use = j in self.enabled
            elif role is Role.EXIT:
                use = j not in self.grazed
            elif role is Role.AWAY:
                use = j not in self.refused
            elif role is Role.SWITCH:
                use = (self.env[branch_name(j // 2)] != 0.0) == (j % 2 == 1)
            else:
                use = True
            if use:
                wanted.append(i)
        return array("i", wanted)

    def landed_from(self, departure: Departure, assigned: Collection[str]) -> None:
        """Remember a jump of this instant, and which values it left inexact."""
        self.departures.append(departure)
        before = departure.place.program.flowing if self.inexact is None else self.inexact
        self.inexact = frozenset(before).difference(assigned)

    def tick(self, t: float) -> None:
        """Move the clock; count what happens at one instant."""
        if t > self.t:
            self.visited.clear()
            self.entered.clear()
            self.former = {}
            self.inexact = None
            self.departures.clear()
            self.instant = (t, 0)
        else:
            self.instant = (t, self.instant[1] + 1)
            if self.instant[1] > INSTANT_LIMIT:
                names = list(dict.fromkeys(e.name for e in self.events[-20:] if e.name))
                raise self.end(
                    Ending.LIVELOCK,
                    f"At t = {t:.10g} events follow one another without time passing"
                    f" ({', '.join(names[:4])}).",
                    names[0] if names else "",
                )
        self.t = self.env[TIME] = t

    def keep_instant(self, values: dict[str, float] | None = None) -> None:
        """Store the present state (or that with other values of inputs), if the run has only
        just arrived in its location: a stay without duration is one of the run's states."""
        if self.recorder.count == self.stay_from:
            self.recorder.instant(self.place, self.env if values is None else values)

    def pass_to(self, t: float, values: dict[str, float], how: str) -> None:
        """Move on to a state that no flow leads to, on a straight line that is marked."""
        self.recorder.line(self.place, self.env, t, values, how)
        self.env = values
        self.tick(t)

    # Events

    def log(
        self,
        kind: EventType,
        name: str,
        target: str = "",
        residual: float = 0.0,
        side: str = "below",
        together: tuple[str, ...] = (),
    ) -> None:
        """Add an event at this time."""
        self.events.append(
            Event(self.t, kind, name, self.place.name, target, residual, side, together)
        )

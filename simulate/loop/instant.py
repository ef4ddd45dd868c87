"""An instant of a run: everything that the run is at that moment, as one value.

From an instant on a run is determined: whoever keeps one has saved the run, and can go on from it
as often as wanted, each time with the same events (`simulate.loop.advance`). No instant is ever
changed; the reactions of this folder are functions from one to the next. An instant refers to

- its *scenario*, which is the same for the whole run: the model, how far and by which method it is
  followed, what is fed in, the numbers that decide what is left open;
- the state: time, place, values of all names, how many decisions were taken, and when what is fed
  in changes;
- what the run notes `here` until time passes, and during its `stay` until it leaves the location;
- the `jumps` that may pile up, and the `past`, of which the trace is made.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from workbench.models.automaton import EventKind
from workbench.models.record import record
from workbench.models.trace import Ending, Event, EventType, Outcome
from workbench.simulate.inputs.feed import Changes, Feed
from workbench.simulate.inputs.signals import Signal
from workbench.simulate.jump import Jump
from workbench.simulate.loop.past import Chain, Past, Recorder, Stood, Values, made
from workbench.simulate.place import Place, Prepared
from workbench.simulate.policy import Decisions, Numbers, Policy
from workbench.simulate.stepping.methods import Method

if TYPE_CHECKING:
    from workbench.simulate.loop.accumulation import Jumps
    from workbench.simulate.surfaces import Surface

CHECKS = 1000
"""Guards that call functions of which nothing is known are looked at so often in a run."""


@record
class Scenario:
    """What is the same for the whole of a run."""

    prepared: Prepared
    until: float
    method: Method
    policy: Policy
    numbers: Numbers
    feed: Feed
    recorder: Recorder
    stop_on_violation: bool = True
    max_jumps: int = 100_000
    sliding: bool | None = None

    @classmethod
    def of(
        cls,
        prepared: Prepared,
        until: float,
        method: Method,
        policy: Policy,
        signals: Mapping[str, Signal],
        generator: Random,
        *,
        whole: bool = True,
        **options: Any,
    ) -> Self:
        """The scenario in which signals are fed in and a generator draws; of the states all are
        kept (the `whole` run) or the last."""
        numbers, feed = Numbers(policy.script, generator), Feed(prepared, signals, until)
        recorder = Recorder(prepared, signals, whole)
        return cls(prepared, until, method, policy, numbers, feed, recorder, **options)

    def first_decisions(self) -> Decisions:
        """What a run decides before its first instant."""
        return Decisions(self.policy, self.numbers)

    def decisions(self, now: Instant) -> Decisions:
        """What a run decides from an instant on."""
        return Decisions(self.policy, self.numbers, now.decided)

    @cached_property
    def tolerances(self) -> tuple[float, float]:
        """How exactly states are known: relative and absolute."""
        return self.method.rtol, self.method.atol

    @cached_property
    def sampling(self) -> Method:
        """The method where guards are looked at now and then."""
        return replace(self.method, max_step=min(self.method.max_step, self.until / CHECKS))


class Departure(NamedTuple):
    """A jump of this instant: from where and in which state, by which resets (None if they are
    not the location's own), and how its guard was approached."""

    place: Place
    values: Values
    jump: Jump | None
    kind: EventKind


class InstantNotes(NamedTuple):
    """What a run notes until time passes."""

    visited: tuple[frozenset[Hashable], ...] = ()
    """The states that it left, but not by the last departure, in sets of which each is larger than
    the next."""
    entered: frozenset[Surface] = frozenset()
    """The surfaces on which sliding began."""
    departures: Chain = None
    """The jumps."""
    inexact: frozenset[str] | None = None
    """What is known up to the tolerance only, where other values were given at this instant; None
    if none were."""
    former: Mapping[str, float] = {}
    """The values before of inputs that jumped."""
    repeats: int = 0
    """So many things happened since there was a new state."""

    def visited_with(self, state: Hashable) -> tuple[frozenset[Hashable], ...]:
        """What was visited, with a state more."""
        found = (*self.visited, frozenset((state,)))
        while len(found) > 1 and len(found[-2]) <= len(found[-1]):
            found = (*found[:-2], found[-2] | found[-1])
        return found


TIME_PASSED = InstantNotes()


class Touch(NamedTuple):
    """Parts of the invariant and edges whose guards (by number) are touched, and not looked at
    until a time; the instant before."""

    parts: frozenset[int]
    edges: frozenset[int]
    until: float
    before: Instant


class StayNotes(NamedTuple):
    """What a run notes during one stay in a location, which began after `since` states."""

    since: int = 0
    enabled: Mapping[int, float] = {}
    """Edges that may be taken, and until when they wait."""
    ignored: frozenset[int] = frozenset()
    """Properties that are violated already."""
    refused: frozenset[int] = frozenset()
    """While sliding: edges that cannot be taken."""
    chance: tuple[int, Instant] | None = None
    """The edge that stopped being enabled last, and the instant at which it still was."""
    touch: Touch | None = None


class Instant(NamedTuple):
    """See the module's docstring."""

    scenario: Scenario
    time: float
    place: Place
    values: Values
    decided: int
    changes: Changes
    here: InstantNotes
    stay: StayNotes
    jumps: Jumps
    past: Past

    def __repr__(self) -> str:
        return f"<t = {self.time:.10g} in `{self.place.name}`, {self.past!r}>"

    @property
    def prepared(self) -> Prepared:
        """The model."""
        return self.scenario.prepared

    @property
    def state(self) -> Hashable:
        """The location and the values of the variables."""
        return state_of(self.scenario.prepared, self.place.name, self.values)

    def was_in(self, location: str, values: Values) -> bool:
        """Whether the run is or was in this state at this instant."""
        here, prepared = self.here, self.scenario.prepared
        if here.departures is None and location != self.place.name:
            return False  # the usual case
        state = state_of(prepared, location, values)
        if state == self.state:
            return True
        if here.departures is None:
            return False
        last: Departure = here.departures[0]
        left = state_of(prepared, last.place.name, last.values)
        return state == left or any(state in some for some in here.visited)

    def logged(
        self,
        kind: EventType,
        name: str,
        target: str = "",
        residual: float = 0.0,
        side: str = "below",
        together: tuple[str, ...] = (),
    ) -> Instant:
        """The same with an event in the log."""
        event = Event(self.time, kind, name, self.place.name, target, residual, side, together)
        return made(Instant, (*self[:9], self.past.with_event(event)))

    def with_values(self, values: Values) -> Instant:
        """The same with other values."""
        return made(Instant, (*self[:3], values, *self[4:]))

    def with_place(self, place: Place) -> Instant:
        """The same in another place of the same location."""
        return made(Instant, (*self[:2], place, *self[3:]))

    def with_stay(self, stay: StayNotes) -> Instant:
        """The same with other notes of the stay."""
        return made(Instant, (*self[:7], stay, *self[8:]))

    def after(self, decisions: Decisions) -> Instant:
        """The same after these decisions were taken."""
        if decisions.taken == self.decided:
            return self
        return made(Instant, (*self[:4], decisions.taken, *self[5:]))

    def noted(self, values: Values | None = None) -> Instant:
        """The same with its state (or that with other values of inputs) in the past, if the run
        has only just arrived in its location: a stay without duration is one of its states."""
        if self.past.length != self.stay.since:
            return self
        stood = Stood(self.place, self.values if values is None else values)
        past = self.past.with_state(stood, self.scenario.recorder.whole)
        return self._replace(past=past)

    def in_place(self, place: Place, values: Values) -> Instant:
        """A new stay, at the same time."""
        here = self.here._replace(former={})
        if here.departures is not None:  # no jump leads away from the present state
            here = here._replace(visited=here.visited_with(self.state))
        stay = StayNotes(self.past.length)
        return self._replace(place=place, values=values, stay=stay, here=here)

    def at(self, time: float, values: Values, past: Past) -> Instant:
        """A later instant of the same stay, or the same one after something happened."""
        if time > self.time:
            here = TIME_PASSED
        else:
            here = self.here._replace(repeats=self.here.repeats + 1)
            if here.repeats > INSTANT_LIMIT:
                raise self._replace(past=past).going_round(time)
        scenario, _, place, _, decided, changes, _, stay, jumps, _ = self
        fields = (scenario, time, place, values, decided, changes, here, stay, jumps, past)
        return made(Instant, fields)

    def going_round(self, time: float) -> RunEnded:
        """The end of a run in which one thing follows another and no time passes."""
        names = [e.name for e in self.past.events_since(max(self.past.logged - 20, 0)) if e.name]
        shown = list(dict.fromkeys(names))
        return self.ended(
            Ending.LIVELOCK,
            f"At t = {time:.10g} events follow one another without time passing"
            f" ({', '.join(shown[:4])}).",
            shown[0] if shown else "",
        )

    def ended(
        self, ending: Ending, sentence: str, name: str = "", accumulation: float | None = None
    ) -> RunEnded:
        """The end of the run at this instant, to be raised."""
        return RunEnded(Outcome(ending, self.time, sentence, name, accumulation), self)


INSTANT_LIMIT = 1000
"""So many events without time passing, and without a new state, are a livelock."""


class RunEnded(Exception):  # noqa: N818 - the regular end of a run, not an error
    """Leaves a reaction with the outcome of the run, and its last instant if it had begun."""

    def __init__(self, outcome: Outcome, now: Instant | None = None):
        super().__init__(outcome.sentence)
        self.outcome, self.now = outcome, now


def state_of(prepared: Prepared, location: str, values: Values) -> Hashable:
    """A location and the values of the variables, to recognise them when they come back."""
    return (location, *map(values.get, prepared.names))

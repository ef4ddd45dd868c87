"""Runs: the semantics of the automaton over the stepping core.

`simulate` makes one run; `prepare` once and `Prepared` objects make many cheap. A run
alternates stretches of continuous time with jumps:

- A property's bad states, the guards of all edges and the parts of the invariant are
  watched; the first that happens ends the stretch, several at once are resolved in the order
  properties, edges in source order, invariant.
- An urgent edge is taken at once. Another edge may be taken from the moment its guard is
  true: the policy says how long it waits. Where the invariant is about to be violated, an
  inclusion gives way if it can (a derivative in [l, u] takes the value that stays on the
  boundary); else an enabled edge is taken; else the run blocks, and says why.
- Everything undetermined is drawn from one recorded stream of decisions.

Every run ends with an `Outcome`; nothing here raises for what a model does.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping
from random import Random

from models.automaton import TIME, Automaton
from models.source import Diagnostic, ModelError
from models.trace import Counts, Ending, Event, EventType, Outcome, Scalar, Segment, Trace
from simulate.accumulation import Accumulation
from simulate.engine import advance
from simulate.initial import NoStart, StartFinder
from simulate.methods import Adams, Method
from simulate.place import (
    Hold,
    Place,
    Prepared,
    Role,
    edge_name,
    inclusion_share,
    slope_of,
)
from simulate.policy import Decisions, Policy
from simulate.program import ExternalError
from simulate.signals import Formula, Signal, Steps, constant_signal, line_at, next_change
from simulate.stretch import Stop, Stretch
from simulate.tape import number

DEFAULT_METHOD = Adams()
DEFAULT_POLICY = Policy()
INSTANT_LIMIT = 1000
"""So many events without time passing are a livelock."""

Given = float | int | str | bool


class _Ended(Exception):  # noqa: N818 - control flow inside this module, not an error
    def __init__(self, outcome: Outcome):
        super().__init__(outcome.sentence)
        self.outcome = outcome


def prepare(
    automaton: Automaton,
    *,
    inputs: Mapping[str, Signal | float] | None = None,
    externs: Mapping[str, Callable[..., float]] | None = None,
) -> Prepared:
    """Compile what can be compiled before a run; give it to `simulate` in place of the
    automaton. `inputs` fixes the form of the signals (see `Prepared`)."""
    return Prepared(automaton, _signals(inputs), externs)


def simulate(
    automaton: Automaton | Prepared,
    *,
    until: float,
    method: Method = DEFAULT_METHOD,
    policy: Policy = DEFAULT_POLICY,
    inputs: Mapping[str, Signal | float] | None = None,
    initial: Mapping[str, Given] | None = None,
    location: str | None = None,
    parameters: Mapping[str, float] | None = None,
    generator: Random | None = None,
    seed: int = 0,
    externs: Mapping[str, Callable[..., float]] | None = None,
    stop_on_violation: bool = True,
    max_jumps: int = 100_000,
    dense: bool = True,
) -> Trace:
    """One run from time 0 to `until`.

    `initial` fixes initial values, `location` the initial location, `parameters` uncertain
    constants, `inputs` signals (a number is a constant signal). Randomness comes from
    `generator`, or from a new one with the given seed. Without `dense` the trace has straight
    lines between the ends of its segments.
    """
    signals = _signals(inputs)
    prepared = (
        automaton if isinstance(automaton, Prepared) else Prepared(automaton, signals, externs)
    )
    decisions = Decisions(policy, generator or Random(seed))
    run = _Run(prepared, until, method, decisions, signals, stop_on_violation, max_jumps, dense)
    return run.make(initial or {}, location, parameters or {})


def _signals(inputs: Mapping[str, Signal | float] | None) -> dict[str, Signal]:
    return {
        name: constant_signal(float(s)) if isinstance(s, int | float) else s
        for name, s in (inputs or {}).items()
    }


class _Run:
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
    ):
        self.prepared, self.until, self.method = prepared, until, method
        self.decisions, self.signals = decisions, signals
        self.stop_on_violation, self.max_jumps, self.dense = stop_on_violation, max_jumps, dense
        self.t = 0.0
        self.env: dict[str, float] = {TIME: 0.0}
        self.segments: list[Segment] = []
        self.tail: Segment | None = None
        self.events: list[Event] = []
        self.counts = Counts()
        self.parameters: dict[str, float] = {}
        self.accumulation = Accumulation(until)
        self.jumps = 0
        self.level_change = math.inf
        self.loose: tuple[str, ...] = ()
        self.place: Place
        self.begin_stay()

    def begin_stay(self) -> None:
        """Forget what belongs to one stay in a location."""
        self.enabled: dict[int, float] = {}
        self.ignored: set[int] = set()
        self.last_chance: tuple[int, float, dict[str, float], int] | None = None

    # The run

    def make(
        self, initial: Mapping[str, Given], location: str | None, parameters: Mapping[str, float]
    ) -> Trace:
        try:
            self.start(initial, location, parameters)
            self.instant = (self.t, 0)
            self.visited: set[tuple[object, ...]] = {self.key(self.place.name, self.env)}
            while True:
                self.stretch()
        except _Ended as ended:
            outcome = ended.outcome
        except ExternalError as failed:
            outcome = Outcome(Ending.EXTERNAL_FAILED, self.t, f"{failed}.", failed.name)
        if self.tail is not None:
            self.segments.append(self.tail)
        return Trace(
            self.prepared.base.name,
            tuple(v.name for v in self.prepared.base.variables),
            tuple(self.segments),
            tuple(self.events),
            outcome,
            self.counts,
            tuple(self.decisions.taken),
            self.parameters,
            repr(self.method),
        )

    def end(
        self, ending: Ending, sentence: str, name: str = "", accumulation: float | None = None
    ) -> _Ended:
        return _Ended(Outcome(ending, self.t, sentence, name, accumulation))

    def start(
        self, initial: Mapping[str, Given], location: str | None, parameters: Mapping[str, float]
    ) -> None:
        p = self.prepared
        self.check_names(initial, parameters)
        for parameter in p.view.parameters:
            value = parameters.get(parameter.name)
            if value is None:
                value = _between(parameter.low, parameter.high, self.decisions.share)
            self.parameters[parameter.name] = self.env[parameter.name] = float(value)
        self.set_levels(first=True)
        self.set_signals()
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
            self.env.update(found)
            shares = [self.decisions.share() for _ in range(finder.entry.choices)]
            self.env.update(finder.entry(self.env, shares))
            self.place = p.place(start.location)
            return
        reason = reasons[0] if reasons else f"runs cannot start in `{location}`"
        raise self.end(Ending.EMPTY_INITIAL, f"There is no run: {reason}.")

    def check_names(self, initial: Mapping[str, Given], parameters: Mapping[str, float]) -> None:
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
        return {inclusion_share(name) for name in self.prepared.names}

    def number(self, value: Given) -> float:
        if isinstance(value, str):
            if value not in self.prepared.symbols:
                raise ModelError(Diagnostic("unknown-symbol", f"`{value}` is not a value"))
            return float(self.prepared.symbols[value])
        return float(value)

    # Inputs and inclusions

    def set_levels(self, first: bool = False) -> None:
        """Levels of inputs without signals, and places in inclusions; drawn anew when a
        random level has lasted long enough."""
        share, env = self.decisions.share, self.env
        for given in self.prepared.inputs:
            if given.name not in self.signals:
                env[given.name] = _between(given.low, given.high, share)
        if first:
            self.loose = self.prepared.loose
        for name in self.loose:
            if inclusion_share(name) not in self.signals:
                env[inclusion_share(name)] = share()
        anything = self.loose or any(i.name not in self.signals for i in self.prepared.inputs)
        self.level_change = self.t + self.decisions.dwell(self.until) if anything else math.inf

    def set_signals(self) -> None:
        for name, signal in self.signals.items():
            if isinstance(signal, Formula):
                continue
            level, slope = line_at(signal, self.t)
            self.env[name] = level
            if not isinstance(signal, Steps):
                self.env[slope_of(name)] = slope

    def next_change(self) -> float:
        times = [next_change(s, self.t) for s in self.signals.values()]
        return min([self.until, self.level_change, *times, *self.enabled.values()])

    # One stretch of time

    def stretch(self) -> None:
        place, program, env = self.place, self.place.program, self.env
        env[TIME] = self.t
        x = [env[n] for n in program.flowing]
        held = [env[n] for n in program.held]
        until = max(self.next_change(), self.t)
        result = advance(
            program, self.method, self.t, x, held, until, self.active(place), self.dense
        )
        self.counts = self.counts + result.counts
        self.record(place, result)
        self.tick(result.t)
        for name, value in zip(program.flowing, result.x, strict=True):
            env[name] = value
        if result.stop is Stop.EVENT:
            self.react(place, result)
        elif result.stop is Stop.END:
            self.on_time(place)
        else:
            raise self.failed(result)

    def active(self, place: Place) -> list[int]:
        wanted = []
        for i, (role, j) in enumerate(place.roles):
            if role is Role.BAD:
                use = j not in self.ignored
            elif role is Role.RISE:
                use = j not in self.enabled
            elif role is Role.FALL:
                use = j in self.enabled
            else:
                use = True
            if use:
                wanted.append(i)
        return wanted

    def tick(self, t: float) -> None:
        """Move the clock; count what happens at one instant."""
        if t > self.t:
            self.visited.clear()
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

    def record(self, place: Place, result: Stretch) -> None:
        flowing = place.program.flowing
        p = self.prepared
        outside = [n for n in p.names if n not in flowing]
        held: dict[str, Scalar] = {n: self.env[n] for n in outside}
        if place.derived:
            held.update({n: v for n, v in self.env.items() if n not in p.known})
        pieces = (result.times, result.degrees, result.coefficients)
        if not self.dense and result.t > self.t:
            pieces = _secant(self.t, [self.env[n] for n in flowing], result)
        segment = Segment(place.name, flowing, *pieces, held, result.x, place.derived)
        if result.t > self.t:
            self.segments.append(segment)
            self.tail = None
        else:  # kept only if the run ends here: no time has passed
            self.tail = segment

    def failed(self, result: Stretch) -> _Ended:
        t = f"t = {self.t:.10g}"
        state = ", ".join(
            f"{n} = {v:.6g}"
            for n, v in list(zip(self.place.program.flowing, result.x, strict=True))[:6]
        )
        if result.stop is Stop.NOT_FINITE:
            return self.end(
                Ending.NOT_FINITE,
                f"At {t} in `{self.place.name}` a derivative or guard has no finite value"
                f" ({state}).",
            )
        if result.stop is Stop.STEP_TOO_SMALL:
            return self.end(
                Ending.STEP_TOO_SMALL,
                f"At {t} in `{self.place.name}` no step is small enough for the tolerance:"
                f" the solution explodes or jumps ({state}).",
            )
        return self.end(
            Ending.STEP_LIMIT,
            f"The limit of {self.method.max_steps} steps was reached at {t} in"
            f" `{self.place.name}`; the equations may be stiff ({state}).",
        )

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
        self.events.append(
            Event(self.t, kind, name, self.place.name, target, residual, side, together)
        )

    def on_time(self, place: Place) -> None:
        """The end of a stretch without an event: the horizon, a signal, or a wait is over."""
        if self.t >= self.until:
            due = [j for j, deadline in self.enabled.items() if deadline <= self.t]
            if not due:
                raise self.end(Ending.HORIZON, f"The run reached t = {self.until:g}.")
        if self.t >= self.level_change:
            self.set_levels()
        self.set_signals()
        self.leave(place, [j for j, deadline in self.enabled.items() if deadline <= self.t])

    def react(self, place: Place, result: Stretch) -> None:
        fired = [place.roles[w] for w in result.fired]
        grazing = {place.roles[w] for w in result.grazing}
        names = tuple(self.name_of(place, role) for role in fired)
        together = names if len(names) > 1 else ()
        forced: list[int] = []
        urgent: list[int] = []
        for role, j in fired:
            side = "grazing" if (role, j) in grazing else "below"
            residual = self.residual(place, result, (role, j))
            if role is Role.BAD:
                self.violated(place, j, residual, together)
            elif role is Role.RISE:
                edge, name = place.edges[j], place.edge_names[j]
                wait = 0.0 if edge.urgent else self.decisions.wait(self.until)
                if side == "grazing":
                    self.log(EventType.GRAZING, name, "", residual, side, together)
                    if wait > 0.0:
                        continue
                else:
                    self.log(EventType.ENABLED, name, "", residual, side, together)
                self.enabled[j] = self.t + wait
                if edge.urgent:
                    urgent.append(j)
            elif role is Role.FALL:
                self.enabled.pop(j, None)
                self.last_chance = (len(self.segments), self.t, dict(self.env), j)
                self.log(EventType.DISABLED, place.edge_names[j], "", residual, side)
            elif role is Role.EXIT:
                name = place.exit_names[j]
                self.log(EventType.BOUNDARY, name, "", residual, side, together)
                forced.append(j)
            elif role is Role.RELEASE:
                self.release(place, j)
                return
            else:
                self.release(place, j)
                forced.append(place.holds[j][1])
        due = urgent or [j for j, deadline in self.enabled.items() if deadline <= self.t]
        self.leave(place, due, forced, bool(urgent))

    def name_of(self, place: Place, role: tuple[Role, int]) -> str:
        kind, j = role
        if kind is Role.BAD:
            return self.prepared.properties[j]
        if kind in (Role.RISE, Role.FALL):
            return place.edge_names[j]
        part = j if kind is Role.EXIT else place.holds[j][1]
        return place.exit_names[part]

    @staticmethod
    def residual(place: Place, result: Stretch, role: tuple[Role, int]) -> float:
        """The value of the watch's atom that is nearest to zero."""
        tokens = place.program.watches[place.number[role]].tokens
        values = [result.values[k] for k in tokens if k >= 0 and not place.program.atoms[k][3] & 2]
        return min(values, key=abs, default=0.0)

    def violated(self, place: Place, j: int, residual: float, together: tuple[str, ...]) -> None:
        name = self.prepared.properties[j]
        self.log(EventType.VIOLATION, name, "", residual, "beyond", together)
        self.ignored.add(j)
        if self.stop_on_violation:
            raise self.end(
                Ending.VIOLATION,
                f"The property `{name}` is violated at t = {self.t:.10g} in `{place.name}`.",
                name,
            )

    # Leaving a location, or staying at its boundary

    def leave(
        self,
        place: Place,
        due: list[int],
        forced: list[int] | None = None,
        must: bool = False,
    ) -> None:
        """Take one of the edges that are due; where the invariant forces something, hold the
        boundary or take any enabled edge."""
        forced = forced or []
        if self.take(place, due, must):
            return
        if must:
            raise self.blocked(place, forced)
        if not forced:
            for j in due:
                self.enabled[j] = math.inf
            return
        unheld = self.hold(place, forced)
        if not unheld:
            return
        possible = [j for j in range(len(place.edges)) if self.guard_holds(place, j)]
        if self.take(place, possible, True, unheld) or self.take(place, possible, False):
            return
        if self.last_chance is not None:
            self.rewind()
            return
        raise self.blocked(place, unheld)

    def guard_holds(self, place: Place, j: int) -> bool:
        return self.prepared.guard(place.name, j)(self.env, self.method.rtol, self.method.atol)

    def take(
        self, place: Place, options: list[int], anyway: bool, forced: list[int] | None = None
    ) -> bool:
        """Jump along one of the edges, if the target's invariant allows it; an instant is
        not repeated unless `anyway`, and what is `forced` must be resolved by the jump."""
        options = list(options)
        while options:
            j = self.decisions.choose(options)
            options.remove(j)
            edge = place.edges[j]
            jump = self.prepared.jump(place.name, j)
            shares = [self.decisions.share() for _ in range(jump.choices)]
            values = {**self.env, **jump(self.env, shares)}
            if not all(map(math.isfinite, (values[n] for n in jump.names))):
                raise self.end(
                    Ending.NOT_FINITE,
                    f"At t = {self.t:.10g} the reset of `{edge_name(edge)}` has no finite value.",
                    edge_name(edge),
                )
            target = self.prepared.place(edge.target)
            if not self.prepared.invariant(edge.target)(values, self.method.rtol, self.method.atol):
                continue
            if not all(
                self.prepared.turns_inward(edge.target, place.exits[part], values)
                for part in forced or ()
            ):
                continue
            key = self.key(edge.target, values)
            if not anyway and (key in self.visited or (key == self.key(place.name, self.env))):
                continue
            self.visited.add(self.key(place.name, self.env))
            self.visited.add(key)
            self.jump(edge_name(edge), target, values)
            return True
        return False

    def jump(self, name: str, target: Place, values: dict[str, float]) -> None:
        self.log(EventType.JUMP, name, target.name)
        self.env, self.place = values, target
        self.begin_stay()
        self.jumps += 1
        self.accumulation.jump(name, self.t)
        zeno = self.accumulation.zeno(name)
        if zeno is not None:
            raise self.end(
                Ending.ZENO,
                f"The events `{name}` accumulate at t = {zeno:.9g} (Zeno); the run stops at"
                f" t = {self.t:.10g}.",
                name,
                zeno,
            )
        if self.accumulation.chatters():
            raise self.end(
                Ending.CHATTERING,
                f"The edge `{name}` and others switch back and forth at t = {self.t:.10g}"
                " almost without time passing (chattering).",
                name,
            )
        if self.jumps >= self.max_jumps:
            raise self.end(
                Ending.JUMP_LIMIT, f"The limit of {self.max_jumps} jumps was reached.", name
            )

    def key(self, location: str, values: Mapping[str, float]) -> tuple[object, ...]:
        return (location, *(values.get(n, 0.0) for n in self.prepared.names))

    def hold(self, place: Place, forced: list[int]) -> list[int]:
        """Let inclusions give way so that the invariant stays satisfied on its boundary;
        the parts that cannot be kept in this way (and then none is)."""
        p, holds = self.prepared, list(place.holds)
        unheld = []
        for part in forced:
            name = self.giving_way(place, part, tuple(holds))
            if name is None:
                unheld.append(part)
            else:
                holds.append((name, part))
        if not unheld:
            self.place = p.place(place.name, tuple(holds))
            for name, part in holds[len(place.holds) :]:
                self.log(EventType.HELD, f"d({name}) keeps {place.exit_names[part]}")
        return unheld

    def giving_way(self, place: Place, part: int, holds: tuple[Hold, ...]) -> str | None:
        """A variable whose inclusion contains the rate that keeps a part of the invariant."""
        for name, calculate in self.prepared.holders(place.name, holds, part):
            low, rate, high = calculate(self.env)
            if low <= rate <= high:
                return name
        return None

    def release(self, place: Place, index: int) -> None:
        hold: Hold = place.holds[index]
        self.log(EventType.RELEASED, f"d({hold[0]})")
        kept = tuple(h for h in place.holds if h != hold)
        self.place = self.prepared.place(place.name, kept)

    def rewind(self) -> None:
        """Go back to the last moment at which an edge could be taken, and take it."""
        assert self.last_chance is not None
        count, t, env, j = self.last_chance
        del self.segments[count:]
        self.events = [e for e in self.events if e.time <= t]
        self.t, self.env, self.last_chance = t, dict(env), None
        self.place = self.prepared.place(self.place.name)
        if not self.take(self.place, [j], True):
            raise self.blocked(self.place, [])

    def blocked(self, place: Place, forced: list[int]) -> _Ended:
        parts = ", ".join(f"`{place.exit_names[i]}`" for i in forced) or "an urgent edge"
        reasons = []
        for j, edge in enumerate(place.edges):
            if self.guard_holds(place, j):
                reasons.append(f"`{edge_name(edge)}` leads outside the target's invariant")
            else:
                reasons.append(f"the guard of `{edge_name(edge)}` is false")
        why = "; ".join(reasons[:4]) if reasons else "no edge leaves the location"
        return self.end(
            Ending.BLOCKED,
            f"The run blocks at t = {self.t:.10g} in `{place.name}`: {parts} forbids time to"
            f" pass, and {why}.",
            parts.strip("`"),
        )


def _secant(
    start: float, x: list[float], result: Stretch
) -> tuple[array[float], array[int], array[float]]:
    """Straight lines between the ends of a stretch, in place of dense output."""
    coefficients = array("d")
    for a, b in zip(x, result.x, strict=True):
        coefficients.extend((a, (b - a) / (result.t - start)))
    return array("d", (start, result.t)), array("i", (1,)), coefficients


def _between(low: object, high: object, share: Callable[[], float]) -> float:
    """A value between two optional exact bounds."""
    if low is None and high is None:
        return 0.0
    if low is None or high is None:
        return number(low if low is not None else high)  # type: ignore[arg-type]
    if low == high:
        return number(low)  # type: ignore[arg-type]
    a, b = number(low), number(high)  # type: ignore[arg-type]
    return a + share() * (b - a)

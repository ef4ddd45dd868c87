"""A recipe for a run that is known as a trace: what the simulator must decide to make it again.

Counterexamples of exact methods are traces that no simulator made. A run is guided along such a
trace: it starts where the trace does, derivatives take their places in ranges, each edge is taken
when the trace takes it, and ranges of resets land where the trace does. What was decided on the way
is recorded as in any other run, so the recipe replays like any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from workbench.models.automaton import TIME, Automaton
from workbench.models.expressions.evaluation import EvaluationError, evaluate_number
from workbench.models.record import record
from workbench.models.trace import Event, Scalar, Segment, Trace
from workbench.simulate.inputs.signals import Signal, Steps
from workbench.simulate.jump import Jump
from workbench.simulate.loop.begin import Given, number
from workbench.simulate.loop.instant import Instant, Scenario
from workbench.simulate.place import Place, Prepared, inclusion_share
from workbench.simulate.policy import Decisions, Level, Policy, Switching
from workbench.simulate.recipe import Recipe
from workbench.simulate.run import prepare, run_from
from workbench.simulate.stepping.methods import Adams

METHOD = Adams(rtol=1e-9, atol=1e-12)
LONGER = 1e-6
"""How much longer than the trace its run is made, relative to 1 + t: where the trace ends on the
boundary of the bad states, rounding may reach it a little later."""


def recipe_following(automaton: Automaton, trace: Trace, claim: str) -> Recipe:
    """The recipe of the run along a trace up to its violation of a claim (a property's name).
    The automaton has that property alone."""
    prepared = prepare(automaton)
    first = trace.segments[0].valuation(trace.start)
    until = trace.end + LONGER * (1.0 + trace.end)
    recipe = Recipe(
        until=until,
        initial=_initial(prepared, trace.segments[0].location, first),
        location=trace.segments[0].location,
        parameters=dict(trace.parameters),
        inputs=dict(_inclusions(prepared, trace)),
        policy=Policy(Switching.RANDOM, Level.RANDOM, wait=until, dwell=1e9 * until),
        method=METHOD,
        claim=claim,
        sliding=False,
    )
    return recipe.with_decisions(_guided(prepared, recipe, trace).decisions)


def _guided(prepared: Prepared, recipe: Recipe, trace: Trace) -> Trace:
    scenario = _GuidedScenario.of(
        prepared,
        recipe.until,
        recipe.method,
        recipe.policy,
        recipe.inputs,
        Random(recipe.seed),
        sliding=recipe.sliding,
        steps=tuple(_steps(trace)),
    )
    first = trace.segments[0].valuation(trace.start)

    def entering(_: Place, values: dict[str, float]) -> dict[str, float]:
        """The values that entering the first location gives, as in the trace."""
        entry = prepared.finders[max(prepared.finders)].entry  # the last that was tried
        if entry.choices:
            shares = _landing(prepared, entry, values, first)
            scenario.numbers.known[-entry.choices :] = shares
            values = {**values, **entry(values, shares)}
        return values

    return run_from(scenario, recipe.initial, recipe.location, recipe.parameters, entering)


def _initial(prepared: Prepared, location: str, first: Mapping[str, Scalar]) -> dict[str, Given]:
    """The first values, but those that entering the location gives."""
    entered = {
        reset.variable
        for start in prepared.starts()
        if start.location == location
        for reset in start.resets
    }
    names = [v.name for v in prepared.view.variables]
    return {n: first[n] for n in names if n in first and n not in entered and n != TIME}


def _inclusions(prepared: Prepared, trace: Trace) -> Iterator[tuple[str, Signal]]:
    """Where derivatives lie in their ranges, stay by stay."""
    stays = [s for s in trace.segments if not s.is_instant]
    for name in prepared.loose if stays else ():
        shares = [_place(prepared, segment, name) for segment in stays]
        yield inclusion_share(name), Steps(tuple(s.start for s in stays), tuple(shares))


def _place(prepared: Prepared, segment: Segment, name: str) -> float:
    """Where in its range the derivative of a variable lies, from 0 to 1."""
    allowed = prepared.view.location(segment.location).flow_of(name)
    if allowed.exact is not None or allowed.low is None or allowed.high is None:
        return 0.5
    values = segment.valuation(segment.start)
    try:
        low, high = (float(evaluate_number(end, values)) for end in (allowed.low, allowed.high))
    except EvaluationError:
        return 0.5
    rate = 0.0
    if name in segment.flowing:
        rate = segment.polynomial(0, segment.flowing.index(name))[1]
    return min(max((rate - low) / (high - low), 0.0), 1.0) if high > low else 0.5


@dataclass(frozen=True)
class _Step:
    """An edge that a trace takes, and the state that it leads to."""

    event: Event
    after: Mapping[str, Scalar]


def _steps(trace: Trace) -> Iterator[_Step]:
    for _, events, after in trace.transitions():
        yield from (_Step(event, after.valuation(after.start)) for event in events)


@record
class _GuidedScenario(Scenario):
    """A scenario whose decisions lead along the steps of a trace."""

    steps: tuple[_Step, ...] = ()

    def first_decisions(self) -> Decisions:
        """Those before the first instant."""
        return _Noted(self.policy, self.numbers)

    def decisions(self, now: Instant) -> Decisions:
        """Those that lead on from an instant."""
        return _Guide(self.policy, self.numbers, now.decided, steps=self.steps, now=now)


@dataclass(slots=True)
class _Noted(Decisions):
    """Decisions that are not drawn, but noted as those that a random run would draw."""

    shares: list[float] = field(default_factory=list)

    def decide(self, number: float) -> float:
        """Record a decision."""
        self.numbers.known.append(number)
        self.taken += 1
        return number

    def share(self) -> float:
        """Where in its range a reset lands."""
        return self.decide(self.shares.pop(0) if self.shares else 0.5)


@dataclass(slots=True)
class _Guide(_Noted):
    """Decisions that lead along a trace from an instant on."""

    now: Instant = field(kw_only=True)
    steps: tuple[_Step, ...] = field(kw_only=True)

    def wait(self, span: float, edge: int) -> float:
        """Until the trace takes the edge."""
        step, mean = self._next, self.policy.wait or span
        is_next = step is not None and self._leads(edge, step)
        late = step.event.time - self.now.time if step is not None and is_next else math.inf
        share = self.decide(-math.expm1(-max(late, 0.0) / mean))
        return -mean * math.log(1.0 - share) if share < 1.0 else math.inf

    def choose(self, options: Sequence[int]) -> int:
        """The edge that the trace takes, if it is among them."""
        step, now = self._next, self.now
        leading = [j for j in options if step is not None and self._leads(j, step)]
        chosen = leading[0] if leading else options[0]
        if len(options) > 1:
            self.decide((list(options).index(chosen) + 0.5) / len(options))
        jump = now.prepared.jump(now.place.name, chosen)
        goal = step.after if leading and step is not None else {}
        self.shares = _landing(now.prepared, jump, now.values, goal)
        return chosen

    @property
    def _next(self) -> _Step | None:
        done = self.now.jumps.number
        return self.steps[done] if done < len(self.steps) else None

    def _leads(self, edge: int, step: _Step) -> bool:
        place = self.now.place
        named = (place.edge_names[edge], place.edges[edge].target)
        return named == (step.event.name, step.event.target)


def _landing(
    prepared: Prepared, jump: Jump, values: Mapping[str, float], goal: Mapping[str, Scalar]
) -> list[float]:
    """The shares by which resets give the values of a goal, one after the other: each is found
    from what its ends do to the new values."""
    shares = [0.5] * jump.choices
    for k in range(jump.choices):
        low, high = (jump(values, [*shares[:k], end, *shares[k + 1 :]]) for end in (0.0, 1.0))
        for name in jump.names:
            if name in goal and high[name] != low[name]:
                wanted = number(prepared, goal[name])
                share = (wanted - low[name]) / (high[name] - low[name])
                shares[k] = min(max(share, 0.0), 1.0)
                break
    return shares

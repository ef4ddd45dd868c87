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
from workbench.models.trace import Event, Scalar, Segment, Trace
from workbench.simulate.execution import Execution, Given
from workbench.simulate.inputs.signals import Signal, Steps
from workbench.simulate.jump import Jump
from workbench.simulate.place import Prepared, inclusion_share
from workbench.simulate.policy import Decisions, Level, Policy, Switching
from workbench.simulate.recipe import Recipe
from workbench.simulate.run import prepare
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
    decisions = _Guide(recipe.policy, Random(recipe.seed), steps=list(_steps(trace)))
    run = _GuidedRun(
        prepared, recipe.until, recipe.method, decisions, recipe.inputs, True, 100_000, True,
        recipe.sliding,
    )  # fmt: skip
    decisions.run, run.first = run, trace.segments[0].valuation(trace.start)
    return run.make(recipe.initial, recipe.location, recipe.parameters)


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


@dataclass(slots=True)
class _Guide(Decisions):
    """Decisions that lead along a trace, recorded as those that a random run would draw."""

    steps: list[_Step] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    run: _GuidedRun = field(init=False)

    def wait(self, span: float, edge: int) -> float:
        """Until the trace takes the edge."""
        step, mean = self._next, self.policy.wait or span
        is_next = step is not None and self._leads(edge, step)
        wait = max(step.event.time - self.run.t, 0.0) if step is not None and is_next else math.inf
        self.taken.append(-math.expm1(-wait / mean))
        return -mean * math.log(1.0 - self.taken[-1]) if self.taken[-1] < 1.0 else math.inf

    def choose(self, options: Sequence[int]) -> int:
        """The edge that the trace takes, if it is among them."""
        step = self._next
        leading = [j for j in options if step is not None and self._leads(j, step)]
        chosen = leading[0] if leading else options[0]
        if len(options) > 1:
            self.taken.append((list(options).index(chosen) + 0.5) / len(options))
        place = self.run.place
        jump = self.run.prepared.jump(place.name, chosen)
        goal = step.after if leading and step is not None else {}
        self.shares = _landing(jump, self.run.env, goal, self.run)
        return chosen

    def share(self) -> float:
        """Where in its range a reset lands."""
        self.taken.append(self.shares.pop(0) if self.shares else 0.5)
        return self.taken[-1]

    @property
    def _next(self) -> _Step | None:
        done = self.run.jumps
        return self.steps[done] if done < len(self.steps) else None

    def _leads(self, edge: int, step: _Step) -> bool:
        place = self.run.place
        named = (place.edge_names[edge], place.edges[edge].target)
        return named == (step.event.name, step.event.target)


class _GuidedRun(Execution):
    """A run that enters its first location as a trace does."""

    first: Mapping[str, Scalar]

    def start(
        self, initial: Mapping[str, Given], location: str | None, parameters: Mapping[str, float]
    ) -> None:
        """Start, with the values that entering gives as in the trace."""
        super().start(initial, location, parameters)
        entry = self.prepared.finders[max(self.prepared.finders)].entry  # the last that was tried
        if entry.choices:
            shares = _landing(entry, self.env, self.first, self)
            self.decisions.taken[-entry.choices :] = shares
            self.env.update(entry(self.env, shares))


def _landing(
    jump: Jump, env: Mapping[str, float], goal: Mapping[str, Scalar], run: Execution
) -> list[float]:
    """The shares by which resets give the values of a goal, one after the other: each is found
    from what its ends do to the new values."""
    shares = [0.5] * jump.choices
    for k in range(jump.choices):
        low, high = (jump(env, [*shares[:k], end, *shares[k + 1 :]]) for end in (0.0, 1.0))
        for name in jump.names:
            if name in goal and high[name] != low[name]:
                wanted = run.number(goal[name])
                share = (wanted - low[name]) / (high[name] - low[name])
                shares[k] = min(max(share, 0.0), 1.0)
                break
    return shares

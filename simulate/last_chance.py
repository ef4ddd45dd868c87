"""When was it too late? The last instant of a violating run from which the rescue that the author
names (`Property.rescue`) would still have helped.

From an instant of the run on, the rescued variables follow the rescue; what depends on them is
computed anew, and everything else does what it did in the run (`simulate.rescued_model`), which is
followed beyond the violation for this. The latest instant from which the claim then holds to the
end is found among evenly spaced ones and made precise by bisection.

It explains a violation and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.models.automaton import Automaton, Property
from workbench.models.trace import Ending, Scalar, Trace
from workbench.models.verdict import LastChance
from workbench.simulate.holding import inclusion_share
from workbench.simulate.inputs.signals import Lines, Signal, Steps, going_on
from workbench.simulate.place import Prepared
from workbench.simulate.recipe import Recipe, repeat
from workbench.simulate.rescued_model import (
    NOW,
    NoRescuedModelError,
    RescuedModel,
    place_of,
    rescued_model,
)
from workbench.simulate.run import simulate

INSTANTS = 64
"""So many instants of the run are tried before the last that helps is made precise."""

HALVINGS = 30
POINTS = 400
"""So many points of the run are kept of every variable that the rescue leaves alone."""

APART = 1e-9
"""Points nearer than this share of the run are one."""


def last_chance(
    automaton: Automaton, claim: Property, trace: Trace, recipe: Recipe
) -> LastChance | None:
    """The last instant from which the claim's rescue helps; None if there is no rescue."""
    if not claim.rescue or not trace.segments:
        return None
    words = " and ".join(f"d({c.variable}) == {c.range.exact}" for c in claim.rescue)
    try:
        model = rescued_model(automaton, claim, trace)
    except NoRescuedModelError as error:
        return LastChance(None, words, unknown=str(error))
    rescue = _Rescue(automaton, model, _continued(automaton, trace, recipe), recipe)
    step = trace.end / INSTANTS
    latest = next((i for i in range(INSTANTS, -1, -1) if rescue.helps(i * step)), None)
    if latest is None:
        return LastChance(None, words, unknown=rescue.broken_off)
    helps, late = latest * step, min(latest + 1, INSTANTS) * step
    for _ in range(HALVINGS):
        middle = (helps + late) / 2
        helps, late = (middle, late) if rescue.helps(middle) else (helps, middle)
    return LastChance(helps, words, trace.end, rescue.state(helps), rescue.course(helps))


def _continued(automaton: Automaton, trace: Trace, recipe: Recipe) -> Trace:
    """The run beyond its violation, so far that a rescue can show what it is worth."""
    until = max(recipe.until, 2 * trace.end)
    whole = repeat(
        automaton,
        replace(recipe.with_decisions(trace.decisions), until=until),
        stop_on_violation=False,
    )
    return whole if whole.end >= trace.end else trace


class _Rescue:
    """The rescue from any instant of a run."""

    def __init__(self, automaton: Automaton, model: RescuedModel, run: Trace, recipe: Recipe):
        self._automaton, self._model, self._run, self._recipe = automaton, model, run, recipe
        self.broken_off = ""
        self._fed = _fed_in(automaton, model, run, recipe)
        self._prepared = Prepared(model.automaton, self._signals(0.0), None)

    def helps(self, begin: float) -> bool:
        """Whether the claim holds to the end if the rescue begins at an instant."""
        outcome = self._made(begin).outcome
        if outcome.ending not in (Ending.HORIZON, Ending.VIOLATION):
            self.broken_off = outcome.sentence.removesuffix(".")
        return outcome.ending is Ending.HORIZON

    def state(self, begin: float) -> dict[str, Scalar]:
        """What the rescue has to do with, at an instant."""
        names = {*self._model.states, *self._model.kept}
        return {name: v for name, v in self._run.before(begin).items() if name in names}

    def course(self, begin: float) -> Trace:
        """What would have been, from an instant on; its times begin there."""
        return self._made(begin, dense=True)

    def _made(self, begin: float, dense: bool = False) -> Trace:
        segment = next((s for s in self._run.segments if s.end >= begin), self._run.segments[-1])
        state = segment.valuation(begin)
        return simulate(
            self._prepared,
            until=self._run.end - begin,
            policy=replace(self._recipe.policy, script=()),
            seed=self._recipe.seed,
            inputs=self._signals(begin),
            initial={name: state[name] for name in self._model.states} | {NOW: begin},
            location=self._model.location(self._automaton.occupied(segment.location)),
            parameters=self._run.parameters,
            dense=dense,
            sliding=True,
        )

    def _signals(self, begin: float) -> dict[str, Signal]:
        """What is fed in, from an instant on."""
        return {name: going_on(signal, begin) for name, signal in self._fed.items()}


def _fed_in(
    automaton: Automaton, model: RescuedModel, run: Trace, recipe: Recipe
) -> dict[str, Signal]:
    """The courses of what is kept, the places of agents that decide how something flows, and
    where in their ranges derivatives of agents are that go on by their own rules."""
    states = _points(run)
    times = tuple(states)
    found: dict[str, Signal] = {
        name: Lines(times, tuple(float(state[name]) for state in states.values()))
        for name in model.kept
    }
    for part in automaton.components:
        if part.name in model.places:
            numbers = {place.name: float(i) for i, place in enumerate(part.locations)}
            at = {s.start: numbers[automaton.occupied(s.location)[part.name]] for s in run.segments}
            found[place_of(part.name)] = Steps(tuple(at), tuple(at.values()))
    shares = {inclusion_share(name) for name in model.states}
    return found | {name: way for name, way in recipe.inputs.items() if name in shares}


def _points(run: Trace) -> dict[float, Mapping[str, Scalar]]:
    """States of a run by their times: evenly spaced ones, and those on both sides of a jump."""
    apart = run.end * APART
    found: dict[float, Mapping[str, Scalar]] = {}
    for segment in run.segments:
        found[segment.start] = segment.valuation(segment.start)
        steps = range(1, POINTS)
        inside = (run.end * i / POINTS for i in steps)
        times = [t for t in inside if segment.start + apart < t < segment.end - 2 * apart]
        if segment.end - apart > segment.start + apart:
            times.append(segment.end - apart)
        found |= {t: segment.valuation(t) for t in times}
    found[run.end] = run.segments[-1].valuation(run.end)
    return found

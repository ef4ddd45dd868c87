"""A simulated run with what it decided in every segment.

A trace alone does not tell which level an input without a signal had, where in its range a
derivative was, or which inclusion gave way to keep a boundary.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from random import Random

from workbench.models.automaton import Automaton
from workbench.models.expressions.expression import Expression
from workbench.models.record import record
from workbench.models.trace import Segment, Trace
from workbench.simulate.loop.instant import Scenario
from workbench.simulate.loop.past import Recorder
from workbench.simulate.place import Place, Prepared
from workbench.simulate.recipe import Recipe
from workbench.simulate.run import run_from
from workbench.simulate.stepping.methods import Method


@record
class Choices:
    """What a segment's run chose: levels of inputs and places in inclusions by name, and the
    variables whose derivative keeps a part of the invariant, each with that part."""

    levels: Mapping[str, float] = field(default_factory=dict)
    holds: tuple[tuple[str, Expression], ...] = ()


@record
class ObservedRun:
    """A trace, and the choices in its segments, each with its segment."""

    trace: Trace
    choices: Sequence[tuple[Segment, Choices]] = ()

    @cached_property
    def _by_segment(self) -> Mapping[int, Choices]:
        return {id(segment): choices for segment, choices in self.choices}

    def chosen(self, segment: Segment) -> Choices:
        """The choices of a segment; as far as the trace tells, if they were not noted."""
        known = self._by_segment.get(id(segment))
        if known is not None:
            return known
        return Choices({n: v for n, v in segment.held.items() if isinstance(v, float)})


def observe(automaton: Automaton, recipe: Recipe, method: Method) -> ObservedRun:
    """Make the run of a recipe; its segments may be none."""
    prepared = Prepared(automaton, recipe.inputs, None)
    scenario = Scenario.of(
        prepared,
        recipe.until,
        method,
        recipe.policy,
        recipe.inputs,
        Random(recipe.seed),
        sliding=recipe.sliding,
    )
    noted = _WithChoices(prepared, recipe.inputs, True)
    scenario = replace(scenario, recorder=noted)
    trace = run_from(scenario, recipe.initial, recipe.location, recipe.parameters)
    return ObservedRun(trace, noted.choices)


class _WithChoices(Recorder):
    """Notes what the run decided, too."""

    @cached_property
    def choices(self) -> list[tuple[Segment, Choices]]:
        """Of all segments that were made."""
        return []

    def segment(
        self,
        place: Place,
        values: Mapping[str, float],
        times: array[float],
        degrees: array[int],
        coefficients: array[float],
        final: Sequence[float],
    ) -> Segment:
        made = super().segment(place, values, times, degrees, coefficients, final)
        levels = {n: v for n, v in values.items() if n not in self.prepared.known}
        holds = tuple((name, place.exits[part]) for name, part in place.holds)
        self.choices.append((made, Choices(levels, holds)))
        return made

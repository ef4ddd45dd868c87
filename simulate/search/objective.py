"""The cost of a run in a search: how far it stays from violating a claim."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from zlib import crc32

from workbench.models.agents.composition import Product
from workbench.models.automaton import TIME, Automaton, HybridAutomaton, Property
from workbench.models.expressions.expression import TRUE
from workbench.models.record import record
from workbench.models.trace import Ending, EventType, Trace
from workbench.simulate.effort import spend_on_measuring
from workbench.simulate.inputs.signals import Lines
from workbench.simulate.loop.flow import without_series
from workbench.simulate.monitoring.clear_runs import ClearRuns
from workbench.simulate.monitoring.monitor import Monitor
from workbench.simulate.monitoring.possible_ranges import possible_ranges
from workbench.simulate.monitoring.robustness import Closest, Robustness
from workbench.simulate.monitoring.run_check import RunCheck
from workbench.simulate.monitoring.stl import Formula
from workbench.simulate.nudged_run import nudged_run
from workbench.simulate.place import Prepared
from workbench.simulate.recipe import Recipe, repeat
from workbench.simulate.run import prepare
from workbench.simulate.search.approach import Approach
from workbench.simulate.search.search_space import JUMPS, SearchSpace, Shape
from workbench.simulate.stepping.methods import Method

FAR = 1e9
"""The least cost of a run that never was where the claim can be violated."""

FAILED = 1e12
"""The cost of a run that says nothing: it could not start, or it broke the assumptions."""


SAFETY = 10.0
"""A violation must exceed the estimated error of a run by this factor."""

Course = tuple[int, float]
"""The names of a run's jumps, as a number, and the sum of their times."""


def focused(automaton: Automaton, claim: Property | None) -> Automaton:
    """The automaton with that property alone (with none for None)."""
    claims = () if claim is None else (claim,)
    assert isinstance(automaton, HybridAutomaton | Product)
    return replace(automaton, properties=claims)


@record
class Score:
    """The robustness of a run, and when it was least; `cut` says that the run was not followed
    to its end, but to `end` only. Runs that jump alike have the same `course`."""

    margin: float
    time: float
    cut: bool = False
    end: float = 0.0
    course: Course = (0, 0.0)


CUT = (Ending.JUMP_LIMIT, Ending.STEP_LIMIT)
"""How a run ends that was not followed further."""


class Objective:
    """Evaluates runs of one model against one claim, a property or a temporal formula."""

    def __init__(self, automaton: Automaton, claim: Property | Formula):
        self.claim = claim
        self.base = automaton
        self.automaton = focused(automaton, claim if isinstance(claim, Property) else None)
        self._prepared: dict[frozenset[str], Prepared] = {}
        plain = self.prepared()
        symbols = plain.symbols
        self._monitor = Monitor(automaton, claim, symbols) if isinstance(claim, Formula) else None
        self._robustness = (
            Robustness.of_property(automaton, claim, symbols)
            if isinstance(claim, Property)
            else None
        )
        self._assumption = (
            None
            if automaton.assumption == TRUE
            else Robustness.of_condition(automaton, automaton.assumption, symbols)
        )
        self._ranges = possible_ranges(plain.view, symbols)
        self._spaces: dict[Shape, SearchSpace] = {}
        self._check: RunCheck | None = None
        self._clear_runs: ClearRuns | None = None
        self._approach = Approach(plain, claim) if isinstance(claim, Property) else None

    def prepared(self, linear: frozenset[str] = frozenset()) -> Prepared:
        """The model, for inputs that are piecewise linear if named and stepwise otherwise."""
        if linear not in self._prepared:
            form = Lines((0.0, 1.0), (0.0, 0.0))
            self._prepared[linear] = prepare(
                self.automaton, inputs=dict.fromkeys(sorted(linear), form)
            )
        return self._prepared[linear]

    def space(self, shape: Shape) -> SearchSpace:
        """The coordinates of a shape; anchored at an initial state that the model has."""
        if shape not in self._spaces:
            space = SearchSpace(self.prepared(), shape)
            plain = Recipe(until=0.0, location=space.start.location, stop_on_violation=False)
            trace = repeat(self.prepared(), plain)
            if trace.segments:
                space.initial.anchor(_numbers(trace, self.prepared().symbols), trace.parameters)
            self._spaces[shape] = space
        return self._spaces[shape]

    def run(self, recipe: Recipe, *, stop: bool = False, max_jumps: int = JUMPS[-1]) -> Trace:
        """The run of a recipe."""
        linear = frozenset(n for n, s in recipe.inputs.items() if isinstance(s, Lines))
        prepared = self.prepared(linear)
        return repeat(prepared, recipe, stop_on_violation=stop, max_jumps=max_jumps)

    def run_beside(self, recipe: Recipe, share: float) -> Trace:
        """The run of a recipe from a start that is moved by a share of its size."""
        linear = frozenset(n for n, s in recipe.inputs.items() if isinstance(s, Lines))
        return nudged_run(self.prepared(linear), recipe, share, JUMPS[-1])

    def score(self, recipe: Recipe, trace: Trace) -> Score:
        """How far a run stays from a violation."""
        spend_on_measuring(trace)
        margin, time = self._least(recipe, trace)
        return Score(margin, time, trace.outcome.ending in CUT, trace.end, _course(trace))

    def _least(self, recipe: Recipe, trace: Trace) -> tuple[float, float]:
        """The least robustness of a run, and when."""
        if not trace.segments:
            return FAILED, 0.0
        trace, emptiness = self._ranges.kept(trace, recipe.inputs)
        if not trace.segments:
            return FAILED + emptiness, 0.0
        if self._assumption is not None:
            self._assumption.values.inputs = recipe.inputs
            kept = self._assumption.along(trace)
            if kept.margin < 0.0:
                return FAILED - kept.margin, kept.time
        if self._monitor is not None:
            self._monitor.values.inputs = recipe.inputs
            return self._monitor.optimistic(trace), trace.end
        closest = self.closest(recipe, trace)
        if closest.margin == math.inf:  # nothing can be violated where the run went
            assert self._approach is not None
            away = self._approach.distance(trace, recipe.inputs)
            return FAR + away, closest.time
        return closest.margin, closest.time

    def closest(self, recipe: Recipe, trace: Trace) -> Closest:
        """Where a run comes closest to violating the property."""
        assert self._robustness is not None
        self._robustness.values.inputs = recipe.inputs
        return self._robustness.along(trace)

    def violation_time(self, recipe: Recipe, trace: Trace) -> float | None:
        """When a run first violates the claim; a formula, when no continuation can save it.
        (Violations within the error of the integration do not count, if it has a clear one.)"""
        if self._monitor is None:
            times = (e.time for e in trace.events if e.type is EventType.VIOLATION)
            return min(times, default=None)
        self._monitor.values.inputs = recipe.inputs
        clear = recipe.method.rtol * max(1.0, magnitude(trace))
        for threshold in (-SAFETY * clear, 0.0):
            found = self._monitor.first_violation(trace, threshold)
            if found is not None:
                return found
        return None

    def problems(self, recipe: Recipe, trace: Trace) -> list[str]:
        """What speaks against the trace being a run of the model."""
        if self._check is None:
            self._check = RunCheck(self.prepared())
        return self._check.problems(trace, recipe.inputs)

    def method_of(self, recipe: Recipe, trace: Trace) -> Method:
        """The method that made the run of a recipe: no series where the flow called functions."""
        prepared = self.prepared()
        programs = (prepared.place(segment.location).program for segment in trace.segments)
        differentiable = all(program.differentiable for program in programs)
        return recipe.method if differentiable else without_series(recipe.method)

    def unclear(self, recipe: Recipe, until: float) -> str | None:
        """What small errors may have made in a run up to a time, in words."""
        if self._clear_runs is None:
            self._clear_runs = ClearRuns(self.prepared())
        return self._clear_runs.unclear(self.run(recipe), recipe.inputs, until)

    def evaluate(self, recipe: Recipe) -> Score:
        """Run and score."""
        return self.score(recipe, self.run(recipe))

    def cost(self, shape: Shape, x: list[float], seed: int) -> Score:
        """The score of a point of a shape's space."""
        recipe = replace(self.space(shape).recipe(x), seed=seed)
        try:
            return self.score(recipe, self.run(recipe, max_jumps=shape.jumps))
        except (OverflowError, ZeroDivisionError):
            return Score(FAILED, 0.0)


def _course(trace: Trace) -> Course:
    names = "\n".join(event.name for event in trace.jumps)
    return crc32(names.encode()), math.fsum(event.time for event in trace.jumps)


def magnitude(trace: Trace) -> float:
    """The size of the numbers in a trace, at the ends of its segments."""
    return max((abs(v) for s in trace.segments for v in s.final), default=1.0)


def _numbers(trace: Trace, symbols: Mapping[str, int]) -> dict[str, float]:
    values = trace.segments[0].valuation(trace.start)
    coded = {n: float(symbols[v] if isinstance(v, str) else v) for n, v in values.items()}
    return {n: v for n, v in coded.items() if n != TIME and math.isfinite(v)}

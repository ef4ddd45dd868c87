"""Simpler runs that violate a claim as well: fewest switches, constant signals, round numbers."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from workbench.models.trace import Trace
from workbench.simulate.inputs.signals import Formula, Lines, Signal, Steps
from workbench.simulate.policy import Policy, Switching
from workbench.simulate.recipe import Recipe
from workbench.simulate.run import Given
from workbench.simulate.search.objective import Objective
from workbench.simulate.search.search_space import SearchSpace, Shape

CLEAR = 1e-3


class Shrinker:
    """Simplifies a violating run step by step; every step is a simulation.

    A simplification is kept if the violation stays clear: a quarter of the first one, or
    `CLEAR` of the numbers in the run. After the deadline nothing is tried any more.
    """

    def __init__(
        self,
        objective: Objective,
        recipe: Recipe,
        budget: int = 250,
        keep_policy: bool = False,
        deadline: float = math.inf,
    ):
        self.objective, self.recipe, self.deadline = objective, recipe, deadline
        self.left, self.keep_policy = budget, keep_policy
        trace = objective.run(recipe)
        self.first = objective.violation_time(recipe, trace) or trace.end
        clear = CLEAR * max(1.0, _magnitude_at(trace, self.first))
        self.needed = -clear
        if not self._cut():
            margin = objective.score(recipe, trace).margin
            self.needed = -min(-0.25 * margin, clear) if math.isfinite(margin) else -math.inf

    def accepts(self, candidate: Recipe) -> bool:
        """Whether the candidate still violates clearly; it is then taken."""
        if self.left <= 0 or candidate == self.recipe or time.monotonic() >= self.deadline:
            return False
        self.left -= 1
        try:
            margin = self.objective.evaluate(candidate).margin
        except (OverflowError, ZeroDivisionError):
            return False
        if margin <= self.needed and margin < 0.0:
            self.recipe = candidate
            return True
        return False

    def shrink(self) -> Recipe:
        """The simplest run found."""
        for candidate in self._policies() if not self.keep_policy else ():
            if self.accepts(candidate):
                break
        for name in self.recipe.inputs:
            self._simplify_signal(name)
        self._round("initial")
        self._round("parameters")
        self._round_script()
        self._cut_again()
        return self.recipe

    def _cut(self) -> bool:
        """End the run soon after the violation; whether that was possible."""
        for extra in (0.02, 0.1, 0.5):
            until = _rounded_up(self.first * (1 + extra) + 1e-3 * self.recipe.until)
            if until < self.recipe.until and self.accepts(replace(self.recipe, until=until)):
                return True
        return False

    def _cut_again(self) -> None:
        trace = self.objective.run(self.recipe)
        self.first = self.objective.violation_time(self.recipe, trace) or trace.end
        self._cut()

    def _policies(self) -> Iterator[Recipe]:
        """The same run with simpler rules for switching."""
        policy = self.recipe.policy
        for switching in (Switching.EARLIEST, Switching.LATEST):
            if policy.switching is switching:
                return
            simple: Policy = replace(policy, switching=switching, script=())
            yield replace(self.recipe, policy=simple)

    def _with_signal(self, name: str, signal: Signal) -> Recipe:
        return replace(self.recipe, inputs={**self.recipe.inputs, name: signal})

    def _simplify_signal(self, name: str) -> None:
        signal = self.recipe.inputs[name]
        if isinstance(signal, Formula):
            return
        low, high = self._ranges().get(name, (min(signal.values), max(signal.values)))
        levels = (low, high, 0.5 * (low + high), *map(_short, signal.values[:3]))
        for level in dict.fromkeys(v for v in levels if low <= v <= high):
            if self.accepts(self._with_signal(name, Steps((0.0,), (level,)))):
                return
        self._drop_pieces(name)
        for i in range(len(self.recipe.inputs[name].values)):  # type: ignore[union-attr]
            current = self.recipe.inputs[name]
            assert not isinstance(current, Formula)
            for value in _simpler(current.values[i], low, high):
                values = (*current.values[:i], value, *current.values[i + 1 :])
                if self.accepts(self._with_signal(name, type(current)(current.times, values))):
                    break

    def _drop_pieces(self, name: str) -> None:
        """Leave out control points that are not needed, the last ones first."""
        i = len(self.recipe.inputs[name].values) - 1  # type: ignore[union-attr]
        while i >= 1:
            current = self.recipe.inputs[name]
            assert isinstance(current, Steps | Lines)
            times = (*current.times[:i], *current.times[i + 1 :])
            values = (*current.values[:i], *current.values[i + 1 :])
            self.accepts(self._with_signal(name, type(current)(times, values)))
            i -= 1

    def _round(self, field: str) -> None:
        """Initial values or parameters with few digits, or at the ends of their ranges."""
        given: Mapping[str, Given] = getattr(self.recipe, field)
        coordinates = self._ranges()
        for name, value in given.items():
            if isinstance(value, str | bool) or float(value) == _short(float(value), 2):
                continue
            low, high = coordinates.get(name, (-math.inf, math.inf))
            for simple in _simpler(float(value), low, high):
                current: Mapping[str, Given] = getattr(self.recipe, field)
                changed = {**current, name: simple}
                if field == "initial":
                    candidate = replace(self.recipe, initial=changed)
                else:
                    candidate = replace(
                        self.recipe, parameters={n: float(v) for n, v in changed.items()}
                    )
                if self.accepts(candidate):
                    break

    def _ranges(self) -> dict[str, tuple[float, float]]:
        prepared = self.objective.prepared()
        found: dict[str, tuple[float, float]] = {}
        for index, start in enumerate(prepared.starts()):
            if start.location == self.recipe.location:
                space = SearchSpace(prepared, Shape(1.0, start=index))
                values = (*space.initial.coordinates, *space.parameters)
                for c in (*values, *space.inputs, *space.inclusions):
                    found.setdefault(c.name, (c.low, c.high))
                break
        return found

    def _round_script(self) -> None:
        policy = self.recipe.policy
        if not policy.script:
            return
        for digits in (1, 2, 3):
            script = tuple(round(v, digits) for v in policy.script)
            simple = replace(policy, script=script)
            if self.accepts(replace(self.recipe, policy=simple)):
                return


def _short(value: float, digits: int = 3) -> float:
    return float(f"{value:.{digits}g}")


def _rounded_up(t: float) -> float:
    """A time with three digits that is not earlier."""
    size = 10.0 ** (math.floor(math.log10(t)) - 2) if t > 0 else 1e-3
    return float(f"{math.ceil(t / size * (1 - 1e-12)) * size:.3g}")


def _simpler(value: float, low: float, high: float) -> Iterator[float]:
    """Simpler numbers near a value, the simplest first; within its range."""
    seen = {value}
    ends = sorted((low, high), key=lambda end: abs(end - value))
    for candidate in (*ends, *(_short(value, digits) for digits in (1, 2, 3, 4))):
        if math.isfinite(candidate) and low <= candidate <= high and candidate not in seen:
            seen.add(candidate)
            yield candidate


def _magnitude_at(trace: Trace, t: float) -> float:
    values = trace.segment_at(t).state(t)
    return max((abs(v) for v in values if math.isfinite(v)), default=1.0)

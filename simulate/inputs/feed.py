"""What a run feeds into inputs and inclusions: signals where they are given, else levels that
the policy draws, and when the next of them changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from workbench.models.automaton import INT, Input, Parameter
from workbench.simulate.holding import inclusion_share
from workbench.simulate.inputs.signals import Formula, Signal, Steps, line_at, next_change
from workbench.simulate.place import Prepared, slope_of
from workbench.simulate.policy import Decisions
from workbench.simulate.stepping.tape import number


class Changes(NamedTuple):
    """When levels are drawn anew, and when a signal changes."""

    levels: float = math.inf
    signals: float = math.inf

    @property
    def next(self) -> float:
        """The earlier of both."""
        return min(self.levels, self.signals)


class Feed:
    """What is fed into the inputs of a run."""

    def __init__(self, prepared: Prepared, signals: Mapping[str, Signal], until: float):
        self.given, self._kinked, self._until = signals, prepared.kinked, until
        self._drawn = [i for i in prepared.inputs if i.name not in signals]
        self._shares = [n for n in map(inclusion_share, prepared.loose) if n not in signals]
        self._is_open = bool(prepared.loose or self._drawn)

    def at_first(self, decisions: Decisions) -> tuple[dict[str, float], Changes]:
        """What is fed from the start on, and until when."""
        drawn, levels = self._levels(0.0, decisions)
        fed, signals = self._signals(0.0)
        return {**drawn, **fed}, Changes(levels, signals)

    def at_change(
        self, t: float, changes: Changes, decisions: Decisions
    ) -> tuple[dict[str, float], Changes]:
        """What is fed from now on, at the time of a change, and until when."""
        levels, drawn = changes.levels, dict[str, float]()
        if t >= levels:
            drawn, levels = self._levels(t, decisions)
        fed, signals = self._signals(t)
        return {**drawn, **fed}, Changes(levels, signals)

    def _levels(self, t: float, decisions: Decisions) -> tuple[dict[str, float], float]:
        """Levels of inputs without signals, and places in inclusions, drawn for some time."""
        drawn = {given.name: within_bounds(given, decisions.share) for given in self._drawn}
        for name in self._shares:
            drawn[name] = decisions.share()
        return drawn, t + decisions.dwell(self._until) if self._is_open else math.inf

    def _signals(self, t: float) -> tuple[dict[str, float], float]:
        """The present level (and slope) of every signal, and when one changes."""
        fed: dict[str, float] = {}
        changes = [math.inf]
        for name, signal in self.given.items():
            if not isinstance(signal, Formula):
                fed[name], slope = line_at(signal, t)
                if not isinstance(signal, Steps):
                    fed[slope_of(name)] = slope
                changes.append(next_change(signal, t))
            elif name in self._kinked:
                fed.update(self._kinked[name].held(t))
                changes.append(self._kinked[name].next_change(t, self._until))
        return fed, min(changes)


def within_bounds(given: Input | Parameter, share: Callable[[], float]) -> float:
    """A value of an input or parameter between its optional exact bounds."""
    low, high = given.low, given.high
    if given.type == INT:
        low = None if low is None else Fraction(math.ceil(low))
        high = None if high is None else Fraction(math.floor(high))
    if low is None or high is None:
        known = low if low is not None else high
        return 0.0 if known is None else number(known)
    if low == high:
        return number(low)
    a, b = number(low), number(high)
    value = a + share() * (b - a)
    return float(math.floor(value + 0.5)) if given.type == INT else value

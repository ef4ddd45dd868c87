"""What a run feeds into inputs and inclusions: signals where they are given, else levels that
the policy draws, and when the next of them changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from workbench.models.automaton import INT, Input, Parameter
from workbench.simulate.holding import inclusion_share
from workbench.simulate.inputs.signals import Formula, Signal, Steps, line_at, next_change
from workbench.simulate.place import Prepared, slope_of
from workbench.simulate.policy import Decisions
from workbench.simulate.stepping.tape import number


class Feed:
    """The inputs of one run."""

    level_change = signal_change = next_change = math.inf
    """When levels are drawn anew, when a signal changes, and the earlier of both."""

    def __init__(
        self,
        prepared: Prepared,
        signals: Mapping[str, Signal],
        decisions: Decisions,
        until: float,
    ):
        self._signals, self._kinked = signals, prepared.kinked
        self._decisions, self._until = decisions, until
        self._drawn = [i for i in prepared.inputs if i.name not in signals]
        self._shares = [n for n in map(inclusion_share, prepared.loose) if n not in signals]
        self._is_open = bool(prepared.loose or self._drawn)

    def levels(self, t: float) -> dict[str, float]:
        """Levels of inputs without signals, and places in inclusions, drawn for some time."""
        share = self._decisions.share
        drawn = {given.name: within_bounds(given, share) for given in self._drawn}
        for name in self._shares:
            drawn[name] = share()
        if self._is_open:
            self.level_change = t + self._decisions.dwell(self._until)
        return drawn

    def signals(self, t: float) -> dict[str, float]:
        """The present level (and slope) of every signal."""
        fed: dict[str, float] = {}
        changes = [math.inf]
        for name, signal in self._signals.items():
            if not isinstance(signal, Formula):
                fed[name], slope = line_at(signal, t)
                if not isinstance(signal, Steps):
                    fed[slope_of(name)] = slope
                changes.append(next_change(signal, t))
            elif name in self._kinked:
                fed.update(self._kinked[name].held(t))
                changes.append(self._kinked[name].next_change(t, self._until))
        self.expect(min(changes))
        return fed

    def expect(self, signal_change: float) -> None:
        """The next change of a signal is known."""
        self.signal_change = signal_change
        self.next_change = min(self.level_change, signal_change)

    def changes(self, t: float) -> dict[str, float]:
        """What is fed from now on, at the time of a change."""
        drawn = self.levels(t) if t >= self.level_change else {}
        return {**drawn, **self.signals(t)}


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

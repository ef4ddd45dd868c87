"""Choices that a model leaves open, and how a run resolves them.

All of them are numbers in [0, 1) from one sequence (`Numbers`), which a trace records, so a run is
repeated exactly by replaying its decisions, and a search can vary them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from workbench.models.enumeration import plain_members
from workbench.models.record import record


@plain_members
class Switching(StrEnum):
    """When an edge that may be taken is taken.

    `EARLIEST`: at the first instant at which it is enabled, unless that would only return
    to a state already visited at this instant. `LATEST`: when the invariant forces a jump,
    or, where nothing is enabled then, at the last moment at which something was. `RANDOM`:
    after a wait with an exponential distribution, if it is still enabled then; which of
    several edges is drawn too.
    """

    EARLIEST = "earliest"
    LATEST = "latest"
    RANDOM = "random"


@plain_members
class Level(StrEnum):
    """Which value of a range is taken: initial values, parameters, resets, inputs without a
    signal, and derivatives in an inclusion (a random one changes after random times)."""

    LOW = "low"
    MID = "mid"
    HIGH = "high"
    RANDOM = "random"


@record
class Policy:
    """How a run resolves what the model leaves open.

    `wait` and `dwell` are the mean times before a random switch and between changes of a
    random level; `None` takes a tenth of the run. `script` gives the first decisions, as
    recorded in a trace; after them a seeded generator goes on.
    """

    switching: Switching = Switching.EARLIEST
    level: Level = Level.MID
    wait: float | None = None
    dwell: float | None = None
    script: tuple[float, ...] = ()

    @classmethod
    def random(cls) -> Policy:
        """Everything drawn at random."""
        return cls(Switching.RANDOM, Level.RANDOM)


class Numbers:
    """The numbers in [0, 1) by which one run decides: those of a script, then drawn ones.

    Each is drawn when it is first asked for, and kept: whoever comes back to an earlier instant of
    the run decides as the run did.
    """

    def __init__(self, script: Sequence[float], generator: Random):
        self.script, self.generator = script, generator
        self.known: list[float] = []

    def __getitem__(self, index: int) -> float:
        known = self.known
        while len(known) <= index:
            is_written = len(known) < len(self.script)
            known.append(self.script[len(known)] if is_written else self.generator.random())
        return known[index]


@dataclass(slots=True)
class Decisions:
    """The decisions of a run from one on: so many are `taken` already."""

    policy: Policy
    numbers: Numbers
    taken: int = 0

    def draw(self) -> float:
        """The next number in [0, 1), or 1 from a script: the very end of a range."""
        self.taken += 1
        return self.numbers[self.taken - 1]

    def share(self) -> float:
        """Where in a range a value is taken, from 0 (low) to 1 (high)."""
        level = self.policy.level
        if level is Level.RANDOM:
            return self.draw()
        return {Level.LOW: 0.0, Level.MID: 0.5, Level.HIGH: 1.0}[level]

    def choose(self, options: Sequence[int]) -> int:
        """One of several edges: the first in source order unless switching is random."""
        if len(options) == 1 or self.policy.switching is not Switching.RANDOM:
            return options[0]
        return options[min(int(self.draw() * len(options)), len(options) - 1)]

    def wait(self, span: float, edge: int) -> float:
        """How long an enabled edge (by its number) is not taken; infinite for never
        voluntarily."""
        if self.policy.switching is Switching.EARLIEST:
            return 0.0
        if self.policy.switching is Switching.LATEST:
            return math.inf
        mean = self.policy.wait if self.policy.wait is not None else 0.1 * span
        return mean * _exponential(self.draw())

    def dwell(self, span: float) -> float:
        """How long a random level stays."""
        if self.policy.level is not Level.RANDOM:
            return math.inf
        mean = self.policy.dwell if self.policy.dwell is not None else 0.1 * span
        return mean * _exponential(self.draw()) + 1e-3 * mean


def _exponential(share: float) -> float:
    """The time that a share of those with an exponential distribution of mean 1 do not exceed."""
    return -math.log(1.0 - share) if share < 1.0 else math.inf

"""What a way of deciding a property looks like: a task, and strategies that attempt it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from workbench.models.automaton import Automaton, Property
from workbench.models.verdict import Verdict

HISTORY_READER = "refinement history"
"""The option of a task with a function that is given the rounds (`RefinementRound`s) of
predicate abstraction."""
PREDICATES = "predicates"
"""The option of a task with further predicates: a tuple of conditions."""
GRAPH_READER = "abstract graph"
"""The option of a task with a function that is given the abstract graph (networkx)."""
SLICES = "slices"
"""The option of a task with the length of slices by which whole cells are followed."""
SEEDS = "seeds"
"""The option of a task with runs (`Recipe`s) at which a search for violations looks first."""


@dataclass(frozen=True)
class Task:
    """One property of one automaton, to be decided before a deadline (`time.monotonic`).

    `progress` is told what is being done; `options` are the settings of strategies, by name.
    """

    automaton: Automaton
    claim: Property
    deadline: float = float("inf")
    seed: int = 0
    progress: Callable[[str], None] = lambda text: None
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def expired(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self.deadline

    @property
    def horizon(self) -> Fraction | None:
        """The time up to which the property is to be decided: the option, or the model's."""
        given = self.options.get("horizon")
        return given if isinstance(given, Fraction) else self.automaton.horizon

    def share(self, part: float) -> Task:
        """The same task with that part of the time that is left."""
        left = self.deadline - time.monotonic()
        return self.within(part * left) if math.isfinite(left) else self

    def within(self, seconds: float) -> Task:
        """The same task with at most that much time."""
        limit = min(self.deadline, time.monotonic() + seconds)
        return Task(self.automaton, self.claim, limit, self.seed, self.progress, self.options)


class Strategy(Protocol):
    """A method behind `verify`."""

    @property
    def name(self) -> str:
        """The name that `--method` takes."""

    def suits(self, task: Task) -> str | None:
        """Why the method is worth trying on the task; None if it is not made for it."""

    def attempt(self, task: Task) -> Verdict:
        """Decide the property, or say why not."""

"""What a way of deciding a property looks like: a task, and strategies that attempt it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol

from workbench.models.automaton import Automaton, Property
from workbench.models.verdict import Verdict
from workbench.models.work import spend, spent

HISTORY_READER = "refinement history"
"""The option of a task with a function that is given the rounds (`RefinementRound`s) of
predicate abstraction."""
PREDICATES = "predicates"
"""The option of a task with further predicates: a tuple of conditions."""
GRAPH_READER = "abstract graph"
"""The option of a task with a function that is given the abstract graph (networkx)."""
REFINE = "refine"
"""The option of a task that says whether predicate abstraction may learn predicates."""
SLICES = "slices"
"""The option of a task with the length of slices by which whole cells are followed."""
CONFIRMING = "confirming"
"""The option of a task with a function that is told when a violation in simulation begins to be
confirmed (True) and when that ends (False)."""
SEEDS = "seeds"
"""The option of a task with runs (`Recipe`s) at which a search for violations looks first."""

FIRST_STATE = "first state"
"""The option of a task of progress with a state in which a run starts (`FirstState`)."""
ENDS_OF_RUNS = "ends of runs"
"""The option of a task of progress with what is known of how runs end (`Blocking`)."""


POLL = 0.02
"""The work that is counted whenever a search asks whether it is to end."""


@dataclass(frozen=True)
class Task:
    """One property of one automaton, to be decided within a budget of work and before a deadline.

    `budget` is a mark of the meter of work (`models.work`): what is decided depends on it, and it
    is the same on every machine. `deadline` (`time.monotonic`) only cuts. `generosity` multiplies
    what plans give to methods. `jobs` processes work at once. `progress` is told what is being
    done; `options` are the settings of strategies, by name.
    """

    automaton: Automaton
    claim: Property
    deadline: float = math.inf
    seed: int = 0
    progress: Callable[[str], None] = lambda text: None
    options: Mapping[str, object] = field(default_factory=dict)
    budget: float = math.inf
    generosity: float = 1.0
    jobs: int = 1

    @property
    def expired(self) -> bool:
        """Whether the budget is used up or the deadline has passed."""
        spend(POLL)
        return spent() >= self.budget or self.is_late

    @property
    def is_late(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self.deadline

    @property
    def left(self) -> float:
        """The work that is left of the budget."""
        return max(self.budget - spent(), 0.0)

    @property
    def horizon(self) -> Fraction | None:
        """The time up to which the property is to be decided: the option, or the model's."""
        given = self.options.get("horizon")
        return given if isinstance(given, Fraction) else self.automaton.horizon

    def share(self, part: float) -> Task:
        """The same task with that part of the work that is left."""
        return self.within(part * self.left)

    def within(self, work: float) -> Task:
        """The same task with at most that much work."""
        return replace(self, budget=min(self.budget, spent() + work))


class Strategy(Protocol):
    """A method behind `verify`."""

    @property
    def name(self) -> str:
        """The name that `--method` takes."""

    def suits(self, task: Task) -> str | None:
        """Why the method is worth trying on the task; None if it is not made for it."""

    def attempt(self, task: Task) -> Verdict:
        """Decide the property, or say why not."""

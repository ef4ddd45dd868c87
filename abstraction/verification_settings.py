"""How properties are to be decided: what a user can choose beside the model and the property."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from workbench.abstraction.strategies.strategy import PREDICATES, SLICES, Task
from workbench.models.automaton import Automaton, Property
from workbench.models.expressions.expression import Expression


@dataclass(frozen=True, kw_only=True)
class VerificationSettings:
    """The same for `verify` and for everything that verifies on the way, such as reports.

    `time_limit` is for each property, `horizon` the time up to which it is decided (by default
    the model says), `step` the length of a flowpipe's first steps; `predicates` are hints for
    predicate abstraction, `slices` the length by which it follows whole cells.
    """

    method: str = "auto"
    time_limit: float = 60.0
    horizon: Fraction | None = None
    step: Fraction | None = None
    predicates: tuple[Expression, ...] = ()
    slices: Fraction | None = None
    seed: int = 0

    def task(
        self,
        automaton: Automaton,
        claim: Property,
        progress: Callable[[str], None] = lambda text: None,
        readers: Mapping[str, object] | None = None,
    ) -> Task:
        """The task of deciding one property; its time runs from now. `readers` are the options
        of a task by which others listen to its strategies."""
        options: dict[str, object] = {
            "horizon": self.horizon,
            "step": self.step,
            PREDICATES: self.predicates,
        }
        if self.slices is not None:
            options[SLICES] = float(self.slices)
        limit = time.monotonic() + self.time_limit
        return Task(automaton, claim, limit, self.seed, progress, options | dict(readers or {}))

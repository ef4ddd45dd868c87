"""How properties are to be decided: what a user can choose beside the model and the property."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from workbench.abstraction.strategies.strategy import PREDICATES, REFINE, SLICES, Task
from workbench.models.automaton import Automaton, Property
from workbench.models.expressions.expression import Expression
from workbench.models.processes import processors

SHORT, LONG = 75.0, 300.0
"""Seconds: plans are shortened for limits below the first, and lengthened above the second."""


@dataclass(frozen=True, kw_only=True)
class VerificationSettings:
    """The same for `verify` and for everything that verifies on the way, such as reports.

    `time_limit` is for each property, `jobs` is how many processes work on it (0: as many as there
    are processors), `horizon` the time up to which it is decided (by default
    the model says), `step` the length of a flowpipe's first steps; `predicates` are hints for
    predicate abstraction, `slices` the length by which it follows whole cells, `refine` whether
    it may learn further predicates.
    """

    method: str = "auto"
    time_limit: float = 300.0
    horizon: Fraction | None = None
    step: Fraction | None = None
    predicates: tuple[Expression, ...] = ()
    slices: Fraction | None = None
    refine: bool = True
    seed: int = 0
    jobs: int = 0

    def task(
        self,
        automaton: Automaton,
        claim: Property,
        progress: Callable[[str], None] = lambda text: None,
        readers: Mapping[str, object] | None = None,
        latest: float | None = None,
    ) -> Task:
        """The task of deciding one property. Its time runs from now, if it is not to end at the
        `latest` at a given moment (`time.monotonic`). `readers` are the options of a task by
        which others listen to its strategies."""
        options: dict[str, object] = {
            "horizon": self.horizon,
            "step": self.step,
            PREDICATES: self.predicates,
            REFINE: self.refine,
        }
        if self.slices is not None:
            options[SLICES] = float(self.slices)
        limit = time.monotonic() + self.time_limit if latest is None else latest
        readers = readers or {}
        return Task(
            automaton,
            claim,
            limit,
            self.seed,
            progress,
            options | dict(readers),
            generosity=generosity(self.time_limit),
            jobs=self.jobs or processors(),
        )


def generosity(seconds: float) -> float:
    """How much more work than planned a time limit allows. The plan takes about a minute on a
    machine that has nothing else to do; a limit of some minutes leaves room for one that has."""
    return min(seconds / SHORT, max(1.0, seconds / LONG))

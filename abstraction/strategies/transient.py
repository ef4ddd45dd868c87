"""Transients as a strategy: runs are followed for a while, then an inductive set holds them."""

from __future__ import annotations

import time
from dataclasses import dataclass

from workbench.abstraction.strategies.certified import certify
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.transients.search import Found, search_transient
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Effort, Unknown, Verdict

ADVICE = "try another --method"


@dataclass(frozen=True)
class TransientStrategy:
    """Follow all runs by polyhedra that move with time, until they have an inductive set."""

    name: str = "transient"

    def suits(self, task: Task) -> str | None:
        """Small models: the polyhedra of every stretch of time have many directions."""
        if len(task.automaton.variables) > 6:
            return None
        return "polyhedra that move with time, then an inductive one, prove it for all time"

    def attempt(self, task: Task) -> Verdict:
        """Search, prove exactly, and let the trusted checker decide."""
        begun = time.perf_counter()
        try:
            problem = linear_problem(task.automaton, task.claim)
            found = search_transient(problem, lambda: task.expired, task.progress)
        except TooManyCasesError as error:
            return Unknown(task.claim.name, self.name, str(error), ADVICE, Effort())
        seconds = {"search": time.perf_counter() - begun}
        if not isinstance(found, Found):
            return Unknown(task.claim.name, self.name, found.reason, ADVICE, Effort(seconds))
        counts = {"stretches": found.stretches, "regions": len(found.proof.regions)}
        return certify(task, self.name, found.proof, Effort(seconds, counts))

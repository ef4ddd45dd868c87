"""Quadratic invariants as a strategy: stable systems under arbitrary switching."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from abstraction.certified import certify
from abstraction.strategy import Task
from models.proof.linear import TooManyCasesError
from models.proof.problem import linear_problem
from models.verdict import Effort, Unknown, Verdict
from reach.quadratic_search import NotQuadratic, QuadraticSearch, search_quadratic


@dataclass(frozen=True)
class QuadraticStrategy:
    """Look for ellipsoids that no behaviour leaves."""

    method: QuadraticSearch = field(default_factory=QuadraticSearch)
    name: str = "quadratic"

    def suits(self, task: Task) -> str | None:
        """Models with several continuous variables; fails at once on unstable ones."""
        if len(task.automaton.variables) < 2:
            return None
        return "an ellipsoid proves the property for all time and any switching"

    def attempt(self, task: Task) -> Verdict:
        """Search, round to rationals, and let the trusted checker decide."""
        begun = time.perf_counter()
        try:
            problem = linear_problem(task.automaton, task.claim)
            found = search_quadratic(problem, self.method, lambda: task.expired, task.progress)
        except TooManyCasesError as error:
            found = NotQuadratic(str(error))
        seconds = {"search": time.perf_counter() - begun}
        if isinstance(found, NotQuadratic):
            advice = "try another --method"
            return Unknown(task.claim.name, self.name, found.reason, advice, Effort(seconds))
        effort = Effort(seconds, {"ellipsoids": len(found.ellipsoids)})
        return certify(task, self.name, found, effort)

"""Quadratic invariants as a strategy: ellipsoids for stable systems under arbitrary switching,
and quadratic functions, like energy, where flows or resets need them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from workbench.abstraction.strategies.certified import certify
from workbench.abstraction.strategies.strategy import Task
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import LinearProblem, linear_problem
from workbench.models.verdict import Effort, Unknown, Verdict
from workbench.reach.quadratic.ellipsoid_search import (
    NotQuadratic,
    QuadraticSearch,
    reachable_locations,
    search_quadratic,
)
from workbench.reach.quadratic.function_search import NoFunction, search_functions


@dataclass(frozen=True)
class QuadraticStrategy:
    """Look for ellipsoids that no behaviour leaves, then for quadratic functions."""

    method: QuadraticSearch = field(default_factory=QuadraticSearch)
    name: str = "quadratic"

    def suits(self, task: Task) -> str | None:
        """Models with several continuous variables."""
        if len(task.automaton.variables) < 2:
            return None
        return "an ellipsoid or an energy proves the property for all time"

    def attempt(self, task: Task) -> Verdict:
        """Search, round to rationals, and let the trusted checker decide."""
        begun = time.perf_counter()
        try:
            problem = linear_problem(task.automaton, task.claim)
            verdict = self._ellipsoids(task, problem)
            if isinstance(verdict, Unknown) and not task.expired:
                return self._functions(task, problem, verdict)
            return verdict
        except TooManyCasesError as error:
            return self._unknown(task, str(error), {"search": time.perf_counter() - begun})

    def _ellipsoids(self, task: Task, problem: LinearProblem) -> Verdict:
        begun = time.perf_counter()
        found = search_quadratic(problem, self.method, lambda: task.expired, task.progress)
        seconds = {"search": time.perf_counter() - begun}
        if isinstance(found, NotQuadratic):
            return self._unknown(task, found.reason, seconds)
        return certify(
            task, self.name, found, Effort(seconds, {"ellipsoids": len(found.ellipsoids)})
        )

    def _functions(self, task: Task, problem: LinearProblem, before: Unknown) -> Verdict:
        """Quadratic functions, with at most a quarter of the work that is left."""
        begun = time.perf_counter()
        share = task.share(1 / 4)
        locations = reachable_locations(problem)
        if locations is None:
            return before
        found = search_functions(problem, locations, lambda: share.expired, task.progress)
        seconds = {**before.effort.seconds, "functions": time.perf_counter() - begun}
        if isinstance(found, NoFunction):
            return self._unknown(task, f"{before.reason}; {found.reason}", seconds)
        effort = Effort(seconds, {"functions": len(found.functions)})
        return certify(task, self.name, found, effort)

    def _unknown(self, task: Task, reason: str, seconds: dict[str, float]) -> Unknown:
        return Unknown(task.claim.name, self.name, reason, "try another --method", Effort(seconds))

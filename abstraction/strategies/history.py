"""Locations by how they were entered, as a strategy: unbounded-time proofs for affine dynamics."""

from __future__ import annotations

import time
from dataclasses import dataclass

from workbench.abstraction.history.search import HistorySearch, NoRegions
from workbench.abstraction.strategies.certified import certify
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.templates.pruning import pruned
from workbench.abstraction.templates.system import TooManyLocationsError, template_system
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Effort, Unknown, Verdict
from workbench.reach.evidence import Unproved, prove

MOST_VARIABLES = 8


@dataclass(frozen=True)
class HistoryStrategy:
    """Look for one inductive polyhedron for each location and way of entering it."""

    name: str = "history"

    def suits(self, task: Task) -> str | None:
        """Small models with several ways into their locations."""
        if len(task.automaton.variables) > MOST_VARIABLES:
            return None
        if not any(component.edges for component in task.automaton.components):
            return None
        return "one inductive polyhedron for each way into a location"

    def attempt(self, task: Task) -> Verdict:
        """Search, prove exactly, and let the trusted checker decide."""
        begun = time.perf_counter()
        try:
            problem = linear_problem(task.automaton, task.claim)
            system = template_system(problem)
        except (TooManyCasesError, TooManyLocationsError) as error:
            return self._unknown(task, f"the model has {error}", Effort())
        search = HistorySearch(system, lambda: task.expired, task.progress)
        regions = search.search()
        seconds = {"search": time.perf_counter() - begun}
        counts = {"nodes settled": search.solved, "transits": len(search.transits)}
        if isinstance(regions, NoRegions):
            return self._unknown(task, regions.reason, Effort(seconds, counts))
        task.progress(f"history: exact proof of {len(regions)} polyhedra")
        proof = prove(problem, regions, lambda: task.expired)
        if isinstance(proof, Unproved):
            lacking = f"polyhedra were found, but lacked a proof of: {proof.obligation.title}"
            if task.expired:
                lacking = "polyhedra were found, but the time limit ended their exact proof"
            return self._unknown(task, lacking, Effort(seconds, counts))
        smaller = pruned(problem, proof, lambda: task.expired)
        seconds["proof"] = time.perf_counter() - begun - seconds["search"]
        counts["polyhedra"] = len(smaller.regions)
        return certify(task, self.name, smaller, Effort(seconds, counts))

    def _unknown(self, task: Task, reason: str, effort: Effort) -> Unknown:
        return Unknown(task.claim.name, self.name, reason, "try another --method", effort)

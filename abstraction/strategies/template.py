"""Template invariants as a strategy: unbounded-time proofs for affine dynamics."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from workbench.abstraction.strategies.certified import certify
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.templates.invariant_search import (
    Found,
    TemplateInvariant,
    search_invariant,
)
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Effort, Unknown, Verdict


@dataclass(frozen=True)
class TemplateStrategy:
    """Look for an inductive polyhedron in each location, property-directed."""

    method: TemplateInvariant = field(default_factory=TemplateInvariant)
    name: str = "template"

    def suits(self, task: Task) -> str | None:
        """Any model: what is not linear is over-approximated."""
        return "an inductive polyhedron proves the property for all time"

    def attempt(self, task: Task) -> Verdict:
        """Search, prove exactly, and let the trusted checker decide."""
        begun = time.perf_counter()
        try:
            problem = linear_problem(task.automaton, task.claim)
            found = search_invariant(problem, self.method, lambda: task.expired, task.progress)
        except TooManyCasesError as error:
            return self._unknown(task, str(error), Effort())
        searched = time.perf_counter()
        counts = {"templates": found.templates_tried}
        if not isinstance(found, Found):
            effort = Effort({"search": searched - begun}, counts)
            return self._unknown(task, found.reason, effort)
        counts |= {"directions": found.directions, "half_spaces": found.half_spaces}
        counts |= {"polyhedra": found.polyhedra}
        effort = Effort({"search": searched - begun}, counts)
        return certify(task, self.name, found.proof, effort)

    def _unknown(self, task: Task, reason: str, effort: Effort) -> Unknown:
        return Unknown(task.claim.name, self.name, reason, "try another --method", effort)

"""Recurrent flowpipes as a strategy: unbounded-time proofs by stays that return."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from workbench.abstraction.recurrence.search import RecurrenceSearch
from workbench.abstraction.recurrence.stay_view import UnsuitableError, stays_of
from workbench.abstraction.strategies.certified import certify
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.templates.directions import fastest_rate
from workbench.abstraction.templates.sampled_runs import sampled_runs
from workbench.abstraction.templates.system import TooManyLocationsError, template_system
from workbench.models.checker import flowpipe
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Effort, Unknown, Verdict

MOST_VARIABLES = 8
PACE = 0.1
"""The step of sampled runs, in units of the fastest time constant."""


@dataclass(frozen=True)
class RecurrenceStrategy:
    """Look for sets in which stays begin and to which they return, in every location."""

    name: str = "recurrence"

    def suits(self, task: Task) -> str | None:
        """Small models: entry sets have many rows in many variables."""
        if len(task.automaton.variables) > MOST_VARIABLES:
            return None
        return "stays that return to where stays begin prove the property for all time"

    def attempt(self, task: Task) -> Verdict:
        """Search, prove exactly, and let the trusted checker decide."""
        begun = time.perf_counter()
        try:
            problem = linear_problem(task.automaton, task.claim)
            system = template_system(problem)
            stays = stays_of(problem)
        except (UnsuitableError, TooManyCasesError, TooManyLocationsError) as error:
            return self._unknown(task, str(error), Effort())
        generator = np.random.default_rng(task.seed)
        runs = sampled_runs(system, PACE / fastest_rate(system), generator)
        if runs is None:
            return self._unknown(task, "the initial states have no corners", Effort())
        search = RecurrenceSearch(stays, system, runs, lambda: task.expired, task.progress)
        try:
            found = search.search()
        except flowpipe.UnsuitableError as error:
            return self._unknown(task, str(error), Effort())
        seconds = {"search": time.perf_counter() - begun}
        effort = Effort(seconds, {"attempts": found.attempts, "entry_sets": found.entries})
        if found.proof is None:
            return self._unknown(task, found.reason, effort)
        return certify(task, self.name, found.proof, effort)

    def _unknown(self, task: Task, reason: str, effort: Effort) -> Unknown:
        return Unknown(task.claim.name, self.name, reason, "try another --method", effort)

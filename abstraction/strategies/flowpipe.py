"""Flowpipes as a strategy: proofs up to a horizon for affine dynamics."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from fractions import Fraction

from workbench.abstraction.strategies.affine_counterexample import Replayer
from workbench.abstraction.strategies.certified import certify
from workbench.abstraction.strategies.strategy import Task
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Effort, Falsified, Unknown, Verdict
from workbench.reach.affine.crossings import suggested_runs
from workbench.reach.affine.flowpipe import Exploration
from workbench.reach.affine.flowpipe_parts import FlowpipeMethod, NotFound
from workbench.reach.affine.flowpipe_refinement import search_flowpipe

SEARCH_SHARE = 0.65
"""The part of the work that the search may do; the rest is for its last exploration."""


@dataclass(frozen=True)
class FlowpipeStrategy:
    """Follow all runs stay by stay, up to the horizon; without one, until nothing new comes.

    Options of the task: `horizon` (instead of the model's) and `step`, both exact numbers.
    """

    method: FlowpipeMethod = field(default_factory=FlowpipeMethod)
    name: str = "flowpipe"

    def suits(self, task: Task) -> str | None:
        """Models with a horizon, or with jumps that may lead back into what is known."""
        if task.horizon is not None:
            return f"all runs up to time {task.horizon} are followed"
        if not any(component.edges for component in task.automaton.components):
            return None
        return "all runs are followed until nothing new comes"

    def attempt(self, task: Task) -> Verdict:
        """Explore with ever shorter steps, and let the trusted checker decide."""
        begun = time.perf_counter()
        step = task.options.get("step")
        method = replace(self.method, step=step) if isinstance(step, Fraction) else self.method
        try:
            problem = linear_problem(task.automaton, task.claim)
            refuter = _Refuter(task, self.name, begun)
            search = task.share(SEARCH_SHARE)
            found = search_flowpipe(
                problem, task.horizon, method, lambda: search.expired, task.progress, refuter
            )
            if refuter.verdict is not None:
                return refuter.verdict
        except TooManyCasesError as error:
            found = NotFound(str(error))
        seconds = {"search": time.perf_counter() - begun}
        counts = {"attempts": found.attempts, "steps": found.steps}
        if isinstance(found, NotFound):
            bounded = task.horizon is not None
            advice = "try another --method" if bounded else "bound the time with --horizon"
            effort = Effort(seconds, counts)
            return Unknown(task.claim.name, self.name, found.reason, advice, effort)
        effort = Effort(seconds, {**counts, "nodes": len(found.proof.nodes)})
        return certify(task, self.name, found.proof, effort)


class _Refuter:
    """Asked by the search whether bad states that a flowpipe meets are met by runs."""

    def __init__(self, task: Task, method: str, begun: float):
        self.verdict: Falsified | None = None
        self._task, self._method, self._begun = task, method, begun
        self._suggested = 0

    def __call__(self, tried: Exploration) -> bool:
        replayer = None
        for suggestion in suggested_runs(tried):
            self._task.progress(f"replaying a run to bad states at time {suggestion.time:.4g}")
            replayer = replayer or Replayer(self._task, self._task.horizon)
            self._suggested += 1
            counts = {"suggested runs": self._suggested, "steps": tried.step_count}
            effort = Effort({"search": time.perf_counter() - self._begun}, counts)
            self.verdict = replayer.falsified(suggestion, self._method, effort)
            if self.verdict is not None or self._task.expired:
                break
        return self.verdict is not None

"""Flowpipes as a strategy: proofs up to a horizon for affine dynamics."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from fractions import Fraction

from abstraction.certified import certify
from abstraction.strategy import Task
from models.proof.linear import TooManyCasesError
from models.proof.problem import linear_problem
from models.verdict import Effort, Unknown, Verdict
from reach.flowpipe_parts import FlowpipeMethod, NotFound
from reach.flowpipe_refinement import search_flowpipe


@dataclass(frozen=True)
class FlowpipeStrategy:
    """Follow all runs stay by stay, up to the horizon; without one, until nothing new comes.

    Options of the task: `horizon` (instead of the model's) and `step`, both exact numbers.
    """

    method: FlowpipeMethod = field(default_factory=FlowpipeMethod)
    name: str = "flowpipe"

    def suits(self, task: Task) -> str | None:
        """Models with a horizon."""
        horizon = _horizon(task)
        return None if horizon is None else f"all runs up to time {horizon} are followed"

    def attempt(self, task: Task) -> Verdict:
        """Explore with ever shorter steps, and let the trusted checker decide."""
        begun = time.perf_counter()
        step = task.options.get("step")
        method = replace(self.method, step=step) if isinstance(step, Fraction) else self.method
        try:
            problem = linear_problem(task.automaton, task.claim)
            found = search_flowpipe(
                problem, _horizon(task), method, lambda: task.expired, task.progress
            )
        except TooManyCasesError as error:
            found = NotFound(str(error))
        seconds = {"search": time.perf_counter() - begun}
        counts = {"attempts": found.attempts, "steps": found.steps}
        if isinstance(found, NotFound):
            advice = "give the search more time (--time-limit), or try another --method"
            if _horizon(task) is None:
                advice = "bound the time with --horizon"
            effort = Effort(seconds, counts)
            return Unknown(task.claim.name, self.name, found.reason, advice, effort)
        effort = Effort(seconds, {**counts, "nodes": len(found.proof.nodes)})
        return certify(task, self.name, found.proof, effort)


def _horizon(task: Task) -> Fraction | None:
    given = task.options.get("horizon")
    return given if isinstance(given, Fraction) else task.automaton.horizon

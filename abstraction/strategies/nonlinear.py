"""Flowpipes of nonlinear dynamics as a strategy: proofs up to a horizon."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from fractions import Fraction

from workbench.abstraction.strategies.certified import certify
from workbench.abstraction.strategies.strategy import Task
from workbench.models.automaton import TIME, Automaton, Kind
from workbench.models.linear import affine
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Effort, Unknown, Verdict
from workbench.reach.nonlinear.flowpipe import search_nonlinear
from workbench.reach.nonlinear.parts import NonlinearMethod, NotFollowed

SEARCH_SHARE = 0.65
"""The part of the work that the search may do; the rest is for its last exploration."""


@dataclass(frozen=True)
class NonlinearStrategy:
    """Follow all runs with Taylor models, stay by stay, up to the horizon; without one, until
    nothing new comes.

    Options of the task: `horizon` (instead of the model's) and `step`, both exact numbers.
    """

    method: NonlinearMethod = field(default_factory=NonlinearMethod)
    name: str = "nonlinear"

    def suits(self, task: Task) -> str | None:
        """Models with derivatives that are not affine."""
        if not _is_nonlinear(task.automaton):
            return None
        until = "until nothing new comes" if task.horizon is None else f"up to time {task.horizon}"
        return f"all runs of the nonlinear dynamics are followed {until}"

    def attempt(self, task: Task) -> Verdict:
        """Explore with ever more closely followed flows, and let the trusted checker decide."""
        begun = time.perf_counter()
        step = task.options.get("step")
        method = replace(self.method, step=step) if isinstance(step, Fraction) else self.method
        try:
            problem = linear_problem(task.automaton, task.claim)
            search = task.share(SEARCH_SHARE)
            found = search_nonlinear(
                problem, task.horizon, method, lambda: search.expired, task.progress
            )
        except TooManyCasesError as error:
            found = NotFollowed(str(error))
        seconds = {"search": time.perf_counter() - begun}
        counts = {"attempts": found.attempts, "steps": found.steps}
        if isinstance(found, NotFollowed):
            effort = Effort(seconds, counts)
            return Unknown(task.claim.name, self.name, found.reason, _advice(task, found), effort)
        effort = Effort(seconds, {**counts, "nodes": len(found.proof.nodes)})
        return certify(task, self.name, found.proof, effort)


def _advice(task: Task, found: NotFollowed) -> str:
    """What may help where no flowpipe was found, besides more time where there was none left."""
    if task.horizon is None:
        return "bound the time with --horizon"
    if found.out_of_time:
        return "shorten the time with --horizon"
    return "shorten the time with --horizon, or start from a smaller set: all attempts were made"


def _is_nonlinear(automaton: Automaton) -> bool:
    """Whether some derivative or equation in a component's location is not affine."""
    moving = {v.name for v in automaton.variables if v.kind is Kind.ANALOG} - {TIME}
    return any(
        bound is not None and affine(bound) is None
        for component in automaton.components
        for place in component.locations
        for constraint in (*place.flows, *place.algebraic)
        if constraint.variable in moving
        for bound in (constraint.range.low, constraint.range.high)
    )

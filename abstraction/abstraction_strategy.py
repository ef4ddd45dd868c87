"""Predicate abstraction as a strategy: unbounded-time proofs by reachable cells."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from abstraction.certified import certify
from abstraction.predicate_abstraction import AbstractionResult, PredicateAbstraction, abstract
from abstraction.predicates import NotAPredicateError, Origin
from abstraction.refinement_history import RefinementRound
from abstraction.strategy import HISTORY_READER, Task
from models.expression import Expression
from models.proof.linear import TooManyCasesError
from models.proof.problem import linear_problem
from models.verdict import Effort, Unknown, Verdict

if TYPE_CHECKING:
    import networkx

PREDICATES = "predicates"
"""The option of a task with further predicates: a tuple of conditions."""
GRAPH_READER = "abstract graph"
"""The option of a task with a function that is given the abstract graph (networkx)."""


@dataclass(frozen=True)
class AbstractionStrategy:
    """Explore the abstract states of predicates, refining them where they are too coarse."""

    method: PredicateAbstraction = field(default_factory=PredicateAbstraction)
    name: str = "abstraction"

    def suits(self, task: Task) -> str | None:
        """Small models: cells multiply with the predicates, and those with the model."""
        if len(task.automaton.variables) > 6:
            return None
        return "reachable cells of predicates prove the property for all time"

    def attempt(self, task: Task) -> Verdict:
        """Explore, refine, prove exactly, and let the trusted checker decide."""
        begun = time.perf_counter()
        given = cast("tuple[Expression, ...]", task.options.get(PREDICATES, ()))
        method = replace(self.method, given=(*self.method.given, *given), seed=task.seed)
        try:
            problem = linear_problem(task.automaton, task.claim)
            result = abstract(problem, method, lambda: task.expired, task.progress)
        except (TooManyCasesError, NotAPredicateError) as error:
            why = str(error)
            if isinstance(error, NotAPredicateError):
                why = f"a predicate is not linear in the model's variables: {error}"
            advice = "give linear predicates, or try another --method"
            return Unknown(task.claim.name, self.name, why, advice, Effort())
        self._show(task, result)
        effort = Effort({"search": time.perf_counter() - begun}, _counts(result))
        if result.proof is None:
            advice = "give predicates (--predicate), more time (--time-limit), or another --method"
            return Unknown(task.claim.name, self.name, result.reason, advice, effort)
        return certify(task, self.name, result.proof, effort)

    def _show(self, task: Task, result: AbstractionResult) -> None:
        reader = task.options.get(GRAPH_READER)
        if reader is not None and result.graph is not None:
            cast("Callable[[networkx.MultiDiGraph], None]", reader)(result.graph.to_networkx())
        listener = task.options.get(HISTORY_READER)
        if listener is not None:
            cast("Callable[[tuple[RefinementRound, ...]], None]", listener)(result.history)


def _counts(result: AbstractionResult) -> dict[str, int]:
    return {
        "predicates given": result.count(Origin.GIVEN),
        "predicates mined": result.count(Origin.MINED),
        "predicates refined": result.count(Origin.REFINED),
        "rounds": result.rounds + 1,
        "abstract states": 0 if result.graph is None else len(result.graph.found),
        "linear programs": result.programs,
    }

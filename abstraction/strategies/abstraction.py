"""Predicate abstraction as a strategy: unbounded-time proofs by reachable cells."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from workbench.abstraction.predicates.predicate_abstraction import (
    AbstractionResult,
    PredicateAbstraction,
    abstract,
)
from workbench.abstraction.predicates.predicates import NotAPredicateError, Origin
from workbench.abstraction.predicates.refinement_history import RefinementRound
from workbench.abstraction.predicates.seeds import seeds_of
from workbench.abstraction.strategies.certified import certify
from workbench.abstraction.strategies.falsification import SimulationStrategy
from workbench.abstraction.strategies.strategy import (
    GRAPH_READER,
    HISTORY_READER,
    PREDICATES,
    REFINE,
    SEEDS,
    SLICES,
    Task,
)
from workbench.models.expressions.expression import Expression
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Effort, Falsified, Unknown, Verdict

if TYPE_CHECKING:
    import networkx

ADVICE = "give predicates (--predicate), or try another --method"
LEARN = "let it learn predicates (without --no-refine), or give others (--predicate)"
SIMULATION_WORK, RESERVED = 10_000.0, 0.2
"""What simulation gets, if a path was not excluded: work at most, and the part of the whole that
is kept for it."""


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
        slices = cast("float | None", task.options.get(SLICES, self.method.slices))
        given = (*self.method.given, *given)
        refine = bool(task.options.get(REFINE, self.method.refine))
        method = replace(self.method, given=given, seed=task.seed, slices=slices, refine=refine)
        try:
            problem = linear_problem(task.automaton, task.claim)
            kept = min(SIMULATION_WORK, RESERVED * task.left)
            search = replace(task, budget=task.budget - kept)
            result = abstract(problem, method, lambda: search.expired, task.progress)
        except (TooManyCasesError, NotAPredicateError) as error:
            why = str(error)
            if isinstance(error, NotAPredicateError):
                why = f"a predicate is not linear in the model's variables: {error}"
            advice = "give linear predicates, or try another --method"
            return Unknown(task.claim.name, self.name, why, advice, Effort())
        self._show(task, result)
        effort = Effort(_phases(result, time.perf_counter() - begun), _counts(result))
        if result.proof is None:
            return self._realised(task, result, effort) or Unknown(
                task.claim.name, self.name, result.reason, ADVICE if refine else LEARN, effort
            )
        return certify(task, self.name, result.proof, effort)

    def _realised(self, task: Task, result: AbstractionResult, effort: Effort) -> Falsified | None:
        """The simulator's answer to abstract paths that were not excluded: it begins where
        they do."""
        if task.expired:
            return None
        task.progress("looking for a run along the abstract path")
        seeds = seeds_of(task.automaton, result.history)
        seeded = replace(task.within(SIMULATION_WORK), options={**task.options, SEEDS: seeds})
        verdict = SimulationStrategy().attempt(seeded)
        if not isinstance(verdict, Falsified):
            return None
        spent = Effort(
            {**effort.seconds, "simulation": verdict.effort.total},
            {**effort.counts, **verdict.effort.counts},
        )
        return replace(verdict, method=self.name, effort=spent)

    def _show(self, task: Task, result: AbstractionResult) -> None:
        reader = task.options.get(GRAPH_READER)
        if reader is not None and result.graph is not None:
            cast("Callable[[networkx.MultiDiGraph], None]", reader)(
                result.graph.to_networkx(result.parts)
            )
        listener = task.options.get(HISTORY_READER)
        if listener is not None:
            cast("Callable[[tuple[RefinementRound, ...]], None]", listener)(result.history)


def _phases(result: AbstractionResult, total: float) -> dict[str, float]:
    """Seconds by phase; what belongs to none is called preparation."""
    return {"preparation": max(0.0, total - sum(result.seconds.values())), **result.seconds}


def _counts(result: AbstractionResult) -> dict[str, int]:
    return {
        "predicates given": result.count(Origin.GIVEN),
        "predicates mined": result.count(Origin.MINED),
        "predicates refined": result.count(Origin.REFINED),
        "rounds": len(result.history),
        "abstract states": result.states,
        "cells expanded": result.expanded,
        "lp_calls": result.effort.programs,
        "smt_calls": result.effort.exact,
    }

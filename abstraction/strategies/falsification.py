"""Simulation as a strategy: it refutes, and never proves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from abstraction.strategies.strategy import SEEDS, Task
from models.counting import counted
from models.verdict import Effort, Falsified, Unknown, Verdict

if TYPE_CHECKING:
    from simulate.recipe import Recipe


@dataclass(frozen=True)
class SimulationStrategy:
    """Search for a violating run; `simulations` bounds the search."""

    simulations: int = 20_000
    name: str = "simulation"

    def suits(self, task: Task) -> str | None:
        """Any model."""
        return "a run that violates the property"

    def attempt(self, task: Task) -> Verdict:
        """`Falsified` with a confirmed counterexample, or `Unknown` with the closest run."""
        from simulate.recipe import recorded
        from simulate.search.falsification import Budget, Options, Progress, falsify, informative

        def show(step: Progress) -> None:
            task.progress(
                f"simulation: {counted(step.simulations, 'run')}, "
                f"best robustness {step.robustness:.4g}"
            )

        limit = task.options.get("simulations", self.simulations)
        workers = task.options.get("workers", 1)
        budget = Budget(int(str(limit)), task.deadline)
        seeds = cast("tuple[Recipe, ...]", task.options.get(SEEDS, ()))
        options = Options(
            seed=task.seed, workers=int(str(workers)), until=_until(task), seeds=seeds
        )
        outcome = falsify(task.automaton, task.claim, budget, options, show)
        if outcome.interrupted:
            raise KeyboardInterrupt
        effort = Effort({"search": outcome.seconds}, {"simulations": outcome.simulations})
        name = task.claim.name
        if outcome.found is not None:
            found = outcome.found
            recording = recorded(found.trace, found.recipe, task.automaton.sha256)
            return Falsified(name, self.name, found.trace, found.confirmations, effort, recording)
        reason = f"no violation in {counted(outcome.simulations, 'simulation')}"
        if informative(outcome.robustness) and math.isfinite(outcome.robustness):
            reason = f"no confirmed {reason[3:]}" if outcome.robustness < 0 else reason
            reason += f" (the closest came to {outcome.robustness:.4g})"
        return Unknown(name, self.name, reason, "try another --method, or falsify", effort)


def _until(task: Task) -> float | None:
    """The time to which the user bounds the claim, rounded down."""
    given = task.options.get("horizon")
    return None if given is None else math.nextafter(float(Fraction(str(given))), 0.0)

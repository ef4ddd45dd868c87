"""Simulation as a strategy: it refutes, and never proves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from workbench.abstraction.strategies.strategy import CONFIRMING, SEEDS, Task
from workbench.models.counting import counted
from workbench.models.verdict import Effort, Falsified, Unknown, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.simulate.recipe import Recipe
    from workbench.simulate.search.falsification import Outcome

METHOD = "simulation"


@dataclass(frozen=True)
class SimulationStrategy:
    """Search for a violating run; `simulations` bounds the search."""

    simulations: int = 20_000
    name: str = METHOD

    def suits(self, task: Task) -> str | None:
        """Any model."""
        return "a run violates the property"

    def attempt(self, task: Task) -> Verdict:
        """`Falsified` with a confirmed counterexample, or `Unknown` with the closest run."""
        from workbench.simulate.search.falsification import Budget, Options, Progress, falsify

        confirming = cast("Callable[[bool], None]", task.options.get(CONFIRMING, lambda _: None))

        def show(step: Progress) -> None:
            confirming(step.confirming)
            near = f", best robustness {step.robustness:.4g}" if step.is_informative else ""
            task.progress(f"simulation: {counted(step.simulations, 'run')}{near}")

        limit = task.options.get("simulations", self.simulations)
        workers = task.options.get("workers", 1)
        budget = Budget(int(str(limit)), task.deadline, task.left)
        seeds = cast("tuple[Recipe, ...]", task.options.get(SEEDS, ()))
        options = Options(
            seed=task.seed, workers=int(str(workers)), until=_until(task), seeds=seeds
        )
        outcome = falsify(task.automaton, task.claim, budget, options, show)
        if outcome.interrupted:
            raise KeyboardInterrupt
        return as_verdict(outcome, task.claim.name, task.automaton.sha256)


def as_verdict(outcome: Outcome, claim: str, sha256: str) -> Falsified | Unknown:
    """What a search found, as a verdict about the claim of that name; the fingerprint of the
    model goes into the recording."""
    from workbench.simulate.recipe import recorded

    effort = Effort({"search": outcome.seconds}, {"simulations": outcome.simulations})
    found, suspect = outcome.found, outcome.suspect
    if found is None:
        recording = None
        if suspect is not None:
            recording = recorded(suspect.trace, suspect.recipe, sha256)
        reason, advice = _reason(outcome), _advice(outcome)
        return Unknown(claim, METHOD, reason, advice, effort, suspect=recording)
    recording = recorded(found.trace, found.recipe, sha256)
    return Falsified(claim, METHOD, found.trace, found.confirmations, effort, recording)


def _reason(outcome: Outcome) -> str:
    """What the search saw instead of a violation that is certain."""
    from workbench.simulate.search.doubt import in_words
    from workbench.simulate.search.falsification import informative

    if outcome.suspicion is not None:
        return outcome.suspicion
    confirmed = "confirmed " if outcome.doubts else ""
    reason = f"no {confirmed}violation in {counted(outcome.simulations, 'simulation')}"
    if outcome.exhausted:
        reason += ", which is all that can be chosen"
    if informative(outcome.robustness):
        reason += f" (the closest came within {outcome.robustness:.4g} of one"
        reason += f", {outcome.place})" if outcome.place else ")"
    return "; ".join([reason, *in_words(outcome.doubts), *outcome.shortened])


def _advice(outcome: Outcome) -> str:
    """What may bring a further search further than this one came."""
    if outcome.suspect is not None:
        return (
            "save the run (--trace FILE) and repeat it (simulate --replay FILE),"
            " or have it proved (falsify --enclose)"
        )
    if outcome.doubts:
        return "have doubtful runs proved (falsify --enclose)"
    if outcome.cut:
        return "look at shorter runs (falsify --until)"
    if outcome.exhausted:
        return "try a --method that proves"
    return "search on (falsify with another --seed or a larger --budget)"


def _until(task: Task) -> float | None:
    """The time to which the user bounds the claim, rounded down."""
    given = task.options.get("horizon")
    return None if given is None else math.nextafter(float(Fraction(str(given))), 0.0)

"""Searches for violating runs, and what they saw."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.api.asked import RequestError, count, double, number, positive
from workbench.api.notebook import block
from workbench.api.numbers import Number
from workbench.api.runs import Run
from workbench.models.counting import counted

if TYPE_CHECKING:
    from fractions import Fraction

    from workbench.abstraction.predicates.refinement_history import RefinementRound
    from workbench.api.verdicts import Verdict
    from workbench.models.automaton import Automaton, Property
    from workbench.simulate.monitoring.stl import Formula
    from workbench.simulate.recipe import Recipe
    from workbench.simulate.search.falsification import Outcome
    from workbench.simulate.stepping.externs import Externs


@dataclass(frozen=True)
class Search:
    """What a search for a violating run saw on its way: how many simulations it made, and the
    lowest `robustness`, which is the distance from a violation (negative: beyond it)."""

    automaton: Automaton = field(repr=False)
    claim: Property | Formula = field(repr=False)
    outcome: Outcome = field(repr=False)
    sha256: str = field(repr=False)
    externs: Externs = field(default_factory=dict, repr=False)

    @property
    def simulations(self) -> int:
        """How many runs were made."""
        return self.outcome.simulations

    @property
    def robustness(self) -> float:
        """The lowest of all runs."""
        return self.outcome.robustness

    @property
    def is_interrupted(self) -> bool:
        """Whether the user ended the search."""
        return self.outcome.interrupted

    def closest(self) -> Run | None:
        """The run that came closest to a violation, made again."""
        from workbench.simulate.recipe import repeat
        from workbench.simulate.stepping.externs import provided

        recipe = self.outcome.closest
        if recipe is None:
            return None
        with provided(self.externs):
            again = repeat(self.automaton, recipe)
        return Run(
            again,
            recipe.seed,
            recipe=recipe,
            model_sha256=self.sha256,
            automaton=self.automaton,
            externs=self.externs,
        )

    @property
    def data(self) -> dict[str, Any]:
        """Everything as plain data."""
        from workbench.reports.words.search_text import as_data
        from workbench.simulate.stepping.externs import provided

        with provided(self.externs):
            return as_data(self.automaton, self.claim, self.outcome)

    def in_words(self, label: str) -> str:
        """What was found, or how close a run came, with this name for the model."""
        from workbench.reports.words.search_text import in_words
        from workbench.simulate.stepping.externs import provided

        with provided(self.externs):
            return in_words(label, self.automaton, self.claim, self.outcome)

    def __repr__(self) -> str:
        made = counted(self.simulations, "simulation")
        return f"<Search: {made}, robustness {self.robustness:.6g}>"

    def _repr_html_(self) -> str:
        return block(self.in_words(self.automaton.name))


class Interrupted(KeyboardInterrupt):
    """The user ended a search; `verdict` is what is known so far."""

    def __init__(self, verdict: Verdict):
        super().__init__()
        self.verdict = verdict


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How long and in which way to search; see `Model.falsify`."""

    budget: int
    time_limit: Number | None
    until: Number | None
    seed: int
    workers: int
    control_points: int | None
    linear: bool
    enclose: bool
    abstraction: Number

    def __post_init__(self) -> None:
        count("seed", self.seed)
        for name in ("budget", "workers", "control_points"):
            if getattr(self, name) is not None or name != "control_points":
                count(name, getattr(self, name), least=1)
        for name in ("time_limit", "until"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        if number("abstraction", self.abstraction) < 0:
            raise RequestError(f"{self.abstraction} is negative", "abstraction")


def searched(
    automaton: Automaton,
    claim: Property | Formula,
    effort: Effort,
    parameters: Mapping[str, Fraction],
    externs: Externs,
    tell: Callable[[str], None],
) -> Search:
    """What a search for a run that violates the claim finds."""
    from workbench.models.automaton import Property
    from workbench.simulate.search import falsification
    from workbench.simulate.search.counterexample import enclosed_at_length

    limit = math.inf if effort.time_limit is None else double("time_limit", effort.time_limit)
    until = None if effort.until is None else double("until", effort.until)
    deadline = time.monotonic() + limit
    options = falsification.Options(
        seed=effort.seed, workers=effort.workers, until=until, linear=effort.linear
    )
    if effort.control_points is not None:
        options = replace(options, control_points=(effort.control_points,))
    if effort.enclose:
        options = replace(options, rigorous=(enclosed_at_length,))
    if effort.abstraction and isinstance(claim, Property):
        tell("looking for abstract counterexamples")
        seconds = double("abstraction", effort.abstraction)
        seeds = _abstract_seeds(automaton, claim, seconds, effort.seed)
        options = replace(options, seeds=seeds)
    name = claim.name if isinstance(claim, Property) else claim.text

    def show(step: falsification.Progress) -> None:
        done = f"{step.simulations} of {counted(effort.budget, 'simulation')}"
        near = f", best robustness {step.robustness:.6g}" if step.is_informative else ""
        tell(f"{name!r}: {done}{near}")

    budget = falsification.Budget(effort.budget, deadline)
    outcome = falsification.falsify(automaton, claim, budget, options, show)
    if (found := outcome.found) is not None:
        recipe = replace(found.recipe, model_parameters=parameters)
        outcome = replace(outcome, found=replace(found, recipe=recipe))
    if (suspect := outcome.suspect) is not None:
        recipe = replace(suspect.recipe, model_parameters=parameters)
        outcome = replace(outcome, suspect=replace(suspect, recipe=recipe))
    return Search(automaton, claim, outcome, automaton.sha256, externs)


def _abstract_seeds(
    automaton: Automaton, claim: Property, seconds: float, seed: int
) -> tuple[Recipe, ...]:
    """Starts of the abstract counterexamples that are found in the time given."""
    from workbench.abstraction.predicates.seeds import seeds_of
    from workbench.abstraction.strategies.strategy import HISTORY_READER, Task
    from workbench.abstraction.verification import deadline, verify

    rounds: list[RefinementRound] = []
    options: dict[str, object] = {HISTORY_READER: rounds.extend}
    verify(Task(automaton, claim, deadline(seconds), seed, options=options), "abstraction")
    return seeds_of(automaton, rounds)

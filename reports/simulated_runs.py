"""The runs of a report: corners of what a model leaves open, then random choices, then those that
come closest to breaking properties; each is computed twice and followed as far as that is certain
(see `reports.crosscheck.certain_runs`)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from workbench.models.automaton import Automaton, Property
from workbench.models.interruption import CheckInterruptedError, given_up_at, interruptible
from workbench.models.trace import Trace
from workbench.reports.crosscheck.certain_runs import certain
from workbench.simulate.nudged_run import NUDGE, nudged_run
from workbench.simulate.place import Prepared
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.recipe import Recipe, repeat
from workbench.simulate.run import prepare
from workbench.simulate.search.falsification import Budget, Options, falsify, informative
from workbench.simulate.search.objective import Objective
from workbench.simulate.stepping.methods import Adams, Taylor

RTOL, ATOL = 1e-9, 1e-12
METHOD = Adams(RTOL, ATOL, max_steps=200_000)
MAX_JUMPS = 5000

REPEATED = 3
"""So many random runs that are equal to earlier ones say that there are no others."""

SECOND_STEPS = 2000
"""Steps that the second computation may take beyond twice those of the first."""

SEARCHED, WORK = 16, 4000.0
"""For each run of a report a search for the closest one makes so many, with so much work at most
for one property."""


@dataclass(frozen=True)
class Run:
    """A trace, how its choices were resolved, and the property it is to break, if any; `kind` is
    `counterexample`, `simulated`, or `searched` for the closest run of a search."""

    trace: Trace
    kind: str
    how: str
    claim: str = ""
    recipe: Recipe = field(default_factory=lambda: Recipe(0.0))


@dataclass(frozen=True)
class ClosestRun:
    """A search for the run that comes closest to breaking a property: how many runs it made."""

    simulations: int
    run: Run


_CORNERS = (
    ("middle values, earliest switches", Policy(Switching.EARLIEST, Level.MID)),
    ("low values, latest switches", Policy(Switching.LATEST, Level.LOW)),
    ("high values, latest switches", Policy(Switching.LATEST, Level.HIGH)),
    ("low values, earliest switches", Policy(Switching.EARLIEST, Level.LOW)),
)
"""The first runs resolve everything one way; the others are random."""


def simulated(
    automaton: Automaton,
    count: int,
    seed: int,
    until: float,
    progress: Callable[[str], None] = lambda text: None,
    latest: float = math.inf,
) -> tuple[Run, ...]:
    """So many runs, as far as they are certain; fewer where a model leaves so little open that
    they would be equal, or at a moment (`time.monotonic`) at the `latest`."""
    if count == 0:
        return ()
    prepared = prepare(automaton)
    found: list[Run] = []
    repeated = 0
    for i in range(count):
        progress(f"simulating run {i + 1} of {count}")
        corner = i < len(_CORNERS) and count > len(_CORNERS)
        how, policy = _CORNERS[i] if corner else ("random choices", Policy.random())
        own = seed * 1_000_003 + i
        words = how if corner else f"{how}, seed {own}"
        try:
            with interruptible(lambda: time.monotonic() > latest):
                made = certain_run(prepared, Recipe(until, policy=policy, seed=own), words)
        except CheckInterruptedError:
            break
        if all(made.trace.segments != run.trace.segments for run in found):
            found.append(made)
            repeated = 0
        else:
            repeated += not corner
        if repeated == REPEATED:
            break
    return tuple(found)


def closest(
    automaton: Automaton,
    claim: Property,
    runs: Sequence[Run],
    seed: int,
    until: float,
    latest: float = math.inf,
) -> ClosestRun | None:
    """The run that comes closest to breaking a property, by a search that is directed at it, with
    `SEARCHED` runs for each that there is; None if one of these touches the border already, or
    there is nothing to measure, or all runs are alike."""
    if len(runs) < 2:
        return None
    objective = Objective(automaton, claim)
    if any(objective.closest(run.recipe, run.trace).margin <= 0.0 for run in runs):
        return None
    budget = Budget(SEARCHED * len(runs), latest, WORK)
    outcome = falsify(automaton, claim, budget, Options(seed, until=until, rigorous=()))
    if outcome.closest is None or not informative(outcome.robustness):
        return None
    words = f"a search for the closest to breaking “{claim.name}”"
    try:
        with given_up_at(latest):
            made = certain_run(automaton, outcome.closest, words)
    except CheckInterruptedError:
        return None
    return ClosestRun(outcome.simulations, replace(made, kind="searched"))


def certain_run(automaton: Automaton | Prepared, recipe: Recipe, how: str) -> Run:
    """A run by Adams' method, as far as one by Taylor series with the same decisions agrees."""
    recipe = replace(
        recipe,
        method=METHOD,
        stop_on_violation=False,  # how far beyond a property a run goes is worth knowing
        sliding=False,  # to compare with proofs: runs of the automaton alone
    )
    first = repeat(automaton, recipe, max_jumps=MAX_JUMPS)
    steps = SECOND_STEPS + 2 * first.counts.steps
    second = replace(
        recipe.with_decisions(first.decisions), method=Taylor(RTOL, ATOL, max_steps=steps)
    )
    trace = certain(first, repeat(automaton, second, max_jumps=MAX_JUMPS))
    return Run(trace, "simulated", how, recipe=recipe)


def steadied(automaton: Automaton, run: Run) -> Run:
    """The run as far as one from a state beside its own goes the same way: rounding that both
    of its computations share, and that resets or the flow stretch, ends it."""
    prepared = prepare(automaton, inputs=run.recipe.inputs)
    recipe = run.recipe.with_decisions(run.trace.decisions)
    beside = (
        nudged_run(prepared, recipe, share, MAX_JUMPS)
        for share in (NUDGE, -NUDGE)  # one of them may leave the border that a run begins on
    )
    trace = max((certain(run.trace, other) for other in beside), key=lambda trace: trace.end)
    return replace(run, trace=trace)

"""The runs of a report: corners of what a model leaves open, then random choices; each is
computed twice and followed as far as that is certain (see `reports.crosscheck.certain_runs`)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from workbench.models.automaton import Automaton
from workbench.models.interruption import CheckInterruptedError, interruptible
from workbench.models.trace import Trace
from workbench.reports.crosscheck.certain_runs import certain
from workbench.simulate.nudged_run import NUDGE, nudged_run
from workbench.simulate.place import Prepared
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.recipe import Recipe
from workbench.simulate.run import DEFAULT_POLICY, prepare, simulate
from workbench.simulate.stepping.methods import Adams, Method, Taylor

RTOL, ATOL = 1e-9, 1e-12
METHOD = Adams(RTOL, ATOL, max_steps=200_000)
MAX_JUMPS = 5000

REPEATED = 3
"""So many random runs that are equal to earlier ones say that there are no others."""

SECOND_STEPS = 2000
"""Steps that the second computation may take beyond twice those of the first."""


@dataclass(frozen=True)
class Run:
    """A trace, how its choices were resolved, and the property it is to break, if any."""

    trace: Trace
    kind: str
    how: str
    claim: str = ""
    policy: Policy = DEFAULT_POLICY
    seed: int = 0


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
        try:
            with interruptible(lambda: time.monotonic() > latest):
                trace = certain_run(prepared, until, policy, own)
        except CheckInterruptedError:
            break
        if all(trace.segments != run.trace.segments for run in found):
            words = how if corner else f"{how}, seed {own}"
            found.append(Run(trace, "simulated", words, policy=policy, seed=own))
            repeated = 0
        else:
            repeated += not corner
        if repeated == REPEATED:
            break
    return tuple(found)


def certain_run(prepared: Prepared, until: float, policy: Policy, seed: int) -> Trace:
    """A run by Adams' method, as far as one by Taylor series with the same decisions agrees."""

    def run(method: Method, policy: Policy) -> Trace:
        return simulate(
            prepared,
            until=until,
            method=method,
            policy=policy,
            seed=seed,
            stop_on_violation=False,  # how far beyond a property a run goes is worth knowing
            max_jumps=MAX_JUMPS,
            sliding=False,  # to compare with proofs: runs of the automaton alone
        )

    first = run(METHOD, policy)
    steps = SECOND_STEPS + 2 * first.counts.steps
    return certain(
        first, run(Taylor(RTOL, ATOL, max_steps=steps), replace(policy, script=first.decisions))
    )


def steadied(automaton: Automaton, run: Run, until: float) -> Run:
    """The run as far as one from a state beside its own goes the same way: rounding that both
    of its computations share, and that resets or the flow stretch, ends it."""
    prepared = prepare(automaton)
    recipe = Recipe(until, policy=run.policy, seed=run.seed, method=METHOD, sliding=False)
    recipe = recipe.with_decisions(run.trace.decisions)
    beside = (
        nudged_run(prepared, recipe, share, MAX_JUMPS)
        for share in (NUDGE, -NUDGE)  # one of them may leave the border that a run begins on
    )
    trace = max((certain(run.trace, other) for other in beside), key=lambda trace: trace.end)
    return replace(run, trace=trace)

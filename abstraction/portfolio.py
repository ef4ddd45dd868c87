"""The portfolio behind `auto`: it follows the plan (`plan.PLAN`) and puts together what is found.

The work that a stage may do is counted (`models.work`), so what is decided, and by which method,
is the same on an idle and on a busy machine. The clock only cuts, and then the answer says so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from workbench.abstraction.advice import after_all
from workbench.abstraction.lanes import Lane, in_turn, side_by_side
from workbench.abstraction.partial_results import partial_results
from workbench.abstraction.plan import LANES, PARTIAL, RUNS, Stage, stages
from workbench.abstraction.strategies.strategy import HISTORY_READER, SEEDS, Task
from workbench.abstraction.verification import attempt, strategy
from workbench.models.processes import may_start_others
from workbench.models.verdict import Effort, Unknown, Verdict
from workbench.models.work import spent

if TYPE_CHECKING:
    from workbench.abstraction.predicates.refinement_history import RefinementRound

GAVE_UP = 0.5
"""A method that ends before this part of its work has tried all it can; one that ends later may
have kept the rest for a check."""


def decide(task: Task) -> Verdict:
    """The first decision of the methods that suit the task; `Unknown` with what all of them
    came to."""
    begun = time.monotonic()
    is_alone = not (hasattr(os, "fork") and may_start_others())
    found = (in_turn if is_alone else side_by_side)(LANES, task, follow)
    decided = [lane for lane in found if lane.decision is not None]
    if decided:
        first = min(decided, key=lambda lane: (lane.work, LANES.index(lane.name)))
        assert first.decision is not None
        return _with_earlier(first.decision, sum(first.seconds.values()))
    return _summary(task, found, time.monotonic() - begun)


def follow(name: str, task: Task, tell: Callable[[Lane], None]) -> Lane:
    """Go through the stages of a lane until one decides."""
    lane = Lane(name)
    rounds: list[RefinementRound] = []
    task = _remembering(task, rounds)
    tried_all: set[str] = set()
    for stage in stages(name, task):
        if stage.method in tried_all:
            continue
        lane.method = stage.method
        tell(lane)
        task.progress(f"{stage.method}: whether {stage.why}")
        if stage.method == PARTIAL:
            for line in partial_results(task.within(stage.work)):
                lane.known += (line,)
                tell(lane)
        else:
            begun = spent()
            _attempt(lane, stage, _seeded(task, lane, stage, rounds))
            if lane.decision is not None:
                break
            if spent() - begun < GAVE_UP * stage.work:
                tried_all.add(stage.method)
            else:
                lane.hurried.add(stage.method)
        lane.cut = task.is_late
        if lane.cut:
            break
    lane.work = spent()
    return lane


def _attempt(lane: Lane, stage: Stage, task: Task) -> None:
    """Have a method try, and note what it came to."""
    clock = time.monotonic()
    verdict = attempt(strategy(stage.method), task.within(stage.work))
    seconds = time.monotonic() - clock
    if isinstance(verdict, Unknown):
        lane.undecided[stage.method] = verdict
        lane.hurried.discard(stage.method)
    else:
        lane.decision = verdict
        seconds -= verdict.effort.total
    lane.seconds[stage.method] = lane.seconds.get(stage.method, 0.0) + seconds


def _remembering(task: Task, rounds: list[RefinementRound]) -> Task:
    """The task whose rounds of abstraction are kept, beside whoever else wants them."""
    listener = task.options.get(HISTORY_READER)

    def read(history: tuple[RefinementRound, ...]) -> None:
        rounds.extend(history)
        if listener is not None:
            cast("Callable[[tuple[RefinementRound, ...]], None]", listener)(history)

    return replace(task, options={**task.options, HISTORY_READER: read})


def _seeded(task: Task, lane: Lane, stage: Stage, rounds: list[RefinementRound]) -> Task:
    """The task for a search of violations: in its own lane with the processors that are left,
    among proofs beginning where abstract counterexamples do."""
    if stage.method != "simulation":
        return task
    if lane.name == RUNS:
        return replace(task, options={**task.options, "workers": max(1, task.jobs - 1)})
    if not any(r.path for r in rounds):
        return task
    from workbench.abstraction.predicates.seeds import seeds_of

    return replace(task, options={**task.options, SEEDS: seeds_of(task.automaton, rounds)})


def _with_earlier(verdict: Verdict, seconds: float) -> Verdict:
    """The verdict of the method that decided, with the time that others had before."""
    if seconds < 0.05:
        return verdict
    phases = {**verdict.effort.seconds, "earlier methods": seconds}
    return replace(verdict, effort=replace(verdict.effort, seconds=phases))


def _summary(task: Task, lanes: Sequence[Lane], elapsed: float) -> Unknown:
    """What the methods of all lanes came to: first what a user wants to know."""
    undecided: dict[str, Unknown] = {}
    for lane in lanes:
        undecided |= {m: u for m, u in lane.undecided.items() if m not in undecided}
    suspects = [u for u in undecided.values() if u.suspect is not None]
    cut = tuple(lane.method for lane in lanes if lane.cut)
    known = [line for lane in lanes for line in lane.known]
    if suspects:
        reason = suspects[0].reason
    elif cut:
        reason = f"neither proved nor refuted before the time limit, which cut {_and(cut)}"
    elif undecided:
        reason = "no proof was found, and no run that violates it"
    else:
        reason = "no method suits the model"
    searched = undecided.get("simulation")
    if not suspects and searched is not None and searched.effort.counts.get("simulations"):
        known.append(searched.reason)
    return Unknown(
        task.claim.name,
        "auto",
        reason,
        after_all(task, lanes),
        _effort(lanes, undecided, elapsed),
        tuple(known),
        tuple(f"{method}: {verdict.reason}" for method, verdict in undecided.items()),
        cut,
        suspects[0].suspect if suspects else None,
    )


def _and(methods: Sequence[str]) -> str:
    """Methods in words, and what looks for partial results."""
    return " and ".join(f"the search for {m}" if m == PARTIAL else m for m in methods)


def _effort(lanes: Sequence[Lane], undecided: Mapping[str, Unknown], elapsed: float) -> Effort:
    seconds: dict[str, float] = {}
    for lane in lanes:
        for method, used in lane.seconds.items():
            phases = undecided[method].effort.seconds if method in undecided else {}
            seconds |= {f"{method} {phase}": s for phase, s in phases.items()}
            seconds[f"{method} other"] = max(0.0, used - sum(phases.values()))
    if not seconds:
        seconds["search"] = elapsed
    counts = {f"{m} {what}": n for m, u in undecided.items() for what, n in u.effort.counts.items()}
    return Effort(seconds, counts, elapsed)

"""Deciding a property: choose methods that suit the model, and take the first decision."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from abstraction.strategy import HISTORY_READER, SEEDS, Strategy, Task
from models.verdict import Effort, Unknown, Verdict
from reach.double_description import OutOfTimeError, time_limit

if TYPE_CHECKING:
    from abstraction.refinement_history import RefinementRound

STRATEGIES: dict[str, tuple[str, str]] = {
    "rectangular": ("abstraction.rectangular_strategy", "RectangularStrategy"),
    "simulation": ("abstraction.falsification_strategy", "SimulationStrategy"),
    "quadratic": ("abstraction.quadratic_strategy", "QuadraticStrategy"),
    "flowpipe": ("abstraction.flowpipe_strategy", "FlowpipeStrategy"),
    "nonlinear": ("abstraction.nonlinear_strategy", "NonlinearStrategy"),
    "recurrence": ("abstraction.recurrence_strategy", "RecurrenceStrategy"),
    "template": ("abstraction.template_strategy", "TemplateStrategy"),
    "transient": ("abstraction.transient_strategy", "TransientStrategy"),
    "abstraction": ("abstraction.abstraction_strategy", "AbstractionStrategy"),
    "exact": ("abstraction.exact_strategy", "ExactStrategy"),
}
"""Every method, in the order in which `auto` tries those that suit: module and class."""

QUICK_SECONDS, QUICK_SIMULATIONS = 1.5, 300
"""What `auto` spends on simulation before it tries to prove; the rest of its time, if
nothing was decided, goes there too."""
LONG_SEARCHES = frozenset({"recurrence", "template", "transient", "abstraction"})
"""Methods that may use all the time they get: each gets half of what is left."""
UNBOUNDED_LATE = frozenset({"flowpipe", "nonlinear"})
"""Methods that without a horizon follow runs until nothing new comes. That may never be, so
they are tried after templates then, and as long searches."""


def strategy(name: str) -> Strategy:
    """The strategy of that name, imported now."""
    module, kind = STRATEGIES[name]
    made: Strategy = getattr(import_module(module), kind)()
    return made


def verify(task: Task, method: str = "auto") -> Verdict:
    """The verdict of one method, or, for `auto`, of the first that decides the property.

    An `Unknown` of `auto` gives the reasons of all methods that were tried, one in a line.
    """
    if method != "auto":
        return _attempt(strategy(method), task)
    undecided: list[Unknown] = []
    rounds: list[RefinementRound] = []
    task = _remembering(task, rounds)
    for chosen, why in _suitable(task):
        if task.expired:
            break
        task.progress(f"{chosen.name}: {why}")
        verdict = _attempt(chosen, _share(task, chosen.name))
        if not isinstance(verdict, Unknown):
            return verdict
        undecided.append(verdict)
    if not task.expired:
        verdict = _attempt(strategy("simulation"), _seeded(task, rounds))
        if not isinstance(verdict, Unknown):
            return verdict
        undecided = [u for u in undecided if u.method != verdict.method] + [verdict]
    return _summary(task, undecided)


def _attempt(chosen: Strategy, task: Task) -> Verdict:
    """The verdict of a strategy; `Unknown` if the deadline passes within a single long operation
    on polyhedra."""
    try:
        with time_limit(task.deadline):
            return chosen.attempt(task)
    except OutOfTimeError:
        reason = "the time limit was reached in an operation on polyhedra"
        return Unknown(task.claim.name, chosen.name, reason, "raise --time-limit", Effort())


def _remembering(task: Task, rounds: list[RefinementRound]) -> Task:
    """The task whose rounds of abstraction are kept, beside whoever else wants them."""
    listener = task.options.get(HISTORY_READER)

    def read(history: tuple[RefinementRound, ...]) -> None:
        rounds.extend(history)
        if listener is not None:
            cast("Callable[[tuple[RefinementRound, ...]], None]", listener)(history)

    return replace(task, options={**task.options, HISTORY_READER: read})


def _seeded(task: Task, rounds: list[RefinementRound]) -> Task:
    """The task for a search that begins where abstract counterexamples do."""
    if not any(r.path for r in rounds):
        return task
    from abstraction.abstract_seeds import seeds_of

    return replace(task, options={**task.options, SEEDS: seeds_of(task.automaton, rounds)})


def _share(task: Task, method: str) -> Task:
    """The task with the part of the time that `auto` gives a method."""
    if method == "simulation":
        return _quick(task)
    is_long = method in LONG_SEARCHES or (method in UNBOUNDED_LATE and task.horizon is None)
    if is_long and math.isfinite(task.deadline):
        return task.within((task.deadline - time.monotonic()) / 2)
    return task


def _quick(task: Task) -> Task:
    """The task for a first, short search for a violation."""
    options = {**task.options, "simulations": QUICK_SIMULATIONS}
    return replace(task.within(QUICK_SECONDS), options=options)


def _suitable(task: Task) -> Iterator[tuple[Strategy, str]]:
    names = list(STRATEGIES)
    if task.horizon is None:
        names.sort(key=lambda name: (name == "abstraction") * 2 + (name in UNBOUNDED_LATE))
    for name in names:
        chosen = strategy(name)
        why = chosen.suits(task)
        if why is not None:
            yield chosen, why


def _summary(task: Task, undecided: list[Unknown]) -> Unknown:
    if not undecided:
        reason = "no method suits the model" if not task.expired else "the time limit was reached"
        return Unknown(task.claim.name, "auto", reason, "raise --time-limit", Effort())
    reason = "\n".join(f"{u.method}: {u.reason}" for u in undecided)
    seconds = {f"{u.method} {phase}": s for u in undecided for phase, s in u.effort.seconds.items()}
    counts = {f"{u.method} {what}": n for u in undecided for what, n in u.effort.counts.items()}
    advice = undecided[-1].advice
    if task.horizon is None and any(u.method in UNBOUNDED_LATE for u in undecided):
        advice = "bound the time (--horizon T), give more of it (--time-limit), or give predicates"
    return Unknown(task.claim.name, "auto", reason, advice, Effort(seconds, counts))


def deadline(seconds: float) -> float:
    """The moment that many seconds from now, for `Task.deadline`."""
    return time.monotonic() + seconds

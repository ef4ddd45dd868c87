"""Deciding a property: choose methods that suit the model, and take the first decision."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from workbench.abstraction.advice import FOLLOWERS, after_all, with_more_time
from workbench.abstraction.strategies.strategy import HISTORY_READER, SEEDS, Strategy, Task
from workbench.models.source import ModelError
from workbench.models.verdict import Effort, Falsified, Unknown, Verdict, Verified
from workbench.reach.time_limit import OutOfTimeError, time_limit

if TYPE_CHECKING:
    from workbench.abstraction.predicates.refinement_history import RefinementRound

STRATEGIES: dict[str, tuple[str, str]] = {
    "rectangular": ("workbench.abstraction.strategies.rectangular", "RectangularStrategy"),
    "simulation": ("workbench.abstraction.strategies.falsification", "SimulationStrategy"),
    "quadratic": ("workbench.abstraction.strategies.quadratic", "QuadraticStrategy"),
    "flowpipe": ("workbench.abstraction.strategies.flowpipe", "FlowpipeStrategy"),
    "nonlinear": ("workbench.abstraction.strategies.nonlinear", "NonlinearStrategy"),
    "template": ("workbench.abstraction.strategies.template", "TemplateStrategy"),
    "history": ("workbench.abstraction.strategies.history", "HistoryStrategy"),
    "recurrence": ("workbench.abstraction.strategies.recurrence", "RecurrenceStrategy"),
    "transient": ("workbench.abstraction.strategies.transient", "TransientStrategy"),
    "abstraction": ("workbench.abstraction.strategies.abstraction", "AbstractionStrategy"),
    "exact": ("workbench.abstraction.strategies.exact", "ExactStrategy"),
}
"""Every method, in the order in which `auto` tries those that suit: module and class."""

QUICK_SIMULATIONS = 300
GLANCES = {"rectangular": 5.0, "flowpipe": 1.0, "template": 1.0}
"""Methods at which `auto` has a glance before any of them may use most of the time; at the last
two where a horizon is given."""
QUICK_SECONDS = {
    "simulation": 1.5,
    "template": 6.0,
    "history": 12.0,
    "recurrence": 6.0,
    "transient": 9.0,
    "abstraction": 6.0,
}
"""Methods that `auto` tries twice: for at most so long (and a fifth of the time that is left),
and again later if that was not enough, in the same order, simulation last."""
QUICK_PART, QUICK_LEAST, QUICK_MOST = 0.2, 1.0, 0.35
"""The part of the time that is left which glances and quick attempts may have; the seconds that
they may have even if that is more; and the largest part. The seconds are those of the processor:
on a busy machine they take longer, so that what is decided depends less on what else goes on."""
BUSIEST = 8.0
"""How much longer at most."""
GAVE_UP = 0.5
"""A method that ends before this part of its time has tried all it can; one that ends later may
have kept the rest for a check, and is tried again if it was given a short time only."""
MOST = {"rectangular": 0.7, "flowpipe": 0.7, "nonlinear": 0.7}
"""The part of the time that is left which methods may have that often decide alone."""
LONG_SEARCHES = {
    "quadratic": 3,
    "template": 2,
    "history": 2,
    "transient": 2,
    "recurrence": 2,
    "abstraction": 1,
    "simulation": 1,
}
"""Methods that may use all the time they get. The time that is left is shared among those that
are still to come, in these proportions; what one does not use is left to the others."""
LAST = ("abstraction", "simulation")


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
        return _alone(strategy(method), task)
    undecided: dict[str, Unknown] = {}
    spent: dict[str, float] = {}
    hurried: set[str] = set()
    rounds: list[RefinementRound] = []
    task = _remembering(task, rounds)
    pace = _Pace()
    coming = list(_order(task))
    while coming and not task.expired:
        (name, quick, why), *coming = coming
        task.progress(f"{name}: {why}")
        begun = time.monotonic()
        share = _share(task, name, _long(coming))
        if quick is not None:
            share = _quick(task, name, quick, pace)
        given = share.deadline - begun
        verdict = _attempt(strategy(name), _seeded(share, name, rounds))
        if not isinstance(verdict, Unknown):
            return _with_earlier(verdict, sum(spent.values()))
        used = time.monotonic() - begun
        spent[name] = spent.get(name, 0.0) + used
        if used < GAVE_UP * given and name != "simulation":
            coming = [other for other in coming if other[0] != name]
        undecided.pop(name, None)
        hurried.discard(name)
        if used >= GAVE_UP * given:
            hurried.add(name)
            verdict = _with_share(verdict, given)
        undecided[name] = verdict
    return _summary(task, list(undecided.values()), spent, hurried)


def _alone(chosen: Strategy, task: Task) -> Verdict:
    """The verdict of one method that has all the time."""
    begun = time.monotonic()
    verdict = _attempt(chosen, task)
    given, used = task.deadline - begun, time.monotonic() - begun
    if isinstance(verdict, Unknown) and used >= GAVE_UP * given:
        return with_more_time(verdict)
    return verdict


class _Pace:
    """How much of the time the processor works for this process."""

    def __init__(self) -> None:
        self._wall, self._own = time.monotonic(), time.process_time()

    def stretched(self, seconds: float) -> float:
        """How long so many seconds of the processor take, going by what was so far."""
        own = time.process_time() - self._own
        wall = time.monotonic() - self._wall
        return seconds * min(max(1.0, wall / own if own > 0 else 1.0), BUSIEST)


def _order(task: Task) -> Iterator[tuple[str, float | None, str]]:
    """The methods that suit the task, one after the other: for how many seconds, if it is for
    a short time only, and why."""
    bounded = task.horizon is not None
    late = {*LONG_SEARCHES} - {"quadratic"} | (set() if bounded else FOLLOWERS)
    first = [name for name in STRATEGIES if name not in late or name in QUICK_SECONDS]
    rest = [name for name in STRATEGIES if name in late and name not in LAST]
    early = ["rectangular", "simulation", "quadratic"]
    planned = [(name, GLANCES.get(name, QUICK_SECONDS.get(name))) for name in early]
    if bounded and not any(part.edges for part in task.automaton.components):
        planned.append(("flowpipe", None))  # without jumps it decides, or nothing does
        first.remove("flowpipe")
    elif bounded:
        planned += [(name, GLANCES[name]) for name in GLANCES if name not in early]
    planned += [(n, QUICK_SECONDS.get(n)) for n in first if n not in early or n == "rectangular"]
    planned += [(name, None) for name in (*rest, *LAST)]
    for name, quick in planned:
        why = strategy(name).suits(task)
        if why is not None:
            yield name, quick, why


def _long(planned: list[tuple[str, float | None, str]]) -> list[str]:
    """The methods that are not only tried for a short time."""
    return [name for name, quick, _ in planned if quick is None]


def _with_share(verdict: Unknown, seconds: float) -> Unknown:
    """The verdict of a method that used all its time, with how much that was."""
    return replace(verdict, reason=f"{verdict.reason} (auto gave it {seconds:.1f} s)")


def _with_earlier(verdict: Verified | Falsified, seconds: float) -> Verdict:
    """The verdict of the method that decided, with the time that others had before."""
    if not seconds:
        return verdict
    effort = verdict.effort
    phases = {**effort.seconds, "earlier methods": seconds}
    return replace(verdict, effort=replace(effort, seconds=phases))


def _attempt(chosen: Strategy, task: Task) -> Verdict:
    """The verdict of a strategy; `Unknown` if the deadline passes within one long operation, or
    a number of the model is too large for searches in floating point."""
    begun = time.perf_counter()
    try:
        with time_limit(task.deadline):
            return chosen.attempt(task)
    except OutOfTimeError:
        reason = "the time limit was reached in the middle of an operation"
        advice = "try another --method"
    except (OverflowError, ModelError) as error:
        if isinstance(error, ModelError) and error.diagnostics[0].code != "number-too-large":
            raise
        reason = "a number of the model is too large for floating point, in which it searches"
        advice = "use other units, which make smaller numbers"
    effort = Effort({"search": time.perf_counter() - begun})
    return Unknown(task.claim.name, chosen.name, reason, advice, effort)


def _remembering(task: Task, rounds: list[RefinementRound]) -> Task:
    """The task whose rounds of abstraction are kept, beside whoever else wants them."""
    listener = task.options.get(HISTORY_READER)

    def read(history: tuple[RefinementRound, ...]) -> None:
        rounds.extend(history)
        if listener is not None:
            cast("Callable[[tuple[RefinementRound, ...]], None]", listener)(history)

    return replace(task, options={**task.options, HISTORY_READER: read})


def _seeded(task: Task, name: str, rounds: list[RefinementRound]) -> Task:
    """The task for a search of violations that begins where abstract counterexamples do."""
    if name != "simulation" or not any(r.path for r in rounds):
        return task
    from workbench.abstraction.predicates.seeds import seeds_of

    return replace(task, options={**task.options, SEEDS: seeds_of(task.automaton, rounds)})


def _share(task: Task, method: str, coming: list[str]) -> Task:
    """The task with the part of the time that `auto` gives a method."""
    if method in MOST and (task.horizon is not None or method not in FOLLOWERS):
        return task.share(MOST[method])
    own = _weight(task, method)
    if not own or not math.isfinite(task.deadline):
        return task
    total = own + sum(_weight(task, name) for name in coming)
    return task.within((task.deadline - time.monotonic()) * own / total)


def _weight(task: Task, method: str) -> int:
    if method in FOLLOWERS and task.horizon is None:
        return 1
    return LONG_SEARCHES.get(method, 0)


def _quick(task: Task, method: str, seconds: float, pace: _Pace) -> Task:
    """The task for a first, short attempt."""
    left = task.deadline - time.monotonic()
    least = min(pace.stretched(min(seconds, QUICK_LEAST)), QUICK_MOST * left)
    share = task.within(max(min(seconds, QUICK_PART * left), least))
    if method != "simulation":
        return share
    return replace(share, options={**task.options, "simulations": QUICK_SIMULATIONS})


def _summary(
    task: Task, undecided: list[Unknown], spent: Mapping[str, float], hurried: Collection[str]
) -> Unknown:
    advice = after_all(task, undecided, hurried)
    if not undecided:
        reason = "no method suits the model" if not task.expired else "the time limit was reached"
        return Unknown(task.claim.name, "auto", reason, advice, Effort())
    reason = "\n".join(f"{u.method}: {u.reason}" for u in undecided)
    seconds = {f"{u.method} {phase}": s for u in undecided for phase, s in u.effort.seconds.items()}
    for u in undecided:
        seconds[f"{u.method} other"] = max(0.0, spent[u.method] - sum(u.effort.seconds.values()))
    counts = {f"{u.method} {what}": n for u in undecided for what, n in u.effort.counts.items()}
    return Unknown(task.claim.name, "auto", reason, advice, Effort(seconds, counts))


def deadline(seconds: float) -> float:
    """The moment that many seconds from now, for `Task.deadline`."""
    return time.monotonic() + seconds

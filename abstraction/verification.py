"""Deciding a property: by one method, or by the portfolio of all that suit the model."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib import import_module

from workbench.abstraction.advice import with_more_time
from workbench.abstraction.strategies.certified import certify
from workbench.abstraction.strategies.strategy import FIRST_STATE, Strategy, Task
from workbench.models.automaton import PropertyKind
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import linear_problem
from workbench.models.source import ModelError
from workbench.models.verdict import Effort, Falsified, Unknown, Verdict
from workbench.models.work import spent
from workbench.reach.time_limit import OutOfTimeError, time_limit

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
"""Every method: module and class."""

PROVING = frozenset(STRATEGIES) - {"simulation"}
"""Methods that may prove properties."""

ALONE = 60_000.0
"""The work that a method may do which is asked alone."""


def strategy(name: str) -> Strategy:
    """The strategy of that name, imported now."""
    module, kind = STRATEGIES[name]
    made: Strategy = getattr(import_module(module), kind)()
    return made


def verify(task: Task, method: str = "auto") -> Verdict:
    """The verdict of one method, or, for `auto`, of the portfolio; of a violated property with a
    rescue also when it was too late."""
    verdict = _decided(task, method)
    if not isinstance(verdict, Falsified) or not task.claim.rescue or not verdict.recording:
        return verdict
    from workbench.simulate.last_chance import last_chance
    from workbench.simulate.recipe import read_recorded

    trace, recipe, _ = read_recorded(verdict.recording)
    if recipe is None:
        return verdict
    told = last_chance(task.automaton, task.claim, trace, recipe)
    return replace(verdict, last_chance=told)


def _decided(task: Task, method: str) -> Verdict:
    if task.claim.kind is PropertyKind.PROGRESS and FIRST_STATE not in task.options:
        from workbench.abstraction.blocking import decide as decide_progress

        return decide_progress(task, method)
    if method == "auto":
        from workbench.abstraction.portfolio import decide

        return decide(task)
    given = task.within(ALONE * task.generosity)
    begun = spent()
    verdict = attempt(strategy(method), given)
    if not isinstance(verdict, Unknown):
        return verdict
    if given.is_late:
        verdict = replace(verdict, cut=(method,))
    if given.is_late or spent() - begun >= 0.5 * (given.budget - begun):
        verdict = with_more_time(verdict)
    return verdict


def attempt(chosen: Strategy, task: Task) -> Verdict:
    """The verdict of a strategy; `Unknown` if its budget or the time ends within one long
    operation, memory runs out, or a number of the model is too large for searches in floating
    point."""
    begun = time.perf_counter()
    try:
        with time_limit(task.deadline, task.budget):
            if chosen.name in PROVING and _never_begins(task):
                return certify(task, chosen.name, PolyhedralProof((), ()), Effort())
            return chosen.attempt(task)
    except OutOfTimeError:
        over = "time limit" if task.is_late else "work that it may do"
        reason = f"the {over} was reached in the middle of an operation"
        advice = "try another --method"
    except MemoryError:
        reason = "it needs more memory than it may have"
        advice = "give more (--memory)"
    except (OverflowError, ModelError) as error:
        if isinstance(error, ModelError) and error.diagnostics[0].code != "number-too-large":
            raise
        reason = "a number of the model is too large for floating point, in which it searches"
        advice = "use other units, which make smaller numbers"
    effort = Effort({"search": time.perf_counter() - begun})
    return Unknown(task.claim.name, chosen.name, reason, advice, effort)


def _never_begins(task: Task) -> bool:
    """Whether no run starts, as already the rows of the initial states say. Whatever is claimed
    holds then, and searches need not think of models without states."""
    try:
        return not any(cases for _, cases in linear_problem(task.automaton, task.claim).starts())
    except TooManyCasesError:
        return False


def deadline(seconds: float) -> float:
    """The moment that many seconds from now, for `Task.deadline`."""
    return time.monotonic() + seconds

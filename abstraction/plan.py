"""The plan behind `auto`: which methods are tried, in which order, with how much work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import strategy

RUNS, PROOFS = "runs", "proofs"
LANES = (RUNS, PROOFS)
"""What goes on side by side, each in a process of its own: the search for runs that violate the
property, and for proofs. Where both have found a violation at the same work, the first counts."""

PARTIAL = "partial results"
"""The stage that looks for what can be said if nothing else decides."""


def _always(task: Task) -> bool:
    return True


def _bounded(task: Task) -> bool:
    return task.horizon is not None


def _unbounded(task: Task) -> bool:
    return task.horizon is None


def _has_jumps(task: Task) -> bool:
    return any(part.edges for part in task.automaton.components)


def _bounded_flow(task: Task) -> bool:
    return _bounded(task) and not _has_jumps(task)


def _bounded_jumps(task: Task) -> bool:
    return _bounded(task) and _has_jumps(task)


PLAN: tuple[tuple[str, str, float, Callable[[Task], bool]], ...] = (
    (RUNS, "simulation", 60_000, _always),
    (PROOFS, "rectangular", 5_000, _always),
    (PROOFS, "flowpipe", 20_000, _bounded_flow),
    (PROOFS, "quadratic", 6_000, _always),
    (PROOFS, "flowpipe", 1_000, _bounded_jumps),
    (PROOFS, "template", 1_000, _bounded_jumps),
    (PROOFS, "rectangular", 12_000, _always),
    (PROOFS, "flowpipe", 15_000, _bounded_jumps),
    (PROOFS, "nonlinear", 15_000, _bounded),
    (PROOFS, "template", 10_000, _always),
    (PROOFS, PARTIAL, 8_000, _always),
    (PROOFS, "history", 8_000, _always),
    (PROOFS, "recurrence", 5_000, _always),
    (PROOFS, "transient", 8_000, _always),
    (PROOFS, "abstraction", 5_000, _always),
    (PROOFS, "flowpipe", 4_000, _unbounded),
    (PROOFS, "nonlinear", 4_000, _unbounded),
    (PROOFS, "template", 8_000, _always),
    (PROOFS, "history", 8_000, _always),
    (PROOFS, "recurrence", 6_000, _always),
    (PROOFS, "transient", 8_000, _always),
    (PROOFS, "abstraction", 5_000, _always),
    (PROOFS, "simulation", 3_000, _always),
)
"""Lane, method, work in units of about a millisecond (`models.work`), and for which tasks. A
method is passed over if it does not suit the model, or if it ended in an earlier stage with much
of its work left: then it has tried all it can. The last search for a violation begins where
abstract paths do."""


@dataclass(frozen=True)
class Stage:
    """A method, the work it may do, and why it is worth trying."""

    method: str
    work: float
    why: str


def stages(lane: str, task: Task) -> Iterator[Stage]:
    """The stages of a lane that suit a task."""
    for name, method, work, condition in PLAN:
        if name == lane and condition(task) and (why := _why(method, task)) is not None:
            yield Stage(method, work * task.generosity, why)


def _why(method: str, task: Task) -> str | None:
    return "something holds at least" if method == PARTIAL else strategy(method).suits(task)

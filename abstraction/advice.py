"""What to try after methods that did not decide: more time only where it ran out, other methods
only where some are left."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from workbench.abstraction.strategies.strategy import Task
from workbench.models.verdict import Unknown

MORE_TIME = "give more time (--time-limit)"
BOUND = "bound the time (--horizon T)"
PREDICATES = "give predicates (--predicate)"
SIMPLIFY = "simplify the model or the property"
FOLLOWERS = frozenset({"flowpipe", "nonlinear"})
"""Methods that without a horizon follow runs until nothing new comes. That may never be, so `auto`
tries them after templates then, and as long searches (with a share of 1)."""


def with_more_time(verdict: Unknown) -> Unknown:
    """The verdict of a method that had no time left: with more it may get further."""
    return replace(verdict, advice=f"{MORE_TIME}, or {verdict.advice}")


def after_all(task: Task, undecided: Sequence[Unknown], hurried: Collection[str]) -> str:
    """What to try when no method decided; `hurried` are those that had no time left."""
    tried = {verdict.method: verdict for verdict in undecided}
    advice = []
    if task.horizon is None and not FOLLOWERS.isdisjoint(tried):
        advice.append(BOUND)
    if hurried or task.expired:
        advice.append(MORE_TIME)
    if "abstraction" in tried:
        advice.append(PREDICATES)
    if "simulation" in tried:
        advice.append(tried["simulation"].advice)
    return ", or ".join(advice or [SIMPLIFY])

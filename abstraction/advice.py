"""What to try after methods that did not decide: more time only where it ran out, other methods
only where some are left, and what the model leaves open by its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.abstraction.strategies.strategy import Task
from workbench.models.automaton import PropertyKind
from workbench.models.verdict import Unknown

if TYPE_CHECKING:
    from workbench.abstraction.lanes import Lane

MORE_TIME = "give more time (--time-limit)"
BOUND = "bound the time (--horizon T)"
PREDICATES = 'give predicates (--predicate "CONDITION")'
SIMPLIFY = "simplify the model or the property"
FOLLOWERS = frozenset({"flowpipe", "nonlinear"})
"""Methods that without a horizon follow runs until nothing new comes. That may never be, so `auto`
tries them after templates then."""


def with_more_time(verdict: Unknown) -> Unknown:
    """The verdict of a method that had no time left: with more it may get further."""
    return replace(verdict, advice=f"{MORE_TIME}, or {verdict.advice}")


def after_all(task: Task, lanes: Sequence[Lane]) -> str:
    """What to try when no lane decided."""
    tried = {method: verdict for lane in lanes for method, verdict in lane.undecided.items()}
    advice = [v.advice for v in tried.values() if v.suspect is not None]
    is_cut = any(lane.cut for lane in lanes)
    if is_cut or any(lane.hurried for lane in lanes):
        advice.append(MORE_TIME)
    if task.horizon is None and (is_cut or not FOLLOWERS.isdisjoint(tried)):
        advice.append(BOUND)
    advice += _about_the_model(task)
    if "abstraction" in tried:
        advice.append(PREDICATES)
    searched = tried.get("simulation")
    if searched is not None and searched.suspect is None and not is_cut:
        advice.append(searched.advice)
    return ", or ".join(advice or [SIMPLIFY])


def _about_the_model(task: Task) -> Iterator[str]:
    """What the model leaves open, which is often more than the claim can stand."""
    automaton = task.automaton
    if task.claim.kind is PropertyKind.PROGRESS:
        return
    for given in automaton.inputs:
        if given.low is None or given.high is None:
            yield f"bound the input `{given.name}`"
            break
    for parameter in automaton.parameters:
        if parameter.low is not None:
            yield f"fix a parameter (-P {parameter.name}={float(parameter.low):g})"
            break

"""Urgent edges that are enabled at the very instant at which a run starts or a jump ends.

Along a run a guard that the state rests on counts by its direction: where the flow leads away
from it, it is left, for what led there were errors of no more than the tolerance. But values
that a start or a reset has just given are exact: where they fulfil an urgent guard, no time
passes, even if the flow would leave it at once. What an event left known up to its tolerance
only must fulfil its part of the guard beyond that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.simulate.place import Place, Role
from workbench.simulate.stepping.calculator import TolerantCondition
from workbench.simulate.stepping.stretch import Stop, Stretch

if TYPE_CHECKING:
    from workbench.simulate.execution import Execution

Candidates = tuple[tuple[int, int, TolerantCondition], ...]
"""Edges, each with its watch, and its guard as it is tested."""


def enabled_at_once(run: Execution) -> tuple[int, ...]:
    """The watches of the urgent edges that exact values enable at this instant."""
    if run.inexact is None or run.place.slide is not None:
        return ()
    rtol, atol = -run.method.rtol, -run.method.atol
    return tuple(
        watch
        for j, watch, guard in _candidates(run, run.place, run.inexact)
        if j not in run.enabled and guard(run.env, rtol, atol)
    )


def _candidates(run: Execution, place: Place, inexact: frozenset[str]) -> Candidates:
    """The urgent edges whose guards read what is exact now and changes from here on."""
    known = run.prepared.at_once
    key = (place.name, inexact)
    if key not in known:
        exact = frozenset(place.program.flowing) - inexact
        known[key] = tuple(
            (j, place.roles.index((Role.RISE, j)), guard)
            for j, edge in enumerate(place.edges)
            if edge.urgent and (Role.RISE, j) in place.roles
            for guard in (run.prepared.condition(edge.guard, inexact),)
            if not guard.names.isdisjoint(exact)
        )
    return known[key]


def with_fired(result: Stretch, watches: tuple[int, ...]) -> Stretch:
    """The result of a stretch without duration at whose end these watches are true, too."""
    if result.stop not in (Stop.END, Stop.EVENT):
        return result
    fired = tuple(sorted({*result.fired, *watches}))
    grazing = tuple(w for w in result.grazing if w not in watches)
    return result._replace(stop=Stop.EVENT, fired=fired, grazing=grazing)

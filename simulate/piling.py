"""What is said of jumps that pile up: accumulation (Zeno), livelock, chattering."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from workbench.models.trace import Ending, Event, EventType
from workbench.simulate.accumulation import Limit
from workbench.simulate.place import Place

if TYPE_CHECKING:
    from workbench.simulate.execution import Execution

CYCLE = 8
"""At most so many jumps of a cycle are named."""


def last_round(run: Execution, name: str, limit: Limit) -> list[Event]:
    """The jumps since the edge was taken in the round before."""
    since = run.accumulation.by_edge[name].times[-1 - limit.stride]
    late = takewhile(lambda e: e.time > since, reversed(run.events))
    return [e for e in late if e.type is EventType.JUMP][::-1]


def no_rest(run: Execution, name: str, limit: Limit, cycle: Sequence[Event]) -> None:
    """The end of a run at an accumulation, when the model has no way on after any jump of the
    cycle."""
    tried, names = run.accumulation.tried, dict.fromkeys(e.name for e in cycle)
    if name not in tried and not names.keys() <= {*tried, name}:
        tried.add(name)
        return
    times = run.accumulation.by_edge[name].times
    raise run.end(
        Ending.ZENO,
        f"The events {_listed(f'`{n}`' for n in names)} accumulate at t = {limit.time:.9g} (Zeno):"
        f" the time between them shrinks by the factor {limit.ratio:.4g} in each round, down to"
        f" {times[-1] - times[-1 - limit.stride]:.2g}; the run stops at t = {run.t:.10g}.",
        name,
        limit.time,
    )


def piled_up(run: Execution, place: Place, name: str) -> None:
    """The end of a run whose jumps follow one another without end, or are too many."""
    if run.accumulation.stands() and not _attracted(run, place):
        last = [e for e in run.events[-3 * CYCLE :] if e.type is EventType.JUMP]
        raise run.end(
            Ending.LIVELOCK,
            f"At t = {run.t:.10g} the jumps"
            f" {_listed(f'`{e.name}` ({e.source} to {e.target})' for e in last)} follow one another"
            " without end, and no time passes (livelock).",
            name,
        )
    if run.accumulation.chatters():
        raise run.end(Ending.CHATTERING, _chattering(run, name), name)
    if run.jumps >= run.max_jumps:
        raise run.end(
            Ending.JUMP_LIMIT,
            f"The limit of {run.max_jumps} jumps was reached at t = {run.t:.10g} (by `{name}`).",
            name,
        )


def _chattering(run: Execution, name: str) -> str:
    """What is said of many jumps in a short time: between locations they switch back and forth,
    and a run may slide; inside one there is no surface."""
    last = [e for e in run.events[-3 * CYCLE :] if e.type is EventType.JUMP]
    names = _listed(f"`{e.name}`" for e in last)
    if len({e.name for e in last}) == 1:
        how = f"The edge {names} is taken again and again"
    else:
        how = f"The edges {names} switch back and forth"
    where = f"at t = {run.t:.10g} almost without time passing (chattering)"
    between = any(e.source != e.target for e in last)
    return f"{how} {where}{offer(run) if between else ''}."


def offer(run: Execution) -> str:
    """What to do about chattering."""
    if run.sliding is None:
        return "; with --sliding (sliding=True) a run goes on along the surface"
    return " and the flows do not lead onto one surface from both sides" if run.sliding else ""


def _attracted(run: Execution, place: Place) -> bool:
    """Whether the jumps are those of a surface that attracts from both sides."""
    loose = (run.method.rtol, run.method.atol)
    return any(
        run.prepared.slides.at_edge(place, j, run.env, True, loose) is not None
        for j in range(len(place.edges))
    )


def _listed(names: Iterable[str]) -> str:
    """Names, each once, in words."""
    shown = list(dict.fromkeys(names))[:CYCLE]
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else shown[0]

"""What a run does at an event while it slides along a surface (see `simulate.sliding`).

Edges that lead away from either side are taken at the first instant at which they can be, for
the state is on both sides at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.models.trace import Ending, EventType
from workbench.simulate.fired import residual_of
from workbench.simulate.place import Place, Role
from workbench.simulate.reaction import outside, switched, take, violated
from workbench.simulate.stepping.stretch import Stretch

if TYPE_CHECKING:
    from workbench.simulate.execution import Execution
    from workbench.simulate.sliding import Surface


def react_sliding(run: Execution, place: Place, surface: Surface, result: Stretch) -> None:
    """Respond to the watches that fired, in their order."""
    for watch in result.fired:
        role, j = place.roles[watch]
        residual = residual_of(place, result, watch)
        if role is Role.BAD:
            violated(run, place, watch, result, ())
        elif role is Role.OUTSIDE:
            raise outside(run, place)
        elif role is Role.AWAY:
            if _taken(run, surface, j, residual):
                return
        elif role is Role.EXIT:
            run.log(EventType.BOUNDARY, place.exit_names[j], "", residual)
            raise run.end(
                Ending.BLOCKED,
                f"The run slides along `{surface.text}` and blocks at t = {run.t:.10g} in"
                f" `{place.name}`: `{place.exit_names[j]}` forbids time to pass.",
                place.exit_names[j],
            )
        elif role is Role.SWITCH:
            if switched(run, place, j):
                return
        else:
            leave_surface(run, surface, above=j == 1)
            return


def leave_surface(run: Execution, surface: Surface, above: bool) -> None:
    """Go on beside the surface."""
    run.env = run.prepared.slides.onto(surface, run.env)
    target = surface.above if above else surface.below
    run.log(EventType.LEAVES, surface.text, target)
    if above and surface.branch is None:
        jump = run.prepared.jump(surface.below, surface.up)
        run.env = {**run.env, **jump(run.env, ())}
    base = surface.base
    slides = run.prepared.slides
    run.place = run.prepared.place(target) if base is None else slides.place(base)
    run.begin_stay()
    run.accumulation.recent.append(run.t)
    if run.accumulation.chatters():
        raise run.end(
            Ending.CHATTERING,
            f"The run enters and leaves the surface `{surface.text}` again and again at"
            f" t = {run.t:.10g} almost without time passing.",
            surface.text,
        )


def _taken(run: Execution, surface: Surface, index: int, residual: float) -> bool:
    """Take an edge that leads away from one of the sides."""
    location, j = run.prepared.slides.away(surface)[index]
    side = run.prepared.place(location)
    sliding = run.place
    run.log(EventType.ENABLED, side.edge_names[j], "", residual)
    if location != sliding.name:
        jump = run.prepared.jump(surface.below, surface.up)
        before = run.env
        run.env = {**run.env, **jump(run.env, ())}
        if take(run, side, [j], True):
            return True
        run.env = before
    elif take(run, side, [j], True):
        return True
    run.refused.add(index)
    return False

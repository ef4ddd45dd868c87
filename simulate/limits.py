"""How far a run is followed: numbers, steps and memory, and what is said where it ends for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from models.trace import Ending
from simulate.stepping.methods import Method
from simulate.stepping.stretch import Stop, Stretch

if TYPE_CHECKING:
    from simulate.execution import Execution, RunEnded

MAX_KEPT = 20_000_000
"""So many numbers of dense output are kept of one run: 160 megabytes, ten times that as JSON."""

TYPICAL_ORDER = 8
"""The order of a usual step; each variable has one number more than that in every step."""


def within_memory(run: Execution, method: Method, width: int) -> Method:
    """The method with no more steps than there is room for the dense output of so many
    variables."""
    room = (MAX_KEPT - run.kept) // (max(width, 1) * (TYPICAL_ORDER + 1))
    return method if room >= method.max_steps else replace(method, max_steps=max(room, 1))


def failed(run: Execution, result: Stretch) -> RunEnded:
    """The end of a run whose equations cannot be followed further."""
    t = f"t = {run.t:.10g}"
    state = ", ".join(
        f"{n} = {v:.6g}" for n, v in list(zip(run.place.program.flowing, result.x, strict=True))[:6]
    )
    if result.stop is Stop.NOT_FINITE:
        return run.end(
            Ending.NOT_FINITE,
            f"At {t} in `{run.place.name}` a derivative or guard has no finite value ({state}).",
        )
    if result.stop is Stop.STEP_TOO_SMALL:
        return run.end(
            Ending.STEP_TOO_SMALL,
            f"At {t} in `{run.place.name}` no step is small enough for the tolerance:"
            f" the solution explodes or jumps ({state}).",
        )
    return too_many_steps(run, f" ({state})")


def too_many_steps(run: Execution, state: str = "") -> RunEnded:
    """The end of a run that has used up its steps or its memory, in one stretch or in many."""
    average = f"with steps of {run.t / max(run.counts.steps, 1):.2g} on average"
    where = f"at t = {run.t:.10g} in `{run.place.name}`{state}, {average}"
    if run.counts.steps < run.method.max_steps:
        width = len(run.place.program.flowing)
        return run.end(
            Ending.STEP_LIMIT,
            f"After {run.counts.steps} steps of {width} variables there is no room for more of the"
            f" whole run {where}. A shorter run fits, or one of which only the end is asked for"
            " (no table, plot or trace).",
        )
    return run.end(
        Ending.STEP_LIMIT,
        f"The limit of {run.method.max_steps} steps was reached {where}: the equations may be"
        " stiff, which explicit methods follow in small steps only. A shorter run helps, or a model"
        " in which the fastest part follows at once (an equation in place of a derivative).",
    )

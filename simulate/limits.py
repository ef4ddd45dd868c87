"""How far a run is followed: numbers, functions, steps and memory, and what is said where it ends
for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.models.trace import Ending
from workbench.simulate.stepping.methods import Adams, Method
from workbench.simulate.stepping.program import ExternalError, Program
from workbench.simulate.stepping.stretch import Stop, Stretch

if TYPE_CHECKING:
    from workbench.simulate.execution import Execution, RunEnded

MAX_KEPT = 20_000_000
"""So many numbers of dense output are kept of one run: 160 megabytes, ten times that as JSON."""

TYPICAL_ORDER = 8
"""The order of a usual step; each variable has one number more than that in every step."""

SHORTEST = 1e-13
"""Where an external function fails in every step longer than this part of the time, it fails."""


def suited(program: Program, method: Method) -> Method:
    """The method, or one that is no series where the flow calls a function."""
    return method if program.differentiable else without_series(method)


def without_series(method: Method) -> Method:
    """The method, or Adams in place of a series: where a function is called whose derivatives are
    not known, a series would take it for a constant."""
    if isinstance(method, Adams):
        return method
    return Adams(
        method.rtol, method.atol, max_step=method.max_step, max_steps=method.max_steps,
        detection=method.detection,
    )  # fmt: skip


def within_memory(run: Execution, method: Method, width: int) -> Method:
    """The method with no more steps than there is room for the dense output of so many
    variables."""
    room = (MAX_KEPT - run.recorder.kept) // (max(width, 1) * (TYPICAL_ORDER + 1))
    return method if room >= method.max_steps else replace(method, max_steps=max(room, 1))


def failed(run: Execution, result: Stretch) -> RunEnded:
    """The end of a run whose equations cannot be followed further."""
    t, state = f"t = {run.t:.10g}", _state(run)
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


def _state(run: Execution) -> str:
    """Some of the variables that flow, with their values."""
    return ", ".join(f"{n} = {run.env[n]:.6g}" for n in run.place.program.flowing[:6])


def up_to_failure(run: Execution, failure: ExternalError) -> Stretch:
    """Go on in short parts where an external function failed in a step, for the step may have
    looked further than the run gets: the last part, or the end of the run at the time from which
    on the function fails."""
    part = (run.next_change() - run.t) / 2.0
    while part > SHORTEST * run.until:
        try:
            result = run.part(run.t + part)
        except ExternalError as again:
            failure, part = again, part / 2.0
            continue
        if result.stop is not Stop.END or result.t >= run.next_change():
            return result
        run.settle(result)
        if run.steps >= run.method.max_steps:
            raise too_many_steps(run)
        part *= 2.0
    raise external_failed(run, failure)


def external_failed(run: Execution, failure: ExternalError) -> RunEnded:
    """The end of a run at the failure of an external function."""
    where = f" in `{run.place.name}` ({_state(run)})" if run.begun else ""
    return run.end(Ending.EXTERNAL_FAILED, f"At t = {run.t:.10g}{where} {failure}.", failure.name)


def too_many_steps(run: Execution, state: str = "") -> RunEnded:
    """The end of a run that has used up its steps or its memory, in one stretch or in many."""
    average = f"with steps of {run.t / max(run.steps, 1):.2g} on average"
    where = f"at t = {run.t:.10g} in `{run.place.name}`{state}, {average}"
    if run.steps < run.method.max_steps:
        width = len(run.place.program.flowing)
        return run.end(
            Ending.STEP_LIMIT,
            f"After {run.steps} steps of {width} variables there is no room for more of the"
            f" whole run {where}. A shorter run fits, or one of which only the end is asked for"
            " (no table, plot or trace).",
        )
    return run.end(
        Ending.STEP_LIMIT,
        f"The limit of {run.method.max_steps} steps was reached {where}: the equations may be"
        " stiff, which explicit methods follow in small steps only. A shorter run helps, or a model"
        " in which the fastest part follows at once (an equation in place of a derivative).",
    )

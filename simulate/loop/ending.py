"""How runs end, in sentences for people: blocked, beyond what the model assumes, or where numbers,
functions, steps or memory do not suffice. (How jumps pile up: `simulate.loop.accumulation`.)"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.models.expressions.printing import to_text
from workbench.models.trace import Ending
from workbench.simulate.loop.instant import Instant, RunEnded, state_of
from workbench.simulate.place import Place
from workbench.simulate.stepping.program import ExternalError
from workbench.simulate.stepping.stretch import Stop


def blocked(now: Instant, place: Place, forced: Iterable[int]) -> RunEnded:
    """The end of a run that can neither wait nor jump, with the reasons."""
    parts = ", ".join(f"`{place.exit_names[i]}`" for i in forced) or "an urgent edge"
    reasons = [_refusal(now, place, j) for j in range(len(place.edges))]
    why = "; ".join(reasons[:4]) if reasons else "no edge leaves the location"
    return now.ended(
        Ending.BLOCKED,
        f"The run blocks at t = {now.time:.10g} in `{place.name}`: {parts} forbids time to"
        f" pass, and {why}.",
        parts.strip("`"),
    )


def _refusal(now: Instant, place: Place, j: int) -> str:
    """What keeps an edge from being taken (with the middle of ranges, if it has any)."""
    p, name, tolerances = now.prepared, place.edge_names[j], now.scenario.tolerances
    if not p.guard(place.name, j)(now.values, *tolerances):
        return f"the guard of `{name}` is false"
    jump = p.jump(place.name, j)
    shares = [0.5] * jump.choices
    if not jump.has_values(now.values, shares, *tolerances):
        return f"a reset of `{name}` has an empty range"
    values = {**now.values, **jump(now.values, shares)}
    if not p.arrival(place.name, j)(values, *tolerances):
        return f"`{name}` leads outside the target's invariant"
    if state_of(p, place.edges[j].target, values) == state_of(p, place.name, now.values):
        return f"`{name}` leads back to the same state"
    return f"`{name}` leads to where no time can pass, either"


def left_invariant(now: Instant) -> RunEnded:
    """The end of a run that is where no run may be."""
    return now.ended(
        Ending.BLOCKED,
        f"The run left the invariant of `{now.place.name}` before t = {now.time:.10g}"
        " by more than the tolerance; what it did since cannot be trusted.",
        now.place.name,
    )


def outside_assumption(now: Instant) -> RunEnded:
    """The end of a run whose inputs, parameters or values are not what the model assumes."""
    assumed = to_text(now.prepared.base.assumption)
    return now.ended(
        Ending.ASSUMPTION,
        f"The assumption `{assumed}` is broken at t = {now.time:.10g} in `{now.place.name}`: the"
        " model says nothing about what follows.",
        assumed,
    )


def cannot_go_on(now: Instant, stop: Stop) -> RunEnded:
    """The end of a run whose equations cannot be followed further."""
    t, state = f"t = {now.time:.10g}", _state(now)
    if stop is Stop.NOT_FINITE:
        return now.ended(
            Ending.NOT_FINITE,
            f"At {t} in `{now.place.name}` a derivative or guard has no finite value ({state}).",
        )
    if stop is Stop.STEP_TOO_SMALL:
        return now.ended(
            Ending.STEP_TOO_SMALL,
            f"At {t} in `{now.place.name}` no step is small enough for the tolerance:"
            f" the solution explodes or jumps ({state}).",
        )
    return too_many_steps(now, f" ({state})")


def too_many_steps(now: Instant, state: str = "") -> RunEnded:
    """The end of a run that has used up its steps or its memory, in one stretch or in many."""
    steps, limit = now.past.steps, now.scenario.method.max_steps
    average = f"with steps of {now.time / max(steps, 1):.2g} on average"
    where = f"at t = {now.time:.10g} in `{now.place.name}`{state}, {average}"
    if steps < limit:
        width = len(now.place.program.flowing)
        return now.ended(
            Ending.STEP_LIMIT,
            f"After {steps} steps of {width} variables there is no room for more of the"
            f" whole run {where}. A shorter run fits, or one of which only the end is asked for"
            " (no table, plot or trace).",
        )
    return now.ended(
        Ending.STEP_LIMIT,
        f"The limit of {limit} steps was reached {where}: the equations may be"
        " stiff, which explicit methods follow in small steps only. A shorter run helps, or a model"
        " in which the fastest part follows at once (an equation in place of a derivative).",
    )


def external_failed(now: Instant, failure: ExternalError) -> RunEnded:
    """The end of a run at the failure of an external function."""
    where = f" in `{now.place.name}` ({_state(now)})"
    sentence = f"At t = {now.time:.10g}{where} {failure}."
    return now.ended(Ending.EXTERNAL_FAILED, sentence, failure.name)


def _state(now: Instant) -> str:
    """Some of the variables that flow, with their values."""
    return ", ".join(f"{n} = {now.values[n]:.6g}" for n in now.place.program.flowing[:6])

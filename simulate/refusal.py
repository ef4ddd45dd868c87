"""Why an edge is not taken by a run that can do nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.simulate.place import Place

if TYPE_CHECKING:
    from workbench.simulate.execution import Execution


def refusal(run: Execution, place: Place, j: int) -> str:
    """What keeps an edge from being taken (with the middle of ranges, if it has any)."""
    p, name, tolerances = run.prepared, place.edge_names[j], (run.method.rtol, run.method.atol)
    if not p.guard(place.name, j)(run.env, *tolerances):
        return f"the guard of `{name}` is false"
    jump = p.jump(place.name, j)
    shares = [0.5] * jump.choices
    if not jump.has_values(run.env, shares, *tolerances):
        return f"a reset of `{name}` has an empty range"
    values = {**run.env, **jump(run.env, shares)}
    if not p.arrival(place.name, j)(values, *tolerances):
        return f"`{name}` leads outside the target's invariant"
    target = place.edges[j].target
    if run.key(target, values) == run.key(place.name, run.env):
        return f"`{name}` leads back to the same state"
    return f"`{name}` leads to where no time can pass, either"

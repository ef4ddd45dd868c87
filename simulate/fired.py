"""Watches that fired: what they are called, and what their values say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.models.expressions.printing import to_text
from workbench.simulate.place import Place, Role
from workbench.simulate.stepping.program import EQUALITY, FROZEN
from workbench.simulate.stepping.stretch import Stretch

if TYPE_CHECKING:
    from workbench.simulate.execution import Execution


def name_of(run: Execution, place: Place, watch: int) -> str:
    """What a watch is called in traces."""
    kind, j = place.roles[watch]
    if kind is Role.BAD:
        return run.prepared.properties[j]
    if kind is Role.OUTSIDE:
        return to_text(run.prepared.base.assumption)
    if kind in (Role.RISE, Role.FALL):
        return place.edge_names[j]
    if kind is Role.SWITCH:
        return "a branch of the flow"
    part = j if kind is Role.EXIT else place.holds[j][1]
    return place.exit_names[part]


def residual_of(place: Place, result: Stretch, watch: int) -> float:
    """The value of the watch's atom that is nearest to zero."""
    found = [result.values[k] for k in place.smooth_atoms[watch]]
    return min((v for v in found if v == v), key=abs, default=0.0)


def exactly_bad(place: Place, result: Stretch, number: int) -> bool:
    """Whether a property is violated without counting conditions that have no value."""
    watch = place.program.watches[number]
    if all(result.values[k] == result.values[k] for k in watch.tokens if k >= 0):
        return True
    from workbench.simulate.stepping.reference.point import formula_truth

    truth = []
    for value, tolerance, (_, sign, _, flags) in zip(
        result.values, result.tolerances, place.program.atoms, strict=True
    ):
        if flags & FROZEN:
            truth.append((value != 0.0) == (sign > 0))
        elif flags & EQUALITY:
            truth.append((abs(value) <= tolerance) == (sign > 0) and value == value)
        else:
            truth.append(value >= -tolerance)
    return formula_truth(watch.tokens, truth)

"""A run from a state beside its own: what becomes of a small error."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from random import Random

from workbench.models.automaton import Kind
from workbench.models.expressions.expression import ZERO, Expression, conjunction
from workbench.models.trace import Trace
from workbench.simulate.loop.instant import Scenario
from workbench.simulate.place import Place, Prepared
from workbench.simulate.recipe import Recipe
from workbench.simulate.run import run_from
from workbench.simulate.start.box import box_of

NUDGE = 1e-13
"""A share of a number's size: some hundred units in the last place."""

GOLDEN = 0.6180339887498949
"""The multiples of this number, without what is before the point, are all different."""

MAX_STARTS = 64
"""So many initial sets are looked at to find those of a location."""


def written_values(prepared: Prepared, location: str) -> dict[str, Fraction]:
    """The variables that begin in a location with a number which the model gives, and never have
    others than such numbers, with no need to round: they do not flow, and are reset to numbers."""
    starts = [s for s in islice(prepared.starts(), MAX_STARTS + 1) if s.location == location]
    if len(starts) != 1 or starts[0].resets:
        return {}
    invariant = prepared.view.location(location).invariant
    given = box_of(conjunction(starts[0].condition, invariant)).defined
    found = {name: value.constant for name, value in given if _is_exact(value)}
    for part in prepared.base.components:
        for place in part.locations:
            for flow in place.flows:
                if flow.range.exact != ZERO:
                    found.pop(flow.variable, None)
            for equation in place.algebraic:
                found.pop(equation.variable, None)
        for edge in part.edges:
            for reset in edge.resets:
                if reset.range.exact is None or not _is_exact(reset.range.exact):
                    found.pop(reset.variable, None)
    return {name: value for name, value in found.items() if name not in prepared.loose}


def _is_exact(value: Expression) -> bool:
    """Whether an expression is a number that floating point has."""
    return value.is_constant and Fraction(float(value.constant)) == value.constant


def nudged_run(prepared: Prepared, recipe: Recipe, share: float, max_jumps: int) -> Trace:
    """The run that takes the same decisions as that of a recipe, with all its flowing numbers moved
    at the start by a share of their size; it does not end at a violation."""
    scenario = Scenario.of(
        prepared,
        recipe.until,
        recipe.method,
        recipe.policy,
        recipe.inputs,
        Random(recipe.seed),
        stop_on_violation=False,
        max_jumps=max_jumps,
        sliding=recipe.sliding,
    )

    def aside(place: Place, values: dict[str, float]) -> dict[str, float]:
        """Each variable is moved by another part of the share, for what is moved alike may stay on
        a line that matters. Values that are written in the model and nothing else have no error,
        and stay: they may be kept by equations."""
        exact = written_values(prepared, place.name)
        for k, v in enumerate(prepared.view.variables):
            if v.kind is Kind.ANALOG and v.type.name == "real" and v.name in values:
                value, part = values[v.name], 0.5 + GOLDEN * k % 1.0
                if exact.get(v.name) != value:
                    values[v.name] = value + share * part * max(1.0, abs(value))
        return values

    return run_from(scenario, recipe.initial, recipe.location, recipe.parameters, aside)

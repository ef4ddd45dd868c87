"""A run from a state beside its own: what becomes of a small error."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from models.automaton import Kind
from models.trace import Trace
from simulate.execution import Execution, Given
from simulate.place import Prepared
from simulate.policy import Decisions
from simulate.recipe import Recipe

NUDGE = 1e-13
"""A share of a number's size: some hundred units in the last place."""

GOLDEN = 0.6180339887498949
"""The multiples of this number, without what is before the point, are all different."""


class NudgedRun(Execution):
    """A run that takes the same decisions, from a start moved by a share of its size."""

    share = 0.0

    def start(
        self, initial: Mapping[str, Given], location: str | None, parameters: Mapping[str, float]
    ) -> None:
        """Start as the run does, a little aside; each variable by another part of the share, for
        what is moved alike may stay on a line that matters."""
        super().start(initial, location, parameters)
        for k, v in enumerate(self.prepared.view.variables):
            if v.kind is Kind.ANALOG and v.type.name == "real" and v.name in self.env:
                value, part = self.env[v.name], 0.5 + GOLDEN * k % 1.0
                self.env[v.name] = value + self.share * part * max(1.0, abs(value))


def nudged_run(prepared: Prepared, recipe: Recipe, share: float, max_jumps: int) -> Trace:
    """The run of a recipe with all its flowing numbers moved at the start; it does not end at a
    violation."""
    decisions = Decisions(recipe.policy, Random(recipe.seed))
    run = NudgedRun(
        prepared, recipe.until, recipe.method, decisions, recipe.inputs, False, max_jumps, True,
        recipe.sliding,
    )  # fmt: skip
    run.share = share
    return run.make(recipe.initial, recipe.location, recipe.parameters)

"""Replaying the runs that a flowpipe's crossing suggests, until one is a counterexample."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from workbench.abstraction.strategies.strategy import Task
from workbench.models.automaton import TIME
from workbench.models.verdict import Effort, Falsified
from workbench.reach.affine.witness import Witness

if TYPE_CHECKING:
    from workbench.simulate.recipe import Recipe

BEYOND = 0.02
"""How much longer than to the bad state a run is followed."""


class Replayer:
    """Repeats suggested runs of one task with the simulator."""

    def __init__(self, task: Task, horizon: Fraction | None):
        from workbench.simulate.search.objective import Objective

        self._task, self._horizon = task, horizon
        self._objective = Objective(task.automaton, task.claim)

    def falsified(self, witness: Witness, method: str, effort: Effort) -> Falsified | None:
        """The verdict if the run is one and violates the claim, confirmed as any other."""
        from workbench.simulate.recipe import recorded
        from workbench.simulate.search.counterexample import counterexample

        for recipe in self._recipes(witness):
            if self._task.expired:
                return None
            try:
                if not self._objective.evaluate(recipe).margin < 0.0:
                    continue
            except (OverflowError, ZeroDivisionError):
                continue
            found = counterexample(self._objective, recipe)
            if found is not None:
                recording = recorded(found.trace, found.recipe, self._task.automaton.sha256)
                name = self._task.claim.name
                return Falsified(name, method, found.trace, found.confirmations, effort, recording)
        return None

    def _recipes(self, witness: Witness) -> Iterator[Recipe]:
        from workbench.simulate.inputs.signals import Signal, Steps
        from workbench.simulate.place import inclusion_share
        from workbench.simulate.policy import Level, Policy, Switching
        from workbench.simulate.recipe import Recipe

        model = self._task.automaton
        parameters = {p.name for p in model.parameters}
        variables = {v.name for v in model.variables} - {TIME}
        inputs: dict[str, Signal] = {}
        for name, (times, values) in witness.signals.items():
            loose = name.startswith("d(")
            inputs[inclusion_share(name[2:-1]) if loose else name] = Steps(times, values)
        until = witness.time * (1 + BEYOND)
        if self._horizon is not None:
            until = min(until, math.nextafter(float(self._horizon), 0.0))
        switching = (
            (Switching.EARLIEST, Switching.LATEST) if witness.jumps else (Switching.EARLIEST,)
        )
        levels = (Level.LOW, Level.HIGH, Level.MID) if witness.jumps else (Level.MID,)
        for rule, level in product(switching, levels):
            yield Recipe(
                until=until,
                initial={n: v for n, v in witness.initial.items() if n in variables},
                location=witness.location,
                parameters={n: v for n, v in witness.initial.items() if n in parameters},
                inputs=inputs,
                policy=Policy(rule, level),
                stop_on_violation=False,
            )

"""Runs that are proved: rigorous enclosures of everything that happens in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton
    from workbench.models.trace import Trace
    from workbench.models.trace_boxes import Box
    from workbench.simulate.recipe import Recipe
    from workbench.simulate.validated.validated_run import ValidatedRun


@dataclass(frozen=True)
class Validated:
    """How far a run was followed by enclosures in exact arithmetic of balls: they hold the run
    with all its jumps, whatever the rounding of simulation."""

    found: ValidatedRun | None = field(repr=False)

    @property
    def is_complete(self) -> bool:
        """Whether the run was followed to its end; where there is no run, there is no more."""
        return self.found is None or self.found.complete

    @property
    def is_bad(self) -> bool:
        """Whether it is proved that the run violates a property."""
        return self.found is not None and self.found.violation is not None

    @property
    def boxes(self) -> Sequence[Box]:
        """The enclosures, rounded outwards: from when to when, and the bounds of variables."""
        from workbench.simulate.validated.validated_run import boxes

        return () if self.found is None else boxes(self.found)

    @property
    def data(self) -> dict[str, Any] | None:
        """Everything as plain data; None where there is no run."""
        from workbench.simulate.validated.validated_run import as_data

        return None if self.found is None else as_data(self.found)

    def __str__(self) -> str:
        from workbench.simulate.validated.validated_run import describe

        return "there is no run to validate." if self.found is None else describe(self.found)

    def __repr__(self) -> str:
        return f"<Validated: {self}>"


def validated(automaton: Automaton, recipe: Recipe, trace: Trace) -> Validated:
    """The run with the decisions of this trace, followed by enclosures."""
    from workbench.simulate.validated.validated_run import validated_run

    return Validated(validated_run(automaton, recipe.with_decisions(trace.decisions)))

"""What runs cost, in units of work (`models.work`): about a millisecond of one core each.

The rates were measured on models of the library; they are about right, and the same everywhere.
What is done once for a model, such as compiling it, does not count: every process of a search does
it anew, and how many there are must not matter.
"""

from __future__ import annotations

from workbench.models.trace import Trace
from workbench.models.work import spend
from workbench.simulate.stepping.program import Program

RUN = 0.1
"""To begin a run."""

STRETCH = 0.06
"""To make a stretch of time ready, and to respond to its end."""

INSTRUCTION = 1e-5
"""One instruction of a flow or of a guard."""

GUARD = 0.004
"""To look whether a guard holds, after a stretch."""

MEASURED = 0.01
"""To look how near one step of a run comes to a violation, for each variable."""


EVALUATIONS = 2.5
"""Of the flow, in a step."""


def spend_on_start() -> None:
    """Count what it takes to begin a run."""
    spend(RUN)


def spend_on_guard() -> None:
    """Count a look at a guard."""
    spend(GUARD)


def spend_on_stretch(program: Program, work: tuple[int, ...]) -> None:
    """Count a stretch; `work` are the numbers of `Counts`."""
    steps, rejected, evaluations, guards, *_ = work
    flow, guard, variables = program.sizes
    instructions = evaluations * flow + guards * guard + (steps + rejected) * variables
    spend(STRETCH + INSTRUCTION * instructions)


def step_cost(instructions: int, variables: int) -> float:
    """About what a step of a run costs, and to measure it, by the size of its flow."""
    return EVALUATIONS * INSTRUCTION * instructions + MEASURED * (1 + variables)


def spend_on_measuring(trace: Trace) -> None:
    """Count what it takes to measure a run."""
    spend(MEASURED * trace.counts.steps * (1 + len(trace.variables)))

"""What every round of refinement saw and learned, for people and for other methods.

An abstract path is given by the states it passes, each as exact half-spaces over the model's
variables: a report can print them, and a search for violations can aim at them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from workbench.abstraction.predicates.predicates import Predicate, in_words
from workbench.models.linear import Form


@dataclass(frozen=True)
class PathStep:
    """One abstract state of a path: every form is <= 0 in it; `entered` says how it was
    reached: "start", "flow over x = 3" or "switch from here"."""

    location: str
    cell: tuple[Form, ...]
    entered: str

    @property
    def comparisons(self) -> tuple[str, ...]:
        """The cell in words."""
        return tuple(map(comparison, self.cell))

    def __str__(self) -> str:
        return f"{self.location}: {', '.join(self.comparisons)}"


@dataclass(frozen=True)
class RefinementRound:
    """One round: its number from 1, the abstract states it reached, the abstract path to a bad
    state that it found (none: it found no bad state), and what it learned from that path."""

    number: int
    states: int
    path: tuple[PathStep, ...] = ()
    learned: tuple[Predicate, ...] = ()


def in_path(path: tuple[PathStep, ...]) -> str:
    """An abstract path in words: how each state is entered, and the last one's comparisons."""
    if not path:
        return "without a path"
    ways = [path[0].location]
    for before, step in pairwise(path):
        ways.append(step.location if step.location != before.location else step.entered)
    last = path[-1]
    cell = f", which ends in {last}" if last.cell else ""
    return f"by the path {' -> '.join(ways)}{cell}"


def comparison(form: Form) -> str:
    """form <= 0, the first coefficient positive."""
    first = min(form.coefficients, default=None)
    if first is not None and form.coefficients[first] < 0:
        return in_words(-form, -1)
    return in_words(form, 1)

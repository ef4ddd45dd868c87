"""Progress: why runs go on, by name.

Evidence is a first state, and either ways in which runs go on from every state that they reach,
which the kernel checks (`kernel_progress` writes them in its form), or, where none were found, a
proof that no reachable state is stuck, by the theorem of `models.checker.progress`.
Engines find both (`reach.going_on`); nothing here needs trust.

Multipliers of a way are for the rows of the cell, those that flow keeps first, then its exits, then
the rows that choices on the way have added, and last the bounds of inputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, TypeAlias, TypeVar

from workbench.models.checker.covers import Region
from workbench.models.checker.progress import FirstState
from workbench.models.evidence.polyhedral import Evidence
from workbench.models.linear import Form, Multipliers

# Why a form is at most 0, or below it, for a while from now on


@dataclass(frozen=True, slots=True)
class Inside:
    """It is below 0 now: with its opposite as the last row, the rows are refuted."""

    multipliers: Multipliers


@dataclass(frozen=True, slots=True)
class Falling:
    """It is at most 0 now, and its derivative for a while, or below it."""

    multipliers: Multipliers
    slope: Soon


@dataclass(frozen=True, slots=True)
class Held:
    """Forms are at most 0 now, and flow never leaves them: each has its multipliers, then mu and
    the multipliers of the family and of the bounds by which its derivative points inward. Together,
    and with the bounds, they show it."""

    family: tuple[Form, ...]
    now: tuple[Multipliers, ...]
    ever: tuple[tuple[Fraction, Multipliers, Multipliers], ...]
    multipliers: Multipliers


@dataclass(frozen=True, slots=True)
class Under:
    """Within the bounds of inputs it is at most a form without them, of which this is so."""

    top: Form
    multipliers: Multipliers
    reason: Soon


Soon: TypeAlias = Inside | Falling | Held | Under

# What happens in states where rows hold


@dataclass(frozen=True, slots=True)
class Nowhere:
    """There are no such states."""

    multipliers: Multipliers


@dataclass(frozen=True, slots=True)
class Wait:
    """Time passes: by the case `now` of the invariant as long as no time has passed, then by
    `case`, with one of the dynamics and these values of derivatives that lie in ranges."""

    now: int
    proofs: tuple[Multipliers, ...]
    case: int
    flow: int
    chosen: dict[str, Form]
    rows: tuple[Soon, ...]


@dataclass(frozen=True, slots=True)
class Take:
    """A jump, in one of its cases, to these values; where it leads back to its location, a
    variable that changes, and why."""

    jump: int
    case: int
    after: dict[str, Form]
    proofs: tuple[Multipliers, ...]
    change: tuple[str, Multipliers] | None


@dataclass(frozen=True, slots=True)
class Choose:
    """Cases h <= 0 and h > 0; with `strict_below` h < 0 and h >= 0."""

    form: Form
    strict_below: bool
    below: Way
    above: Way


@dataclass(frozen=True, slots=True)
class Round:
    """Cases h <= 0 and h >= 1 of what is a whole number."""

    form: Form
    below: Way
    above: Way


Way: TypeAlias = Nowhere | Wait | Take | Choose | Round


@dataclass(frozen=True, slots=True)
class GoingOn:
    """Where runs come, with the evidence that they come nowhere else, and ways for all states
    there: by region, for each of its cells."""

    regions: tuple[Region, ...]
    evidence: tuple[Evidence, ...]
    ways: tuple[tuple[Way, ...], ...]


P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class ProgressProof(Generic[P]):
    """A first state, and a proof that no reachable state is stuck; and the kernel's evidence that
    runs go on, if it was found."""

    start: FirstState
    safety: P
    going_on: GoingOn | None = field(default=None, compare=False)

"""What the core hands back for one stretch of continuous time."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from enum import IntEnum


class Stop(IntEnum):
    """Why a stretch ended; the numbers are those of `core/advance.h`."""

    END = 0  # the requested time was reached
    EVENT = 1  # watches became true
    NOT_FINITE = 2  # a derivative is not a number or infinite
    STEP_TOO_SMALL = 3  # the error bound cannot be met by any step
    STEP_LIMIT = 4  # the method's max_steps


@dataclass(frozen=True, slots=True)
class Counts:
    """Work done: accepted and rejected steps, evaluations of the right-hand side (a Taylor
    coefficient counts as one), evaluations of the guards alone, right-hand sides evaluated
    beyond a unilateral guard, and right-hand sides that were not finite."""

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    guard_evaluations: int = 0
    beyond: int = 0
    singular: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.steps + other.steps,
            self.rejected + other.rejected,
            self.evaluations + other.evaluations,
            self.guard_evaluations + other.guard_evaluations,
            self.beyond + other.beyond,
            self.singular + other.singular,
        )


@dataclass(frozen=True, slots=True)
class Stretch:
    """The result of `advance`.

    `x` is the state at `t`; `fired` and `grazing` are watch numbers (grazing ones are among
    the fired); `values` holds sign*g of every atom at the end and `tolerances` its event
    tolerance. The pieces are polynomials: piece i starts at `times[i]`, has `degrees[i]`,
    and its coefficients follow one another in `coefficients`, variable by variable, lowest
    power first; `times` has one more entry, the end.
    """

    stop: Stop
    t: float
    x: array[float]
    fired: tuple[int, ...]
    grazing: tuple[int, ...]
    values: array[float]
    tolerances: array[float]
    counts: Counts
    times: array[float]
    degrees: array[int]
    coefficients: array[float]

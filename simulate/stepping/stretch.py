"""What the core hands back for one stretch of continuous time."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from models.trace import Counts


class Stop(IntEnum):
    """Why a stretch ended; the numbers are those of `core/advance.h`."""

    END = 0  # the requested time was reached
    EVENT = 1  # watches became true
    NOT_FINITE = 2  # a derivative is not a number or infinite
    STEP_TOO_SMALL = 3  # the error bound cannot be met by any step
    STEP_LIMIT = 4  # the method's max_steps


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

    @classmethod
    def of(cls, found: tuple[Any, ...]) -> Stretch:
        """What the extension returns, as a value."""
        stop, t, state, fired, grazing, values, eps, counts, times, degrees, coefficients = found
        return cls(
            Stop(stop),
            t,
            array("d", state),
            fired,
            grazing,
            array("d", values),
            array("d", eps),
            Counts(*counts),
            array("d", times),
            array("i", degrees),
            array("d", coefficients),
        )

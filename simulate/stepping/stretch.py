"""What the core hands back for one stretch of continuous time."""

from __future__ import annotations

from array import array
from enum import IntEnum
from operator import add
from typing import Any, NamedTuple

from workbench.models.enumeration import plain_members
from workbench.models.trace import Counts


@plain_members
class Stop(IntEnum):
    """Why a stretch ended; the numbers are those of `core/advance.h`."""

    END = 0  # the requested time was reached
    EVENT = 1  # watches became true
    NOT_FINITE = 2  # a derivative is not a number or infinite
    STEP_TOO_SMALL = 3  # the error bound cannot be met by any step
    STEP_LIMIT = 4  # the method's max_steps


_STOPS = tuple(Stop)

NO_WORK: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
"""The numbers of `Counts` before anything is done."""


def together(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """The work of two stretches."""
    return tuple(map(add, first, second))


class Stretch(NamedTuple):
    """The result of `advance`.

    `x` is the state at `t`; `fired` and `grazing` are watch numbers (grazing ones are among
    the fired); `values` holds sign*g of every atom at the end and `tolerances` its event
    tolerance. `work` are the numbers of `Counts`.

    The dense output is read when it is asked for: `pieces` are `times`, `degrees` and
    `coefficients` as bytes. Piece i is a polynomial that starts at `times[i]` and has
    `degrees[i]`; the coefficients follow one another, variable by variable, lowest power first;
    `times` has one more entry, the end.
    """

    stop: Stop
    t: float
    x: tuple[float, ...]
    fired: tuple[int, ...]
    grazing: tuple[int, ...]
    values: tuple[float, ...]
    tolerances: tuple[float, ...]
    work: tuple[int, ...]
    pieces: tuple[bytes, bytes, bytes]

    @classmethod
    def of(cls, found: tuple[Any, ...]) -> Stretch:
        """What the extension returns, as a value."""
        return cls(_STOPS[found[0]], *found[1:])

    @property
    def counts(self) -> Counts:
        """The work that was done."""
        return Counts(*self.work)

    @property
    def times(self) -> array[float]:
        """Where the pieces begin, and where the last one ends."""
        return array("d", self.pieces[0])

    @property
    def degrees(self) -> array[int]:
        """The degree of each piece."""
        return array("i", self.pieces[1])

    @property
    def coefficients(self) -> array[float]:
        """The coefficients of all pieces."""
        return array("d", self.pieces[2])

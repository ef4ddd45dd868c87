"""Work, counted: how much has been done, in units that do not depend on the machine.

A unit is roughly a millisecond of one core. Work is counted where it is done: by solvers of
programs, by steps of flows, by runs, by questions to the solver for arithmetic. Whatever is given
a budget looks at the count, so it ends at the same point on an idle and on a busy machine; the
clock only cuts. Rates were measured (`tests/benchmarks/test_work.py` does it again); they
need to be about right, and must never be taken from a clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

RATIONAL = 1e-3
"""An operation on rational numbers."""
TERM = 1.5e-4
"""An operation on whole numbers, such as those of a polynomial's terms."""
FLOATING = 2e-6
"""An operation on floating-point numbers in an array."""


class Shown(Protocol):
    """Where a meter can be read from outside, such as a number in shared memory."""

    value: float


class Meter:
    """What has been done so far."""

    __slots__ = ("_shown", "spent")

    def __init__(self, shown: Shown | None = None):
        self.spent = 0.0
        self._shown = shown

    def spend(self, units: float) -> None:
        """Count some work."""
        self.spent += units
        if self._shown is not None:
            self._shown.value = self.spent


_METER: ContextVar[Meter] = ContextVar("meter", default=Meter())  # noqa: B039 - outside `counting`


@contextmanager
def counting(shown: Shown | None = None) -> Iterator[Meter]:
    """Work within it is counted from zero."""
    meter = Meter(shown)
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


def spend(units: float) -> None:
    """Count some work."""
    _METER.get().spend(units)


def spent() -> float:
    """The work that was counted so far."""
    return _METER.get().spent

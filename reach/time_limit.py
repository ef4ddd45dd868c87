"""The moment up to which work may go on, known to everything that takes long.

Searches ask whether it is time to stop, and then say what they have found. Below them, solvers of
programs, work on cones, and what the trusted checker computes for searches raise `OutOfTimeError`,
so that no loop outlasts its limit by more than a moment, whoever wrote it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from workbench.models.proof.interruption import CheckInterruptedError, interruptible

GRACE = 1.0
"""Seconds that are left to searches to notice the end by themselves."""


OutOfTimeError = CheckInterruptedError
"""The moment has passed up to which work may go on (`time_limit`)."""

_DEADLINE: ContextVar[float] = ContextVar("deadline", default=float("inf"))


@contextmanager
def time_limit(deadline: float) -> Iterator[None]:
    """Long work raises `OutOfTimeError` soon after the deadline (`time.monotonic`)."""
    token = _DEADLINE.set(deadline)
    try:
        with interruptible(_is_over):
            yield
    finally:
        _DEADLINE.reset(token)


def current_deadline() -> float:
    """The moment up to which work may go on."""
    return _DEADLINE.get()


def check_time() -> None:
    """Raise `OutOfTimeError` if the deadline has passed for longer than the grace."""
    if _is_over():
        raise OutOfTimeError


def _is_over() -> bool:
    return time.monotonic() > _DEADLINE.get() + GRACE

"""Where long work ends: known to everything that takes long.

Searches ask whether it is time to stop, and then say what they have found. Below them, solvers of
programs, work on cones, and what the trusted checker computes for searches raise `OutOfTimeError`
where a search did not notice by itself, so that no loop outlasts its limit by more than a moment,
whoever wrote it. The limit is a mark of the meter of work (`models.work`), so it is the same on
every machine; the clock only cuts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from workbench.models.interruption import CheckInterruptedError, go_on, interruptible
from workbench.models.work import spend, spent

GRACE, GRACE_OF_WORK = 0.3, 500.0
"""Seconds, and work, that are left to searches to notice the end by themselves."""

POLL = 0.02
"""The work that is counted whenever somebody asks whether to go on."""

OutOfTimeError = CheckInterruptedError
"""The work is over that may be done (`time_limit`)."""

_LIMIT: ContextVar[tuple[float, float]] = ContextVar("limit", default=(math.inf, math.inf))


@contextmanager
def time_limit(deadline: float, budget: float = math.inf) -> Iterator[None]:
    """Long work raises `OutOfTimeError` soon after the deadline (`time.monotonic`), or when so
    much work is counted."""
    token = _LIMIT.set((deadline, budget))
    try:
        with interruptible(_is_over):
            yield
    finally:
        _LIMIT.reset(token)


def current_deadline() -> float:
    """The moment up to which work may go on."""
    return _LIMIT.get()[0]


def is_past() -> bool:
    """Whether the limit has passed; no grace."""
    deadline, budget = _LIMIT.get()
    return spent() >= budget or time.monotonic() >= deadline


def check_time() -> None:
    """Raise `OutOfTimeError` if the limit has passed by more than the grace, or the work is
    called off."""
    go_on()


def _is_over() -> bool:
    spend(POLL)
    deadline, budget = _LIMIT.get()
    return spent() > budget + GRACE_OF_WORK or time.monotonic() > deadline + GRACE

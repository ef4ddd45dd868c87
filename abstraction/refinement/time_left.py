"""Shares of the time that is left, for searches that take turns."""

from __future__ import annotations

import time
from dataclasses import replace

from workbench.models.smt.solver import Limits
from workbench.reach.time_limit import current_deadline


def moment_after(share: float, deadline: float) -> float:
    """The moment at which this share of the time from now to the deadline has passed."""
    now = time.monotonic()
    return now + share * max(deadline - now, 0.0)


def is_over() -> bool:
    """Whether the moment has passed up to which work may go on."""
    return time.monotonic() >= current_deadline()


def within_time(limits: Limits) -> Limits:
    """The limits of a question, with no more than the time that is left."""
    left = 1_000 * max(current_deadline() - time.monotonic(), 0.0)
    return replace(limits, milliseconds=int(min(limits.milliseconds, max(left, 1.0))))

"""What searches may take that take turns: shares of work, which is the same on every machine, and
of the time until the clock cuts."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from workbench.models.smt.solver import Limits
from workbench.models.work import spent
from workbench.reach.time_limit import current_deadline, is_past, time_limit

RATE = 500.0
"""Units of work for each second of a time limit: what is decided then depends on the clock only on
machines that do less than that."""


@dataclass(frozen=True)
class Allotment:
    """Up to where work may go on: a mark of the meter (`models.work`), and a moment
    (`time.monotonic`)."""

    work: float = math.inf
    deadline: float = math.inf

    @classmethod
    def of_seconds(cls, seconds: float) -> Allotment:
        """What a time limit that begins now allows."""
        return cls(spent() + RATE * seconds, time.monotonic() + seconds)

    @property
    def seconds(self) -> float:
        """The time limit that allows what is left of the work."""
        return max(self.work - spent(), 0.0) / RATE

    @property
    def is_over(self) -> bool:
        """Whether it is used up."""
        return spent() >= self.work or time.monotonic() >= self.deadline

    def share(self, part: float) -> Allotment:
        """That part of what is left of it."""
        done, now = spent(), time.monotonic()
        return Allotment(
            done + part * max(self.work - done, 0.0), now + part * max(self.deadline - now, 0.0)
        )

    @contextmanager
    def granted(self) -> Iterator[None]:
        """Long work within it raises `OutOfTimeError` soon after it is used up."""
        with time_limit(self.deadline, self.work):
            yield


def is_over() -> bool:
    """Whether the work is done, or the moment has passed, up to which work may go on."""
    return is_past()


def within_time(limits: Limits) -> Limits:
    """The limits of a question, with no more than the time that is left."""
    left = 1_000 * max(current_deadline() - time.monotonic(), 0.0)
    return replace(limits, milliseconds=int(min(limits.milliseconds, max(left, 1.0))))

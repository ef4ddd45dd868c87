"""How much work a proof by enclosures may take."""

from __future__ import annotations

import math
import time

from workbench.models.interruption import go_on
from workbench.models.work import spend

STEP = 2.0
"""What a step of enclosures costs, in units of work."""


class Allowance:
    """So many steps of enclosures, and a moment (`time.monotonic`) at which they end; shared by
    the proofs that it is given to."""

    def __init__(self, steps: float = math.inf, deadline: float = math.inf):
        self.steps, self.deadline = steps, deadline

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.steps <= 0 or time.monotonic() >= self.deadline

    def spend(self, steps: int = 1) -> None:
        """Take a step, or one that is as much work as several; `GaveUp` if none is left."""
        from workbench.simulate.validated.balls import GaveUp

        if self.is_spent:
            raise GaveUp("the enclosures take more work than they are given")
        self.steps -= steps
        spend(STEP * steps)
        go_on()

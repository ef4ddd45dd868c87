"""Stepping methods: immutable values that hold their options."""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property

from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError

RESIDUAL = 1e-6
"""An event's residual is at most this part of the guard's tolerance, plus rounding."""


def shortest_step(t: float, until: float) -> float:
    """Eight times what the clock tells apart."""
    return 1.8e-15 * max(abs(t), abs(until))


class Detection(IntEnum):
    """How events are found.

    `EXTRAPOLATION` looks ahead and never evaluates the flow beyond a unilateral guard.
    `INTERPOLATION` steps first and searches backwards for a sign change; `ENDPOINT` only
    looks at the ends of steps. The last two miss events and exist for comparison.
    """

    EXTRAPOLATION = 0
    INTERPOLATION = 1
    ENDPOINT = 2


CoreOptions = tuple[bool, int, int, int, float, float, float]
"""A method as the extensions know it."""


@record
class Adams:
    """Variable-step, variable-order Adams predictor-corrector (PECE), started from a Taylor
    series. A step's error estimate (Milne) is kept below `atol + rtol*|x|` in every variable.
    """

    rtol: float = 1e-6
    atol: float = 1e-9
    max_order: int = 8
    max_step: float = float("inf")
    max_steps: int = 1_000_000
    detection: Detection = Detection.EXTRAPOLATION

    @cached_property
    def options(self) -> CoreOptions:
        """The method as the extensions know it."""
        return _options(self, False, self.max_order)


@record
class Taylor:
    """Taylor series of the given order by automatic differentiation of the tape: one point
    suffices, so there is no history and no restart cost."""

    rtol: float = 1e-6
    atol: float = 1e-9
    order: int = 12
    max_step: float = float("inf")
    max_steps: int = 1_000_000
    detection: Detection = Detection.EXTRAPOLATION

    @cached_property
    def options(self) -> CoreOptions:
        """The method as the extensions know it."""
        return _options(self, True, self.order)


@record
class Multirate(Adams):
    """Adams at two rates where that pays: large steps of the slow variables, small ones of the
    fast; see `simulate.stepping.multirate`."""


Method = Adams | Taylor


def _options(method: Method, taylor: bool, order: int) -> CoreOptions:
    return (
        taylor,
        order,
        int(method.detection),
        method.max_steps,
        method.rtol,
        method.atol,
        method.max_step,
    )


def check_method(method: Method) -> None:
    """Refuse options that no step can satisfy."""
    highest, order = (12, method.max_order) if isinstance(method, Adams) else (24, method.order)
    problems = {
        "rtol must be between 0 and 0.1": not 0.0 <= method.rtol <= 0.1,
        "atol must be positive and finite": not 0.0 < method.atol < float("inf"),
        f"the order must be between 1 and {highest}": not 1 <= order <= highest,
        "max_step must be positive": not method.max_step > 0.0,
        "max_steps must be positive": method.max_steps < 1,
    }
    for message, wrong in problems.items():
        if wrong:
            raise ModelError(Diagnostic("bad-method", message))

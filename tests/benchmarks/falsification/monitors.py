"""Our monitor of temporal formulas beside rtamt, on one table of samples."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from workbench.models.automaton import HybridAutomaton, Location
from workbench.models.trace_files import from_csv
from workbench.simulate.monitoring.monitor import Monitor
from workbench.simulate.monitoring.stl import parse_formula

SAMPLES, STEP = 10_000, 0.01

FORMULAS = (
    ("always[0,50](x <= 3)", "always[0:50](x <= 3)"),
    (
        "always[0,50](x >= 1 -> eventually[0,5] x <= 0)",
        "always[0:50]((x >= 1) implies (eventually[0:5](x <= 0)))",
    ),
)
"""In our writing and in that of rtamt."""


def samples() -> list[tuple[float, float]]:
    return [(i * STEP, math.sin(0.7 * i * STEP) + math.cos(1.9 * i * STEP)) for i in range(SAMPLES)]


def monitoring() -> list[list[str]]:
    """Rows: the formula, robustness and processor milliseconds of both."""
    return [
        [
            f"`` {ours} ``",
            *_measured(lambda f=ours: _ours(f)),
            *_measured(lambda f=other: _rtamt(f)),
        ]  # type: ignore[misc]
        for ours, other in FORMULAS
    ]


def _measured(make: Callable[[], Callable[[], float]]) -> list[str]:
    """Robustness and milliseconds; what is made before does not count."""
    try:
        work = make()
    except ImportError:
        return ["not installed", ""]
    begun = time.process_time()
    value = work()
    return [f"{value:.4f}", f"{1e3 * (time.process_time() - begun):.0f}"]


def _ours(text: str) -> Callable[[], float]:
    table = "time,x\n" + "\n".join(f"{t!r},{x!r}" for t, x in samples())
    trace = from_csv(table)
    monitor = Monitor(HybridAutomaton("table", locations=(Location(""),)), parse_formula(text), {})
    return lambda: monitor.optimistic(trace)


def _rtamt(text: str) -> Callable[[], float]:
    import rtamt  # type: ignore[import-not-found]

    monitor: Any = rtamt.StlDenseTimeSpecification()
    monitor.declare_var("x", "float")
    monitor.spec = text
    monitor.parse()
    rows: Sequence[list[float]] = [list(row) for row in samples()]
    return lambda: float(monitor.evaluate(["x", rows])[0][1])


if __name__ == "__main__":
    for row in monitoring():
        print(row)

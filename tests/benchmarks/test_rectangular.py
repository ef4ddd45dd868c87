"""How long exact reachability of rectangular systems takes; `make bench` prints the numbers.

Times are of the processor, split into the search, the evidence and the trusted check; the
limits are promises with a wide margin for slow machines. docs/rectangular.md has a table.
"""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

import abstraction.rectangular_strategy as strategy
from abstraction.strategy import Task
from models.load import load
from models.verdict import Falsified, Verified

pytestmark = pytest.mark.slow

CASES = [
    *(("fischer", {"n": n}, Verified, limit) for n, limit in ((3, 5), (4, 15), (5, 60))),
    *(("fischer_hasty", {"n": n}, Falsified, 10) for n in (3, 4, 5)),
    ("adaptive_cruise", {"n": 4}, Verified, 15),
    ("adaptive_cruise", {"n": 5}, Verified, 60),
    ("adaptive_cruise", {"n": 6, "delay": Fraction(2, 5)}, Verified, 200),
    *(("adaptive_cruise_slow", {"n": n}, Falsified, 10) for n in (4, 5, 6)),
]


@pytest.mark.parametrize(("name", "parameters", "expected", "limit"), CASES)
def test_rectangular_models(
    name: str,
    parameters: dict[str, int | Fraction],
    expected: type,
    limit: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(strategy.time, "perf_counter", time.process_time)
    model = load(name, parameters={k: Fraction(v) for k, v in parameters.items()}).automaton
    begun = time.process_time()
    verdict = strategy.RectangularStrategy().attempt(Task(model, model.properties[0]))
    took = time.process_time() - begun
    phases = "  ".join(f"{phase} {s:7.2f}" for phase, s in verdict.effort.seconds.items())
    title = f"{name} {', '.join(f'{k}={v}' for k, v in parameters.items())}"
    print(f"\n{title:<34} {took:8.2f} s   {phases}")
    assert isinstance(verdict, expected)
    assert took < limit

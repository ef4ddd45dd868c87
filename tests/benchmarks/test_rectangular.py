"""How long exact reachability of rectangular systems takes; `make bench` prints the numbers.

Times are of the processor, split into the search, the evidence and the trusted check; the
limits are promises with a wide margin for slow machines. docs/benchmarks_reachability.md has a table.
Where PHAVerLite has published a time for a problem of the same kind and number of components,
the ratio of our whole time, check included, to it is printed: its search is in C++, of its
own formulation, on another machine.
"""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import pytest

import workbench.abstraction.strategies.rectangular as strategy
from workbench.abstraction.strategies.strategy import Task
from workbench.models.automaton import Automaton
from workbench.models.load import load
from workbench.models.verdict import Falsified, Verified

pytestmark = pytest.mark.slow

Parameters = dict[str, int | Fraction]

PUBLISHED = {
    ("fischer", 4): 0.111,
    ("fischer", 5): 0.749,
    ("fischer", 6): 6.46,
    ("fischer_hasty", 4): 0.117,
    ("fischer_hasty", 5): 0.484,
    ("fischer_hasty", 6): 2.58,
    ("line", 5): 0.044,
    ("line", 6): 0.289,
    ("line", 7): 2.21,
    ("line", 8): 23.8,
}
"""Seconds, by family and number of components (for the line: vehicles)."""

CASES: list[tuple[str, Parameters, type, float]] = [
    *(("fischer", {"n": n}, Verified, limit) for n, limit in ((3, 5), (4, 15), (5, 60))),
    *(("fischer_hasty", {"n": n}, Falsified, 10) for n in (3, 4, 5, 6)),
    ("adaptive_cruise", {"n": 4}, Verified, 15),
    ("adaptive_cruise", {"n": 5}, Verified, 60),
    ("adaptive_cruise", {"n": 6, "delay": Fraction(2, 5)}, Verified, 200),
    *(("adaptive_cruise_slow", {"n": n}, Falsified, 10) for n in (4, 5, 6)),
]


def line_of_vehicles(count: int, slowest_ahead: int = 32) -> str:
    """Vehicles in one automaton. When a gap is down to 5, those ahead of it go faster (at
    least `slowest_ahead`) and those behind slower, until it has grown to between 7 and 8.

    All speeds are in ranges of width 2 or 4. With 32 ahead and at most 28 behind the gap grows
    by 4 each second, from 4 at least: recovery takes a second at most. Any other gap is at
    least 4 before and shrinks by 2 at most: no collision. With 28 ahead recovery may last for
    ever, and gaps shrink.
    """
    cars = range(count)
    names = ", ".join(f"x{i}" for i in cars)
    declared = f"write analog real {names};"
    cruising = " ".join(f"d(x{i}) in [28, 32];" for i in cars)
    apart = " && ".join(f"x{i - 1} - x{i} >= 4" for i in cars[1:])
    parts = [f"mode Cruise() {{ {declared} diff {{ {cruising} }} inv {{ {apart} }} }}"]
    top = ["mode cruise = Cruise();", "trans from init to cruise;"]
    for gap in cars[1:]:
        rates = " ".join(
            f"d(x{i}) in [{slowest_ahead}, 34];" if i < gap else f"d(x{i}) in [26, 28];"
            for i in cars
        )
        inside = f"x{gap - 1} - x{gap}"
        parts.append(
            f"mode Recover{gap}() {{ {declared} diff {{ {rates} }} inv {{ {inside} <= 8 }} }}"
        )
        top.append(f"mode recover{gap} = Recover{gap}();")
        top.append(f"trans #close{gap} from cruise to recover{gap} when {inside} <= 5;")
        top.append(f"trans #open{gap} from recover{gap} to cruise when {inside} >= 7;")
    parts.append(f"mode Top() {{ {declared} {' '.join(top)} }}")
    start = " ".join(f"x{i} in [{-10 * i - 1}, {-10 * i}];" for i in cars)
    safe = " && ".join(f"x{i - 1} - x{i} > 0" for i in cars[1:])
    parts.append(
        f"agent Road() {{ private analog real {names}; init {{ {start} }} mode top = Top(); "
        f'assert "no collision" {{ {safe} }} }}'
    )
    return "\n".join(parts)


def measure(
    title: str,
    model: Automaton,
    expected: type,
    limit: float,
    published: float | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(strategy.time, "perf_counter", time.process_time)
    begun = time.process_time()
    verdict = strategy.RectangularStrategy().attempt(Task(model, model.properties[0]))
    took = time.process_time() - begun
    phases = "  ".join(f"{phase} {s:6.2f}" for phase, s in verdict.effort.seconds.items())
    ratio = "" if published is None else f"   {took / published:6.1f} x PHAVerLite"
    print(f"\n{title:<32} {took:7.2f} s   {phases}{ratio}")
    assert isinstance(verdict, expected)
    assert took < limit


@pytest.mark.parametrize(("name", "parameters", "expected", "limit"), CASES)
def test_rectangular_models(
    name: str,
    parameters: Parameters,
    expected: type,
    limit: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = load(name, parameters={k: Fraction(v) for k, v in parameters.items()}).automaton
    title = f"{name} {', '.join(f'{k}={v}' for k, v in parameters.items())}"
    published = PUBLISHED.get((name, int(parameters["n"])))
    measure(title, model, expected, limit, published, monkeypatch)


@pytest.mark.parametrize("count", [5, 6, 7, 8, 10])
def test_line_of_vehicles(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for speed, expected in ((32, Verified), (28, Falsified)):
        file = tmp_path / f"line_{count}_{speed}.charon"
        file.write_text(line_of_vehicles(count, speed))
        published = PUBLISHED.get(("line", count)) if expected is Verified else None
        title = f"line of {count} vehicles, {'safe' if expected is Verified else 'unsafe'}"
        measure(title, load(file).automaton, expected, 60, published, monkeypatch)

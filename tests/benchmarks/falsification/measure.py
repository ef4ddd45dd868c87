"""Measures the falsifier and writes docs/benchmarks_falsification.md.

Run by `make bench`. Every search is repeated with several seeds; a search that finds nothing
counts with its whole budget. Times are processor times, so they do not depend on what else the
machine does. The figures of other tools stand beside ours as published; they were measured on
other machines and on the models that ours imitate.
"""

from __future__ import annotations

import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from models.automaton import Property
from models.load import load
from simulate.falsification import Budget, Options, falsify
from simulate.objective import Objective
from simulate.run import simulate
from simulate.stl import Formula, parse_formula
from simulate.stl_monitor import Monitor

ROOT = Path(__file__).parents[3]
BUDGET = 1500
SEEDS = range(8)

TRANSMISSION, CHASE = "automatic_transmission_low", "chasing_cars_tight"


@dataclass(frozen=True)
class Case:
    """A claim about a model: one of its properties, or a formula."""

    model: str
    claim: str
    temporal: bool = False


CASES = (
    Case(TRANSMISSION, "engine speed"),
    Case(TRANSMISSION, "vehicle speed"),
    Case(TRANSMISSION, "always[0,10](rpm < 4.75)", True),
    Case(TRANSMISSION, 'always[0,30](at("Transmission", "third") -> rpm < 5)', True),
    Case(CHASE, "first gap"),
    Case(CHASE, "last gap"),
    Case(CHASE, "always[0,70](eventually[0,30] `x[3]` - `x[4]` <= 8)", True),
    Case(CHASE, "always[0,80](always[0,20] `x[0]` - `x[1]` <= 20)", True),
    Case("platoon_saturated", "no collision"),
    Case("infusion_pump_eager", "no overdose"),
    Case("navigation_pit", "in the pit"),
)

PUBLISHED = """\
Published figures of others, for comparison: FalCAuN with Simulink spends 0.112 s on a simulation
of the automatic transmission and 0.240 s on one of the chasing cars; rtamt needs 116 ms to
monitor a trace of 10,000 samples.
"""


def main() -> int:
    head = [
        "# Benchmarks of the falsifier\n",
        "Made by `make bench`. A search ends with a confirmed and shrunk counterexample, or after "
        f"{BUDGET} simulations; each is repeated with {len(SEEDS)} seeds. `simulations` is the "
        "mean number needed (a search without a result counts as the whole budget), `ms` the "
        "processor time of one simulation with its robustness.\n",
        f"{date.today().isoformat()}, {os.cpu_count()} cores {platform.machine()}, Python "
        f"{platform.python_version()}; load average {os.getloadavg()[0]:.1f} at the start.\n",
    ]
    parts = [*head, searches(), PUBLISHED, monitoring()]
    text = "\n".join(parts)
    (ROOT / "docs" / "benchmarks_falsification.md").write_text(text, encoding="utf-8")
    print(text)
    return 0


def searches() -> str:
    rows = []
    for case in CASES:
        print(f"{case.model}: {case.claim} ...", file=sys.stderr, flush=True)
        rows.append(measured(case))
    head = ["model", "claim", "found", "simulations", "at most", "ms"]
    return table(head, rows)


def measured(case: Case) -> list[str]:
    automaton = load(case.model).automaton
    claim: Property | Formula
    if case.temporal:
        claim = parse_formula(case.claim)
    else:
        claim = next(p for p in automaton.properties if p.name == case.claim)
    counts, found = [], 0
    for seed in SEEDS:
        outcome = falsify(automaton, claim, Budget(BUDGET), Options(seed=seed, rigorous=()))
        counts.append(outcome.simulations if outcome.found else BUDGET)
        found += outcome.found is not None
    return [
        case.model,
        f"`` {case.claim} ``",
        f"{found} of {len(SEEDS)}",
        f"{statistics.mean(counts):.0f}",
        f"{max(counts)}",
        f"{milliseconds(Objective(automaton, claim)):.2f}",
    ]


def milliseconds(objective: Objective) -> float:
    """Of one simulation and its robustness, over random points of the plainest searches."""
    from random import Random

    from simulate.falsification import shapes

    shape = max(shapes(objective, Options()), key=lambda s: (s.pieces, -s.until))
    random = Random(1)
    dimension = objective.space(shape).dimension
    points = [[random.random() for _ in range(dimension)] for _ in range(30)]
    objective.cost(shape, points[0], 0)
    return 1e3 * processor_time(lambda: [objective.cost(shape, x, 0) for x in points]) / 30


def monitoring() -> str:
    """Robustness of a formula along traces of the transmission, by the number of pieces."""
    model = load("automatic_transmission")
    formula = parse_formula("always[0,1000](speed > 12 -> eventually[0,4] rpm < 4)")
    rows = []
    for until in (30.0, 300.0, 1100.0):
        trace = simulate(model.automaton, until=until, seed=3, inputs=_driver(until))
        pieces = sum(1 for s in trace.segments for _ in s.pieces())
        monitor = Monitor(model.automaton, formula, {})
        monitor.values.inputs = _driver(until)
        spent = min(processor_time(lambda: monitor.optimistic(trace)) for _ in range(3))  # noqa: B023
        rows.append([f"{until:g} s", str(len(trace.jumps)), str(pieces), f"{1e3 * spent:.1f}"])
    head = ["trace", "jumps", "polynomial pieces", "ms"]
    return f"## Monitoring `{formula.text}`\n\n{table(head, rows)}"


def _driver(until: float) -> dict[str, object]:
    from random import Random

    from simulate.signals import Steps

    random, times = Random(2), [5.0 * i for i in range(math.ceil(until / 5))]
    return {
        "throttle": Steps(tuple(times), tuple(random.random() for _ in times)),
        "brake": Steps(tuple(times), tuple(max(0.0, random.random() - 0.7) for _ in times)),
    }


def processor_time(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


if __name__ == "__main__":
    sys.exit(main())

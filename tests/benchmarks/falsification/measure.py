"""Measures the falsifier and writes docs/benchmarks_falsification.md.

Run by `make bench`. Every search is repeated with several seeds; a search that finds nothing
counts with its whole budget. Times are processor times, so they do not depend on what else the
machine does. The figures of other tools stand beside ours as published; they were measured on
other machines and on the models that ours imitate.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from tests.benchmarks.falsification.monitors import monitoring
from workbench.models.automaton import Property
from workbench.models.load import load
from workbench.simulate.monitoring.stl import Formula, parse_formula
from workbench.simulate.search.falsification import Budget, Options, falsify
from workbench.simulate.search.objective import Objective

ROOT = Path(__file__).parents[3]
BUDGET = 1000
SEEDS = range(4)

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
    Case("platoon_saturated", "no collision"),
    Case("infusion_pump_eager", "no overdose"),
    Case("navigation_pit", "in the pit"),
)

PUBLISHED = """\
Published figures of others, for comparison: FalCAuN with Simulink spends 0.112 s on a simulation
of the automatic transmission and 0.240 s on one of the chasing cars.
"""

MONITORS = """\
The monitor alone, beside rtamt (dense time), on a table of 10,000 samples: robustness and
processor milliseconds of both. rtamt holds each value until the next sample, we draw straight
lines between them, so the robustness may differ by what happens between two samples.
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
    parts = [*head, searches(), PUBLISHED, MONITORS, monitors()]
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


def monitors() -> str:
    head = ["formula", "robustness", "ms", "rtamt", "ms"]
    return table(head, monitoring())


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

    from workbench.simulate.search.falsification import shapes

    shape = max(shapes(objective, Options()), key=lambda s: (s.pieces, -s.until))
    random = Random(1)
    dimension = objective.space(shape).dimension
    points = [[random.random() for _ in range(dimension)] for _ in range(30)]
    objective.cost(shape, points[0], 0)
    return 1e3 * processor_time(lambda: [objective.cost(shape, x, 0) for x in points]) / 30


def processor_time(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


if __name__ == "__main__":
    sys.exit(main())

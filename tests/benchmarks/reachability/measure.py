"""Measures flowpipes of growing size and rectangular systems; writes
docs/benchmarks_reachability.md.

Run by `make bench`. Times are of the processor, on one core; search and check separately.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from math import log10
from pathlib import Path

from tests.benchmarks.reachability import rectangular
from tests.benchmarks.simulation.picture import line_plot
from tests.support.affine_families import heat_rod, mass_chain, ring_of_stays
from workbench.models.automaton import HybridAutomaton
from workbench.models.certificates.certificate import Certificate
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted
from workbench.models.lowering.problem import linear_problem
from workbench.reach.affine.flowpipe_parts import FlowpipeMethod, NotFound
from workbench.reach.affine.flowpipe_refinement import search_flowpipe

ROOT = Path(__file__).parents[3]
Point = tuple[float, float]


def measured(
    automaton: HybridAutomaton, horizon: Fraction, step: Fraction | None = None
) -> tuple[float, float, int]:
    """Seconds of the search and of the check, and the number of steps in the proof."""
    claim = automaton.properties[0]
    begun = time.process_time()
    method = FlowpipeMethod(step=step)
    found = search_flowpipe(linear_problem(automaton, claim), horizon, method)
    searched = time.process_time() - begun
    assert not isinstance(found, NotFound), found.reason
    certificate = Certificate(automaton.name, automaton.sha256, claim.name, found.proof)
    begun = time.process_time()
    assert isinstance(check(automaton, claim.name, certificate), Accepted)
    checked = time.process_time() - begun
    steps = sum(stage.count for node in found.proof.nodes for stage in node.stages)
    return searched, checked, steps


def growth(
    size: str, family: Callable[[int], tuple[HybridAutomaton, Fraction, Fraction | None]], sizes
) -> tuple[str, list[Point]]:
    lines = [f"| {size} | steps | search | check |", "|---|---|---|---|"]
    points = []
    for n in sizes:
        searched, checked, steps = measured(*family(n))
        count = steps if size == "step" else n
        name = f"1/{n}" if size == "step" else str(n)
        lines.append(f"| {name} | {steps} | {searched:.2f} | {checked:.2f} |")
        points.append((log10(count), log10(searched + checked)))
        print(f"  {n}: {searched:.2f} + {checked:.2f}", file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n", points


def main() -> int:
    sizes = (10, 20, 50, 100, 200, 500, 1000)
    ten = Fraction(10)
    sections = [
        ("Heat in a rod to time 10, one output", "dimension", "heat in a rod",
         lambda n: (heat_rod(n), ten, None), sizes),
        ("A chain of masses to time 10, one output", "dimension", "chain of masses",
         lambda n: (mass_chain(n), ten, None), sizes),
        ("Heat in a rod of 20 cells, ever shorter steps", "step", "shorter steps",
         lambda n: (heat_rod(20), ten, Fraction(1, n)), (4, 16, 64, 256)),
        ("A pushed oscillator, one location after the other", "locations", "locations",
         lambda n: (ring_of_stays(n), Fraction(n, 4) + 1, None), (2, 5, 10, 20, 50, 100)),
    ]  # fmt: skip
    page = [
        "# Benchmarks of reachability\n",
        "Made by `make bench`: seconds of the processor on one core, for the search and for the"
        " check by the trusted checker.\n",
        f"{date.today().isoformat()}, {os.cpu_count()} cores"
        f" {platform.processor() or platform.machine()}, Python {platform.python_version()}; load"
        f" average {os.getloadavg()[0]:.1f} at the start.\n",
        "![Time against size](images/reachability_growth.svg)\n",
    ]
    lines = []
    for title, size, short, family, values in sections:
        print(title, file=sys.stderr, flush=True)
        text, points = growth(size, family, values)
        page.append(f"## {title}\n\n{text}")
        lines.append((short, points))
    page.append(rectangular.sections())
    images = ROOT / "docs" / "images"
    images.mkdir(exist_ok=True)
    svg = line_plot(
        "Flowpipes: search and check", "log10 of the size (or steps)", "log10 of seconds", lines
    )
    (images / "reachability_growth.svg").write_text(svg)
    text = "\n".join(page)
    (ROOT / "docs" / "benchmarks_reachability.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

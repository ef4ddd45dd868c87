"""Rectangular systems beside the times that PHAVerLite has published, and rings of locations.

Times are of the processor. `attempt` is the strategy on a loaded model: search, evidence (or
run) and the trusted check; `command` is all of `workbench verify`, with the start of Python,
imports and parsing. Each is the least of `REPEATS`, since other work on the machine makes
processor times longer too.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from tests.benchmarks.test_rectangular import PUBLISHED, line_of_vehicles
from workbench.abstraction.strategies.rectangular import RectangularStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.models.load import load
from workbench.models.verdict import Verdict

REPEATS = 3

FAMILIES: tuple[tuple[str, dict[str, int | Fraction]], ...] = (
    *(("fischer", {"n": n}) for n in (2, 3, 4, 5, 6)),
    *(("fischer_hasty", {"n": n}) for n in (2, 3, 4, 5, 6)),
    *(("line", {"n": n}) for n in (4, 5, 6, 7, 8, 10, 15)),
    *(("line with slow leaders", {"n": n}) for n in (4, 5, 6, 7, 8, 10, 15)),
    *(("adaptive_cruise", {"n": n}) for n in (4, 5)),
    ("adaptive_cruise", {"n": 6, "delay": Fraction(2, 5)}),
    *(("adaptive_cruise_slow", {"n": n}) for n in (4, 5, 6)),
)


def models(folder: Path) -> Iterator[tuple[str, int, str, dict[str, Fraction]]]:
    """Family, number of components, what to load, and with which parameters."""
    for family, parameters in FAMILIES:
        count = int(parameters["n"])
        if family.startswith("line"):
            file = folder / f"{family.replace(' ', '_')}_{count}.charon"
            file.write_text(line_of_vehicles(count, 32 if family == "line" else 28))
            yield family, count, str(file), {}
        else:
            yield family, count, family, {k: Fraction(v) for k, v in parameters.items()}


def attempted(source: str, parameters: dict[str, Fraction]) -> tuple[float, Verdict]:
    model = load(Path(source) if source.endswith(".charon") else source, parameters=parameters)
    task = Task(model.automaton, model.automaton.properties[0])
    begun = time.process_time()
    verdict = RectangularStrategy().attempt(task)
    return time.process_time() - begun, verdict


def commanded(source: str, parameters: dict[str, Fraction]) -> float:
    options = [part for name, value in parameters.items() for part in ("-P", f"{name}={value}")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    program = "from workbench.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", program, "verify", source, *options, "--time-limit", "600"],
        capture_output=True,
        check=False,
    )
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def beside_phaverlite() -> str:
    """The table of all families."""
    lines = [
        "| family | components | verdict | sets | obligations | attempt | command | PHAVerLite"
        " | attempt / PHAVerLite | command / PHAVerLite |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for family, count, source, parameters in models(Path(folder)):
            runs = [attempted(source, parameters) for _ in range(REPEATS)]
            attempt, verdict = min(runs, key=lambda run: run[0])
            command = min(commanded(source, parameters) for _ in range(REPEATS))
            judgement = getattr(verdict, "judgement", None)
            obligations = "" if judgement is None else str(judgement.obligations)
            published = PUBLISHED.get((family, count))
            ratios = ["", "", ""]
            if published is not None:
                quotients = [f"{t / published:.1f}" for t in (attempt, command)]
                ratios = [str(published), *quotients]
            cells = [family, str(count), type(verdict).__name__.upper()]
            cells += [str(verdict.effort.counts["sets"]), obligations]
            cells += [f"{attempt:.2f}", f"{command:.2f}", *ratios]
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


def ring_of_rectangles(count: int, degree: int = 3) -> str:
    """Locations in a ring, with chords: ranges of rates, a clock that bounds each stay, values
    chosen in jumps, and sets that grow on every round until the invariant ends it."""
    draw = random.Random(count)
    declared = "write analog real x, y, t;"
    parts, top = [], []
    for i in range(count):
        rate = draw.randint(1, 3)
        parts.append(
            f"mode M{i}() {{ {declared} diff {{ d(x) in [{rate}, {rate + 1}]; "
            f"d(y) in [-{rate}, {rate}]; d(t) == 1; }} "
            "inv { t <= 2; y <= 40; y >= -40; x - y <= 70 } }"
        )
        top.append(f"mode m{i} = M{i}();")
        targets = {(i + 1) % count, *(draw.randrange(count) for _ in range(degree - 1))}
        for k, j in enumerate(sorted(targets)):
            low, high = draw.randint(-3, 0), draw.randint(0, 3)
            top.append(
                f"trans #go{i}_{k} from m{i} to m{j} when t >= 1 "
                f"do {{ t = 0; x in [{low}, {high}]; }}"
            )
    parts.append(f"mode Top() {{ {declared} {' '.join(top)} trans from init to m0; }}")
    parts.append(
        "agent Ring() { private analog real x, y, t; init { x in [0, 1]; y = 0; t = 0; } "
        'mode top = Top(); assert "low" { x - y <= 60 } }'
    )
    return "\n".join(parts)


def rings() -> str:
    """The table of rings of growing size."""
    lines = ["| locations | edges | verdict | attempt | a location |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for count in (10, 20, 50, 100, 200):
            file = Path(folder) / f"ring_{count}.charon"
            text = ring_of_rectangles(count)
            file.write_text(text)
            runs = [attempted(str(file), {}) for _ in range(REPEATS)]
            attempt, verdict = min(runs, key=lambda run: run[0])
            cells = [str(count), str(text.count("trans #")), type(verdict).__name__.upper()]
            cells += [f"{attempt:.2f}", f"{1000 * attempt / count:.1f} ms"]
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


def sections() -> str:
    """What the page of benchmarks says about rectangular systems."""
    return (
        "## Rectangular systems, for all time\n\n"
        "Seconds of the processor, the least of three. `attempt` is search, evidence (or run) and"
        " trusted check on a loaded model; `command` is all of `workbench verify`, with the start"
        " of Python, imports and parsing. PHAVerLite 0.7 is written in C++; its times are"
        " published ones, on another machine, for its own formulation of the same family, without"
        " a certificate. The line of vehicles is one automaton with a location for each gap that"
        " is being widened; `adaptive_cruise` is a product of drivers with reaction times.\n\n"
        f"{beside_phaverlite()}\n"
        "## Rings of rectangular locations\n\n"
        "Three edges for each location, three variables; the time for one location stays the"
        " same.\n\n"
        f"{rings()}"
    )


if __name__ == "__main__":
    print(sections())

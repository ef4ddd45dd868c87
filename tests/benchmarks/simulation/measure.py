"""Measures the simulator beside other tools and writes docs/benchmarks.md.

Run by `make bench`. Everything is measured in one go on one machine; tools that are not
installed (`pip install -e '.[bench]'`) are left out, and the table says so.
"""

from __future__ import annotations

import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from cars import arena
from picture import line_plot
from problems import Problem, arms, corridors, tank, thin_posts
from tools import all_tools

from workbench.models.automaton import EventKind
from workbench.models.expressions.text import parse_expression
from workbench.models.load import load
from workbench.models.trace import Ending
from workbench.simulate.agents.asynchronous import prepare_agents, simulate_agents
from workbench.simulate.run import prepare, simulate
from workbench.simulate.stepping.engine import advance, is_compiled
from workbench.simulate.stepping.methods import Adams, Detection, Multirate
from workbench.simulate.stepping.program import compile_program

ROOT = Path(__file__).parents[3]
Rows = list[list[str]]


def table(head: list[str], rows: Rows) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def best(work: Callable[[], object], repeats: int = 3) -> float:
    """The shortest time of several, in seconds."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


# Events, tool by tool


def compare(problems: list[Problem], by_name: bool = False) -> str:
    rows: Rows = []
    for name, tool in all_tools().items():
        if isinstance(tool, str):
            rows.append([name, tool, "", "", "", ""])
            continue
        # heyoka compiles every problem anew: 25 of them tell enough
        few = max(1, len(problems) // 25) if name == "heyoka" else 1
        chosen = problems[::few]
        answers = [(p, tool(p)) for p in chosen]
        rows.append([name, *_summary(answers, by_name)])
    return table(
        ["tool", "found", "worst error of time", "RHS/run", "singular/run", "ms/run"], rows
    )


def _summary(answers, by_name: bool) -> list[str]:
    found = [a.found for _, a in answers]
    share = f"{100 * sum(found) / len(found):.0f} % of {len(found)}"
    if by_name:
        groups: dict[str, list[bool]] = {}
        for p, a in answers:
            groups.setdefault(p.name, []).append(a.found)
        worst = min(100 * sum(g) / len(g) for g in groups.values())
        share += f" (worst start {worst:.0f} %)"
    errors = [abs(a.time - p.true_time) for p, a in answers if a.found and p.true_time]
    counts = [a.evaluations for _, a in answers if a.evaluations is not None]
    return [
        share,
        f"{max(errors):.1e}" if errors else "-",
        f"{statistics.mean(counts):.0f}" if counts else "-",
        f"{statistics.mean(a.singular for _, a in answers):.1f}",
        f"{1000 * statistics.median(a.seconds for _, a in answers):.2f}",
    ]


def one_problem(problem: Problem) -> str:
    rows: Rows = []
    for name, tool in all_tools().items():
        if isinstance(tool, str):
            rows.append([name, tool, "", ""])
            continue
        a = tool(problem)
        said = f"event at {a.time:.7g}" if a.found else f"no event {a.note}".strip()
        rows.append([name, said, str(a.evaluations or "-"), str(a.singular)])
    return table(["tool", "answer", "RHS", "singular"], rows)


# The Zeno ball

BOUNCE = 0.8
GRAVITY = 9.81


def zeno() -> str:
    """Restitution 0.8 from height 1: bounces accumulate at 9 sqrt(2/g)."""
    exact = (1 + BOUNCE) / (1 - BOUNCE) * math.sqrt(2 / GRAVITY)
    text = """
mode Fall() { write analog real h, v; diff { d(h) == v; d(v) == -9.81; } inv { h >= 0 } }
mode Top() {
  write analog real h, v;
  mode fall = Fall();
  trans from init to fall;
  trans #bounce from fall to fall when h <= 0 && v < 0 do { v = -0.8*v; }
}
agent Ball() { private analog real h, v; init { h = 1; v = 0; } mode top = Top(); }
"""
    path = ROOT / "out" / "ball.charon"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    trace = simulate(load(path).automaton, until=10.0)
    lowest = min(min(values["h"] for _, _, values in trace.samples()), 0.0)
    reported = trace.outcome.accumulation
    error = math.inf if reported is None else abs(reported - exact)
    rows = [["ours (Adams)", f"{trace.outcome.ending}: t_Z = {reported:.9g}, error {error:.1e}",
             f"{lowest:.1e}"]]  # fmt: skip
    rows += [["scipy RK45 with restarts", *_ball_scipy()]]
    return f"Exact: t_Z = {exact:.9g}.\n\n" + table(["tool", "past t_Z", "lowest height"], rows)


def _ball_scipy() -> list[str]:
    from scipy.integrate import solve_ivp

    def event(_: float, x: list[float]) -> float:
        return x[0]

    event.terminal, event.direction = True, -1
    t, x, bounces, lowest = 0.0, [1.0, 0.0], 0, 0.0
    while t < 5.0 and bounces < 1000:
        result = solve_ivp(lambda _, s: [s[1], -GRAVITY], (t, 5.0), x, rtol=1e-4, atol=1e-7,
                           events=event)  # fmt: skip
        lowest = min(lowest, float(result.y[0].min()))
        t, x = float(result.t[-1]), [float(result.y[0, -1]), -BOUNCE * float(result.y[1, -1])]
        if not len(result.t_events[0]):
            return [f"says success at t = {t:g} after {bounces} bounces", f"{lowest:.2f}"]
        bounces += 1
    return [f"{bounces} bounces, stuck at t = {t:.7g}", f"{lowest:.2f}"]


# Agents


def cpu(work: Callable[[], object], repeats: int = 3) -> float:
    """The least processor time of several, in seconds: other work on the machine counts less."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def bumper_cars() -> str:
    rows: Rows = []
    for count, until in ((20, 100.0), (100, 100.0), (500, 100.0)):
        product = arena(count)
        built = cpu(lambda n=count: arena(n), 1)
        begun = time.process_time()
        prepared = prepare_agents(product)
        simulate_agents(prepared, until=1e-3)
        ready = time.process_time() - begun
        run = simulate_agents(prepared, until=until)
        took = cpu(lambda p=prepared, u=until: simulate_agents(p, until=u))
        inside = core_seconds(prepared, until)
        events = len(run.events)
        rows.append(
            [
                str(count), f"{until:g} s", str(events), f"{took:.3f} s",
                f"{1e6 * took / events:.0f} us", f"{1e6 * inside / events:.0f} us",
                f"{run.looks / max(run.counts.steps, 1):.1f}",
                str(count * (count - 1) // 2), str(run.agent_steps), f"{built:.2f} s",
                f"{ready:.2f} s",
            ]
        )  # fmt: skip
    head = ["cars", "simulated", "events", "run", "per event", "of that in the core",
            "pairs looked at per step", "pairs", "agent-steps", "build the model",
            "compile"]  # fmt: skip
    return "Processor time; cars at the density of twenty in ten by ten.\n\n" + table(head, rows)


def asynchrony() -> str:
    automaton = load("bumper_cars").automaton
    prepared = prepare_agents(automaton)
    alone = simulate_agents(prepared, until=100.0)
    free = simulate_agents(prepared, until=100.0, foresee=False)
    together = simulate_agents(automaton, until=100.0, synchronous=True)
    single = prepare(automaton)
    simulate(single, until=100.0)
    rows = [
        ["own clocks, agreed steps", str(len(alone.events)), str(alone.agent_steps),
         f"{cpu(lambda: simulate_agents(prepared, until=100.0), 5):.3f} s"],
        ["of that in the core", "", "", f"{core_seconds(prepared, 100.0):.3f} s"],
        ["own clocks, cut back", str(len(free.events)), str(free.agent_steps),
         f"{cpu(lambda: simulate_agents(prepared, until=100.0, foresee=False), 5):.3f} s"],
        ["one clock", str(len(together.events)), str(together.agent_steps),
         f"{cpu(lambda: simulate(single, until=100.0)):.3f} s"],
    ]  # fmt: skip
    ratio = together.agent_steps / alone.agent_steps
    return (
        table(["twenty cars, 100 s", "events", "agent-steps", "run (processor)"], rows)
        + f"\nOne clock needs {ratio:.1f} times the agent-steps.\n"
    )


def two_rates() -> str:
    """Two fast variables beside many slow ones, at one rate and at two."""
    rows: Rows = []
    exact = Adams(1e-11, 1e-13, max_order=12)
    for title, feed in (
        ("fast part driven by the slow one", ""),
        ("each drives the other", " + 0.2*u"),
    ):
        for n in (20, 100, 400):
            program, x = _ring(n, feed)

            def run(method, dense=False, p=program, first=x):
                return advance(p, method, 0.0, first, [], 10.0, [], dense)

            truth = run(exact)
            row = [title, str(n)]
            took = []
            for method in (Adams(), Multirate()):
                found = run(method)
                error = max(abs(a - b) for a, b in zip(found.x, truth.x, strict=True))
                took.append(cpu(lambda m=method: run(m)))
                row += [f"{1000 * took[-1]:.1f} ms", f"{error:.1e}"]
            dense = [cpu(lambda m=m: run(m, True), 2) for m in (Adams(), Multirate())]
            rows.append([*row, f"{took[0] / took[1]:.1f}", f"{dense[0] / dense[1]:.1f}"])
    head = ["two fast variables and a ring of slow ones", "slow", "one rate", "error",
            "two rates", "error", "faster", "faster with dense output"]  # fmt: skip
    return table(head, rows)


def _ring(n: int, feed: str):
    flows = {"u": "200*v", "v": "-200*u + 20*s0"}
    for i in range(n):
        around = f"s{(i + 1) % n} + s{(i - 1) % n} - 2*s{i}"
        flows[f"s{i}"] = f"0.5*({around}) - 0.1*s{i}^3" + (feed if i == 0 else "")
    program = compile_program(
        flowing=list(flows),
        held=(),
        flows=[parse_expression(text) for text in flows.values()],
        watches=(),
    )
    return program, [1.0, 0.0] + [math.sin(1 + 0.3 * i) for i in range(n)]


def looking_ahead() -> str:
    """Extrapolation against interpolation in our own engine, on the same steps."""
    rows: Rows = []
    for n in (2, 12):
        names = [f"x{i}" for i in range(n)]
        flows = [parse_expression(f"x{i + 1}" if i % 2 == 0 else f"-x{i - 1}") for i in range(n)]
        guard = parse_expression("x0 >= 3"), EventKind.BILATERAL
        program = compile_program(flowing=names, held=(), flows=flows, watches=[guard])
        times, counts = [], []
        for detection in (Detection.EXTRAPOLATION, Detection.INTERPOLATION, Detection.ENDPOINT):
            method = Adams(1e-6, 1e-9, detection=detection)
            counts.append(advance(program, method, 0.0, [1.0] * n, [], 2000.0, [0], False).counts)
            times.append(
                best(
                    lambda p=program, m=method, k=n: advance(
                        p, m, 0.0, [1.0] * k, [], 2000.0, [0], False
                    ),
                    5,
                )
            )
        per = [1e6 * t / c.steps for t, c in zip(times, counts, strict=True)]
        more = 100 * (per[0] / per[1] - 1)
        rows.append([str(n), *(f"{t:.2f} us" for t in per), f"{more:+.1f} %"])
    head = ["variables", "extrapolation", "interpolation", "ends of steps only",
            "extrapolation against interpolation"]  # fmt: skip
    return table(head, rows)


def core_seconds(prepared, until: float) -> float:
    """The processor time inside the compiled core, measured around every call of it."""
    from workbench.simulate.agents import fleet

    spent = [0.0]

    class Timed:
        def __init__(self, module):
            self.module = module

        def __getattr__(self, name: str):
            function = getattr(self.module, name)

            def call(*args):
                begun = time.process_time()
                try:
                    return function(*args)
                finally:
                    spent[0] += time.process_time() - begun

            return call

    fleet._fleet = Timed(fleet._fleet)
    try:
        simulate_agents(prepared, until=until)
    finally:
        fleet._fleet = fleet._fleet.module
    return spent[0]


PAPER = Adams(rtol=6e-3, atol=6e-6, max_order=2)
"""As in the paper: a two-step formula, at a tolerance that leads to about as many steps."""


def spirals() -> str:
    told = [
        "Two cars on spirals with clocks of their own, by a two-step formula as in the paper"
        " (CDC 2001, figures 2 to 5). The steps of both cars and the difference of their clocks"
        " step by step; in the end the steps are agreed, and guard and clock difference shrink"
        " together.\n"
    ]
    for name, title in (("spiral_cars", "collision"), ("spiral_cars_near_miss", "near miss")):
        prepared = prepare_agents(load(name).automaton)
        run = simulate_agents(prepared, until=12.0, record_steps=True, method=PAPER)
        numbered = list(enumerate(run.steps, start=1))
        steps = [
            (who, [(k, s.end - s.start) for k, s in numbered if s.agent == who])
            for who in ("left", "right")
        ]
        drift = [("clocks", [(k, s.spread) for k, s in numbered])]
        for kind, up, lines in (("steps", "step", steps), ("clocks", "clock difference", drift)):
            file = f"{name}_{kind}.svg"
            svg = line_plot(
                f"Spiral cars, {title}: {up}", "step number", up, lines, log=kind == "steps"
            )
            (ROOT / "docs" / "images" / file).write_text(svg)
            told.append(f"![{title}: {up}](images/{file})")
        ending = "violation" if run.outcome.ending is Ending.VIOLATION else "no event"
        agreed = [(k, s) for k, s in numbered if s.agreed]
        said = f"no step was agreed, the largest clock difference {max(s.spread for s in run.steps):.2f}"
        if agreed:
            first, last = agreed[0], agreed[-1]
            said = (
                f"steps are agreed from step {first[0]} (t = {first[1].start:.2f}) on; the clock"
                f" difference falls from {run.steps[first[0] - 2].spread:.1e} to {last[1].spread:.0e}"
            )
        passing = next(k for k, s in numbered if s.end >= 5.25)
        told.append(
            f"\n{title}: {ending} at t = {run.outcome.time:.6g} after {len(run.steps)} steps"
            f" (first close pass, t = 5.25, at step {passing}); {said}. At the default tolerance"
            f" and order: {_default_spiral(prepared)}.\n"
        )
    return "\n".join(told) + "\n"


def _default_spiral(prepared) -> str:
    run = simulate_agents(prepared, until=12.0, record_steps=True)
    agreed = sum(s.agreed for s in run.steps)
    return f"{len(run.steps)} steps, {agreed} of them agreed, t = {run.outcome.time:.9g}"


# Costs


def per_step() -> str:
    rows: Rows = []
    for n in (2, 12, 40):
        names = [f"x{i}" for i in range(n)]
        flows = [
            parse_expression(f"x{i + 1} - 0.01*x{i}" if i % 2 == 0 else f"-x{i - 1} - 0.01*x{i}")
            for i in range(n)
        ]
        program = compile_program(flowing=names, held=(), flows=flows, watches=())
        row = [str(n)]
        for method in (Adams(1e-6, 1e-9), Adams(1e-6, 1e-9, max_order=4)):
            result = advance(program, method, 0.0, [1.0] * n, [], 2000.0, [], False)
            took = best(
                lambda p=program, m=method, k=n: advance(
                    p, m, 0.0, [1.0] * k, [], 2000.0, [], False
                )
            )
            row.append(f"{1e6 * took / result.counts.steps:.2f} us")
        rows.append(row)
    return table(["variables", "per step, order up to 8", "order up to 4"], rows)


def start_up() -> str:
    rows: Rows = []
    program = str(Path(sys.executable).parent / "workbench")
    for words in (["--help"], ["simulate", "platoon_paper", "--until", "20"]):
        took = best(
            lambda w=words: subprocess.run([program, *w], check=True, capture_output=True), 5
        )
        rows.append([f"`workbench {' '.join(words)}`", f"{took:.2f} s"])
    prepared = prepare(load("platoon_paper").automaton)
    runs = 500
    took = best(
        lambda: [simulate(prepared, until=20.0, seed=i, dense=False) for i in range(runs)], 1
    )
    rows.append(
        ["a further run of `platoon` for 20 s (one process)", f"{1000 * took / runs:.2f} ms"]
    )
    return table(["what", "best of five"], rows)


# The page


def sections() -> Iterator[tuple[str, Callable[[], str]]]:
    yield (
        "Thin post (100 true hits; arc of radius 5, post of radius 0.05)",
        lambda: compare(thin_posts()),
    )
    yield (
        "Corridor (5 starts, 100 perturbations each; all crash)",
        lambda: compare(corridors(), True),
    )
    yield "Two-link arm leaving its workspace (100 runs)", lambda: compare(arms())
    yield "Torricelli's tank (empty at t = 2)", lambda: one_problem(tank())
    yield "Zeno ball", zeno
    yield "Bumper cars: more and more of them", bumper_cars
    yield "Bumper cars: own clocks against one clock", asynchrony
    yield "Spiral cars", spirals
    yield "Two rates inside one agent", two_rates
    yield "Cost of a step", per_step
    yield "Cost of looking ahead (one linear guard, per step)", looking_ahead
    yield "Start", start_up


def machine() -> str:
    """Where and when, in a few words."""
    processor = platform.processor() or platform.machine()
    core = "compiled core" if is_compiled() else "reference in Python"
    return (
        f"{date.today().isoformat()}, {os.cpu_count()} cores {processor}, Python"
        f" {platform.python_version()}, {core}; load average {os.getloadavg()[0]:.1f} at the start"
        " (above the number of cores, times are worse than on an idle machine)"
    )


def measured(title: str, work: Callable[[], str]) -> str:
    print(f"{title} ...", file=sys.stderr, flush=True)
    begun = time.perf_counter()
    text = work()
    print(f"  {time.perf_counter() - begun:.1f} s", file=sys.stderr, flush=True)
    return f"## {title}\n\n{text}"


def measured_again(words: list[str]) -> str:
    """The page with the sections whose titles contain one of these words made anew."""
    head, *parts = re.split(r"(?m)^(?=## )", (ROOT / "docs" / "benchmarks.md").read_text())
    known = {part.partition("\n")[0].removeprefix("## "): part for part in parts}
    page = [head]
    for title, work in sections():
        if any(word in title for word in words):
            note = f"\nMeasured by itself: {machine()}.\n\n"
            page.append(measured(title, work).rstrip("\n") + "\n" + note)
        elif title in known:
            page.append(known[title])
    return "".join(page).rstrip("\n") + "\n"


def main() -> int:
    """Measure everything, or only the sections that are named by a word of their title."""
    (ROOT / "docs" / "images").mkdir(exist_ok=True)
    if len(sys.argv) > 1:
        text = measured_again(sys.argv[1:])
    else:
        page = [
            "# Benchmarks of the simulator\n",
            "Made by `make bench`; all tools solve the same problems in the same run, at relative"
            " tolerance 1e-4 and absolute tolerance 1e-7. `RHS` counts evaluations of the"
            " right-hand side (for our Taylor method: coefficients), `singular` those where it has"
            " no value. Our times are of runs of a prepared model; heyoka's are without its"
            " compilation.\n",
            f"{machine()}.\n",
        ]
        text = "\n".join([*page, *(measured(title, work) for title, work in sections())])
    (ROOT / "docs" / "benchmarks.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

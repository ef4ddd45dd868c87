"""`workbench simulate`: make runs of a model, without missing an event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from workbench.arguments import Chosen, model_argument, output_options
from workbench.console import Console
from workbench.exit_codes import ExitCode
from workbench.files import write_whole
from workbench.models.counting import counted
from workbench.option_types import Number, OutputFile
from workbench.progress import Progress
from workbench.run_summary import compared, details, in_words, row, table

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton
    from workbench.models.trace import Trace
    from workbench.models.trace_boxes import Box
    from workbench.models.trace_comparison import Difference
    from workbench.simulate.many_runs import RunMaker, Summary
    from workbench.simulate.monitoring.stl import Formula
    from workbench.simulate.recipe import Recipe

METHODS = ("adams", "taylor", "multirate", "endpoint", "interpolation")
POLICIES = ("earliest", "latest", "random", "script")
LEVELS = ("low", "mid", "high", "random")
SHOWN_RUNS = 20
"""So many runs get a line of their own on the terminal; all others are counted."""

LISTED_RUNS = 10_000
"""With --json so many runs are listed, all others are counted; no more are drawn or tabulated."""

MAX_KEPT = 20_000_000
"""So many numbers of dense output are kept of all runs together."""

WORTH_WORKERS = 1.5
"""Worker processes are started for work of more than so many seconds."""


@click.command("simulate")
@model_argument
@click.option(
    "--until",
    type=Number(0, 1e9),
    metavar="T",
    help="End of the runs.  [default: the model's horizon, or 20]",
)
@click.option("--runs", type=click.IntRange(1, 1_000_000), default=1, show_default=True)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Of the first run; the following runs count on.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    help="Processes that make the runs.  [default: as many as there are processors, if it pays]",
)
@click.option("--init", "initial", metavar="NAME=VALUE,...", help="Initial values.")
@click.option("--location", metavar="NAME", help="Initial location.")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=SIGNAL",
    help="A signal: 3, 0:1,5:2, lines(0:1,5:2), sine(amplitude,frequency,phase,offset), "
    "an expression of t, or @file.csv.",
)
@click.option(
    "--policy",
    type=click.Choice(POLICIES),
    help="When an edge that may be taken is taken.  [default: earliest; random for many runs]",
)
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    help="Which value of a range is taken.  [default: mid; random for many runs]",
)
@click.option("--script", metavar="NUMBERS", help="Decisions in [0, 1), for --policy script.")
@click.option("--method", type=click.Choice(METHODS), default="adams", show_default=True)
@click.option(
    "--own-clocks",
    is_flag=True,
    help="Every group of coupled agents advances on a clock of its own.",
)
@click.option(
    "--synchronous",
    is_flag=True,
    help="Agents as with --own-clocks, but on one clock: to compare the numbers of steps.",
)
@click.option("--rtol", type=Number(1e-14, 1e-1), default=1e-6, show_default=True)
@click.option("--atol", type=Number(1e-300, 1e-1), default=1e-9, show_default=True)
@click.option(
    "--formula",
    metavar="STL",
    help='Monitor a temporal formula, e.g. "always[0,20](speed < 120)".',
)
@click.option("--csv", "csv_file", type=OutputFile(), metavar="FILE")
@click.option(
    "--trace",
    "trace_file",
    type=OutputFile(),
    metavar="FILE",
    help="Write a whole run as JSON: the first that violates a property, or the first.",
)
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Make the run of such a file again.",
)
@click.option(
    "--compare",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Say how the run differs from a trace: a JSON file of --trace, or a table of --csv.",
)
@click.option("--plot", type=OutputFile(), metavar="FILE", help="Draw the runs: .svg or .html.")
@click.option(
    "--validated",
    is_flag=True,
    help="Follow the first run (or the first that violates a property) by rigorous enclosures.",
)
@click.option(
    "--sliding/--no-sliding",
    default=None,
    help="Slide along switching surfaces that attract from both sides.  [default: where the "
    "model says `sliding trans`]",
)
@click.option("--plot-vars", metavar="NAMES", help="What to draw: x,y,z; x:y is a phase plot.")
@output_options
@click.pass_obj
def command(console: Console, /, chosen: Chosen, **options: Any) -> ExitCode:
    """Run a model: every event is found, none is overshot.

    Exit code 10 says that a run violated a property, 5 that one could not be followed to its
    end (no finite value, no step small enough, chattering, a failing external function), or
    with --validated not proved up to its end.

    \b
    Example:
      workbench simulate bouncing_ball --until 6 --init "height=10"
      workbench simulate thermostat_timer --runs 50 --seed 7 --csv runs.csv
      workbench simulate thermostat_timer --plot run.svg --plot-vars temp,timer
      workbench falsify platoon_saturated --trace bad.json
      workbench simulate platoon_saturated --replay bad.json
    """
    from workbench.simulation_options import (
        note_unfed,
        plotted,
        read_other,
        read_recipe,
        replayed_recipe,
    )

    plot: Path | None = options["plot"]
    if plot is not None and plot.suffix not in (".svg", ".html"):
        raise click.UsageError(f"--plot writes .svg or .html, not {plot.suffix or str(plot)!r}")
    _check_outputs(options)
    model = chosen.load()
    console.warnings(model.warnings, model.sources)
    if options["replay"] is not None:
        recipe = replayed_recipe(chosen, model.automaton, options)
    else:
        recipe = read_recipe(model.automaton, chosen.parameters, options)
    note_unfed(console, model.automaton, recipe)
    runs = options["runs"] if options["replay"] is None else 1
    automaton = model.automaton
    if recipe.claim is not None:  # a counterexample ends where this property fails
        from workbench.simulate.search.objective import focused

        claim = next((p for p in automaton.properties if p.name == recipe.claim), None)
        automaton = focused(automaton, claim) if claim is not None else automaton
    drawn = plotted(model.automaton, options["plot_vars"]) if plot is not None else []
    session = _Session(console, chosen, model.automaton, recipe, runs, options)
    session.drawn = drawn
    session.other = read_other(console, options["compare"], model.automaton)
    return session.work(automaton)


def _check_outputs(options: dict[str, Any]) -> None:
    """Refuse what cannot be drawn or written together."""
    many = options["csv_file"] is not None or options["plot"] is not None
    if many and options["runs"] > LISTED_RUNS:
        raise click.UsageError(f"--csv and --plot take at most {LISTED_RUNS} runs")
    if options["plot_vars"] is not None and options["plot"] is None:
        raise click.UsageError("--plot-vars needs --plot FILE")


class _Session:
    """Makes the runs, says how they went, and writes what was asked for."""

    def __init__(
        self,
        console: Console,
        chosen: Chosen,
        automaton: Automaton,
        recipe: Recipe,
        runs: int,
        options: dict[str, Any],
    ):
        self.console, self.chosen, self.automaton = console, chosen, automaton
        self.recipe, self.runs, self.options = recipe, runs, options
        self.kept: list[tuple[int, Trace]] = []
        self.rows: list[dict[str, Any]] = []
        self.bad: int | None = None  # the seed of the first run that violates something
        self.endings: dict[str, int] = {}
        self.room = MAX_KEPT
        self.interrupted = False
        self.proof: dict[str, Any] | None = None
        self.proved = ""
        self.is_proved_bad = self.is_unproved = False
        self.followed: int | None = None  # the seed of the run that was followed by enclosures
        self.boxes: Sequence[Box] | None = None  # the enclosures, if they were asked for
        self.drawn: list[str] = []  # what the plot shows
        self.other: Trace | None = None  # the trace to compare with
        self.difference: Difference | None = None
        self.maker: RunMaker

    @property
    def keeps_all(self) -> bool:
        """Whether whole runs are needed at the end."""
        return self.options["csv_file"] is not None or self.options["plot"] is not None

    def work(self, automaton: Automaton) -> ExitCode:
        try:
            self.make_runs(automaton)
        except KeyboardInterrupt:
            self.interrupted = True
            done = sum(self.endings.values())
            self.console.error(f"interrupted after {done} of {counted(self.runs, 'run')}")
        if self.options["validated"] and not self.interrupted:
            self.validate(automaton)
        if self.other is not None and not self.interrupted:
            self.compare(self.other)
        self.write()
        self.report()
        if self.interrupted:
            return ExitCode.INTERRUPTED
        if self.endings.get("empty-initial") == self.runs:
            chosen = self.recipe.initial or self.recipe.location
            return ExitCode.USAGE if chosen else ExitCode.MODEL_REJECTED
        return {"falsified": ExitCode.FALSIFIED, "ok": ExitCode.OK}.get(
            self.outcome, ExitCode.UNKNOWN
        )

    @property
    def outcome(self) -> str:
        """The runs in one word; `incomplete` where one could not be followed to its end, by
        steps or, if these were asked for, by enclosures."""
        from workbench.models.trace import Ending

        if self.bad is not None or self.is_proved_bad:
            return "falsified"
        stuck = self.is_unproved or any(Ending(e).gave_up for e in self.endings)
        return "incomplete" if stuck else "ok"

    def make_runs(self, automaton: Automaton) -> None:
        from workbench.simulate.many_runs import RunMaker
        from workbench.simulation_options import read_formula

        text = self.recipe.formula
        formula = None if text is None else read_formula(self.automaton, text)
        if formula is not None and self.recipe.until < formula.horizon < float("inf"):
            self.console.note(
                f"note: the formula looks up to t = {formula.horizon:g}, the runs end at"
                f" t = {self.recipe.until:g}: what comes later counts as satisfied"
                f" (--until {formula.horizon:g} decides it)"
            )
        self.maker = RunMaker(automaton, self.recipe, formula)
        seeds = range(self.recipe.seed, self.recipe.seed + self.runs)
        with Progress(self.console.quiet or self.console.as_json) as progress:
            for i, summary in enumerate(self.summaries(automaton, formula, seeds), start=1):
                if self.runs > 1:
                    progress(f"{_bar(i, self.runs)} {i} of {self.runs} runs")
                self.endings[summary.ending] = self.endings.get(summary.ending, 0) + 1
                if summary.is_bad and self.bad is None:
                    self.bad = summary.seed
                if i <= (LISTED_RUNS if self.console.as_json else SHOWN_RUNS):
                    self.rows.append(row(summary))

    def summaries(
        self, automaton: Automaton, formula: Formula | None, seeds: range
    ) -> Iterator[Summary]:
        """The runs one after another; many of them in worker processes."""
        from workbench.simulate.many_runs import in_workers

        begun, workers = monotonic(), self.options["workers"]
        for done, seed in enumerate(seeds):
            if not self.keeps_all and done >= (0 if workers else SHOWN_RUNS):
                rest = (len(seeds) - done) * (monotonic() - begun) / max(done, 1)
                count = workers or (processors() if rest > WORTH_WORKERS else 1)
                if count > 1 and len(seeds) - done > 1:
                    yield from in_workers(automaton, self.recipe, formula, seeds[done:], count)
                    return
            if self.keeps_all:
                self.keep(seed, self.maker.trace(seed))
            yield self.maker.summary(seed, self.kept[-1][1] if self.keeps_all else None)

    def keep(self, seed: int, trace: Trace) -> None:
        """Keep a whole run, as long as all of them fit into memory."""
        self.kept.append((seed, trace))
        self.room -= sum(len(s.coefficients) for s in trace.segments)
        if self.room < 0 and len(self.kept) < self.runs:
            raise click.UsageError(
                f"--csv and --plot keep whole runs, and there is no room for more than the first "
                f"{len(self.kept)}: ask for fewer runs, or a shorter time"
            )

    def chosen_run(self) -> tuple[int, Trace]:
        """The first run that violates something, or the first of all."""
        seed = self.recipe.seed if self.bad is None else self.bad
        known = next((trace for s, trace in self.kept if s == seed), None)
        return seed, known or self.maker.trace(seed)

    def validate(self, automaton: Automaton) -> None:
        """Prove the run by enclosures, as far as that goes."""
        from dataclasses import replace

        from workbench.simulate.validated.validated_run import (
            as_data,
            boxes,
            describe,
            validated_run,
        )

        seed, trace = self.chosen_run()
        recipe = replace(self.recipe, seed=seed).with_decisions(trace.decisions)
        run = validated_run(automaton, recipe)
        self.is_proved_bad = run is not None and run.violation is not None
        self.is_unproved = run is not None and not run.complete
        self.followed, self.boxes = seed, () if run is None else boxes(run)
        self.proof = None if run is None else as_data(run)
        self.proved = "there is no run to validate." if run is None else describe(run)

    def compare(self, other: Trace) -> None:
        """Measure how far the run is from another one."""
        from workbench.models.trace_comparison import compare_traces

        _, trace = self.chosen_run()
        share = max(trace.start, other.start) <= min(trace.end, other.end)
        if trace.segments and other.segments and share:
            self.difference = compare_traces(trace, other)

    def report(self) -> None:
        console = self.console
        if console.as_json:
            console.data(
                model=self.chosen.label,
                model_sha256=self.automaton.sha256,
                until=self.recipe.until,
                outcome=self.outcome,
                interrupted=self.interrupted,
                endings=self.endings,
                runs=self.rows,
                **({"validated": self.proof} if self.options["validated"] else {}),
                **({"comparison": compared(self.difference)} if self.other else {}),
            )
            return
        for shown in self.rows:
            console.result(f"{self.chosen.label}: {shown['sentence']}{details(shown)}")
        if self.proved:
            console.result(f"{self.chosen.label}: {self.proved}")
        if self.other is not None:
            console.result(f"{self.chosen.label}: {in_words(self.difference)}")
        hidden = sum(self.endings.values()) - len(self.rows)
        if hidden > 0:
            console.result(f"... and {counted(hidden, 'more run')}")
        if self.runs > 1:
            counts = ", ".join(f"{n} {ending}" for ending, n in sorted(self.endings.items()))
            console.result(
                f"{self.chosen.label}: {counted(sum(self.endings.values()), 'run')}: {counts}"
            )

    def write(self) -> None:
        if not self.endings:
            return
        options, traces = self.options, [trace for _, trace in self.kept]
        if options["trace_file"] is not None:
            from dataclasses import replace

            from workbench.simulate.recipe import recorded

            seed, trace = self.chosen_run()
            recipe = replace(self.recipe, seed=seed)
            text = recorded(trace, recipe, self.automaton.sha256)
            write_whole(options["trace_file"], text)
        if options["csv_file"] is not None:
            write_whole(options["csv_file"], table(self.kept, self.followed, self.boxes))
        if options["plot"] is not None:
            self.draw(options["plot"], traces)

    def draw(self, path: Path, traces: Sequence[Trace]) -> None:
        from workbench.reports.pictures.trace_plot import page, plot

        title = f"{self.chosen.label} until {self.recipe.until:g}"
        try:
            drawn = [t for t in traces if t.segments]
            svg = plot(drawn, self.drawn, title, self.boxes or ())
        except ValueError as error:
            raise click.UsageError(f"--plot: {error}") from error
        write_whole(path, page(svg, title) if path.suffix == ".html" else svg)


def _bar(done: int, total: int, width: int = 24) -> str:
    filled = done * width // total
    return "[" + "#" * filled + "-" * (width - filled) + "]"


def processors() -> int:
    """How many processors this process may use."""
    import os

    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1

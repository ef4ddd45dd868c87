"""`workbench simulate`: make runs of a model, without missing an event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from workbench.api.comparison import Comparison, compared, read_other
from workbench.api.run_pictures import PICTURES, known_to, panels, picture, shown_of
from workbench.api.run_words import details, row, table
from workbench.api.work import Cancelled, ending_at
from workbench.cli.arguments import Chosen, model_argument, output_options, spoken
from workbench.cli.console import Console
from workbench.cli.exit_codes import ExitCode
from workbench.cli.files import write_whole
from workbench.cli.limits import end_in_time, time_limit_option
from workbench.cli.option_types import Number, OutputFile
from workbench.cli.progress import Progress
from workbench.models.counting import counted
from workbench.models.processes import processors

if TYPE_CHECKING:
    from workbench.api.model import Model
    from workbench.api.runs import Moment
    from workbench.api.simulation import Simulation, Summary, Trace, Validated

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
    "switching",
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
@click.option(
    "--plot",
    type=OutputFile(),
    metavar="FILE",
    help="Draw the runs and the bounds of properties: .svg, .html, .png or .pdf.",
)
@click.option(
    "--validated",
    is_flag=True,
    help="Follow the first run (or the first that violates a property) by rigorous enclosures.",
)
@click.option(
    "--why",
    type=Number(0, 1e9),
    metavar="T",
    help="Say why the first run (or the first that violates a property) jumps at this time, or "
    "does not: what every guard lacks.",
)
@click.option(
    "--sliding/--no-sliding",
    default=None,
    help="Slide along switching surfaces that attract from both sides.  [default: where the "
    "model says `sliding trans`]",
)
@click.option(
    "--plot-vars",
    "names",
    multiple=True,
    metavar="NAMES",
    help="What to draw: x,y,z; x+y are in one panel, x:y is a phase plot; may be repeated.",
)
@click.option(
    "--partial",
    is_flag=True,
    help="Write files also where the work was interrupted or took too long.",
)
@time_limit_option(None, "Give up after that, with the runs that there are; by default never.")
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
      workbench simulate thermostat_timer --why 0.5
      workbench falsify platoon_saturated --trace bad.json
      workbench simulate platoon_saturated --replay bad.json
    """
    plot: Path | None = options["plot"]
    if plot is not None and plot.suffix not in PICTURES:
        wanted = f"{', '.join(PICTURES[:-1])} or {PICTURES[-1]}"
        raise click.UsageError(f"--plot writes {wanted}, not {plot.suffix or str(plot)!r}")
    _check_outputs(options)
    if options["time_limit"] is not None:
        end_in_time(console, chosen.label, console.begun, options["time_limit"])
    model = chosen.open()
    console.warnings(model.warnings, model.sources)
    how = _chosen_run(model, options) if options["replay"] is not None else _new(model, options)
    for note in how.notes:
        console.note(f"note: {note}")
    session = _Session(console, chosen.label, how, options)
    if plot is not None:
        session.drawn = _panels(model, options["names"])
    if options["compare"] is not None:
        session.other, lacking = read_other(model.automaton, options["compare"])
        if lacking:
            console.note(f"note: {lacking}")
    return session.work()


def _new(model: Model, options: dict[str, Any]) -> Simulation:
    """How the runs are made that the options describe."""
    initial = _pairs("--init", _items(options["initial"]), "name=value")
    inputs = _pairs("--input", options["inputs"], "name=signal")
    is_scripted = options["switching"] == "script"
    if is_scripted != (options["script"] is not None):
        raise click.UsageError("--policy script and --script NUMBERS need each other")
    if options["validated"] and (options["own_clocks"] or options["synchronous"]):
        raise click.UsageError("--validated follows one clock, not --own-clocks or --synchronous")
    return model.simulation(
        options["runs"],
        until=options["until"],
        seed=options["seed"],
        initial=initial,
        location=options["location"],
        inputs=inputs,
        switching="random" if is_scripted else options["switching"],
        level=options["level"],
        script=_numbers(options["script"]),
        method=options["method"],
        rtol=options["rtol"],
        atol=options["atol"],
        formula=options["formula"],
        sliding=options["sliding"],
        own_clocks=False if options["validated"] else options["own_clocks"] or None,
        synchronous=options["synchronous"],
    )


def _chosen_run(model: Model, options: dict[str, Any]) -> Simulation:
    """How the run of a file is made again; options that are given besides it win."""
    for name in ("runs", "seed", "initial", "location", "inputs", "switching", "level", "script"):
        if _given(name):
            raise click.UsageError(
                f"{spoken(name)} and --replay: the file says how the run is made"
            )
    stepping: dict[str, Any] = {}
    if any(map(_given, ("method", "rtol", "atol"))):
        stepping = {name: options[name] for name in ("method", "rtol", "atol")}
    return model.recorded(
        options["replay"], until=options["until"], sliding=options["sliding"], **stepping
    )


def _given(name: str) -> bool:
    """Whether an option stands on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not click.core.ParameterSource.DEFAULT


def _pairs(option: str, given: Sequence[str], form: str) -> dict[str, str]:
    """What reads `name=value`, by name."""
    found: dict[str, str] = {}
    for item in given:
        name, separator, value = (part.strip() for part in item.partition("="))
        if not (separator and name and value):
            raise click.UsageError(f"{option}: {item.strip()[:80]!r} should read {form}")
        if name in found:
            raise click.UsageError(f"{option}: {name!r} is given twice")
        found[name] = value[:200] if option == "--init" else value
    return found


def _items(text: str | None) -> list[str]:
    return [item for item in (text or "").split(",") if item.strip()]


def _numbers(text: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(item) for item in _items(text))
    except ValueError as error:
        raise click.UsageError(f"--script: {error}") from error


def _panels(model: Model, given: Sequence[str]) -> list[str]:
    """What a plot shows; of two names that stand for themselves also the pair."""
    if not given:
        return shown_of(model.automaton)
    found = panels([item for text in given for item in _items(text)], known_to(model.automaton))
    if len(found) == 2 and not any(":" in panel or "+" in panel for panel in found):
        found.append(":".join(found))
    return found


def _check_outputs(options: dict[str, Any]) -> None:
    """Refuse what cannot be drawn or written together."""
    many = options["csv_file"] is not None or options["plot"] is not None
    if many and options["runs"] > LISTED_RUNS:
        raise click.UsageError(f"--csv and --plot take at most {LISTED_RUNS} runs")
    if options["names"] and options["plot"] is None:
        raise click.UsageError("--plot-vars needs --plot FILE")


class _Session:
    """Makes the runs, says how they went, and writes what was asked for."""

    def __init__(self, console: Console, label: str, how: Simulation, options: dict[str, Any]):
        self.console, self.label, self.how, self.options = console, label, how, options
        self.runs = how.runs
        self.kept: list[tuple[int, Trace]] = []
        self.rows: list[dict[str, Any]] = []
        self.bad: int | None = None  # the seed of the first run that violates something
        self.endings: dict[str, int] = {}
        self.room = MAX_KEPT
        self.interrupted = self.is_late = False
        self.gave_up = False  # whether a run could not be followed to its end
        self.proof: Validated | None = None  # the enclosures, if they were asked for
        self.followed: int | None = None  # the seed of the run that was followed by them
        self.drawn: list[str] = []  # what the plot shows
        self.other: Trace | None = None  # the trace to compare with
        self.comparison: Comparison | None = None
        self.moment: Moment | None = None  # what was asked about

    @property
    def latest(self) -> float:
        """Until when runs may be made."""
        limit: float | None = self.options["time_limit"]
        return inf if limit is None else self.console.begun + limit

    @property
    def keeps_all(self) -> bool:
        """Whether whole runs are needed at the end."""
        return self.options["csv_file"] is not None or self.options["plot"] is not None

    def work(self) -> ExitCode:
        try:
            with ending_at(self.latest):
                self.make_runs()
                if self.options["validated"]:
                    self.validate()
        except (KeyboardInterrupt, Cancelled) as error:
            self.interrupted = True
            self.is_late = not isinstance(error, KeyboardInterrupt)
            done = sum(self.endings.values())
            why = "the time limit (--time-limit) ended it" if self.is_late else "interrupted"
            self.console.error(f"{why} after {done} of {counted(self.runs, 'run')}")
        self.note_unrepeated()
        if self.other is not None and not self.interrupted:
            self.comparison = compared(self.chosen_run()[1], self.other)
        if self.options["why"] is not None and not self.interrupted:
            self.explain(self.options["why"])
        self.write()
        self.report()
        if self.interrupted:
            return ExitCode.UNKNOWN if self.is_late else ExitCode.INTERRUPTED
        if self.endings.get("empty-initial") == self.runs:
            chosen = self.options["initial"] or self.options["location"]
            return ExitCode.USAGE if chosen else ExitCode.MODEL_REJECTED
        return {"falsified": ExitCode.FALSIFIED, "ok": ExitCode.OK}.get(
            self.outcome, ExitCode.UNKNOWN
        )

    def note_unrepeated(self) -> None:
        """Say so where a counterexample that was found by exact arithmetic does not violate its
        claim when it is repeated in floating point."""
        replayed = self.options["replay"] is not None and not self.interrupted
        whole = self.options["until"] is None
        ends = self.endings.get("blocked")  # what breaks the claim that runs never block
        if replayed and whole and self.how.claim is not None and self.bad is None and not ends:
            self.console.note(
                f"note: the recorded run violates {self.how.claim!r}; repeated in floating"
                " point it does not, for it meets the bad states only within rounding"
            )

    @property
    def outcome(self) -> str:
        """The runs in one word; `incomplete` where one could not be followed to its end, by
        steps or, if these were asked for, by enclosures."""
        if self.bad is not None or (self.proof is not None and self.proof.is_bad):
            return "falsified"
        stuck = self.proof is not None and not self.proof.is_complete
        return "incomplete" if stuck or self.gave_up else "ok"

    def make_runs(self) -> None:
        with Progress(self.console.quiet or self.console.as_json) as progress:
            for i, summary in enumerate(self.summaries(), start=1):
                if self.runs > 1:
                    progress(f"{_bar(i, self.runs)} {i} of {self.runs} runs")
                self.endings[summary.ending] = self.endings.get(summary.ending, 0) + 1
                self.gave_up = self.gave_up or summary.ending.gave_up
                if summary.is_bad and self.bad is None:
                    self.bad = summary.seed
                if i <= (LISTED_RUNS if self.console.as_json else SHOWN_RUNS):
                    self.rows.append(row(summary))

    def summaries(self) -> Iterator[Summary]:
        """The runs one after another; many of them in worker processes."""
        begun, workers, seeds = monotonic(), self.options["workers"], self.how.seeds
        for done, seed in enumerate(seeds):
            if not self.keeps_all and done >= (0 if workers else SHOWN_RUNS):
                rest = (len(seeds) - done) * (monotonic() - begun) / max(done, 1)
                count = workers or (processors() if rest > WORTH_WORKERS else 1)
                if count > 1 and len(seeds) - done > 1:
                    yield from self.how.summaries(seeds[done:], count)
                    return
            if self.keeps_all:
                self.keep(seed, self.how.trace(seed))
            yield self.how.summary(seed, self.kept[-1][1] if self.keeps_all else None)

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
        seed = self.how.seeds[0] if self.bad is None else self.bad
        known = next((trace for s, trace in self.kept if s == seed), None)
        return seed, known or self.how.trace(seed)

    def validate(self) -> None:
        """Prove the run by enclosures, as far as that goes."""
        self.followed, trace = self.chosen_run()
        self.proof = self.how.validated(self.followed, trace)

    def explain(self, time: float) -> None:
        """Ask of a time of the run what keeps it from jumping."""
        seed, _ = self.chosen_run()
        try:
            self.moment = self.how.run(seed).why(time, before=True)
        except ValueError as error:
            raise click.UsageError(f"--why: {error}") from error

    def report(self) -> None:
        console, options, found = self.console, self.options, self.comparison
        if console.as_json:
            console.data(
                model=self.label,
                model_sha256=self.how.automaton.sha256,
                until=self.how.until,
                outcome=self.outcome,
                interrupted=self.interrupted,
                endings=self.endings,
                runs=self.rows,
                **({"validated": self.proof and self.proof.data} if options["validated"] else {}),
                **({"comparison": found and found.data} if self.other else {}),
                **({"why": self.moment.data} if self.moment else {}),
            )
            return
        for shown in self.rows:
            console.result(f"{self.label}: {shown['sentence']}{details(shown)}")
        for more in (self.proof, found):
            if more is not None:
                console.result(f"{self.label}: {more}")
        if self.moment is not None:
            console.result(str(self.moment))
        hidden = sum(self.endings.values()) - len(self.rows)
        if hidden > 0:
            console.result(f"... and {counted(hidden, 'more run')}")
        if self.runs > 1:
            counts = ", ".join(f"{n} {ending}" for ending, n in sorted(self.endings.items()))
            console.result(f"{self.label}: {counted(sum(self.endings.values()), 'run')}: {counts}")

    def write(self) -> None:
        """Write what is asked for; a part does not replace what is there, unless that is asked."""
        if not self.endings:
            return
        if self.interrupted and not self.options["partial"]:
            targets = (self.options[name] for name in ("trace_file", "csv_file", "plot"))
            for target in filter(None, targets):
                self.console.error(f"{target} is not written: there is only a part (--partial)")
            return
        options, boxes = self.options, None if self.proof is None else self.proof.boxes
        if options["trace_file"] is not None:
            write_whole(options["trace_file"], self.how.recording(*self.chosen_run()))
        if options["csv_file"] is not None:
            write_whole(options["csv_file"], table(self.kept, self.followed, boxes))
        path: Path | None = options["plot"]
        if path is not None:
            title = f"{self.label} until {self.how.until:g}"
            traces = [trace for _, trace in self.kept]
            model = self.how.automaton
            drawn = picture(traces, self.drawn, title, path.suffix, model, boxes or ())
            write_whole(path, drawn)


def _bar(done: int, total: int, width: int = 24) -> str:
    filled = done * width // total
    return "[" + "#" * filled + "-" * (width - filled) + "]"

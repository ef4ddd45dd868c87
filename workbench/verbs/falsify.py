"""`workbench falsify`: look for a run that violates a property."""

from __future__ import annotations

import math
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.arguments import Chosen, model_argument, output_options, property_option
from workbench.cli.console import Console
from workbench.cli.exit_codes import ExitCode
from workbench.cli.files import write_whole
from workbench.cli.limits import end_in_time, time_limit_option, undecided
from workbench.cli.option_types import Number, OutputFile
from workbench.cli.progress import Progress
from workbench.cli.supervision import allow

if TYPE_CHECKING:
    from workbench.api.model import Model
    from workbench.api.verdicts import Verdict

LEAST = 1e-3
"""Seconds that a search has at least."""


@click.command("falsify")
@model_argument
@property_option
@click.option(
    "--formula",
    metavar="STL",
    help='A temporal formula in place of a property, e.g. "always[0,20](speed < 120)".',
)
@click.option(
    "--budget",
    type=click.IntRange(1, 10_000_000),
    default=2000,
    show_default=True,
    help="Simulations for each property.",
)
@time_limit_option(60.0)
@click.option(
    "--until",
    type=Number(0, 1e9, min_open=True),
    metavar="T",
    help="Length of the runs.  [default: the model's horizon, or several]",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Processes; they change how long it takes, not what is found.",
)
@click.option(
    "--control-points",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Of each input signal.  [default: 1, 4 and 10]",
)
@click.option(
    "--abstraction",
    type=Number(0, 1e6),
    default=0.0,
    show_default=True,
    metavar="SECONDS",
    help="Look for abstract counterexamples so long first, and begin where they do.",
)
@click.option("--linear", is_flag=True, help="Piecewise linear inputs, not piecewise constant.")
@click.option(
    "--enclose",
    is_flag=True,
    help="Prove the violation by enclosures also where that takes long.",
)
@click.option(
    "--trace",
    "trace_file",
    type=OutputFile(),
    metavar="FILE",
    help="Where to write the counterexample, or a violating run that could not be confirmed;"
    " `simulate --replay` repeats it.",
)
@output_options
@click.pass_obj
def command(
    console: Console, /, chosen: Chosen, names: tuple[str, ...], **options: Any
) -> ExitCode:
    """Search for a run that violates a property.

    The search varies initial states, parameters, inputs and everything the model leaves open,
    and minimises robustness: the distance from a violation. FALSIFIED is said only after two
    methods have repeated the run at a tight tolerance and violated the property by far more
    than their error. Finding nothing proves nothing.

    \b
    Example:
      workbench falsify platoon_saturated
      workbench falsify platoon_saturated -p "no collision" --budget 2000 --seed 1 --trace bad.json
      workbench simulate platoon_saturated --replay bad.json
      workbench falsify powertrain_revving --formula "always[0,20](speed < 30)"
    """
    from workbench.api.search import Interrupted

    begun = console.begun
    end_in_time(console, chosen.label, begun, options["time_limit"])
    model = chosen.open()
    formula, trace_file = options["formula"], options.pop("trace_file")
    if formula is not None and names:
        raise click.UsageError("give either a property or a --formula")
    claims: tuple[str, ...] = (formula,) if formula is not None else model.claims(*names)
    if trace_file is not None and len(claims) != 1:
        raise click.UsageError("--trace needs one property: name it with -p")
    console.warnings(model.warnings, model.sources)
    if formula is not None:
        _say_longer(console, model, formula, options["until"])
    found: list[Verdict] = []
    is_interrupted = False
    for claim in claims:
        words = _last_words(console, chosen.label, model.sha256, found, claim, options, trace_file)
        allow(begun, options["time_limit"], words)
        spent = time.monotonic() - begun  # loading counts
        limit = max(options["time_limit"] - spent, LEAST)
        asked = () if formula is not None else (claim,)
        try:
            with Progress(console.quiet or console.as_json) as progress:
                (verdict,) = model.falsify(
                    *asked, **(options | {"time_limit": limit}), progress=progress
                )
        except Interrupted as ending:
            verdict, is_interrupted = ending.verdict, True
        begun = time.monotonic()
        found.append(verdict)
        run = verdict.counterexample
        text = verdict.suspect if run is None else run.recording
        if trace_file is not None and text is not None:
            write_whole(trace_file, text)
        if not console.as_json:
            console.result(verdict.in_words(chosen.label))
        if is_interrupted:
            break
    if console.as_json:
        known = [_data(verdict, trace_file) for verdict in found]
        console.raw(_as_json(console, chosen.label, model.sha256, known, options))
    if is_interrupted:
        if left := ", ".join(map(repr, claims[len(found) :])):
            console.note(f"interrupted: nothing is known about {left}")
        return ExitCode.INTERRUPTED
    return ExitCode.FALSIFIED if any(v.is_falsified for v in found) else ExitCode.UNKNOWN


def _say_longer(console: Console, model: Model, formula: str, until: float | None) -> None:
    """Say so where runs must be longer than asked for to decide a formula."""
    looks = model.looks_ahead(formula)
    if until is not None and until < looks < math.inf:
        console.note(
            f"note: the formula looks as far as t = {looks:g}, so runs are that long and do not end"
            f" at --until {until:g}; a counterexample ends soon after the formula is broken"
        )


def _last_words(
    console: Console,
    label: str,
    sha256: str,
    found: list[Verdict],
    claim: str,
    options: dict[str, Any],
    trace_file: Path | None,
) -> str:
    """The rest of the result, should the search not end in time."""
    if not console.as_json:
        return undecided(console, f"{label}: {claim!r}", options["time_limit"])
    why = f"it took more than {options['time_limit']:g} s (--time-limit)"
    known = [_data(verdict, trace_file) for verdict in found]
    known.append({"property": claim, "outcome": "unknown", "reason": why})
    return _as_json(console, label, sha256, known, options)


def _as_json(
    console: Console,
    model: str,
    sha256: str,
    results: list[dict[str, Any]],
    options: dict[str, Any],
) -> str:
    """One result by itself, several as a list."""
    shared = {
        "model": model,
        "model_sha256": sha256,
        "seed": options["seed"],
        "workers": options["workers"],
        "command": shlex.join(["workbench", *sys.argv[1:]]),
    }
    if len(results) == 1:
        return console.as_data(**shared, **results[0])
    return console.as_data(**shared, results=results)


def _data(verdict: Verdict, trace_file: Path | None) -> dict[str, Any]:
    """What a search found as plain data, with the file that it was written to."""
    assert verdict.search is not None
    data = verdict.search.data
    for run in ("counterexample", "suspect"):
        if run in data and trace_file is not None:
            data[run] |= {"path": str(trace_file)}
    return data

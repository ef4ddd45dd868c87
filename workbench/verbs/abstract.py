"""`workbench abstract`: make a simpler system that a model refines, and prove that it does."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.arguments import Chosen, model_argument, output_options
from workbench.cli.console import Console
from workbench.cli.exit_codes import ExitCode
from workbench.cli.files import write_whole
from workbench.cli.option_types import OutputFile


@click.command("abstract")
@model_argument
@click.option("--interval", multiple=True, metavar="NAME", help="Bound this derivative only.")
@click.option("--drop", multiple=True, metavar="NAME", help="Leave this variable out.")
@click.option("--merge", metavar="A,B,...", help="Make these locations one, named A_B_...")
@click.option("--widen", metavar="MARGIN", help="Let guards hold this much earlier.")
@click.option("--timed", metavar="NAME", help="Replace this variable by a clock.")
@click.option(
    "--output",
    "-o",
    type=OutputFile(),
    metavar="FILE",
    help="Where to write the new model (standard output, if left out).",
)
@output_options
@click.pass_obj
def command(
    console: Console,
    chosen: Chosen,
    interval: tuple[str, ...],
    drop: tuple[str, ...],
    merge: str | None,
    widen: str | None,
    timed: str | None,
    output: Path | None,
) -> ExitCode:
    """Make a simpler system that a model refines.

    What is asked for is done in the order timed, interval, drop, widen, merge. The refinement
    holds by construction; it is proved again before anything is written. A FILE that ends in
    .json gets the automaton as JSON, any other one a CHARON text.

    \b
    Example:
      workbench abstract leaky_tank --interval level -o simple.charon
      workbench abstract adaptive_cruise --drop "x[1]" -o loose.charon
    """
    merged = [name.strip() for name in (merge or "").split(",") if name.strip()]
    found = chosen.open().abstract(
        interval=interval, drop=drop, merge=merged, widen=widen, timed=timed
    )
    if not found.holds:
        if console.as_json:
            console.data(**{"outcome": "not proved", "model": chosen.label, **found.data})
        else:
            console.result(found.in_words(chosen.label, ""))
        return ExitCode.UNKNOWN
    as_json = output is not None and output.suffix == ".json"
    text = found.to_json() if as_json else found.to_charon()
    if output is not None:
        write_whole(output, text)
    if console.as_json:
        console.data(**{"outcome": "refines", "model": chosen.label, **found.data}, text=text)
    elif output is None:
        console.raw(text)
    else:
        console.result(found.in_words(chosen.label, str(output)))
        for line in found.advice(as_json):
            console.result(f"  {line}")
    return ExitCode.OK

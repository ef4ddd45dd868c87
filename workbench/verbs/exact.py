"""`workbench exact`: from which states does a nilpotent linear system reach a target?"""

from __future__ import annotations

from pathlib import Path

import click

from workbench.api.numbers import Number
from workbench.cli.arguments import Chosen, model_argument, output_options
from workbench.cli.console import Console
from workbench.cli.exit_codes import ExitCode
from workbench.cli.files import write_whole
from workbench.cli.option_types import OutputFile


@click.command("exact")
@model_argument
@click.option(
    "--target",
    metavar="CONDITION",
    help="What is to be reached, e.g. 'd <= 0'; default: the states that break the property.",
)
@click.option("--time", "bound", metavar="T", help="A number or a name; default: no time limit.")
@click.option("--location", metavar="NAME", help="Which location's flow; default: the first.")
@click.option(
    "--at",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Evaluate the formula at these values (all its names are needed).",
)
@click.option("--invariant", is_flag=True, help="Only runs inside the location's invariant.")
@click.option("--simplify", is_flag=True, help="Leave out parts that others cover.")
@click.option(
    "--plot-region",
    "region",
    metavar="X,Y",
    help="Draw the formula over two names: 'd,v' or 'd=0:10,v=-5:5'; --at fixes the others.",
)
@click.option("--plot", type=OutputFile(), metavar="FILE.svg", help="Where to.")
@output_options
@click.pass_obj
def command(
    console: Console,
    chosen: Chosen,
    target: str | None,
    bound: str | None,
    location: str | None,
    at: tuple[str, ...],
    invariant: bool,
    simplify: bool,
    region: str | None,
    plot: Path | None,
) -> ExitCode:
    """Print an exact formula for the states that reach a target.

    The flow of the location must be nilpotent: a polynomial in time. The formula has no
    quantifiers; "verified" means that a solver has proved both directions.

    \b
    Example:
      workbench exact bouncing_ball --target "height >= 11"
      workbench exact bouncing_ball --target "height >= 11" --at height=10 --at velocity=0
      workbench exact bouncing_ball --plot-region "height=0:12,velocity=-20:20" --plot ball.svg
    """
    if (region is None) != (plot is None):
        raise click.UsageError("--plot-region and --plot go together")
    shown = None if region is None else _region(region)
    values = _values(at)
    model = chosen.open()
    console.warnings(model.warnings, model.sources)
    found = model.exact(
        target, time=bound, location=location, invariant=invariant, simplify=simplify
    )
    truth = None
    if plot is not None and shown is not None:
        (across, up), ranges = shown
        write_whole(plot, found.svg(across, up, at=values, ranges=ranges))
    elif values:
        truth = found.at(values)
    if console.as_json:
        console.data(**found.data, value=truth, plot=None if plot is None else str(plot))
        return ExitCode.OK if found.is_verified else ExitCode.UNKNOWN
    console.result(found.formula)
    console.result(found.trust)
    if truth is not None:
        console.result(f"at {', '.join(at)}: {'reached' if truth else 'not reached'}")
    if plot is not None:
        console.result(f"drawn in {plot}: every cell decided exactly, at its centre")
    return ExitCode.OK if found.is_verified else ExitCode.UNKNOWN


def _values(given: tuple[str, ...]) -> dict[str, Number]:
    found: dict[str, Number] = {}
    for text in given:
        name, separator, number = text.partition("=")
        if not separator:
            raise click.UsageError(f"--at: {text[:200]!r} is not NAME=NUMBER")
        found[name.strip()] = number[:200]
    return found


def _region(region: str) -> tuple[list[str], dict[str, tuple[Number, Number]]]:
    """The two names of a picture, and their ranges as far as these are given."""
    names: list[str] = []
    ranges: dict[str, tuple[Number, Number]] = {}
    for part in region.split(","):
        name, _, limits = part.partition("=")
        names.append(name.strip())
        if limits:
            low, _, high = limits.partition(":")
            ranges[names[-1]] = (low[:200], high[:200])
    if len(names) != 2:
        raise click.UsageError("--plot-region wants two names, as in 'x,y' or 'x=0:5,y=-1:1'")
    return names, ranges

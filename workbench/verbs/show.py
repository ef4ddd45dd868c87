"""`workbench show`: the structure of a model, as text or as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.arguments import Chosen, model_argument, output_options
from workbench.cli.console import Console
from workbench.cli.files import write_whole
from workbench.cli.option_types import OutputFile

if TYPE_CHECKING:
    from workbench.api.model import Model


@click.command("show")
@model_argument
@click.option(
    "--svg",
    type=OutputFile(allow_dash=True),
    metavar="FILE",
    help="Draw the model into an SVG file ('-' for stdout) instead of printing the tree.",
)
@click.option("--locations", is_flag=True, help="List the flat locations with flows and edges.")
@click.option(
    "--problem",
    is_flag=True,
    help="Print what a proof of a property has to be about: the model in normal form.",
)
@click.option("--property", "-p", "claim", metavar="NAME", help="Of --problem: which property.")
@click.option(
    "--limit",
    type=click.IntRange(1, 1_000_000),
    default=100,
    show_default=True,
    help="How many flat locations to list at most.",
)
@click.option("--all", "everything", is_flag=True, help="Write out every replicated agent.")
@output_options
@click.pass_obj
def command(
    console: Console,
    chosen: Chosen,
    svg: Path | None,
    locations: bool,
    problem: bool,
    claim: str | None,
    limit: int,
    everything: bool,
) -> None:
    """Show agents, modes and variables; --svg draws them.

    \b
    Example:
      workbench show platoon
      workbench show platoon --svg platoon.svg
      workbench show platoon --locations --limit 20
      workbench show platoon --problem -p "no collision"
    """
    if sum((svg is not None, locations, problem)) > 1:
        raise click.UsageError("--svg, --locations and --problem exclude each other")
    if claim is not None and not problem:
        raise click.UsageError("--property is for --problem")
    model = chosen.open()
    if svg is not None:
        _draw(console, chosen, model, svg)
    elif locations:
        _list_locations(console, chosen, model, limit)
    elif problem:
        _print_problem(console, chosen, model, claim, limit)
    else:
        _print_tree(console, chosen, model, everything)


def _print_tree(console: Console, chosen: Chosen, model: Model, everything: bool) -> None:
    picture = model.show(everything=everything)
    if console.as_json:
        console.data(model=chosen.label, name=model.name, tree=picture.data)
        return
    console.warnings(model.warnings, model.sources)
    console.result(str(picture))


def _draw(console: Console, chosen: Chosen, model: Model, path: Path) -> None:
    picture = model.show().svg
    if str(path) == "-":
        if console.as_json:
            raise click.UsageError("--json needs a file for the picture, not stdout")
        console.raw(picture)
        return
    write_whole(path, picture)
    if console.as_json:
        console.data(model=chosen.label, name=model.name, svg=str(path))


def _list_locations(console: Console, chosen: Chosen, model: Model, limit: int) -> None:
    found, complete = model.show().locations(limit)
    if console.as_json:
        console.data(
            model=chosen.label,
            name=model.automaton.name,
            complete=complete,
            locations=[location.data for location in found],
        )
        return
    for location in found:
        console.result(location.name)
        for line in location.lines:
            console.result(f"  {line}")
    if not complete:
        console.note(f"and more: the list stops after --limit {limit} locations")


def _print_problem(
    console: Console, chosen: Chosen, model: Model, claim: str | None, limit: int
) -> None:
    found = model.show().problem(claim, limit)
    if console.as_json:
        about = {"model": chosen.label, "name": model.automaton.name, "property": found.claim}
        console.data(**about, complete=found.complete, **found.data)
        return
    for line in found.lines:
        console.result(line)
    if not found.complete:
        console.note(f"and more: only --limit {limit} locations are taken in")

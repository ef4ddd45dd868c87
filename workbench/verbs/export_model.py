"""`workbench export`: any model as SpaceEx XML or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.arguments import Chosen, model_argument, output_options
from workbench.cli.console import Console
from workbench.cli.files import refuse_same_file, write_whole
from workbench.cli.option_types import OutputFile

if TYPE_CHECKING:
    from workbench.api.model import Model


@click.command("export")
@model_argument
@click.option(
    "--to",
    "target",
    type=click.Choice(["spaceex", "json", "charon"]),
    required=True,
    help="The format; 'charon' is the flat automaton as one agent.",
)
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    metavar="FILE",
    help="Where to write; SpaceEx also writes FILE.cfg beside FILE.xml. "
    "Without it the text goes to standard output.",
)
@output_options
@click.pass_obj
def command(console: Console, chosen: Chosen, target: str, output: Path | None) -> None:
    """Write a model as SpaceEx XML or JSON.

    What the format cannot say is refused by name, never dropped.

    \b
    Example:
      workbench export bouncing_ball --to spaceex -o ball.xml
      workbench export platoon --to json
    """
    model = chosen.open()
    documents = _documents(model, target)
    if output is None:
        if console.as_json:
            console.data(model=chosen.label, format=target, documents=documents)
        else:
            console.raw(documents["model"])
        return
    written = {"model": output}
    if "configuration" in documents:
        written["configuration"] = output.with_suffix(".cfg")
    for path in written.values():
        refuse_same_file(Path(chosen.reference), path)
    for part, path in written.items():
        write_whole(path, documents[part])
    names = [str(path) for path in written.values()]
    if console.as_json:
        sha = model.sha256
        console.data(model=chosen.label, format=target, model_sha256=sha, output=names)


def _documents(model: Model, target: str) -> dict[str, str]:
    """The texts of the export by role: the model and, for SpaceEx, its configuration."""
    if target == "spaceex":
        xml, configuration = model.to_spaceex()
        return {"model": xml, "configuration": configuration}
    return {"model": model.to_json() if target == "json" else model.to_charon()}

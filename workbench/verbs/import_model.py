"""`workbench import`: a SpaceEx model as text of our own language, or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.arguments import Chosen, output_options
from workbench.cli.console import Console
from workbench.cli.files import refuse_same_file, write_whole
from workbench.cli.option_types import OutputFile

if TYPE_CHECKING:
    from workbench.api.model import Model


@click.command("import")
@click.argument("source", metavar="FILE.xml", type=click.Path(path_type=Path))
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE.cfg",
    help="The configuration: system, initial states, forbidden states. "
    "By default the .cfg beside the .xml, if there is one.",
)
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    metavar="FILE",
    help="Where to write: .charon or .json; standard output if left out.",
)
@output_options
@click.pass_obj
def command(console: Console, source: Path, config: Path | None, output: Path | None) -> None:
    """Turn a SpaceEx model into .charon or JSON.

    \b
    Example:
      workbench export bouncing_ball --to spaceex -o ball.xml
      workbench import ball.xml --config ball.cfg -o ball.charon
      workbench import ball.xml -o ball.json
    """
    if output is not None:
        for given in (source, config):
            if given is not None:
                refuse_same_file(given, output)
    model = _read(console, source, config)
    as_json = output is not None and output.suffix.lower() == ".json"
    text = model.to_json() if as_json else model.to_charon()
    if output is None:
        if console.as_json:
            console.data(source=str(source), name=model.automaton.name, text=text)
        else:
            console.raw(text)
        return
    write_whole(output, text)
    if console.as_json:
        console.data(
            source=str(source),
            name=model.automaton.name,
            model_sha256=model.sha256,
            output=str(output),
        )


def _read(console: Console, source: Path, config: Path | None) -> Model:
    """Read the model and tell its warnings; without `config` the rules for a MODEL apply."""
    from workbench.api.loading import from_spaceex, opened

    if config is None:
        model = Chosen(str(source)).open()
    else:
        model = opened(from_spaceex(source, config), None, None, {})
    console.warnings(model.warnings, model.sources)
    return model

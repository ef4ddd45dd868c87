"""`workbench import`: a SpaceEx model as text of our own language, or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.arguments import output_options
from workbench.console import Console
from workbench.files import refuse_same_file, write_whole
from workbench.option_types import OutputFile

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton


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
    automaton = _read(console, source, config)
    text = _text(automaton, output)
    if output is None:
        if console.as_json:
            console.data(source=str(source), name=automaton.name, text=text)
        else:
            console.raw(text)
        return
    write_whole(output, text)
    if console.as_json:
        console.data(
            source=str(source),
            name=automaton.name,
            model_sha256=automaton.sha256,
            output=str(output),
        )
    else:
        console.note(f"wrote {output}")


def _text(automaton: Automaton, output: Path | None) -> str:
    if output is not None and output.suffix.lower() == ".json":
        import json

        from workbench.models.interchange.json_model import to_json

        return json.dumps(to_json(automaton), indent=1) + "\n"
    from workbench.models.language.unparse import unparse

    return unparse(automaton)


def _read(console: Console, source: Path, config: Path | None) -> Automaton:
    """Read the model and tell its warnings; without `config` the rules for a MODEL apply."""
    if config is None:
        from workbench.arguments import Chosen

        model = Chosen(str(source)).load()
        console.warnings(model.warnings, model.sources)
        return model.automaton
    from workbench.models.interchange.spaceex_import import import_spaceex
    from workbench.models.source import Diagnostic, ModelError

    try:
        xml = source.read_bytes()
        text = config.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot read {getattr(error, 'filename', None) or str(config)!r}: {reason}"
        raise ModelError(Diagnostic("unreadable-file", message)) from error
    imported = import_spaceex(xml, text, str(source), str(config))
    console.warnings(imported.warnings, {str(config): text})
    return imported.automaton

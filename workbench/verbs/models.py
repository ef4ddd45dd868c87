"""`workbench models`: what comes with the workbench."""

from __future__ import annotations

import click

from workbench.arguments import output_options
from workbench.console import Console


@click.command("models")
@click.argument("words", nargs=-1, metavar="[WORD...]")
@output_options
@click.pass_obj
def command(console: Console, words: tuple[str, ...]) -> None:
    """List the models that come with the workbench.

    Each with a line about it, its source, and the expected verdict of every property.
    Words narrow the list.

    \b
    Example:
      workbench models
      workbench models platoon
    """
    from models.catalogue import entries

    console.data(models=[str(entry) for entry in entries()])

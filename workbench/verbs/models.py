"""`workbench models`: what comes with the workbench."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from workbench.cli.arguments import output_options
from workbench.cli.console import Console
from workbench.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from workbench.api.texts import Entry


@click.command("models")
@click.argument("words", nargs=-1, metavar="[WORD...]")
@output_options
@click.pass_obj
def command(console: Console, words: tuple[str, ...]) -> int:
    """List the models that come with the workbench.

    Each with a line about it, its source, and the expected verdict of every property.
    Words narrow the list to the models that mention all of them.

    \b
    Example:
      workbench models
      workbench models platoon
    """
    from workbench.api.texts import library

    found = library(*words)
    if console.as_json:
        console.data(models=[_data(entry) for entry in found])
        return ExitCode.OK
    for entry in found:
        console.result(entry.name)
        console.result(f"    {entry.title}")
        if not console.quiet:
            console.result(f"    source: {entry.source}")
        for expected in entry.expectations:
            console.result(f"    expect {expected}")
    if not found:
        console.note(f"no model mentions {' and '.join(words)}")
    return ExitCode.OK


def _data(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "title": entry.title,
        "source": entry.source,
        "twin": entry.twin,
        "expectations": [
            {"property": e.name, "verdict": str(e.verdict), "scope": e.scope}
            for e in entry.expectations
        ],
    }

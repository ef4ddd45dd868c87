"""`workbench lsp`: the language server for editors."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.arguments import output_options
from workbench.cli.console import Console
from workbench.cli.exit_codes import ExitCode
from workbench.cli.limits import memory_option


@click.command("lsp")
@click.option(
    "--log",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write defects of the server to a file instead of standard error.",
)
@memory_option
@output_options
@click.pass_obj
def command(console: Console, log: Path | None, memory: float) -> ExitCode:
    """Serve an editor over the Language Server Protocol.

    Editors start it and speak to it on standard input and output; it is of no use by hand. How
    editors are set up is told in docs/editors.md. Each process that checks or decides has the
    memory of --memory.

    \b
    Example:
      workbench lsp --log lsp.log
    """
    from workbench.language_server.server import run

    run(memory, log)
    return ExitCode.OK

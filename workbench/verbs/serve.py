"""`workbench serve`: the workbench in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.arguments import output_options
from workbench.cli.console import Console
from workbench.cli.exit_codes import ExitCode
from workbench.cli.limits import memory_option


@click.command("serve")
@click.argument(
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="N",
    help="The port on this machine.  [default: 8421, or the next that is free]",
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@memory_option
@output_options
@click.pass_obj
def command(
    console: Console, folder: Path, port: int | None, no_browser: bool, memory: float
) -> ExitCode:
    """Open a project folder in the browser.

    Write, draw, run, prove and look in one page. The server answers this machine alone, and only
    who has the token of the address that it prints. Ctrl-C ends it; what was typed is kept.
    Each process that simulates or decides has the memory of --memory.

    \b
    Example:
      workbench serve
      workbench serve room --port 8500 --no-browser
    """
    from workbench.server.application import missing_page
    from workbench.server.serving import HOST, serve

    if reason := missing_page():
        console.error(
            f"note: this installation has no page, for {reason}\n"
            "  hint: install it again where npm can be reached: `pip install .` in a clone"
        )

    def announce(address: str) -> None:
        if console.as_json:
            console.data(address=address, folder=str(folder.resolve()))
        else:
            console.result(address)
            console.note("Ctrl-C ends it")
        if not no_browser:
            import webbrowser

            webbrowser.open(address)

    try:
        serve(folder, port, memory, announce)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.UsageError(f"cannot serve on {HOST}: {reason}") from error
    return ExitCode.OK

"""`workbench completion`: let a shell complete verbs, options and names of models."""

from __future__ import annotations

import click

from workbench.cli.arguments import output_options
from workbench.cli.console import Console

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@output_options
@click.pass_obj
def command(console: Console, shell: str) -> None:
    """Print a script that lets a shell complete commands.

    Verbs, options, their values, files and the names of library models are completed. For every
    new shell, add a line to the file that it reads first:

    \b
      bash  eval "$(workbench completion bash)"
      zsh   eval "$(workbench completion zsh)"
      fish  workbench completion fish | source

    \b
    Example:
      workbench completion bash
    """
    from click.shell_completion import get_completion_class

    from workbench.cli.commands import PROGRAM, VARIABLE, group

    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"there is no completion for {shell}")
    script = made(group, {}, PROGRAM, VARIABLE).source()
    if console.as_json:
        console.data(shell=shell, script=script)
    else:
        console.raw(script)

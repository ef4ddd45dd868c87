"""The command `workbench`: finds the verb, loads only its module, and maps every ending to
an exit code.

Nothing heavy is imported here: `workbench --help` must answer at once.
"""

from __future__ import annotations

import contextlib
import errno
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

from workbench.console import Console
from workbench.exit_codes import ExitCode

if TYPE_CHECKING:
    from typing import NoReturn

VERBS: dict[str, tuple[str, str]] = {
    "models": ("workbench.verbs.models", "List the models that come with the workbench."),
    "check": ("workbench.verbs.check", "Parse, type-check and examine a model."),
    "show": ("workbench.verbs.show", "Show agents, modes and variables; --svg draws them."),
    "simulate": (
        "workbench.verbs.simulate",
        "Run a model: every event is found, none is overshot.",
    ),
    "verify": ("workbench.verbs.verify", "Prove or refute the properties of a model."),
    "recheck": (
        "workbench.verbs.recheck",
        "Check a certificate against a model, in exact arithmetic.",
    ),
    "exact": (
        "workbench.verbs.exact",
        "Print an exact formula for the states that reach a target.",
    ),
    "falsify": ("workbench.verbs.falsify", "Search for a run that violates a property."),
    "refine": ("workbench.verbs.refine", "Show that a detailed system refines a simple one."),
    "abstract": ("workbench.verbs.abstract", "Make a simpler system that a model refines."),
    "report": (
        "workbench.verbs.report",
        "Verify, simulate, cross-check; write HTML reports.",
    ),
    "fmt": ("workbench.verbs.fmt", "Format model files, keeping comments."),
    "import": ("workbench.verbs.import_model", "Turn a SpaceEx model into .charon or JSON."),
    "export": ("workbench.verbs.export_model", "Write a model as SpaceEx XML or JSON."),
}
"""Every verb with the module that defines it as `command`, and what it does."""


_NOT_OUR_FAULT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""Errors of writing that say something about the machine and nothing about this program."""


class LazyGroup(click.Group):
    """A group of commands whose modules are imported only when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of a day's work."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a verb, imported now."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(VERBS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs in `--help`, from the table alone."""
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, summary) for verb, (_, summary) in VERBS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; suggest the nearest one for a misspelt word."""
        verb = args[0]
        if verb not in VERBS and not verb.startswith("-"):
            ctx.fail(_unknown_verb(verb))
        console = ctx.find_object(Console)
        if console is not None:
            console.verb = verb
        return super().resolve_command(ctx, args)


def _unknown_verb(verb: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(verb[:40], VERBS, n=1, cutoff=0.5)
    advice = f"did you mean {near[0]!r}?" if near else f"the verbs are {', '.join(VERBS)}."
    return f"there is no verb {verb[:40]!r}; {advice}"


def _print_version(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from workbench import __version__

        click.echo(f"workbench {__version__}")
        context.exit()


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    subcommand_metavar="VERB [ARGS]...",
    epilog="A MODEL is a file (.charon, or .xml with its .cfg beside it) or the name of a "
    "library model; MODEL:AGENT picks one agent of it. `workbench VERB --help` says more.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version and exit.",
)
def group() -> None:
    """Model hybrid systems in CHARON; simulate, verify, falsify, refine and report on them."""


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code. Nothing escapes."""
    console = Console(verb="error")
    try:
        with group.make_context("workbench", list(arguments), obj=console) as context:
            code = group.invoke(context)
        sys.stdout.flush()
        return int(code) if isinstance(code, int) else ExitCode.OK
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return _leave_broken_pipe()
    except OSError as error:
        if error.errno not in _NOT_OUR_FAULT:
            return _failed(console, error, arguments)
        return _cannot_write(error)
    except Exception as error:
        return _failed(console, error, arguments)
    except BaseException as error:
        # Libraries in Rust turn an interrupt, or a defect of theirs, into a panic.
        if type(error).__name__ != "PanicException":
            raise
        if "KeyboardInterrupt" not in str(error):
            return _failed(console, error, arguments)
        click.echo("interrupted", err=True)
        return ExitCode.INTERRUPTED


def _failed(console: Console, error: BaseException, arguments: Sequence[str]) -> int:
    """A rejected model, or a defect of this program."""
    try:
        from models.source import ModelError

        if isinstance(error, ModelError):
            console.rejection(error)
            return ExitCode.MODEL_REJECTED
        from workbench.crash import report_crash

        report_crash(console, error, arguments)
    except BrokenPipeError:
        return _leave_broken_pipe()
    return ExitCode.INTERNAL_ERROR


def _leave_broken_pipe() -> int:
    """Nobody reads any more: leave without a word."""
    _abandon_output()
    return ExitCode.BROKEN_PIPE


def _cannot_write(error: OSError) -> int:
    """Standard output has no room or no device for the result."""
    _abandon_output()
    click.echo(f"Error: cannot write the result: {error.strerror}", err=True)
    return ExitCode.USAGE


def _abandon_output() -> None:
    """Make sure that closing stdout at the end cannot fail."""
    import os

    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> NoReturn:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))

"""The command `workbench`: runs a verb and maps every ending to an exit code.

Other modules are imported only inside `main`, so that an interrupt while they are loading is
an interrupt like any other.
"""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False  # as in `typing`, which may be interrupted, too
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from click import Group

    from workbench.cli.console import Console

INTERRUPTED = 130
"""`ExitCode.INTERRUPTED`, needed before that can be imported."""


def run(arguments: Sequence[str], begun: float | None = None) -> int:
    """Run one command, which was begun at that moment (`time.monotonic`; else now); returns its
    exit code. Nothing escapes but an interrupt while the modules for all commands are loading."""
    import click

    from workbench.cli.commands import group
    from workbench.cli.console import Console
    from workbench.cli.exit_codes import ExitCode
    from workbench.cli.supervision import OUT_OF_MEMORY, is_interrupted

    if (code := _complete(group)) is not None:
        return code
    console = Console(verb="error", begun=time.monotonic() if begun is None else begun)
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
    except MemoryError:
        click.echo(f"error: {OUT_OF_MEMORY}", err=True)
        return ExitCode.UNKNOWN
    except OSError as error:
        return _cannot_write(error) or _failed(console, error, arguments)
    except BaseException as error:
        # Libraries in Rust turn an interrupt, or a defect of theirs, into a panic.
        is_panic = type(error).__name__ == "PanicException" and "KeyboardInterrupt" in str(error)
        if not is_panic and not is_interrupted():
            return _failed(console, error, arguments)
        click.echo("interrupted", err=True)
        return ExitCode.INTERRUPTED


def _complete(group: Group) -> int | None:
    """What a shell asks for in order to complete a command; None where none asks."""
    import os

    if "_WORKBENCH_COMPLETE" not in os.environ:
        return None
    from click.shell_completion import shell_complete

    from workbench.cli.commands import PROGRAM, VARIABLE

    return shell_complete(group, {}, PROGRAM, VARIABLE, os.environ[VARIABLE])


def _failed(console: Console, error: BaseException, arguments: Sequence[str]) -> int:
    """A rejected model, or a defect of this program."""
    from workbench.cli.exit_codes import ExitCode

    try:
        from workbench.models.source import ModelError

        if isinstance(error, ModelError):
            console.rejection(error)
            return ExitCode.MODEL_REJECTED
        from workbench.cli.crash import report_crash

        report_crash(console, error, arguments)
    except BrokenPipeError:
        return _leave_broken_pipe()
    return ExitCode.INTERNAL_ERROR


def _leave_broken_pipe() -> int:
    """Nobody reads any more: leave without a word."""
    from workbench.cli.exit_codes import ExitCode

    _abandon_output()
    return ExitCode.BROKEN_PIPE


def _cannot_write(error: OSError) -> int | None:
    """Standard output has no room or no device for the result; None where the error is another
    one and says something about this program."""
    import errno

    import click

    from workbench.cli.exit_codes import ExitCode

    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS):
        return None
    _abandon_output()
    click.echo(f"Error: cannot write the result: {error.strerror}", err=True)
    return ExitCode.USAGE


def _abandon_output() -> None:
    """Make sure that closing stdout at the end cannot fail."""
    import contextlib
    import os

    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> NoReturn:
    """The console script. Its time runs from when Python was started."""
    begun = time.monotonic() - time.process_time()
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        from workbench.cli.supervision import supervised

        code = supervised(lambda: run(sys.argv[1:], begun))
        _ignore_interrupts()
    except KeyboardInterrupt:
        _ignore_interrupts()
        sys.stderr.write("interrupted\n")
        code = INTERRUPTED
    sys.exit(code)


def _ignore_interrupts() -> None:
    """All is said: a further interrupt must not disturb the way out."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)

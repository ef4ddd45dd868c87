"""`workbench fmt`: one layout for every model file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.arguments import output_options
from workbench.cli.console import Console, diagnostics_data
from workbench.cli.exit_codes import ExitCode
from workbench.cli.files import write_whole

if TYPE_CHECKING:
    from workbench.models.source import ModelError

MAX_BYTES = 64 * 1024 * 1024
"""No model file is longer than this; a larger one is a mistake."""


@click.command("fmt")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--check", is_flag=True, help="Change nothing; exit 3 if a file would change.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the formatted text instead.")
@output_options
@click.pass_obj
def command(console: Console, files: tuple[str, ...], check: bool, to_stdout: bool) -> int:
    """Format model files, keeping comments.

    A file with a syntax error is reported and left as it is. '-' reads standard input and
    prints to standard output.

    \b
    Example:
      workbench export platoon --to charon -o platoon.charon
      workbench fmt platoon.charon
      workbench fmt --check platoon.charon
    """
    if check and to_stdout:
        raise click.UsageError("--check and --stdout exclude each other")
    if to_stdout and console.as_json:
        raise click.UsageError("--stdout and --json exclude each other")
    outcomes = [_format_one(console, name, check, to_stdout) for name in files]
    if console.as_json:
        console.data(files=outcomes)
    bad = {"rejected", "unformatted"} & {outcome["outcome"] for outcome in outcomes}
    return ExitCode.MODEL_REJECTED if bad else ExitCode.OK


def _format_one(console: Console, name: str, check: bool, to_stdout: bool) -> dict[str, object]:
    """Format one file; returns what became of it."""
    from workbench.api.texts import formatted
    from workbench.models.source import ModelError

    try:
        before = _read(name)
        after = formatted(before, "<stdin>" if name == "-" else name)
    except ModelError as error:
        return _rejected(console, name, error)
    if to_stdout or (name == "-" and not check):
        console.raw(after)
        return {"file": name, "outcome": "printed"}
    if before == after:
        return {"file": name, "outcome": "unchanged"}
    if check:
        if not console.as_json:
            console.result(f"{name}: would be formatted")
        return {"file": name, "outcome": "unformatted"}
    write_whole(Path(name), after, done="formatted")
    return {"file": name, "outcome": "formatted"}


def _rejected(console: Console, name: str, error: ModelError) -> dict[str, object]:
    if not console.as_json:
        console.error(error.render())
    diagnostics = diagnostics_data(error.diagnostics)
    return {"file": name, "outcome": "rejected", "diagnostics": diagnostics}


def _read(name: str) -> str:
    """The text of a file; raises ModelError where it is none."""
    from workbench.models.source import Diagnostic, ModelError

    try:
        if name == "-":
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        elif Path(name).is_dir():
            raise IsADirectoryError(0, "it is a directory")
        else:
            with open(name, "rb") as file:
                data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot read {name[:200]!r}: {reason}"
        raise ModelError(Diagnostic("unreadable-file", message)) from error
    if len(data) > MAX_BYTES:
        message = f"{name!r} is larger than {MAX_BYTES // 2**20} MB"
        raise ModelError(Diagnostic("file-too-large", message))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"{name!r} is not UTF-8 text (byte {error.start})"
        raise ModelError(Diagnostic("not-text", message)) from error

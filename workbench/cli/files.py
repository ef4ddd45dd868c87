"""Writing files whole or not at all."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.api.saving import check_writable, save
from workbench.cli.console import Console


def write_whole(path: Path, content: str | bytes, done: str = "wrote") -> None:
    """Write a file so that readers see the old content or the new, never a part, and say so.

    Raises `click.UsageError` where the file cannot be written.
    """
    try:
        save(path, content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.UsageError(f"cannot write {str(path)!r}: {reason}") from error
    context = click.get_current_context(silent=True)
    console = context.find_object(Console) if context is not None else None
    if console is not None and not console.as_json:
        console.note(f"{done} {path}")


def refuse_unwritable(path: Path) -> None:
    """Refuse, before any work, a target that cannot be written later."""
    try:
        check_writable(path)
    except OSError as error:
        raise click.UsageError(f"cannot write {str(path)!r}: {error.strerror}") from error


def refuse_same_file(source: Path, target: Path) -> None:
    """Refuse to write over the file that is being read."""
    try:
        same = source.samefile(target)
    except OSError:
        return
    if same:
        raise click.UsageError(f"{str(target)!r} is the model being read; choose another file")

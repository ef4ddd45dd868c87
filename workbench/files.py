"""Writing files whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import click


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that readers see the old content or the new, never a part.

    A link is followed, an existing file keeps its permissions, and a device or pipe is
    written to directly. What is no character (of file names in another encoding, for example)
    is written as `?`. Raises `click.UsageError` where the file cannot be written.
    """
    try:
        _write(Path(os.path.realpath(path)), text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.UsageError(f"cannot write {str(path)!r}: {reason}") from error


def _write(path: Path, text: str) -> None:
    import tempfile  # slow to import, and few commands write

    mode: int | None = None
    if path.exists():
        if path.is_dir():
            raise IsADirectoryError(0, "it is a directory")
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            path.write_text(text, encoding="utf-8", errors="replace", newline="\n")
            return
        if not os.access(path, os.W_OK):
            raise PermissionError(0, "permission denied")
        mode = stat.S_IMODE(status.st_mode)
    handle, name = tempfile.mkstemp(prefix=".workbench-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode if mode is not None else 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    """The process's mask of permissions, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def refuse_unwritable(path: Path) -> None:
    """Refuse, before any work, a target that cannot be written later."""
    target = Path(os.path.realpath(path))
    reason = ""
    if target.is_dir():
        reason = "it is a directory"
    elif not target.parent.is_dir():
        reason = "there is no such directory"
    elif not os.access(target if target.exists() else target.parent, os.W_OK):
        reason = "permission denied"
    if reason:
        raise click.UsageError(f"cannot write {str(path)!r}: {reason}")


def refuse_same_file(source: Path, target: Path) -> None:
    """Refuse to write over the file that is being read."""
    try:
        same = source.samefile(target)
    except OSError:
        return
    if same:
        raise click.UsageError(f"{str(target)!r} is the model being read; choose another file")

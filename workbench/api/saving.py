"""Writing files whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from workbench.api.asked import path_of


def save(path: str | Path, content: str | bytes) -> Path:
    """Write a file so that readers see the old content or the new, never a part.

    A link is followed, an existing file keeps its permissions, and a device or pipe is
    written to directly. What is no character (of file names in another encoding, for example)
    is written as `?`. Raises OSError where the file cannot be written.
    """
    path_of("path", path)
    data = content if isinstance(content, bytes) else content.encode("utf-8", errors="replace")
    _write(Path(os.path.realpath(path)), data)
    return Path(path)


def check_writable(path: str | Path) -> None:
    """Raises OSError, before any work, where a file cannot be written later."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a directory", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such directory", str(target.parent))
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "permission denied", str(path))


def _write(path: Path, data: bytes) -> None:
    import tempfile  # slow to import, and few commands write

    mode: int | None = None
    check_writable(path)
    if path.exists():
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            path.write_bytes(data)
            return
        mode = stat.S_IMODE(status.st_mode)
    handle, name = tempfile.mkstemp(prefix=".workbench-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
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

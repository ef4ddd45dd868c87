"""Writing files whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def save(path: str | Path, content: str | bytes) -> Path:
    """Write a file so that readers see the old content or the new, never a part.

    A link is followed, an existing file keeps its permissions, and a device or pipe is
    written to directly. What is no character (of file names in another encoding, for example)
    is written as `?`. Raises OSError where the file cannot be written.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", errors="replace")
    _write(Path(os.path.realpath(path)), data)
    return Path(path)


def _write(path: Path, data: bytes) -> None:
    import tempfile  # slow to import, and few commands write

    mode: int | None = None
    if path.exists():
        if path.is_dir():
            raise IsADirectoryError(0, "it is a directory")
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            path.write_bytes(data)
            return
        if not os.access(path, os.W_OK):
            raise PermissionError(0, "permission denied")
        mode = stat.S_IMODE(status.st_mode)
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such directory", str(path.parent))
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

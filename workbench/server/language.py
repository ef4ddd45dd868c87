"""The language server behind a page: a process `workbench lsp` for each page, messages passed on.

The page speaks JSON-RPC inside frames of its socket; the process speaks it on its input and
output, with a header that tells the length.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from workbench.server.folder import Folder, OutsideError

MAX_MESSAGE = 64_000_000

Say = Callable[[Any], Awaitable[None]]


def check_files(folder: Folder, message: Any) -> None:
    """Look at every file that a message names: a page works in its project alone. Raises
    `FolderError`."""
    waiting = [("", message)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += ((name, one) for one in value)
        elif name == "rootPath" and value is not None:
            raise OutsideError("a page names its folder by `rootUri`")
        elif name.lower().endswith("uri") and value is not None:
            _check_file(folder, str(value))


def _check_file(folder: Folder, uri: str) -> None:
    parts = urlsplit(uri)
    path = PurePosixPath(unquote(parts.path))
    if parts.scheme != "file" or parts.netloc or not path.is_relative_to(folder.root):
        raise OutsideError(f"{uri[:200]!r} leads out of the project")
    inside = path.relative_to(folder.root)
    if inside.parts:
        folder.locate(str(inside))


class LanguageServer:
    """A language server of one page."""

    def __init__(self, process: asyncio.subprocess.Process, say: Say):
        self._process = process
        self._listening = asyncio.create_task(self._listen(say))

    @classmethod
    async def start(cls, folder: Path, memory: float, say: Say) -> LanguageServer:
        """A new process; `say` is told every message of it, and None when it has ended."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "workbench",
            "lsp",
            "--memory",
            str(memory),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=folder,
            start_new_session=True,
            limit=MAX_MESSAGE,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        )
        return cls(process, say)

    async def send(self, message: Any) -> None:
        """Pass a message of the page on."""
        stdin = self._process.stdin
        assert stdin is not None
        data = json.dumps(message).encode()
        with contextlib.suppress(ConnectionError):
            stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
            await stdin.drain()

    async def _listen(self, say: Say) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        try:
            while True:
                head = await stdout.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.split(b":")[1])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length:")
                )
                await say(json.loads(await stdout.readexactly(length)))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, StopIteration):
            await say(None)

    async def end(self) -> None:
        """End the process."""
        self._listening.cancel()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

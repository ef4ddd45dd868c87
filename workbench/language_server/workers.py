"""Work that takes long, done in a process of its own that can be ended at any moment.

A request is a line of JSON on the process's input; lines of JSON come back: words about the
progress, and at last a result or why there is none.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

MAX_LINE = 64_000_000
"""The longest line that is read of a process."""


class RefusedError(Exception):
    """There is no result; the text says why."""


class Worker:
    """A process that does one thing after the other; it begins with the first one."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def do(
        self, task: str, request: dict[str, Any], progress: Callable[[str], None] | None = None
    ) -> Any:
        """The result of a task. Raises RefusedError where there is none; called off, the process
        is ended."""
        async with self._turn:
            try:
                return await self._ask({"task": task, **request}, progress)
            except (ConnectionError, ValueError, asyncio.IncompleteReadError):
                await self.end()
                raise RefusedError("the process that did the work has ended") from None
            except asyncio.CancelledError:
                await self.end()
                raise

    async def _ask(self, request: dict[str, Any], progress: Callable[[str], None] | None) -> Any:
        process = await self._running()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        await process.stdin.drain()
        while True:
            line = await process.stdout.readline()
            if not line:
                raise ConnectionError
            answer = json.loads(line)
            if "progress" in answer:
                if progress is not None:
                    progress(answer["progress"])
            elif "refused" in answer:
                raise RefusedError(answer["refused"])
            else:
                return answer["result"]

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "workbench.language_server.worker",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,
                limit=MAX_LINE,
                env={**os.environ, "PYTHONSAFEPATH": "1"},
            )
        return self._process

    async def end(self) -> None:
        """End the process and all that it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(process.wait())

"""Worker processes as the server sees them: asked one thing at a time, killed when not wanted."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

MAX_LINE = 256_000_000
"""The largest result that is read from a worker, in bytes."""

Progress = Callable[[Mapping[str, Any]], None]


class WorkerDied(Exception):  # noqa: N818 (what happened, in the past)
    """The process ended before it had a result."""


class Refusal(Exception):  # noqa: N818 (an answer, not a defect)
    """The worker says why there is no result."""

    def __init__(self, data: dict[str, Any]):
        super().__init__(data.get("message", ""))
        self.data = data


class Worker:
    """One process, with the project's folder as its own."""

    def __init__(self, process: asyncio.subprocess.Process):
        self._process = process

    @classmethod
    async def start(cls, folder: Path) -> Worker:
        """A new process; it is warming up while it is not asked."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "workbench.server.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=folder,
            start_new_session=True,
            limit=MAX_LINE,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        )
        return cls(process)

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.returncode is None

    async def ask(
        self, task: str, request: Mapping[str, Any], progress: Progress = lambda _: None
    ) -> Any:
        """The result of a task. Raises `Refusal` or `WorkerDied`."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        try:
            stdin.write(json.dumps({"task": task, "request": request}).encode() + b"\n")
            await stdin.drain()
            while line := await stdout.readline():
                event = json.loads(line)
                if "progress" in event:
                    progress(event["progress"])
                elif "refused" in event:
                    raise Refusal(event["refused"])
                elif "result" in event:
                    return event["result"]
        except (ConnectionError, ValueError):
            pass
        await self.kill()
        raise WorkerDied("the process that did the work has ended")

    async def kill(self) -> None:
        """End it, and whatever it has started, now."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()


class Crew:
    """Workers to be had: those who have nothing to do wait for the next task."""

    def __init__(self, folder: Path, most_idle: int = 1):
        self._folder, self._most_idle = folder, most_idle
        self._idle: list[Worker] = []
        self._ended = False

    async def worker(self) -> Worker:
        """A worker to ask; give it back or kill it."""
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
        return await Worker.start(self._folder)

    async def give_back(self, worker: Worker) -> None:
        """The worker has an answer and may be asked again."""
        if self._ended or not worker.is_alive or len(self._idle) >= self._most_idle:
            await worker.kill()
        else:
            self._idle.append(worker)

    async def warm_up(self) -> None:
        """Have a worker waiting."""
        if not self._idle and not self._ended:
            self._idle.append(await Worker.start(self._folder))

    async def end(self) -> None:
        """End all who wait."""
        self._ended = True
        while self._idle:
            await self._idle.pop().kill()

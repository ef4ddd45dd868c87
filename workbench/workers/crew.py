"""Workers as the servers see them: asked one thing at a time, ended when not wanted."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from workbench.workers.process import too_little_memory

MAX_LINE = 256_000_000
"""The largest result that is read from a worker, in bytes."""

STARVED = (-signal.SIGKILL, -signal.SIGABRT, -signal.SIGSEGV)
"""How processes end that get no memory where they cannot say so."""

Told: TypeAlias = Callable[[Any], Awaitable[None]]
"""What hears the events of progress."""


async def unheard(_: Any) -> None:
    """Hears nothing."""


class WorkerDied(Exception):  # noqa: N818 (what happened, in the past)
    """The process ended before it had a result."""


class Refusal(Exception):  # noqa: N818 (an answer, not a defect)
    """The worker says why there is no result."""

    def __init__(self, data: dict[str, Any]):
        super().__init__(data.get("message", ""))
        self.data = data


@dataclass(frozen=True)
class Work:
    """What workers are for: the tasks of a module, the memory that each may have, and the folder
    that it works in."""

    module: str
    gigabytes: float
    folder: Path | None = None


class Worker:
    """One process."""

    def __init__(self, work: Work, process: asyncio.subprocess.Process):
        self._work, self._process = work, process
        self._numbers = itertools.count(1)
        self._number = 0

    @classmethod
    async def start(cls, work: Work) -> Worker:
        """A new process; it is warming up while it is not asked."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "workbench.workers",
            work.module,
            str(work.gigabytes),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=work.folder,
            start_new_session=True,
            limit=MAX_LINE,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        )
        return cls(work, process)

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.returncode is None

    async def ask(self, task: str, request: Mapping[str, Any], told: Told = unheard) -> Any:
        """The result of a task. Raises `Refusal` or `WorkerDied`."""
        stdout = self._process.stdout
        assert stdout is not None
        self._number = next(self._numbers)
        try:
            await self._say(number=self._number, task=task, request=request)
            while line := await stdout.readline():
                message = json.loads(line)
                if "progress" in message:
                    await told(message["progress"])
                elif "refused" in message:
                    raise Refusal(message["refused"])
                else:
                    return message["result"]
        except (ConnectionError, ValueError):
            pass
        ended = await self._process.wait() if not self._is_mute() else None
        await self.kill()
        raise WorkerDied(
            f"the process that did the work was ended by somebody, or"
            f" {too_little_memory(self._work.gigabytes)}"
            if ended in STARVED
            else "the process that did the work has ended"
        )

    def _is_mute(self) -> bool:
        """Whether the process goes on and says nothing that can be understood."""
        stdout = self._process.stdout
        return self.is_alive and stdout is not None and not stdout.at_eof()

    async def hurry(self) -> None:
        """What is being done need not be finished: a part of the result is enough."""
        with contextlib.suppress(ConnectionError):
            await self._say(unwanted=self._number)

    async def _say(self, **message: Any) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(json.dumps(message).encode() + b"\n")
        await stdin.drain()

    async def kill(self) -> None:
        """End it, and whatever it has started, now."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await asyncio.shield(self._process.wait())


class Crew:
    """Workers to be had, so many at once; those who have nothing to do wait for the next task."""

    def __init__(self, work: Work, at_once: int = 1, most_idle: int = 1):
        self._work, self._most_idle = work, most_idle
        self._room = asyncio.Semaphore(at_once)
        self._idle: list[Worker] = []
        self._ended = False

    @contextlib.asynccontextmanager
    async def lent(self) -> AsyncIterator[Worker]:
        """A worker to ask, as soon as there is one; whoever is called off while it works, or
        has another problem than a refusal, ends its process."""
        async with self._room:
            worker = await self._worker()
            try:
                yield worker
            except Refusal:
                await self._take_back(worker)
                raise
            except BaseException:
                await worker.kill()
                raise
            await self._take_back(worker)

    async def do(self, task: str, request: Mapping[str, Any], told: Told = unheard) -> Any:
        """The result of a task. Raises `Refusal` or `WorkerDied`."""
        async with self.lent() as worker:
            return await worker.ask(task, request, told)

    async def _worker(self) -> Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
        return await Worker.start(self._work)

    async def _take_back(self, worker: Worker) -> None:
        if self._ended or not worker.is_alive or len(self._idle) >= self._most_idle:
            await worker.kill()
        else:
            self._idle.append(worker)

    async def warm_up(self) -> None:
        """Have a worker waiting."""
        if not self._idle and not self._ended:
            self._idle.append(await Worker.start(self._work))

    async def end(self) -> None:
        """End all who wait."""
        self._ended = True
        while self._idle:
            await self._idle.pop().kill()

"""Answers while somebody drags a slider: one worker that stays warm, and only what is wanted now.

Of every page and channel at most one request waits: the newest. What is being computed is told as
far as it is done, so that pictures move while one drags. Where the page wants something newer, a
part of the answer is enough after a moment, and what takes long is broken off.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.workers.crew import Crew, Refusal, Worker, WorkerDied

SHARE = 0.06
"""Seconds after which a part of what is wanted is enough for a page that has a newer request."""

PATIENCE = 1.0
"""Seconds after which a request is broken off for a newer one of the same page."""

LONGEST = 60.0
"""Seconds after which a request is given up."""

Answer = Callable[[Mapping[str, Any]], Awaitable[None]]


@dataclass
class _Wanted:
    """A request, the page and channel that it belongs to, and who is told the answer."""

    source: object
    task: str
    request: Mapping[str, Any]
    answer: Answer
    begun: float = field(default=0.0)
    worker: Worker | None = None


class Interactive:
    """The worker for requests that somebody waits for."""

    def __init__(self, crew: Crew):
        self._crew = crew
        self._waiting: dict[tuple[object, str], _Wanted] = {}
        self._current: _Wanted | None = None
        self._asking: asyncio.Task[Any] | None = None
        self._something = asyncio.Event()
        self._loop = asyncio.create_task(self._work())

    def ask(self, source: object, task: str, request: Mapping[str, Any], answer: Answer) -> None:
        """Ask in the place of what the same source still waits for."""
        wanted = _Wanted(source, task, request, answer)
        self._waiting[source, task] = wanted
        self._something.set()
        now = self._current
        if now is not None and (now.source, now.task) == (source, task):
            passed, loop = time.monotonic() - now.begun, asyncio.get_running_loop()
            loop.call_later(max(0.0, SHARE - passed), self._make_way, now, False)
            loop.call_later(max(0.0, PATIENCE - passed), self._make_way, now, True)

    def _make_way(self, slow: _Wanted, at_once: bool) -> None:
        """End a request that is still being computed while a newer one waits."""
        newer = (slow.source, slow.task) in self._waiting
        if not newer or self._current is not slow or self._asking is None:
            return
        if at_once:
            self._asking.cancel()
        elif slow.worker is not None:
            asyncio.create_task(slow.worker.hurry())  # noqa: RUF006 (nobody waits for it)

    def forget(self, source: object) -> None:
        """The page is gone."""
        for key in [key for key in self._waiting if key[0] is source]:
            del self._waiting[key]
        if self._current is not None and self._current.source is source and self._asking:
            self._asking.cancel()

    async def end(self) -> None:
        """End the work."""
        self._loop.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._loop

    async def _work(self) -> None:
        while True:
            await self._something.wait()
            if not self._waiting:
                self._something.clear()
                continue
            key = next(iter(self._waiting))
            wanted = self._current = self._waiting.pop(key)
            wanted.begun = time.monotonic()
            self._asking = asyncio.create_task(self._answer_of(wanted))
            try:
                answer = await self._asking
            except asyncio.CancelledError:
                if self._loop.cancelling():  # all of it ends, not this request alone
                    raise
                continue
            finally:
                self._current = None
            with contextlib.suppress(Exception):  # the page is gone
                await wanted.answer(answer)

    async def _answer_of(self, wanted: _Wanted) -> Mapping[str, Any]:
        async def told(part: Any) -> None:
            await wanted.answer({"part": part})

        try:
            async with self._crew.lent() as worker, asyncio.timeout(LONGEST):
                wanted.worker = worker
                result = await worker.ask(wanted.task, wanted.request, told)
        except Refusal as refusal:
            return {"error": refusal.data}
        except TimeoutError:
            return {"error": {"message": f"this takes more than {LONGEST:g} s: ask for less"}}
        except WorkerDied as death:
            return {"error": {"message": str(death)}}
        except asyncio.CancelledError:
            asyncio.create_task(self._crew.warm_up())  # noqa: RUF006 (nobody waits for it)
            raise
        return {"result": result}

"""What is computed while somebody drags, with a worker that is done when the test says so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import pytest

from workbench.server import interactive
from workbench.server.interactive import Interactive


class Worker:
    """Works until it is told what to answer; knows what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self.hurried = asyncio.Event()
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def ask(self, task: str, request: Mapping[str, Any], told: Any) -> Any:
        self.asked.append(request)
        self.answer = asyncio.get_running_loop().create_future()
        return await self.answer

    async def hurry(self) -> None:
        self.hurried.set()


class Crew:
    """One worker, and how often it was called off."""

    def __init__(self) -> None:
        self.worker, self.called_off = Worker(), 0

    @contextlib.asynccontextmanager
    async def lent(self) -> AsyncIterator[Worker]:
        try:
            yield self.worker
        except asyncio.CancelledError:
            self.called_off += 1
            raise

    async def warm_up(self) -> None:
        pass


class Desk:
    """Requests of pages, and the answers that came."""

    def __init__(self) -> None:
        self.crew = Crew()
        self.worker = self.crew.worker
        self.interactive = Interactive(self.crew)  # type: ignore[arg-type]
        self.answers: list[tuple[str, int, Any]] = []

    def ask(self, page: str, number: int) -> None:
        async def answer(data: Mapping[str, Any]) -> None:
            self.answers.append((page, number, data["result"]))

        self.interactive.ask(page, "simulate", {"number": number}, answer)

    async def working_on(self, number: int) -> None:
        while not self.worker.asked or self.worker.asked[-1] != {"number": number}:
            await asyncio.sleep(0)

    async def done(self) -> None:
        """The worker finishes what it does."""
        before = len(self.answers)
        self.worker.answer.set_result("done")
        while len(self.answers) == before:
            await asyncio.sleep(0)


def run(session: Callable[[Desk], Awaitable[None]]) -> None:
    async def whole() -> None:
        desk = Desk()
        await session(desk)
        await desk.interactive.end()

    asyncio.run(whole())


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interactive, "SHARE", 1e6)
    monkeypatch.setattr(interactive, "PATIENCE", 1e6)


@pytest.mark.usefixtures("patient")
def test_of_a_page_only_the_newest_waiting_request_is_computed() -> None:
    async def session(desk: Desk) -> None:
        desk.ask("one", 1)
        await desk.working_on(1)
        for number in (2, 3, 4):
            desk.ask("one", number)
        desk.ask("other", 5)
        for number in (4, 5):
            await desk.done()
            await desk.working_on(number)
        await desk.done()
        assert desk.answers == [("one", 1, "done"), ("one", 4, "done"), ("other", 5, "done")]

    run(session)


def test_who_wants_something_newer_gets_a_part_and_then_what_is_newer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interactive, "SHARE", 0.0)
    monkeypatch.setattr(interactive, "PATIENCE", 1e6)

    async def session(desk: Desk) -> None:
        desk.ask("one", 1)
        await desk.working_on(1)
        desk.ask("one", 2)
        await desk.worker.hurried.wait()
        assert desk.worker.asked == [{"number": 1}] and desk.crew.called_off == 0
        await desk.done()
        await desk.working_on(2)

    run(session)


def test_what_takes_long_makes_way_for_the_same_page_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interactive, "PATIENCE", 0.0)

    async def session(desk: Desk) -> None:
        desk.ask("one", 1)
        await desk.working_on(1)
        desk.ask("other", 2)
        for _ in range(100):
            await asyncio.sleep(0)
        assert desk.crew.called_off == 0
        desk.ask("one", 3)
        await desk.working_on(2)
        assert desk.crew.called_off == 1 and desk.answers == []
        await desk.done()
        await desk.working_on(3)
        await desk.done()
        assert desk.answers == [("other", 2, "done"), ("one", 3, "done")]

    run(session)


@pytest.mark.usefixtures("patient")
def test_a_page_that_is_gone_waits_for_nothing() -> None:
    async def session(desk: Desk) -> None:
        desk.ask("one", 1)
        await desk.working_on(1)
        desk.ask("one", 2)
        desk.ask("other", 3)
        desk.interactive.forget("one")
        await desk.working_on(3)
        assert desk.crew.called_off == 1 and desk.answers == []

    run(session)


@pytest.mark.usefixtures("patient")
def test_the_end_does_not_wait_for_what_is_computed() -> None:
    async def session(desk: Desk) -> None:
        desk.ask("one", 1)
        await desk.working_on(1)
        await desk.interactive.end()
        assert desk.crew.called_off == 1 and desk.answers == []

    run(session)

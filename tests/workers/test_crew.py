"""Processes that work for the servers: called off, starved, hurried, killed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.models.catalogue import path
from workbench.workers.crew import Crew, Refusal, Work, Worker, WorkerDied

GIGABYTES = 4.0

Session = Callable[[Crew], Awaitable[None]]


def run(session: Session, gigabytes: float = GIGABYTES) -> None:
    """A session with workers of the studio."""

    async def whole() -> None:
        crew = Crew(Work("workbench.server.tasks", gigabytes, Path.cwd()))
        await session(crew)
        await crew.end()

    asyncio.run(whole())


def simulation(**more: Any) -> dict[str, Any]:
    return {"text": path("leaky_tank").read_text(), "until": 5, **more}


ENDLESS = simulation(runs=1_000_000, first=0)
"""Nobody waits for all of these runs; each is told as soon as it is made."""


def is_gone(worker: Worker) -> bool:
    try:
        os.kill(worker._process.pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_work_that_is_called_off_ends_its_process_and_the_next_has_a_new_one() -> None:
    async def session(crew: Crew) -> None:
        async with crew.lent() as first:
            assert len((await first.ask("simulate", simulation()))["runs"]) == 1
        begun = asyncio.Event()

        async def told(_: Any) -> None:
            begun.set()

        waiting = asyncio.ensure_future(crew.do("simulate", ENDLESS, told))
        await begun.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert is_gone(first)
        assert len((await crew.do("simulate", simulation()))["runs"]) == 1

    run(session)


def test_a_refusal_says_why_and_the_worker_stays() -> None:
    async def session(crew: Crew) -> None:
        async with crew.lent() as worker:
            assert (await worker.ask("simulate", simulation()))["runs"]
        with pytest.raises(Refusal, match="no agent") as refused:
            await crew.do("simulate", {"text": "mode M() { write analog real x; }"})
        assert refused.value.data["diagnostics"][0]["span"]
        async with crew.lent() as again:
            assert again is worker

    run(session)


def test_who_needs_more_memory_than_allowed_is_told_how_to_allow_it() -> None:
    many = range(60)  # what one jump leaves behind is the larger
    names = ", ".join(f"x{i}" for i in many)
    greedy = f"""
    mode M() {{ write analog real t, {names};
      diff {{ d(t) == 1; {" ".join(f"d(x{i}) == 0;" for i in many)} }} inv {{ t <= 0.001 }} }}
    mode Top() {{ write analog real t, {names};
      mode m = M();
      trans from init to m;
      trans from m to m when t >= 0.001 do {{ t = 0; {" ".join(f"x{i} = 1 - x{i};" for i in many)} }} }}
    agent A() {{ private analog real t, {names};
      init {{ t = 0; {" ".join(f"x{i} = 0;" for i in many)} }} mode top = Top(); }}
    """

    async def session(crew: Crew) -> None:
        with pytest.raises((Refusal, WorkerDied), match=r"0.5 GB of memory.* --memory 1"):
            await crew.do("simulate", {"text": greedy, "until": 1e4, "runs": 50})
        assert len((await crew.do("simulate", simulation()))["runs"]) == 1

    run(session, gigabytes=0.5)


def test_a_worker_that_somebody_ends_is_told_and_replaced() -> None:
    async def session(crew: Crew) -> None:
        async with crew.lent() as worker:
            assert (await worker.ask("simulate", simulation()))["runs"]
        asking = asyncio.ensure_future(crew.do("simulate", ENDLESS))
        await asyncio.sleep(0)
        os.kill(worker._process.pid, signal.SIGKILL)
        with pytest.raises(WorkerDied, match="ended by somebody"):
            await asking
        assert len((await crew.do("simulate", simulation()))["runs"]) == 1

    run(session)


def test_parts_are_told_and_who_is_in_a_hurry_gets_some_of_them() -> None:
    async def session(crew: Crew) -> None:
        async with crew.lent() as worker:
            places: list[int] = []

            async def told(part: Any) -> None:
                places.append(part["place"])
                if hurried and len(places) == 2:
                    await worker.hurry()

            hurried = False
            whole = await worker.ask("simulate", simulation(runs=4, first=2), told)
            assert (places, whole) == ([2, 0, 1, 3], {"made": 4})
            places, hurried = [], True
            part = await worker.ask("simulate", ENDLESS | {"first": 7, "seed": 9}, told)
            assert places == [7, *range(7), *range(8, len(places))][: len(places)]
            assert 2 <= part["made"] == len(places) < ENDLESS["runs"]
            hurried = False
            again = await worker.ask("simulate", simulation(runs=3, first=0), told)
            assert again == {"made": 3}  # the next one is not hurried

    run(session)

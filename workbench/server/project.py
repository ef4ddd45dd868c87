"""One project that is open in pages: what they share, and who is told of changes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbench.server.drafts import Drafts
from workbench.server.folder import Folder
from workbench.server.interactive import Interactive
from workbench.server.jobs import Job, Jobs
from workbench.workers.crew import Crew, Work

TASKS = "workbench.server.tasks"
"""What the workers do."""

LOOK_EVERY = 0.5
"""Seconds between two looks at the files."""


class Mailbox:
    """What a page is told next: of every job the newest state, of files all that changed. A page
    that does not listen for a while misses nothing, and its box does not grow."""

    def __init__(self) -> None:
        self._frames: dict[str, dict[str, Any]] = {}
        self._something = asyncio.Event()

    def put(self, frame: dict[str, Any]) -> None:
        """Leave a frame."""
        if frame["channel"] == "project":
            waiting = self._frames.pop("project", {"changed": []})
            frame = {**frame, "changed": sorted({*waiting["changed"], *frame["changed"]})}
            self._frames["project"] = frame
        else:
            key = f"job {frame['job']['id']}"
            self._frames.pop(key, None)
            self._frames[key] = frame
        self._something.set()

    async def take(self) -> dict[str, Any]:
        """The oldest frame, when there is one."""
        await self._something.wait()
        frame = self._frames.pop(next(iter(self._frames)))
        if not self._frames:
            self._something.clear()
        return frame


class Project:
    """What all pages on one folder share."""

    def __init__(self, root: Path, memory: float):
        self.memory = memory
        self.folder = Folder(root)
        self.drafts = Drafts(self.folder)
        work = Work(TASKS, memory, self.folder.root)
        self._job_crew = Crew(work, at_once=max(2, (os.cpu_count() or 2) - 1))
        self._crew = Crew(work)
        self.jobs = Jobs(self.folder, self.drafts, self._job_crew, self._job_changed)
        self.interactive = Interactive(self._crew)
        self._pages: dict[object, Mailbox] = {}
        self._seen = self._look()
        self._watching = asyncio.create_task(self._watch())

    async def warm_up(self) -> None:
        """Have a worker ready for the first simulation."""
        await self._crew.warm_up()

    async def end(self) -> None:
        """End everything that is going on."""
        self._watching.cancel()
        await self.interactive.end()
        await self.jobs.end()
        await self._crew.end()
        await self._job_crew.end()

    # Pages

    def join(self, page: object) -> Mailbox:
        """A page that wants to be told."""
        box = self._pages[page] = Mailbox()
        return box

    def leave(self, page: object) -> None:
        """The page is gone."""
        self._pages.pop(page, None)
        self.interactive.forget(page)

    def _tell(self, frame: dict[str, Any]) -> None:
        for box in self._pages.values():
            box.put(frame)

    def _job_changed(self, job: Job) -> None:
        self._tell({"channel": "jobs", "job": job.data})

    # Files

    def changed(self, paths: Iterable[str]) -> None:
        """Files were changed here: tell it at once."""
        self._seen = self._look()
        self._announce(paths)

    def drafted(self) -> None:
        """What is typed has changed."""
        self.jobs.look_again()

    def _announce(self, paths: Iterable[str]) -> None:
        told = sorted(paths)
        if told:
            self._tell({"channel": "project", "changed": told})
            self.jobs.look_again()

    def _look(self) -> dict[str, tuple[int, int]]:
        return {e.path: (e.size, e.modified_ns) for e in self.folder.entries()}

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            before = self._seen
            now = await asyncio.to_thread(self._look)
            if self._seen is before:  # nothing was changed here meanwhile
                self._seen = now
                paths = before.keys() | now.keys()
                self._announce(path for path in paths if before.get(path) != now.get(path))

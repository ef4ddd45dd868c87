"""Jobs: what takes long, several at once, with a queue, in workers that can be killed.

A job about several properties asks for one after the other, and keeps every answer as soon as it
is there: whoever cancels keeps what was found so far. What is known already is not asked again.

What an earlier session found is not taken for granted: a job that shows it is running until the
checker has accepted the certificate again, or the run was made again; else it fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from workbench.server.drafts import Drafts
from workbench.server.folder import Folder, FolderError
from workbench.server.requests import JobRequest
from workbench.server.results import Question, Result, Results, digest
from workbench.workers.crew import Crew, Refusal, Worker, WorkerDied

LOG = logging.getLogger("workbench.server")

MAX_WAITING = 50
"""So many jobs may wait or run."""

MAX_LISTED = 200
"""So many jobs that are over are remembered."""

MAX_PROGRESS = 60
"""So many events of progress of a job are told, the last ones."""

REPORTS = "reports"
"""Where reports are written if nobody says."""


@dataclass
class Job:
    """A job and how far it is."""

    id: str
    request: JobRequest
    digest: str
    state: str = "queued"
    progress: list[Mapping[str, Any]] = field(default_factory=list)
    answers: list[Mapping[str, Any]] = field(default_factory=list)
    error: Mapping[str, Any] | None = None
    stale: bool = False
    created: float = field(default_factory=time.time)
    finished: float | None = None
    keys: set[str] = field(default_factory=set)
    kept: Result | None = None
    """What an earlier session found, if that is what the job shows."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def data(self) -> dict[str, Any]:
        """The job as plain data."""
        request = self.request
        data: dict[str, Any] = {
            "id": self.id,
            "kind": request.kind,
            "model": request.model,
            "agent": request.agent,
            "properties": list(request.properties),
            "parameters": dict(request.parameters),
            "options": dict(request.options),
            "state": self.state,
            "progress": self.progress[-MAX_PROGRESS:],
            "hash": self.digest,
            "stale": self.stale,
            "created": self.created,
            "finished": self.finished,
        }
        if self.answers:
            whole = request.kind in ("refine", "report")
            data["result"] = self.answers[0] if whole else {"verdicts": self.answers}
        return data | ({"error": self.error} if self.error is not None else {})


class Jobs:
    """The jobs of a project: those of this session, and what earlier ones found."""

    def __init__(
        self,
        folder: Folder,
        drafts: Drafts,
        crew: Crew,
        changed: Callable[[Job], None],
    ):
        self._folder, self._drafts, self._changed = folder, drafts, changed
        self._results = Results(folder)
        self._crew = crew
        self._jobs: dict[str, Job] = {}
        self._working: dict[str, asyncio.Task[None]] = {}
        self._numbers = itertools.count(1)
        for result in self._results.all():
            self._remember(result)

    def _remember(self, result: Result) -> None:
        """A result of an earlier session as a job that has it."""
        asked = result.question
        names = (asked.claim,) if asked.claim else ()
        request = JobRequest(
            asked.kind, asked.model, None, asked.agent, names, asked.parameters, asked.options
        )
        job = Job(asked.key[:16], request, asked.digest, "done", created=result.found)
        job.answers, job.finished, job.keys = [result.answer], result.found, {asked.key}
        job.kept, job.stale = result, self._digest_now(asked.model) != asked.digest
        self._jobs[job.id] = job
        self._look_at_evidence(job)

    def _look_at_evidence(self, job: Job) -> None:
        """Have the evidence of an earlier session confirmed, if it is about the present text."""
        kept = job.kept
        if kept is None or job.stale or job.id in self._working:
            return
        if kept.question.key not in self._results.confirmed:
            job.state = "running"
            self._working[job.id] = asyncio.create_task(self._work(job, self._confirm))

    # What pages ask

    def all(self) -> list[Job]:
        """Every job, the oldest first."""
        return sorted(self._jobs.values(), key=lambda job: job.created)

    def find(self, number: str) -> Job:
        """The job of that id. Raises `FolderError`."""
        if number not in self._jobs:
            raise FolderError(f"there is no job {number[:40]!r}", 404)
        return self._jobs[number]

    def submit(self, request: JobRequest) -> Job:
        """Queue a job."""
        if sum(not job.is_over for job in self._jobs.values()) >= MAX_WAITING:
            raise FolderError(f"{MAX_WAITING} jobs are waiting; cancel some", 429)
        if request.text is None and request.model.endswith(".charon"):
            request = replace(request, text=self._folder.read(request.model).text)
        fingerprint = digest(self._folder, request.model, request.text)
        job = Job(f"{next(self._numbers)}-{secrets.token_hex(4)}", request, fingerprint)
        self._forget_oldest()
        self._jobs[job.id] = job
        self._working[job.id] = asyncio.create_task(self._work(job, self._answer))
        self._changed(job)
        return job

    def cancel(self, job: Job) -> None:
        """End a job; what it found so far is kept."""
        working = self._working.get(job.id)
        if working is not None:
            working.cancel()

    def _forget_oldest(self) -> None:
        over = [job for job in self.all() if job.is_over]
        for job in over[: max(0, len(over) - MAX_LISTED)]:
            del self._jobs[job.id]

    def look_again(self) -> None:
        """Say which results speak of texts that are no longer what a model holds."""
        now: dict[str, str] = {}
        for job in list(self._jobs.values()):
            model = job.request.model
            if model not in now:
                now[model] = self._digest_now(model)
            if job.stale != (now[model] != job.digest):
                job.stale = not job.stale
                self._look_at_evidence(job)
                self._changed(job)

    def _digest_now(self, model: str) -> str:
        with contextlib.suppress(FolderError, OSError):
            return digest(self._folder, model, self._drafts.text(model))
        return ""

    async def end(self) -> None:
        """End all work."""
        for working in list(self._working.values()):
            working.cancel()
        await asyncio.gather(*self._working.values(), return_exceptions=True)

    # How it is done

    async def _work(self, job: Job, do: Callable[[Job, Worker], Awaitable[None]]) -> None:
        try:
            async with self._crew.lent() as worker:
                self._enter(job, "running")
                await do(job, worker)
            self._enter(job, "done")
        except asyncio.CancelledError:
            self._enter(job, "cancelled")
        except Refusal as refusal:
            job.error = refusal.data
            self._enter(job, "failed")
        except (WorkerDied, FolderError, OSError) as error:
            job.error = {"message": str(error)}
            self._enter(job, "failed")
        finally:
            self._working.pop(job.id, None)

    def _enter(self, job: Job, state: str) -> None:
        job.state = state
        if job.is_over:
            job.finished, job.request = time.time(), replace(job.request, text=None)
            job.stale = self._digest_now(job.request.model) != job.digest
        self._changed(job)

    async def _answer(self, job: Job, worker: Worker) -> None:
        """Ask for what is not known."""
        if job.request.kind in ("verify", "falsify") and not job.request.properties:
            described = await worker.ask("describe", self._asked(job))
            names = tuple(claim["name"] for claim in described["properties"])
            job.request = replace(job.request, properties=names)
        for question in self._questions(job):
            known = None if job.request.again else self._results.find(question)
            if known is not None and not await self._is_confirmed(job, worker, known):
                known = None
            answer = known.answer if known is not None else None
            if answer is None:
                answer = await self._ask(job, worker, question)
                self._results.keep(Result(question, answer, time.time()))
            job.keys.add(question.key)
            job.answers.append(answer)
            self._changed(job)
        self._supersede(job)

    async def _confirm(self, job: Job, worker: Worker) -> None:
        """Look at the evidence of an earlier session; without it there is no result."""
        assert job.kept is not None
        if not await self._is_confirmed(job, worker, job.kept):
            job.answers, job.kept, job.keys = [], None, set()
            raise FolderError("the evidence that was kept is not accepted any more: ask again", 409)

    async def _is_confirmed(self, job: Job, worker: Worker, known: Result) -> bool:
        """Whether the evidence of a kept answer is accepted in this session; else it is dropped."""
        asked = known.question
        if asked.key in self._results.confirmed:
            return True
        request = self._asked(job) | {
            "text": job.request.text or self._drafts.text(asked.model),
            "answer": known.answer,
            "property": asked.claim,
            "options": dict(asked.options),
        }
        with contextlib.suppress(Refusal):
            if self._results.find(asked) and await worker.ask("confirm", request):
                self._results.confirmed.add(asked.key)
                return True
        LOG.warning("dropped a result about %s: its evidence is not accepted", asked.model)
        self._results.drop(asked.key)
        return False

    def _questions(self, job: Job) -> Iterator[Question]:
        request = job.request
        whole = request.kind in ("refine", "report")
        for name in ("; ".join(request.properties),) if whole else request.properties:
            options = dict(request.options)
            if request.kind == "refine":
                options["against_digest"] = self._digest_of_other(options["against"])
            yield Question(
                request.kind,
                request.model,
                job.digest,
                name,
                request.agent,
                request.parameters,
                options,
            )

    def _digest_of_other(self, against: str) -> str:
        return digest(self._folder, against) if "." in against else ""

    async def _ask(self, job: Job, worker: Worker, question: Question) -> Mapping[str, Any]:
        async def told(event: Mapping[str, Any]) -> None:
            job.progress.append({"property": question.claim, **event})
            del job.progress[:-MAX_PROGRESS]
            self._changed(job)

        asked = self._asked(job) | {"options": dict(job.request.options)}
        if question.kind == "report":
            page = asked["options"].pop("output", None) or _report_of(job.request.model)
            self._folder.locate(page)
            asked |= {"page": page, "properties": list(job.request.properties)}
        else:
            asked |= {"property": question.claim, "evidence": self._results.evidence(question)}
        answer: Mapping[str, Any] = await worker.ask(question.kind, asked, told)
        if digest(self._folder, job.request.model, job.request.text) != job.digest:
            raise FolderError("files that the model imports were changed meanwhile: ask again", 409)
        return answer

    @staticmethod
    def _asked(job: Job) -> dict[str, Any]:
        request = job.request
        return {
            "model": request.model,
            "text": request.text,
            "agent": request.agent,
            "parameters": dict(request.parameters),
            "digest": job.digest,
        }

    def _supersede(self, job: Job) -> None:
        """Leave out what earlier sessions found, where this job found it too."""
        for other in list(self._jobs.values()):
            if other is not job and other.is_over and other.keys and other.keys <= job.keys:
                del self._jobs[other.id]


def _report_of(model: str) -> str:
    """Where the report of a model is written."""
    path = PurePosixPath(model)
    return str(PurePosixPath(REPORTS) / path.with_suffix(".html"))

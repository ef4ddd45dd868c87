"""Scores of many points at once: in this process, or in worker processes.

Workers read the model from JSON text, so nothing depends on the state of the parent; points go
out and scores come back in chunks. The order of results is that of the points, whatever the
number of workers.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from types import TracebackType
from typing import Any

from workbench.models.automaton import Automaton, Property
from workbench.models.interruption import CheckInterruptedError, interruptible
from workbench.models.processes import end_with_parent, may_start_others, worker_context
from workbench.models.work import counting, spend, spent
from workbench.simulate.monitoring.stl import Formula, parse_formula
from workbench.simulate.policy import Switching
from workbench.simulate.search.objective import Course, Objective, Score
from workbench.simulate.search.search_space import Shape
from workbench.simulate.stepping.externs import are_provided

Job = tuple[Shape, list[float], int]
Answer = tuple[tuple[float, float, bool, float, Course], float]
"""A score as plain data, and the work that it took."""


WORTH_WORKERS = 2_000.0
"""The work of a search after which it is worth starting workers."""


class EvaluationPool:
    """Evaluates points; use it as a context."""

    def __init__(self, automaton: Automaton, claim: Property | Formula, workers: int = 1):
        self.objective = Objective(automaton, claim)
        self._workers = workers if may_start_others() and not are_provided() else 1
        self._worth_workers = spent() + WORTH_WORKERS
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> EvaluationPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def scores(self, jobs: Sequence[Job], deadline: float = math.inf) -> list[Score]:
        """The scores, in order; those of the first jobs only if the deadline passes."""
        if self._executor is None and self._workers > 1 and spent() > self._worth_workers:
            self._executor = ProcessPoolExecutor(
                self._workers,
                mp_context=worker_context(),
                initializer=_set_up,
                initargs=_description(self.objective.base, self.objective.claim),
            )
        if self._executor is None or len(jobs) < 2:
            scores: list[Score] = []
            for shape, x, seed in jobs:
                if scores and time.monotonic() >= deadline:
                    break
                scores.append(self.objective.cost(shape, x, seed))
            return scores
        size = -(-len(jobs) // self._workers)
        chunks = [jobs[i : i + size] for i in range(0, len(jobs), size)]
        seconds = deadline - time.monotonic()
        waiting: list[Future[list[Answer]]] = [
            self._executor.submit(_work, [_plain(job) for job in chunk], seconds)
            for chunk in chunks
        ]
        scores = []
        for chunk, future in zip(chunks, waiting, strict=True):
            for score, work in future.result():
                spend(work)
                scores.append(Score(*score))
            if len(future.result()) < len(chunk):
                break
        return scores


def _plain(job: Job) -> tuple[Any, ...]:
    shape, x, seed = job
    return (
        (shape.until, shape.pieces, str(shape.switching), shape.start, shape.decisions),
        (shape.linear, shape.jumps),
        x,
        seed,
    )


def _description(automaton: Automaton, claim: Property | Formula) -> tuple[str, str, str]:
    from workbench.models.interchange.json_model import to_json

    kind = "property" if isinstance(claim, Property) else "formula"
    text = claim.name if isinstance(claim, Property) else claim.text
    return json.dumps(to_json(automaton)), kind, text


_here: list[Objective] = []
"""The objective of this worker process."""


def _set_up(document: str, kind: str, text: str) -> None:
    import signal

    from workbench.models.interchange.json_model import from_json

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the work
    end_with_parent()
    automaton = from_json(document)
    claim: Property | Formula
    if kind == "formula":
        claim = parse_formula(text)
    else:
        claim = next(p for p in automaton.properties if p.name == text)
    with counting():  # this work is the worker's own
        _here[:] = [Objective(automaton, claim)]


def _work(jobs: Sequence[tuple[Any, ...]], seconds: float) -> list[Answer]:
    """The scores of some jobs; of the first ones only if that takes longer than it may."""
    answers: list[Answer] = []
    deadline = time.monotonic() + seconds
    with interruptible(lambda: time.monotonic() >= deadline):
        for (until, pieces, switching, start, decisions), rest, x, seed in jobs:
            shape = Shape(until, pieces, Switching(switching), start, decisions, *rest)
            try:
                with counting() as meter:
                    score = _here[0].cost(shape, x, seed)
            except CheckInterruptedError:
                break
            known = (score.margin, score.time, score.cut, score.end, score.course)
            answers.append((known, meter.spent))
    return answers

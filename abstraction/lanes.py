"""Lanes of a portfolio side by side: each in a process of its own, ended when it is no longer
needed.

The first proof ends everything. A violation waits until the other lanes have done as much work:
so which one counts does not depend on the machine. That never takes long, for they have been at
it for the same time. With fewer processors than lanes (`Task.jobs`) those go on that have done
least; while one confirms a violation, the others wait.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from workbench.abstraction.strategies.strategy import (
    CONFIRMING,
    GRAPH_READER,
    HISTORY_READER,
    Task,
)
from workbench.models.interruption import go_on
from workbench.models.processes import end_with_parent, share_memory
from workbench.models.verdict import Effort, Unknown, Verdict, Verified
from workbench.models.work import counting

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

READERS = (HISTORY_READER, GRAPH_READER)
"""The options by which others listen to what methods find."""
LATEST = 0.5
"""Seconds beyond the deadline after which lanes are ended that did not end by themselves."""
SLICE = 0.05
"""Seconds between two looks at the lanes."""
SOON = 0.002
"""The same, while a violation waits for the other lanes to have done as much work."""
SAID = 0.1
"""Seconds between two words about what is being done."""


@dataclass
class Lane:
    """What one lane has come to."""

    name: str
    method: str = "the start"
    """What is at work, or was last."""
    decision: Verdict | None = None
    work: float = 0.0
    undecided: dict[str, Unknown] = field(default_factory=dict)
    hurried: set[str] = field(default_factory=set)
    """Methods that used up their work: with more they may get further."""
    seconds: dict[str, float] = field(default_factory=dict)
    known: tuple[str, ...] = ()
    """Partial results, in sentences."""
    cut: bool = False
    """Whether the clock cut that method."""


Follow = Callable[[str, Task, Callable[[Lane], None]], Lane]
"""Goes through a lane of that name, telling before each stage what it has come to."""


def side_by_side(names: Sequence[str], task: Task, follow: Follow) -> list[Lane]:
    """Every lane, until all have ended or one has decided."""
    with _processes(names, task, follow) as processes:
        while any(p.runs for p in processes) and time.monotonic() < task.deadline + LATEST:
            go_on()
            waiting = [p for p in processes if p.runs]
            decided = [p.lane.work for p in processes if p.lane.decision is not None]
            if any(isinstance(p.lane.decision, Verified) for p in processes):
                break
            if decided and all(p.work > min(decided) for p in waiting):
                break
            _take_turns(waiting, task.jobs)
            _listen(task, waiting, SOON if decided else SLICE)
        return [p.result() for p in processes]


def in_turn(names: Sequence[str], task: Task, follow: Follow) -> list[Lane]:
    """One lane after the other, where there are no processes to be had."""
    found: list[Lane] = []
    for name in reversed(names):
        with counting():
            found.append(follow(name, task, lambda _: None))
        if found[-1].decision is not None:
            break
    return found


class _Process:
    """A lane in a process of its own, as seen from outside."""

    def __init__(self, name: str, task: Task, follow: Follow, parts: int, context: Any):
        self.lane = Lane(name)
        self.runs = True
        self.confirms = False
        self._paused = False
        self._meter = context.RawValue("d", 0.0)
        self.reader, writer = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_work, args=(name, task, follow, parts, self._meter, writer)
        )
        self._process.start()
        writer.close()

    @property
    def work(self) -> float:
        """How much work it has done so far."""
        return float(self._meter.value)

    def pause(self, wanted: bool) -> None:
        """Have it wait, or go on."""
        import os
        import signal

        if wanted != self._paused and self._process.pid is not None:
            self._paused = wanted
            os.kill(self._process.pid, signal.SIGSTOP if wanted else signal.SIGCONT)

    def result(self) -> Lane:
        """What the lane has come to; if it was not waited for, the clock cut it."""
        if not self.runs:
            return self.lane
        return replace(self.lane, work=self.work, cut=True)

    def died(self, task: Task) -> None:
        """It ended without a word."""
        self._process.join()
        method = self.lane.method
        why = "its process ended without an answer: it needs more memory than it may have"
        unknown = Unknown(task.claim.name, method, why, "give more memory (--memory)", Effort())
        self.lane.undecided[method] = unknown
        self.runs = False

    def end(self) -> None:
        """Make sure that it does not go on."""
        self._process.kill()
        self._process.join()
        self.reader.close()


@contextmanager
def _processes(names: Sequence[str], task: Task, follow: Follow) -> Iterator[list[_Process]]:
    """A process for every lane, ended at the latest when the context is left."""
    import multiprocessing

    context = multiprocessing.get_context("fork")
    processes: list[_Process] = []
    try:
        processes.extend(_Process(name, task, follow, len(names), context) for name in names)
        yield processes
    finally:
        for process in processes:
            process.end()


def _take_turns(waiting: Sequence[_Process], jobs: int) -> None:
    """Let as many go on as there may be at once, those that have done least; one that confirms
    a violation has all to itself."""
    confirming = [p for p in waiting if p.confirms]
    at_work = confirming or sorted(waiting, key=lambda p: p.work)[:jobs]
    for process in waiting:
        process.pause(process not in at_work)


def _listen(task: Task, waiting: Sequence[_Process], seconds: float) -> None:
    """Take in what processes say, for a while."""
    from multiprocessing.connection import wait

    for reader in wait([p.reader for p in waiting], seconds):
        process = next(p for p in waiting if p.reader is reader)
        try:
            word, said = process.reader.recv()
        except EOFError:
            process.died(task)
            continue
        if word == "doing":
            task.progress(said)
        elif word == "confirming":
            process.confirms = said
        elif word in READERS:
            cast("Callable[[object], None]", task.options[word])(said)
        elif word == "error":
            raise said
        else:
            process.lane = said
            process.runs = word == "so far"


def _work(
    name: str, task: Task, follow: Follow, parts: int, meter: Any, writer: Connection
) -> None:
    """The process of a lane."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the work
    end_with_parent()
    share_memory(parts)

    def say(word: str) -> Callable[[object], None]:
        return lambda said: writer.send((word, said))

    options = {**task.options, CONFIRMING: _changes(say("confirming"))}
    options |= {reader: say(reader) for reader in READERS if reader in options}
    try:
        with counting(meter):
            given = replace(task, progress=_seldom(say("doing")), options=options)
            lane = follow(name, given, say("so far"))
        writer.send(("ended", lane))
    except MemoryError:
        return  # what `died` tells
    except Exception as error:
        error.add_note(traceback.format_exc())
        try:
            writer.send(("error", error))
        except Exception:  # it cannot be sent as it is
            writer.send(("error", RuntimeError(traceback.format_exc())))


def _changes(say: Callable[[object], None]) -> Callable[[object], None]:
    """Says only what differs from what was said last."""
    last: list[object] = [False]

    def tell(what: object) -> None:
        if what != last[-1]:
            last[:] = [what]
            say(what)

    return tell


def _seldom(say: Callable[[str], None]) -> Callable[[str], None]:
    """Says what is being done, but not too often."""
    last = 0.0

    def tell(text: str) -> None:
        nonlocal last
        if time.monotonic() - last > SAID:
            last = time.monotonic()
            say(text)

    return tell

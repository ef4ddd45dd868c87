"""A worker process: one request after the other, until nobody can ask any more.

It ends when its input does: a server that dies leaves no worker behind. Whatever else writes to
standard output goes to standard error.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from queue import SimpleQueue
from typing import Any, Protocol, TypeAlias

from workbench.models.processes import limit_memory

Tell: TypeAlias = Callable[[Any], bool]
"""Tells an event of progress; the answer is whether what is left to do is still wanted."""

Request: TypeAlias = Mapping[str, Any]


class Refused(Exception):  # noqa: N818 (an answer, not a defect)
    """A request that has no result, with what the asker is told instead."""

    def __init__(self, data: dict[str, Any]):
        super().__init__(data)
        self.data = data


class Tasks(Protocol):
    """What a module has to offer as `Tasks()`."""

    def do(self, task: str, request: Request, tell: Tell) -> Any:
        """The result of a task as plain data. Raises Refused, ModelError or ValueError."""


def main() -> None:
    """Do the tasks of the module that the command names, with the memory that it allows."""
    module, gigabytes = sys.argv[1], float(sys.argv[2])
    _Process(gigabytes).serve(lambda: import_module(module).Tasks())


class _Process:
    def __init__(self, gigabytes: float):
        self._gigabytes = gigabytes
        self._requests: SimpleQueue[Request] = SimpleQueue()
        self._unwanted = 0  # requests up to this number need not be finished
        self._questions = os.dup(0)
        self._answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)  # nothing else may write among the answers
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends the work

    def serve(self, begin: Callable[[], Tasks]) -> None:
        """Answer requests until there are no more."""
        threading.Thread(target=self._listen, daemon=True).start()
        tasks = begin()
        gc.freeze()  # what is loaded now stays: collections need not look at it
        limit_memory(self._gigabytes)
        while True:
            answer = self._answer(tasks, self._requests.get())
            try:
                self._say(**answer)
            except MemoryError:  # there is a result, but no room to write it down
                answer = self._starved()
                self._say(**answer)

    def _listen(self) -> None:
        """Take lines as they come, so that the end of the server is noticed during work, too. They
        are read without a lock: engines start processes of their own, which would inherit it."""
        begun = b""
        while data := os.read(self._questions, 1 << 20):
            *lines, begun = (begun + data).split(b"\n") if b"\n" in data else (begun + data,)
            for line in lines:
                message = json.loads(line)
                if "unwanted" in message:
                    self._unwanted = message["unwanted"]
                else:
                    self._requests.put(message)
        os.killpg(0, signal.SIGKILL)  # with the processes that an engine has started

    def _say(self, **message: Any) -> None:
        self._answers.write(json.dumps(message) + "\n")
        self._answers.flush()

    def _answer(self, tasks: Tasks, asked: Request) -> dict[str, Any]:
        def tell(event: Any) -> bool:
            self._say(progress=event)
            return bool(self._unwanted < asked["number"])

        from workbench import ModelError

        try:
            return {"result": tasks.do(asked["task"], asked["request"], tell)}
        except Refused as refusal:
            return {"refused": refusal.data}
        except ModelError as error:
            from workbench.api.data import diagnostic_data

            found = [diagnostic_data(d) for d in error.diagnostics]
            return {"refused": {"message": error.render(), "diagnostics": found}}
        except ValueError as error:
            return {"refused": {"message": str(error)}}
        except (MemoryError, SystemError):  # compiled code may fail without saying that it starves
            pass  # what the work held is let go before anything is said
        except Exception as error:
            traceback.print_exc()
            told = f"a defect of this program: {type(error).__name__}: {error}"
            return {"refused": {"message": told}}
        return self._starved()

    def _starved(self) -> dict[str, Any]:
        return {"refused": {"message": too_little_memory(self._gigabytes)}}


def too_little_memory(gigabytes: float) -> str:
    """What is said of work that needs more memory than it may have."""
    return (
        f"this needs more than the {gigabytes:g} GB of memory that it may have;"
        f" ask for less, or begin the server with more: --memory {2 * gigabytes:g}"
    )

"""A worker process: one request in a line of JSON on its input, events and a result on its output.

It ends when its input does: a server that dies leaves no worker behind. Whatever else writes to
standard output goes to standard error.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import signal
import threading
import traceback
from typing import Any

PROGRESS_EVERY = 0.1
"""Seconds between two events of progress, unless the method changes."""


def main() -> None:
    """Do what is asked until nobody asks any more."""
    asked, out = os.dup(0), os.fdopen(os.dup(1), "w", encoding="utf-8")
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends the work
    requests: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(asked, requests), daemon=True).start()

    def say(**event: Any) -> None:
        out.write(json.dumps(event) + "\n")
        out.flush()

    from workbench.server.tasks import Tasks

    tasks = Tasks()
    tasks.warm_up()
    gc.freeze()  # what is loaded now stays: collections need not look at it
    say(ready=True)
    while True:
        _answer(tasks, json.loads(requests.get()), say)


def _listen(asked: int, requests: queue.Queue[bytes]) -> None:
    """Hand on what comes in. It is read without a lock: an engine may fork at any time, and the
    new process would wait for that lock for ever."""
    begun = b""
    while data := os.read(asked, 1 << 20):
        *lines, begun = (begun + data).split(b"\n") if b"\n" in data else (begun + data,)
        for line in lines:
            requests.put(line)
    os.killpg(0, signal.SIGKILL)  # with the processes that an engine has started


def _answer(tasks: Any, asked: dict[str, Any], say: Any) -> None:
    from workbench.server.tasks import Refused, timed

    last = {"method": "", "seconds": -1.0}

    def tell(event: dict[str, Any]) -> None:
        soon = event["seconds"] - last["seconds"] < PROGRESS_EVERY
        if soon and event["method"] == last["method"]:
            return
        last.update(event)
        say(progress=event)

    try:
        say(result=tasks.do(asked["task"], asked["request"], timed(tell)))
    except Refused as refusal:
        say(refused=refusal.data)
    except MemoryError:
        say(refused={"message": "this needs more memory than there is"})
    except Exception as error:
        traceback.print_exc()
        say(refused={"message": f"a defect of this program: {type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()

"""A command in a process of its own, which ends on time whatever it is doing.

Searches look at the clock, and interrupts are exceptions; but a solver, or a product of numbers
with a million digits, listens to neither. So `supervised` does the work in a child process and
stays beside it. The child says how long it may take, and what is known if it takes longer
(`allow`). The parent ends it then, and soon after an interrupt, with all processes it started.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False  # as in `typing`, whose import may be interrupted
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

LATE_SHARE, LATE = 0.05, 0.5
"""How far beyond its limit a command may go to end by itself: a share of the limit, and seconds."""

PATIENCE = 0.7
"""Seconds after an interrupt in which a command may still say what is known."""

EVERY = 0.1
"""Seconds between two looks at the clock."""

OUT_OF_MEMORY = "the command needs more memory than it may have (--memory)"

INTERRUPTED, UNKNOWN, DEFECT = 130, 5, 6
"""Exit codes (`ExitCode`), needed before that can be imported."""

_channel: list[int] = []
"""Where the child writes to its parent."""

_interrupts: list[bool] = []
"""Something, once the child has got an interrupt."""


def allow(begun: float, seconds: float, words: str) -> None:
    """The command may take so many seconds from a moment (`time.monotonic`), and a little more.
    If that is not enough, `words` are the rest of its result, and the property is undecided."""
    if not _channel:
        return
    latest = begun + seconds * (1 + LATE_SHARE) + LATE
    said = words.encode(errors="backslashreplace")
    message = f"{latest!r} {len(said)}\n".encode() + said
    try:
        while message:
            message = message[os.write(_channel[0], message) :]
    except OSError:  # nobody listens any more
        _channel.clear()


def supervised(work: Callable[[], int]) -> int:
    """What `work` returns, done in a child process; where there is none to be had, done here."""
    import signal

    if not hasattr(os, "fork"):
        return work()
    reader, writer = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    child = os.fork()
    if child == 0:
        from workbench.models.processes import end_with_parent

        os.close(reader)
        end_with_parent()
        _channel.append(writer)
        signal.signal(signal.SIGINT, _interrupt_once)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        _leave(_work(work))
    os.close(writer)
    supervisor = _Supervisor(child, reader)
    signal.signal(signal.SIGINT, supervisor.interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    return supervisor.attend()


def is_interrupted() -> bool:
    """Whether this command has got an interrupt: whatever it fails by then is a part of that, such
    as half an import."""
    return bool(_interrupts)


def _work(work: Callable[[], int]) -> int:
    """What it returns; an interrupt may break it in any way."""
    try:
        return work()
    except BaseException:
        if not is_interrupted():
            raise
        sys.stderr.write("interrupted\n")
        return INTERRUPTED


def _leave(code: int) -> NoReturn:
    """End this process now that all is said: taking large models apart may take a second."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:  # also where nobody reads any more
        os._exit(code)


def _interrupt_once(*_: object) -> None:
    """The first interrupt ends the work; none disturbs what is said then, for the parent sees to
    it that this does not take long."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _interrupts.append(True)
    sys.unraisablehook = lambda _: None  # nobody wants to read what was half made
    raise KeyboardInterrupt


class _Supervisor:
    """The parent's side."""

    def __init__(self, child: int, reader: int):
        self.child, self.reader = child, reader
        self.latest = float("inf")
        self.words = ""
        self.interrupted = False
        self._received = b""

    def interrupt(self, *_: object) -> None:
        """Pass an interrupt on, and give the child a moment."""
        import signal

        if not self.interrupted:
            self.interrupted = True
            self.latest = time.monotonic() + PATIENCE
            os.kill(self.child, signal.SIGINT)

    def attend(self) -> int:
        """Wait for the child, and end it when it is time; the exit code."""
        import select

        listened = [self.reader]
        while True:
            ended, status = os.waitpid(self.child, os.WNOHANG)
            if ended:
                return self._ended(status)
            left = self.latest - time.monotonic()
            if left < 0.0:
                return self._end()
            if select.select(listened, [], [], min(EVERY, left))[0] and not self._listen():
                listened = []  # it is about to end

    def _listen(self) -> bool:
        """Take in what the child says; whether it may say more."""
        received = os.read(self.reader, 65536)
        self._received += received
        while b"\n" in self._received:
            head, rest = self._received.split(b"\n", 1)
            latest, length = head.split()
            if len(rest) < int(length):
                break
            self.words = rest[: int(length)].decode()
            self._received = rest[int(length) :]
            if not self.interrupted:
                self.latest = float(latest)
        return bool(received)

    def _end(self) -> int:
        """End a child that does not end by itself, and say what it can no longer say."""
        import signal

        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        if self.interrupted:
            sys.stderr.write("interrupted\n")
            return INTERRUPTED
        sys.stdout.write(self.words)
        return UNKNOWN

    def _ended(self, status: int) -> int:
        """The exit code of a child that has ended."""
        import signal

        code = os.waitstatus_to_exitcode(status)
        if code >= 0:
            return code
        if self.interrupted:
            sys.stderr.write("interrupted\n")
            return INTERRUPTED
        name = signal.Signals(-code).name
        if -code in (signal.SIGKILL, signal.SIGABRT):
            sys.stderr.write(f"error: {OUT_OF_MEMORY}, or was ended by somebody ({name})\n")
            return UNKNOWN
        sys.stderr.write(f"internal error: ended by {name}\n")
        return DEFECT

"""Processes: how many there may be, what they may take, and with whom they end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def may_start_others() -> bool:
    """Whether this process may start others: the workers of a `multiprocessing.Pool`, and all
    that are daemons, may not."""
    from multiprocessing import current_process

    return not current_process().daemon


def worker_context() -> BaseContext:
    """How workers are started: as copies of this process, where the system has such. Others begin
    with the user's script, and would do again what it does."""
    from multiprocessing import get_context

    return get_context("fork" if hasattr(os, "fork") else "spawn")


def end_with_parent() -> None:
    """From now on this process ends when the one that started it does, however that ends."""
    import sys

    if sys.platform == "linux":
        import ctypes
        import signal

        set_death_signal = 1
        ctypes.CDLL(None).prctl(set_death_signal, int(signal.SIGKILL))


def limit_memory(gigabytes: float) -> None:
    """From now on this process, and each that it starts, has so much memory for data at most;
    one that asks for more fails. Where the system knows no such limit, nothing changes."""
    try:
        import resource
    except ImportError:
        return
    wanted = int(gigabytes * 2**30)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def share_memory(parts: int) -> None:
    """From now on this process has one of so many equal parts of the memory that it might have."""
    try:
        import resource
    except ImportError:
        return
    wanted, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if wanted != resource.RLIM_INFINITY:
        limit_memory(wanted / parts / 2**30)

"""Giving up: long work asks again and again whether it may go on.

What is given up has no result: an interruption can only keep the checker from accepting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class CheckInterruptedError(Exception):
    """The work was given up: nothing is known about what it was to decide."""


def _never() -> bool:
    return False


_EXPIRED: ContextVar[Callable[[], bool]] = ContextVar("expired", default=_never)


@contextmanager
def interruptible(expired: Callable[[], bool]) -> Iterator[None]:
    """Within it, `go_on` ends the work once `expired` agrees, or whoever asked for more."""
    outer = _EXPIRED.get()
    token = _EXPIRED.set(expired if outer is _never else lambda: expired() or outer())
    try:
        yield
    finally:
        _EXPIRED.reset(token)


def go_on() -> None:
    """Raise `CheckInterruptedError` if the work is to be given up."""
    if _EXPIRED.get()():
        raise CheckInterruptedError

"""Giving up: long work asks again and again whether it may go on, or is ended where it is.

What is given up has no result: an interruption can only keep the checker from accepting.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

LEAST = 1e-3
"""Seconds that work has at least: a timer of none never rings."""


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


@contextmanager
def given_up_at(moment: float) -> Iterator[Callable[[], bool]]:
    """Within it, work is given up at a moment (`time.monotonic`): in the main thread wherever it
    is, elsewhere, or where the system has no timers, when it asks. It yields whether it is time."""

    def is_time() -> bool:
        return time.monotonic() >= moment

    with interruptible(is_time), _ringing(moment):
        yield is_time


@contextmanager
def _ringing(moment: float) -> Iterator[None]:
    """A timer that gives up the work within it at that moment, unless one around it does sooner.
    Foreign code that is given up may say so by an error of its own: that is the same."""
    in_main = threading.current_thread() is threading.main_thread()
    if math.isinf(moment) or not in_main or not hasattr(signal, "setitimer"):
        yield
        return
    begun = time.monotonic()
    around, _ = signal.getitimer(signal.ITIMER_REAL)
    left = max(moment - begun, LEAST)
    if 0.0 < around <= left:
        yield
        return
    rung = False

    def give_up(*_: object) -> None:
        nonlocal rung
        rung = True
        sys.unraisablehook = _tell_of_what_was_whole
        raise CheckInterruptedError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, left)
    try:
        yield
    except CheckInterruptedError:
        raise
    except Exception as error:
        if rung:
            raise CheckInterruptedError from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        if around:
            rest = around - (time.monotonic() - begun)
            signal.setitimer(signal.ITIMER_REAL, max(rest, LEAST))


def _tell_of_what_was_whole(unraisable: sys.UnraisableHookArgs) -> None:
    """What was half made when work was given up cannot be taken apart, which is no news."""
    is_half_made = isinstance(unraisable.exc_value, AttributeError)
    if not (is_half_made and getattr(unraisable.object, "__name__", "") == "__del__"):
        sys.__unraisablehook__(unraisable)

"""Long work: who is told how far it is, and how it is called off.

Work asks between its steps whether it is still wanted: whenever it reports progress, and where
engines and checker ask whether their time is over. What is called off raises `Cancelled`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from workbench.api.asked import RequestError
from workbench.models.interruption import CheckInterruptedError, given_up_at, interruptible

Progress: TypeAlias = Callable[[str], object]
"""Called with a few words about what is being done."""


class Cancelled(Exception):  # noqa: N818 (the word that users expect)
    """The work was called off before it had a result."""


class Cancellation:
    """Give it as `cancel` to work that takes long, and call `cancel()` from another thread, a
    button or the progress callback."""

    def __init__(self) -> None:
        self._wanted = False

    def cancel(self) -> None:
        """Call the work off; it ends with `Cancelled` soon after."""
        self._wanted = True

    def __call__(self) -> bool:
        """Whether the work is called off."""
        return self._wanted

    def __repr__(self) -> str:
        return f"<Cancellation: {'called off' if self._wanted else 'not called off'}>"


Cancel: TypeAlias = Callable[[], bool]
"""Asked again and again; True calls the work off. A `Cancellation`, or any such function."""


def _never() -> bool:
    return False


@contextmanager
def ending_at(moment: float) -> Iterator[Cancel]:
    """Within it, work ends with `Cancelled` at a moment (`time.monotonic`), wherever it is, or, in
    other threads than the first, when it asks. It yields what to ask."""
    try:
        with given_up_at(moment) as is_time:
            yield is_time
    except CheckInterruptedError:
        if is_time():
            raise Cancelled from None
        raise


@contextmanager
def working(progress: Progress | None, cancel: Cancel | None) -> Iterator[Callable[[str], None]]:
    """Within it, work goes on until it is called off; what it yields takes reports of progress."""
    for argument, given in (("progress", progress), ("cancel", cancel)):
        if given is not None and not callable(given):
            raise RequestError(f"a function is expected, not {given!r:.40}", argument)
    ask = cancel or _never

    def tell(text: str) -> None:
        if ask():
            raise Cancelled
        if progress is not None:
            progress(text)

    try:
        if ask():
            raise Cancelled
        with interruptible(ask):
            yield tell
    except CheckInterruptedError:
        if ask():
            raise Cancelled from None
        raise
    if ask():
        raise Cancelled

"""Functions from outside: what is said where one fails, and what is no failure of it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable

from workbench.models.interruption import CheckInterruptedError

PASSING = (KeyboardInterrupt, CheckInterruptedError)
"""What ends the work that a function is called for, and comes through it."""


def failure(error: BaseException, function: Callable[..., object]) -> str:
    """What was raised by a call of a function, and where: in its own file, for what it calls
    there may be a library. A function may well raise SystemExit: it fails, and no more."""
    said = f"{type(error).__name__}: {error}".removesuffix(": ")
    place = _place(error) or _definition(function)
    return f"{said} ({place})" if place else said


def _place(error: BaseException) -> str:
    """The last line of the function's file that took part."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename != frames[0].filename]
    own = [frame for frame in inside if frame.filename == inside[0].filename]
    return f"{_short(own[-1].filename)}:{own[-1].lineno}" if own else ""


def _definition(function: Callable[..., object]) -> str:
    """Where the function begins, if it is written in Python."""
    code = getattr(getattr(function, "function", function), "__code__", None)
    return "" if code is None else f"{_short(code.co_filename)}:{code.co_firstlineno}"


def _short(file: str) -> str:
    """A file as seen from here, if it is below."""
    try:
        path = os.path.relpath(file) if os.path.isabs(file) else file
    except (OSError, ValueError):
        return file
    return file if path.startswith(os.pardir) else path

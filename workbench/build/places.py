"""Where in the user's Python file something was written, and names that texts can carry."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

_HERE = str(Path(__file__).parent)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class Place(NamedTuple):
    """A line of a Python file."""

    file: str
    line: int


def place() -> Place:
    """The line of the user's code that is being executed."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_code.co_filename.startswith(_HERE) or frame.f_code.co_filename == "<string>"
    ):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno)


def checked_name(name: str) -> str:
    """The name, if the language can write it. Raises ValueError, or TypeError for no text."""
    if not isinstance(name, str):
        raise TypeError(f"a name is a text, not {name!r:.60}")
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name: letters, digits and _ are, not a digit first")
    if name in ("true", "false"):
        raise ValueError(f"{name!r} is no name: it is a truth value")
    return name

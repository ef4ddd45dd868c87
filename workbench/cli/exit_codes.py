"""What the process's exit code says."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The codes are part of the interface: scripts and CI rely on them."""

    OK = 0
    USAGE = 2
    MODEL_REJECTED = 3
    UNKNOWN = 5
    INTERNAL_ERROR = 6
    FALSIFIED = 10
    INTERRUPTED = 130
    BROKEN_PIPE = 141

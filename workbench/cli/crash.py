"""What the user sees when this program is at fault: a short message and where to look."""

from __future__ import annotations

import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence

from workbench import __version__
from workbench.cli.console import Console


def report_crash(
    console: Console, error: BaseException, arguments: Sequence[str], says_data: bool = True
) -> None:
    """Say that there is a defect; the details go to a file, or to stderr with --debug. With
    `says_data` it is also the JSON object that a command prints."""
    summary = f"{type(error).__name__}: {error}"[:300] or type(error).__name__
    details = "".join(traceback.format_exception(error))
    where = None if console.debug else _write_log(details, arguments)
    if console.as_json and says_data:
        console.data(outcome="internal-error", message=summary, log=where)
    console.error(f"error: internal error, a defect of the workbench ({summary})")
    if where is None:
        console.error(details.rstrip())
    else:
        console.error(f"  details: {where} (please attach this file to a report)")


def _write_log(details: str, arguments: Sequence[str]) -> str | None:
    """The traceback in a file of the temporary folder; None if even that fails."""
    head = (
        f"workbench {__version__}, Python {sys.version.split()[0]}, {platform.platform()}\n"
        f"command: workbench {shlex.join(arguments)[:2000]}\n\n"
    )
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            prefix="workbench-error-",
            suffix=".log",
            delete=False,
            encoding="utf-8",
            errors="backslashreplace",
        ) as log:
            log.write(head + details)
            return log.name
    except OSError:
        return None

"""`--watch`: do it again whenever a file changes, until the user ends it.

Every round is a process of its own, so that a change ends a round that is still at work.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from workbench.api.texts import with_imports
from workbench.cli.console import Console
from workbench.cli.exit_codes import ExitCode
from workbench.models.counting import counted

Function = TypeVar("Function", bound=Callable[..., Any])
Stamp = dict[Path, tuple[int, int] | None]

EVERY = 0.2
"""Seconds between two looks at the files."""

PATIENCE = 5.0
"""Seconds that a round has to end after it was interrupted."""

OPTION = "--watch"


def watchable(function: Function) -> Function:
    """Give a verb of several models `--watch`."""

    @wraps(function)
    def call(*args: Any, watch: bool, **options: Any) -> Any:
        if not watch:
            return function(*args, **options)
        context = click.get_current_context()
        console = context.find_object(Console) or Console()
        arguments = [one for one in sys.argv[1:] if one != OPTION]
        return _watch(console, arguments, lambda: _files(options))

    option = click.option(
        OPTION, is_flag=True, help="Do it again whenever a file changes; Ctrl-C ends it."
    )
    return option(call)  # type: ignore[return-value]


def _files(options: dict[str, Any]) -> list[Path]:
    """The files that a round reads: models, what they import and what may lie beside them, or
    the project with its models."""
    from workbench.cli.arguments import split_reference
    from workbench.cli.project import project_here

    if options["models"]:
        found = [Path(split_reference(text)[0]) for text in options["models"]]
    else:
        found = list(project_here("watch").files())
    found += [options["extern"]] if options["extern"] is not None else []
    return list(with_imports(found))


def _watch(console: Console, arguments: Sequence[str], files: Callable[[], list[Path]]) -> int:
    """Rounds until an interrupt; the result is that of the last one that ended."""
    code = int(ExitCode.OK)
    round_: subprocess.Popen[bytes] | None = None
    watched = files()
    try:
        while True:
            with suppress(click.UsageError):  # the round tells what is wrong with the project
                watched = files()
            before = _stamp(watched)
            round_ = subprocess.Popen([sys.executable, "-m", "workbench", *arguments])
            while round_.poll() is None and _stamp(watched) == before:
                time.sleep(EVERY)
            if round_.poll() is None:
                _end(round_)
            else:
                code = round_.returncode
                console.note(f"watching {counted(len(watched), 'file')}; Ctrl-C ends it")
            while (now := _stamp(watched)) == before:
                time.sleep(EVERY)
            changed = [str(path) for path in watched if now[path] != before[path]]
            console.note(f"\n{time.strftime('%H:%M:%S')} changed: {', '.join(changed)}")
            _settle(watched)
    except KeyboardInterrupt:
        if round_ is not None and round_.poll() is None:
            _end(round_)
        return code


def _settle(watched: Sequence[Path]) -> None:
    """Wait until nobody writes any more, and no file is missing (editors replace them), for a
    moment that is not too long."""
    for _ in range(10):
        now = _stamp(watched)
        time.sleep(EVERY / 2)
        if _stamp(watched) == now and None not in now.values():
            return


def _end(round_: subprocess.Popen[bytes]) -> None:
    """Interrupt a round; one that does not listen is killed."""
    round_.send_signal(signal.SIGINT)
    try:
        round_.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        round_.kill()
        round_.wait()


def _stamp(files: Iterable[Path]) -> Stamp:
    """What changes when a file is written; None where there is no file."""
    return {path: _written(path) for path in files}


def _written(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size

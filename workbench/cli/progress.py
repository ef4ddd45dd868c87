"""A status line on the terminal while something takes time; silent everywhere else."""

from __future__ import annotations

import sys
import time

import click

from workbench.cli.console import harmless


class Progress:
    """The line shows what is being done and for how long; leaving the context removes it.

    `doing` is what was said last, also where no line is shown.
    """

    def __init__(self, quiet: bool = False):
        self._shown = sys.stderr.isatty() and not quiet
        self._begun = time.monotonic()
        self._last = 0.0
        self.doing = ""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r\033[K", nl=False, err=True)

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self._begun

    def __call__(self, text: str) -> None:
        """Say what is being done now."""
        self.doing = text
        now = time.monotonic()
        if not self._shown or now - self._last < 0.05:
            return
        self._last = now
        import shutil  # slow to import, and only terminals need it

        width = shutil.get_terminal_size().columns - 1
        line = f"{now - self._begun:5.1f} s  {harmless(text)}"[:width]
        click.echo(f"\r\033[K{line}", nl=False, err=True)

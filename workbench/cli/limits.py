"""The limits of a command, alike for every verb: how long it takes, how much memory it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from workbench.cli.console import Console
from workbench.cli.option_types import Number
from workbench.cli.supervision import allow

Function = TypeVar("Function", bound=Callable[..., Any])

MEMORY = 4.0
"""Gigabytes that a command may have by default."""

LEAST_MEMORY = 1.0
"""With less, libraries for linear algebra do not even begin."""


def time_limit_option(
    default: float | None, says: str = "For each property."
) -> Callable[[Function], Function]:
    """Give a verb `--time-limit`, without a default if that is None."""
    return click.option(
        "--time-limit",
        type=Number(0, 1e6, min_open=True),
        default=default,
        show_default=default is not None,
        metavar="SECONDS",
        help=says,
    )


def memory_option(function: Function) -> Function:
    """Give a verb `--memory`, which counts from when it is read."""
    option = click.option(
        "--memory",
        type=Number(LEAST_MEMORY, 1e6),
        default=MEMORY,
        show_default=True,
        metavar="GB",
        help="Memory for data; work that needs more is given up.",
    )
    return option(function)


def end_in_time(console: Console, label: str, begun: float, seconds: float) -> None:
    """Have the work on what has this label end so many seconds after it was begun, even where it
    does not notice by itself; then nothing is known."""
    allow(begun, seconds, undecided(console, label, seconds))


def undecided(console: Console, label: str, seconds: float) -> str:
    """The result of work of which nothing is known after so many seconds."""
    why = f"it took more than {seconds:g} s (--time-limit)"
    if console.as_json:
        return console.as_data(outcome="unknown", model=label, reason=why)
    return f"{label}: UNKNOWN: {why}\n"

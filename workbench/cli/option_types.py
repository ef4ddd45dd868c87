"""Types of options: numbers that are numbers, exact times, files that can be written later."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from workbench.api.numbers import read_number
from workbench.cli.files import refuse_same_file, refuse_unwritable

SHORTEST, LONGEST = Fraction(1, 10**9), Fraction(10**9)
"""Times on the command line are within these."""


class Number(click.FloatRange):
    """A floating-point number of a range; unlike `click.FloatRange` it refuses NaN."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number that was typed."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{str(value)[:40]!r} is not a number", param, ctx)
        return number


def positive_time(
    _: click.Context, parameter: click.Parameter, text: str | None
) -> Fraction | None:
    """An exact positive number of an option, of a size that a time can have."""
    if text is None:
        return None
    try:
        value = read_number(text[:200])
    except ValueError:
        value = Fraction(0)
    if value <= 0:
        raise click.BadParameter(f"{text[:40]!r} is not a positive number", param=parameter)
    if not SHORTEST <= value <= LONGEST:
        limits = f"{float(SHORTEST):g} to {float(LONGEST):g}"
        raise click.BadParameter(f"{text[:40]!r} is not within {limits}", param=parameter)
    return value


class OutputFile(click.Path):
    """A file to be written at the end; refused before any work if that cannot succeed."""

    def __init__(self, allow_dash: bool = False):
        super().__init__(path_type=Path, allow_dash=allow_dash)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path that was typed."""
        path = super().convert(value, param, ctx)
        if not (self.allow_dash and str(path) == "-"):
            refuse_unwritable(Path(str(path)))
        return path


def refuse_overwriting(model: Path, options: dict[str, Any]) -> None:
    """Refuse to write over the model that is being read, or two results into one file."""
    taken: set[Path] = set()
    for param in click.get_current_context().command.params:
        path = options.get(param.name or "")
        if not isinstance(param.type, OutputFile) or path is None or not _is_ordinary(path):
            continue
        refuse_same_file(model, path)
        if path.resolve() in taken:
            raise click.UsageError(f"{str(path)!r} is the target of two options")
        taken.add(path.resolve())


def _is_ordinary(path: Path) -> bool:
    """Whether it is a file, now or later: no device, no pipe, no dash for standard output."""
    return path.is_file() or (str(path) != "-" and not path.exists())

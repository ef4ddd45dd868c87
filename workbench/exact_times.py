"""Times that are given on the command line, as exact numbers."""

from __future__ import annotations

from fractions import Fraction

import click

from workbench.arguments import exact_number

SHORTEST, LONGEST = Fraction(1, 10**9), Fraction(10**9)
"""Times on the command line are within these."""


def positive_time(
    _: click.Context, parameter: click.Parameter, text: str | None
) -> Fraction | None:
    """An exact positive number of an option, of a size that a time can have."""
    if text is None:
        return None
    try:
        value = exact_number(text[:200])
    except ValueError:
        value = Fraction(0)
    if value <= 0:
        raise click.BadParameter(f"{text[:40]!r} is not a positive number", param=parameter)
    if not SHORTEST <= value <= LONGEST:
        limits = f"{float(SHORTEST):g} to {float(LONGEST):g}"
        raise click.BadParameter(f"{text[:40]!r} is not within {limits}", param=parameter)
    return value

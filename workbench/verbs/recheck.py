"""`workbench recheck`: the trusted checker alone, or the kernel alone."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import click

from workbench.api.work import Cancelled, ending_at
from workbench.cli.arguments import Chosen, model_argument, output_options, split_reference
from workbench.cli.console import Console
from workbench.cli.exit_codes import ExitCode
from workbench.cli.limits import end_in_time, time_limit_option
from workbench.cli.option_types import positive_time

_CODES = {
    "accepted": ExitCode.OK,
    "accepted in part": ExitCode.UNKNOWN,
    "not covered": ExitCode.UNKNOWN,
    "rejected": ExitCode.FALSIFIED,
}


@click.command("recheck")
@model_argument
@click.argument("certificate", type=click.Path(path_type=Path), required=False)
@click.option(
    "--horizon",
    callback=positive_time,
    metavar="T",
    help="Ask for the time up to T only; by default the model says.",
)
@time_limit_option(600.0, "Give up after that; then nothing is decided.")
@click.option(
    "--against", metavar="ABSTRACT[:AGENT]", help="The simple system of a refinement certificate."
)
@click.option(
    "--observe",
    multiple=True,
    metavar="NAME",
    help="The refinement is claimed in these variables only; repeatable.",
)
@output_options
@click.pass_obj
def command(
    console: Console,
    chosen: Chosen,
    certificate: Path | None,
    horizon: Fraction | None,
    time_limit: float,
    against: str | None,
    observe: tuple[str, ...],
) -> ExitCode:
    """Check a certificate against a model, in exact arithmetic.

    No solver and no engine takes part: the checker multiplies rational numbers. It accepts
    only if the certificate was made for this very model and every obligation is proved.
    A certificate for a shorter time than the model's decides nothing, unless --horizon asks
    for no more.

    With a certificate alone, in place of the model, it is checked that the evidence proves the
    problem that stands in the certificate; of which model that is, is not.

    \b
    Example:
      workbench verify platoon -p "no collision" --certificate proof.json
      workbench recheck platoon proof.json
      workbench recheck proof.json
    """
    if certificate is None:
        if horizon is not None or against is not None or observe or chosen.parameters:
            raise click.UsageError("this needs both, a model and a certificate")
        return _alone(console, Path(chosen.label), time_limit)
    label = chosen.label
    other = None if against is None else Chosen(*split_reference(against), extern=chosen.extern)
    label += "" if other is None else f" against {other.label}"
    end_in_time(console, label, console.begun, time_limit)
    model = chosen.open()
    try:
        with ending_at(console.begun + time_limit) as rings:
            found = model.recheck(
                certificate,
                horizon=horizon,
                against=None if other is None else other.open(),
                observe=observe,
                cancel=rings,
            )
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.UsageError(f"cannot read {str(certificate)!r}: {reason}") from error
    except Cancelled:
        why = f"the check did not end within {time_limit:g} s (--time-limit)"
        if console.as_json:
            console.data(outcome="not decided", model=label, why=why)
        else:
            console.result(f"{label}: UNKNOWN: {why}")
        return ExitCode.UNKNOWN
    if console.as_json:
        console.data(**{"outcome": found.outcome, "model": label, **found.data})
    else:
        console.result(found.in_words(label))
    return _CODES[found.outcome]


def _alone(console: Console, certificate: Path, time_limit: float) -> ExitCode:
    """Check that evidence proves its problem, whatever model it is of."""
    from workbench.api.rechecking import recheck

    label = str(certificate)
    end_in_time(console, label, console.begun, time_limit)
    try:
        found = recheck(certificate)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.UsageError(
            f"cannot read {label!r}: {reason}; name a model and a certificate, or a certificate"
        ) from error
    if console.as_json:
        console.data(**{"outcome": found.outcome, "certificate": label, **found.data})
    else:
        console.result(found.in_words(label))
    return _CODES[found.outcome]

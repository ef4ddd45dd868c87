"""`workbench check`: does the model make sense?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

from workbench.cli.arguments import output_options
from workbench.cli.console import Console, diagnostics_data
from workbench.cli.exit_codes import ExitCode
from workbench.cli.limits import end_in_time, time_limit_option
from workbench.cli.project import Entry, models_argument
from workbench.cli.watching import watchable
from workbench.models.source import ModelError


@click.command("check")
@watchable
@models_argument
@time_limit_option(60.0, "For each model.")
@output_options
@click.pass_obj
def command(console: Console, entries: Sequence[Entry], options: dict[str, Any]) -> ExitCode:
    """Parse, type-check and examine models.

    Reports every mistake with its place: unknown names, two writers of one variable,
    guards that leave a state without a way on, algebraic loops, and more. Warnings do not
    reject a model. Without a model, those of the project are checked (workbench.toml, here or
    above).

    \b
    Example:
      workbench check platoon
      workbench check platoon -P amin=-8
    """
    if len(entries) == 1:
        _check(console, entries[0])
        return ExitCode.OK
    worst = ExitCode.OK
    accepted: list[dict[str, Any]] = []
    for entry in entries:
        try:
            accepted.append(_check(console, entry, is_alone=False))
        except ModelError as error:
            worst = ExitCode.MODEL_REJECTED
            found = diagnostics_data(error.diagnostics)
            accepted.append({"outcome": "rejected", "model": entry.label, "diagnostics": found})
            if not console.as_json:
                console.rejection(error)
    if console.as_json:
        console.data(models=accepted)
    return worst


def _check(console: Console, entry: Entry, is_alone: bool = True) -> dict[str, Any]:
    """Say what there is to say about one model; with others, its data are printed later."""
    begun = console.begun if is_alone else time.monotonic()
    end_in_time(console, entry.label, begun, entry.options["time_limit"])
    model = entry.open()
    found = model.check()
    data = {
        "outcome": "accepted",
        "model": entry.label,
        "name": model.name,
        "model_sha256": model.sha256,
        **found.facts,
        "diagnostics": diagnostics_data(model.warnings),
    }
    if not console.as_json:
        console.warnings(model.warnings, model.sources)
        if not console.quiet:
            console.result(f"{entry.label}: ok ({found.size})")
    elif is_alone:
        console.data(**data)
    return data

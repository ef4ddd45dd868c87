"""`workbench refine`: may a detailed system replace a simple one?"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from workbench.cli.arguments import Chosen, model_argument, output_options, split_reference
from workbench.cli.console import Console
from workbench.cli.exit_codes import ExitCode
from workbench.cli.files import write_whole
from workbench.cli.limits import end_in_time, time_limit_option
from workbench.cli.option_types import Number, OutputFile
from workbench.cli.progress import Progress


@click.command("refine")
@model_argument
@click.option("--against", required=True, metavar="ABSTRACT[:AGENT]", help="The simple system.")
@click.option(
    "--map",
    "places",
    multiple=True,
    metavar="HERE=THERE",
    help="An abstract location for a detailed one; the others follow by name or are searched.",
)
@click.option(
    "--witness",
    multiple=True,
    metavar='"Y = EXPRESSION"',
    help="The value of an abstract variable that the detailed system does not have.",
)
@click.option(
    "--observe", multiple=True, metavar="NAME", help="Compare these variables only; repeatable."
)
@click.option(
    "--inductive",
    is_flag=True,
    help="A part of MODEL is ABSTRACT itself: conclude for any number of such steps.",
)
@click.option("--flat", is_flag=True, help="Compare the systems as wholes, not part by part.")
@click.option("--no-reach", is_flag=True, help="Do not strengthen with reachable sets.")
@time_limit_option(30.0, "For the proof and the search of a refutation.")
@click.option(
    "--horizon",
    type=Number(0, 1e6, min_open=True),
    default=10.0,
    show_default=True,
    metavar="TIME",
    help="How far the runs go that might refute.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@click.option(
    "--certificate",
    type=OutputFile(),
    metavar="FILE",
    help="Where to write the certificate of a refinement.",
)
@click.option(
    "--html",
    type=OutputFile(),
    metavar="FILE",
    help="Also write a page with the proof tree and the evidence.",
)
@output_options
@click.pass_obj
def command(
    console: Console,
    chosen: Chosen,
    against: str,
    places: tuple[str, ...],
    witness: tuple[str, ...],
    observe: tuple[str, ...],
    inductive: bool,
    flat: bool,
    no_reach: bool,
    time_limit: float,
    horizon: float,
    seed: int,
    certificate: Path | None,
    html: Path | None,
) -> ExitCode:
    """Show that a detailed system refines a simple one.

    REFINES comes with a certificate that the trusted checker has accepted; REFUTED with a
    run of the detailed system that the simple one cannot match; NOT PROVED with every
    obligation that is left, each at a state.

    \b
    Example:
      workbench refine heater.charon:Controlled --against heater.charon:Bounded
      workbench refine heater.charon:Controlled --against heater.charon:Any --map on=ON
      workbench refine platoon_any_length:Step --against platoon_any_length:Vehicle --inductive
    """
    other = Chosen(*split_reference(against), extern=chosen.extern)
    end_in_time(console, f"{chosen.label} against {other.label}", console.begun, time_limit)
    detailed, abstract = chosen.open(), other.open()
    with Progress(console.quiet or console.as_json) as progress:
        found = detailed.refine(
            abstract,
            places=_pairs("--map", places, "here=there"),
            witness=_pairs("--witness", witness, '"y = x + 1"'),
            observe=observe,
            inductive=inductive,
            flat=flat,
            reach=not no_reach,
            time_limit=time_limit,
            horizon=horizon,
            seed=seed,
            progress=progress,
        )
    if certificate is not None and found.certificate is not None:
        write_whole(certificate, found.certificate)
    if html is not None:
        command_line = shlex.join(["workbench", *sys.argv[1:]])
        write_whole(html, found.html(chosen.label, other.label, command_line))
    if console.as_json:
        step = {"detailed": chosen.label, "abstract": other.label}
        console.data(**({"step": chosen.label} if inductive else step), **found.data)
    else:
        console.result(found.in_words(chosen.label, other.label))
    outcomes = {"refines": ExitCode.OK, "refuted": ExitCode.FALSIFIED}
    return outcomes.get(found.outcome, ExitCode.UNKNOWN)


def _pairs(option: str, given: tuple[str, ...], form: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in given:
        name, separator, value = item.partition("=")
        if not separator or not name.strip() or (option == "--map" and not value.strip()):
            raise click.UsageError(f"{option} {item[:80]!r} should read {form}")
        found[name.strip()] = value.strip()
    return found

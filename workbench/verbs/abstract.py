"""`workbench abstract`: make a simpler system that a model refines, and prove that it does."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from models.counting import counted
from workbench.arguments import Chosen, exact_number, model_argument, output_options
from workbench.console import Console
from workbench.exit_codes import ExitCode
from workbench.files import write_whole
from workbench.option_types import OutputFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from models.automaton import HybridAutomaton


@click.command("abstract")
@model_argument
@click.option("--interval", multiple=True, metavar="NAME", help="Bound this derivative only.")
@click.option("--drop", multiple=True, metavar="NAME", help="Leave this variable out.")
@click.option("--merge", metavar="A,B,...", help="Make these locations one, named A_B_...")
@click.option("--widen", metavar="MARGIN", help="Let guards hold this much earlier.")
@click.option("--timed", metavar="NAME", help="Replace this variable by a clock.")
@click.option(
    "--output",
    "-o",
    type=OutputFile(),
    metavar="FILE",
    help="Where to write the new model (standard output, if left out).",
)
@output_options
@click.pass_obj
def command(
    console: Console,
    chosen: Chosen,
    interval: tuple[str, ...],
    drop: tuple[str, ...],
    merge: str | None,
    widen: str | None,
    timed: str | None,
    output: Path | None,
) -> ExitCode:
    """Make a simpler system that a model refines.

    What is asked for is done in the order timed, interval, drop, widen, merge. The refinement
    holds by construction; it is proved again before anything is written.

    \b
    Example:
      workbench abstract leaky_tank --interval level -o simple.charon
      workbench abstract adaptive_cruise --drop "x[1]" -o loose.charon
    """
    from abstraction.refinement.flat import Settings, refine
    from abstraction.refinement.outcome import Refines
    from abstraction.refinement.timed import durations
    from models.agents.composition import explicit
    from models.language.unparse import unparse
    from models.proof.conditions import names_of

    if not (interval or drop or merge or widen or timed):
        raise click.UsageError("say what to leave out: --interval, --drop, --merge, ...")
    model = chosen.load()
    original = explicit(model.automaton)
    original, made, places = _made(original, interval, drop, merge, widen, timed)
    observed = tuple(n for n in names_of(made) if n in names_of(original))
    regions = () if timed is None else durations(original, timed)
    settings = Settings(places, refute=False, regions=regions)
    outcome = refine(original, made, observed, settings)
    if not isinstance(outcome, Refines):
        why = "; ".join(f"{f.title}: {f.why}" for f in outcome.failures)
        console.result(f"{chosen.label}: NOT PROVED to refine what was made: {why}")
        return ExitCode.UNKNOWN
    access = {} if model.agent is None else {d.name: d.access.value for d in model.agent.variables}
    text = unparse(made, access)
    lost = [n for n, how in access.items() if how != "private" and n not in observed]
    if output is not None:
        write_whole(output, text)
    judgement = outcome.judgement
    total = judgement.obligations + judgement.assumed + judgement.reach
    if console.as_json:
        console.data(
            outcome="refines",
            model=chosen.label,
            obligations=total,
            variables=[v.name for v in made.variables],
            locations=[x.name for x in made.locations],
            text=text,
        )
    elif output is None:
        console.raw(text)
    else:
        console.result(f"{chosen.label} REFINES {output}: {counted(total, 'obligation')} proved")
        if lost:
            rest = " ".join(f"--observe {n}" for n in access if n in observed)
            console.result(f"  {output} does not show {', '.join(lost)}: compare with {rest}")
    return ExitCode.OK


def _made(
    original: HybridAutomaton,
    interval: tuple[str, ...],
    drop: tuple[str, ...],
    merge: str | None,
    widen: str | None,
    timed: str | None,
) -> tuple[HybridAutomaton, HybridAutomaton, Mapping[str, str]]:
    from abstraction.refinement import makers
    from abstraction.refinement.timed import timed as with_durations
    from abstraction.refinement.timed import with_clock

    made = original
    if timed is not None:
        original = with_clock(original)
        made = with_durations(original, timed)
    if interval:
        made = makers.with_interval_flows(made, interval)
    if drop:
        made = makers.without_variables(made, drop)
    if widen is not None:
        made = makers.with_wider_guards(made, _margin(widen))
    places: Mapping[str, str] = {x.name: x.name for x in made.locations}
    if merge is not None:
        names = [name.strip() for name in merge.split(",") if name.strip()]
        made, places = makers.merged(made, names, "_".join(names))
    return original, made, places


def _margin(text: str) -> Fraction:
    try:
        margin = exact_number(text)
    except ValueError as error:
        raise click.UsageError(f"--widen: {error}") from error
    if margin < 0:
        raise click.UsageError("--widen: a margin is not negative")
    return margin

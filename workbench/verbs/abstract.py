"""`workbench abstract`: make a simpler system that a model refines, and prove that it does."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.arguments import Chosen, exact_number, model_argument, output_options
from workbench.console import Console
from workbench.exit_codes import ExitCode
from workbench.files import write_whole
from workbench.models.counting import counted
from workbench.option_types import OutputFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbench.models.automaton import HybridAutomaton
    from workbench.models.model import Model


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
    holds by construction; it is proved again before anything is written. A FILE that ends in
    .json gets the automaton as JSON, any other one a CHARON text.

    \b
    Example:
      workbench abstract leaky_tank --interval level -o simple.charon
      workbench abstract adaptive_cruise --drop "x[1]" -o loose.charon
    """
    from workbench.abstraction.refinement.flat import Settings, refine
    from workbench.abstraction.refinement.outcome import Refines
    from workbench.abstraction.refinement.surroundings import among_others, changed_by_others
    from workbench.abstraction.refinement.timed import durations
    from workbench.models.agents.composition import explicit
    from workbench.models.proof.conditions import names_of

    if not (interval or drop or merge or widen or timed):
        raise click.UsageError("say what to leave out: --interval, --drop, --merge, ...")
    model = chosen.load()
    original = explicit(model.automaton)
    original, made, places = _made(original, interval, drop, merge, widen, timed)
    observed = tuple(n for n in names_of(made) if n in names_of(original))
    regions = () if timed is None else durations(original, timed)
    alone = not changed_by_others(model.agent)
    settings = Settings(places, reach=alone, refute=False, regions=regions)
    outcome = among_others(refine(original, made, observed, settings), model.agent)
    if not isinstance(outcome, Refines):
        why = "; ".join(f"{f.title}: {f.why}" for f in outcome.failures)
        console.result(f"{chosen.label}: NOT PROVED to refine what was made: {why}")
        return ExitCode.UNKNOWN
    access = {} if model.agent is None else {d.name: d.access.value for d in model.agent.variables}
    text = _written(made, access, output)
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
        for line in _advice(model, output, observed, timed):
            console.result(f"  {line}")
    return ExitCode.OK


def _written(made: HybridAutomaton, access: Mapping[str, str], output: Path | None) -> str:
    """The model as JSON, if the file is to hold that, or as a CHARON text."""
    from workbench.models.interchange.json_model import to_json
    from workbench.models.language.unparse import unparse

    if output is not None and output.suffix == ".json":
        return json.dumps(to_json(made), indent=1) + "\n"
    return unparse(made, access)


def _advice(
    model: Model, output: Path, observed: tuple[str, ...], timed: str | None
) -> Iterator[str]:
    """How `refine` compares the model with the file, where it does not do so by itself."""
    from workbench.abstraction.refinement.interface import compare_interfaces
    from workbench.models.proof.conditions import names_of

    made = Chosen(str(output), None, {}).load()
    compared = compare_interfaces(model.automaton, made.automaton, model.agent, made.agent)
    if compared.failures:
        known = set(names_of(made.automaton)) & set(names_of(model.automaton))
        rest = " ".join(f"--observe {n}" for n in observed if n in known)
        if rest:
            yield f"{output} does not show the same variables: compare with {rest}"
        else:
            yield f"the variables have other names in {output}: `refine` cannot compare them"
    if timed is not None:
        yield "proved beside a clock that the model itself does not have: `refine` has none"


def _made(
    original: HybridAutomaton,
    interval: tuple[str, ...],
    drop: tuple[str, ...],
    merge: str | None,
    widen: str | None,
    timed: str | None,
) -> tuple[HybridAutomaton, HybridAutomaton, Mapping[str, str]]:
    from workbench.abstraction.refinement import makers
    from workbench.abstraction.refinement.timed import timed as with_durations
    from workbench.abstraction.refinement.timed import with_clock

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

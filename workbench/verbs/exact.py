"""`workbench exact`: from which states does a nilpotent linear system reach a target?"""

from __future__ import annotations

from collections.abc import Set
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.arguments import Chosen, exact_number, model_argument, output_options
from workbench.console import Console
from workbench.exit_codes import ExitCode
from workbench.files import write_whole
from workbench.option_types import OutputFile

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton
    from workbench.models.expressions.expression import Expression
    from workbench.reach.exact.backward import BackwardReach
    from workbench.reports.pictures.region_plot import Span


@click.command("exact")
@model_argument
@click.option(
    "--target",
    metavar="CONDITION",
    help="What is to be reached, e.g. 'd <= 0'; default: the states that break the property.",
)
@click.option("--time", "bound", metavar="T", help="A number or a name; default: no time limit.")
@click.option("--location", metavar="NAME", help="Which location's flow; default: the first.")
@click.option(
    "--at",
    "values",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Evaluate the formula at these values (all its names are needed).",
)
@click.option("--invariant", is_flag=True, help="Only runs inside the location's invariant.")
@click.option("--simplify", is_flag=True, help="Leave out parts that others cover.")
@click.option(
    "--plot-region",
    "region",
    metavar="X,Y",
    help="Draw the formula over two names: 'd,v' or 'd=0:10,v=-5:5'; --at fixes the others.",
)
@click.option("--plot", type=OutputFile(), metavar="FILE.svg", help="Where to.")
@output_options
@click.pass_obj
def command(
    console: Console,
    chosen: Chosen,
    target: str | None,
    bound: str | None,
    location: str | None,
    values: tuple[str, ...],
    invariant: bool,
    simplify: bool,
    region: str | None,
    plot: Path | None,
) -> ExitCode:
    """Print an exact formula for the states that reach a target.

    The flow of the location must be nilpotent: a polynomial in time. The formula has no
    quantifiers; "verified" means that a solver has proved both directions.

    \b
    Example:
      workbench exact bouncing_ball --target "height >= 11"
      workbench exact bouncing_ball --target "height >= 11" --at height=10 --at velocity=0
      workbench exact bouncing_ball --plot-region "height=0:12,velocity=-20:20" --plot ball.svg
    """
    from workbench.models.expressions.expression import TRUE
    from workbench.models.expressions.printing import to_text
    from workbench.reach.exact.backward import backward_reach
    from workbench.reach.exact.flow import NotNilpotentError, location_flow
    from workbench.reach.exact.polynomial_in_time import NotPolynomialError
    from workbench.reach.exact.virtual_substitution import NotEliminableError

    model = chosen.load()
    automaton = model.automaton
    place = location or next(automaton.initial_sets()).location
    goal = _target(automaton, place, target)
    if (region is None) != (plot is None):
        raise click.UsageError("--plot-region and --plot go together")
    spans = None if region is None else _spans(region)
    given = _numbers(values)
    console.warnings(model.warnings, model.sources)
    during = automaton.location(place).invariant if invariant else TRUE
    try:
        flow = location_flow(automaton, place)
        found = backward_reach(flow, goal, None if bound is None else _expression(bound), during)
    except (NotNilpotentError, NotPolynomialError, NotEliminableError) as error:
        raise click.ClickException(str(error)) from None
    if simplify:
        found = found.simplified()
    truth = None
    if plot is not None and spans is not None:
        write_whole(plot, _picture(found, given, *spans))
    elif values:
        truth = _evaluated(found, given)
    if console.as_json:
        console.data(
            location=place,
            target=to_text(goal),
            formula=to_text(found.formula),
            necessary=found.is_necessary,
            sufficient=found.is_sufficient,
            eliminated_by=found.by,
            doubt=found.doubt,
            value=truth,
            plot=None if plot is None else str(plot),
        )
    else:
        console.result(to_text(found.formula))
        console.result(_trust(found))
        if truth is not None:
            console.result(f"at {', '.join(values)}: {'reached' if truth else 'not reached'}")
        if plot is not None:
            console.result(f"drawn in {plot}: every cell decided exactly, at its centre")
    return ExitCode.OK if found.is_verified else ExitCode.UNKNOWN


def _trust(found: BackwardReach) -> str:
    by = "" if found.by == "test points" else f" (proposed by {found.by})"
    if found.is_verified:
        return f"verified: the solver proved that the formula is necessary and sufficient{by}"
    parts = []
    if not found.is_necessary:
        parts.append("necessary")
    if not found.is_sufficient:
        parts.append("sufficient")
    text = f"unverified: the solver did not prove that the formula is {' and '.join(parts)}{by}"
    return text if found.doubt is None else f"{text}; {found.by} warns: {found.doubt}"


def _target(automaton: Automaton, location: str, target: str | None) -> Expression:
    try:
        occupied = automaton.occupied(location)
        automaton.location(location)
    except KeyError:
        raise click.UsageError(f"there is no location {location!r}") from None
    if target is not None:
        return _expression(target)
    if not automaton.properties:
        raise click.UsageError("the model has no property: give a --target")
    return automaton.properties[0].bad_states(occupied)


def _expression(text: str) -> Expression:
    from workbench.models.expressions.text import parse_expression

    return parse_expression(text, file="<option>")


def _numbers(values: tuple[str, ...]) -> dict[str, Fraction]:
    given: dict[str, Fraction] = {}
    for text in values:
        name, _, number = text.partition("=")
        try:
            given[name.strip()] = exact_number(number[:200])
        except ValueError:
            raise click.UsageError(f"--at {text[:200]!r} is not NAME=NUMBER") from None
    return given


def _evaluated(found: BackwardReach, given: dict[str, Fraction]) -> bool:
    _refuse_missing(found, given.keys())
    return found.evaluate(given)


def _refuse_missing(found: BackwardReach, known: Set[str]) -> None:
    from workbench.models.expressions.traversal import free_variables

    missing = sorted(free_variables(found.formula) - known)
    if missing:
        raise click.UsageError(f"--at needs values for {', '.join(missing)}")


def _spans(region: str) -> tuple[Span, Span]:
    """The two names of a picture with their ranges."""
    from workbench.reports.pictures.region_plot import Span

    found = []
    for part in region.split(","):
        name, _, limits = part.partition("=")
        low, _, high = (limits or "-10:10").partition(":")
        try:
            span = Span(name.strip(), exact_number(low[:200]), exact_number(high[:200]))
        except ValueError as error:
            raise click.UsageError(f"--plot-region {part[:200]!r}: {error}") from None
        if span.low >= span.high:
            raise click.UsageError(f"--plot-region {part[:200]!r}: the range is empty")
        found.append(span)
    if len(found) != 2 or found[0].name == found[1].name:
        raise click.UsageError("--plot-region wants two names, as in 'x,y' or 'x=0:5,y=-1:1'")
    return found[0], found[1]


def _picture(found: BackwardReach, given: dict[str, Fraction], across: Span, up: Span) -> str:
    from workbench.models.expressions.printing import to_text
    from workbench.reports.pictures.region_plot import region_svg

    _refuse_missing(found, {across.name, up.name, *given})
    fixed = {name: value for name, value in given.items() if name not in (across.name, up.name)}
    here = found.given(**fixed)
    return region_svg(
        lambda x, y: here.evaluate({across.name: x, up.name: y}),
        across,
        up,
        to_text(here.formula),
    )

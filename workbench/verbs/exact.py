"""`workbench exact`: from which states does a nilpotent linear system reach a target?"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import click

from workbench.arguments import Chosen, model_argument, output_options
from workbench.console import Console
from workbench.exit_codes import ExitCode

if TYPE_CHECKING:
    from models.automaton import Automaton
    from models.expression import Expression
    from reach.exact.backward import BackwardReach


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
@output_options
@click.pass_obj
def command(
    console: Console,
    chosen: Chosen,
    target: str | None,
    bound: str | None,
    location: str | None,
    values: tuple[str, ...],
) -> ExitCode:
    """Print an exact formula for the states that reach a target.

    The flow of the location must be nilpotent: a polynomial in time. The formula has no
    quantifiers; "verified" means that a solver has proved both directions.

    \b
    Example:
      workbench exact cars.charon --target 'd <= 0'
      workbench exact cars.charon --target 'd <= 0' --time 5 --at d=10 --at v=3
    """
    from models.printing import to_text
    from reach.exact.backward import backward_reach
    from reach.exact.flow import NotNilpotentError, location_flow
    from reach.exact.polynomial_in_time import NotPolynomialError
    from reach.exact.virtual_substitution import NotEliminableError

    model = chosen.load()
    automaton = model.automaton
    place = location or next(automaton.initial_sets()).location
    goal = _target(automaton, place, target)
    console.warnings(model.warnings, model.sources)
    try:
        flow = location_flow(automaton, place)
        found = backward_reach(flow, goal, None if bound is None else _expression(bound))
    except (NotNilpotentError, NotPolynomialError, NotEliminableError) as error:
        raise click.ClickException(str(error)) from None
    truth = _evaluated(found, values) if values else None
    if console.as_json:
        console.data(
            location=place,
            target=to_text(goal),
            formula=to_text(found.formula),
            necessary=found.is_necessary,
            sufficient=found.is_sufficient,
            value=truth,
        )
    else:
        console.result(to_text(found.formula))
        console.result(_trust(found))
        if truth is not None:
            console.result(f"at {', '.join(values)}: {'reached' if truth else 'not reached'}")
    return ExitCode.OK if found.is_verified else ExitCode.UNKNOWN


def _trust(found: BackwardReach) -> str:
    if found.is_verified:
        return "verified: the solver proved that the formula is necessary and sufficient"
    parts = []
    if not found.is_necessary:
        parts.append("necessary")
    if not found.is_sufficient:
        parts.append("sufficient")
    return f"unverified: the solver did not prove that the formula is {' and '.join(parts)}"


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
    from models.expression_text import parse_expression

    return parse_expression(text, file="<option>")


def _evaluated(found: BackwardReach, values: tuple[str, ...]) -> bool:
    from models.expression import free_variables

    given: dict[str, Fraction] = {}
    for text in values:
        name, _, number = text.partition("=")
        try:
            given[name.strip()] = Fraction(number.strip())
        except (ValueError, ZeroDivisionError):
            raise click.UsageError(f"--at {text!r} is not NAME=NUMBER") from None
    missing = sorted(free_variables(found.formula) - given.keys())
    if missing:
        raise click.UsageError(f"--at needs values for {', '.join(missing)}")
    return found.evaluate(given)

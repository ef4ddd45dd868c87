"""The options by which properties are decided, alike for every verb that decides some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workbench.claims import property_option
from workbench.exact_times import positive_time
from workbench.option_types import Number

if TYPE_CHECKING:
    from workbench.abstraction.verification_settings import VerificationSettings
    from workbench.models.automaton import Automaton
    from workbench.models.expressions.expression import Expression

Function = TypeVar("Function", bound=Callable[..., Any])

METHODS = (
    "auto",
    "rectangular",
    "simulation",
    "quadratic",
    "recurrence",
    "flowpipe",
    "nonlinear",
    "template",
    "history",
    "transient",
    "abstraction",
    "exact",
)

_OPTIONS = (
    property_option,
    click.option(
        "--method",
        type=click.Choice(METHODS),
        default="auto",
        show_default=True,
        help="How to decide; auto tries what suits the model (all but exact: polynomial flows).",
    ),
    click.option(
        "--time-limit",
        type=Number(0, 1e6, min_open=True),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="For each property.",
    ),
    click.option(
        "--horizon",
        callback=positive_time,
        metavar="T",
        help="Decide for the time up to T only; by default the model says.",
    ),
    click.option(
        "--step",
        callback=positive_time,
        metavar="H",
        help="The length of a flowpipe's first steps; chosen from the dynamics by default.",
    ),
    click.option(
        "--predicate",
        "predicates",
        multiple=True,
        metavar="CONDITION",
        help='A hint for predicate abstraction, such as "dist >= 10"; may be repeated.',
    ),
    click.option(
        "--slices",
        callback=positive_time,
        metavar="R",
        help="Follow the flow of whole cells by slices of this length (--method abstraction).",
    ),
    click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True),
)


@dataclass(frozen=True)
class Wanted:
    """Which properties to decide, and how, as written on the command line."""

    names: tuple[str, ...]
    method: str
    time_limit: float
    horizon: Fraction | None
    step: Fraction | None
    predicates: tuple[str, ...]
    slices: Fraction | None
    seed: int

    def settings(self, automaton: Automaton) -> VerificationSettings:
        """What was wanted, for one model. Raises `click.UsageError` or `ModelError` where it
        does not suit the model."""
        from workbench.abstraction.verification_settings import VerificationSettings

        if self.slices is not None and self.method != "abstraction":
            raise click.UsageError("--slices needs --method abstraction")
        return VerificationSettings(
            method=self.method,
            time_limit=self.time_limit,
            horizon=self.horizon,
            step=self.step,
            predicates=tuple(_predicate(text, automaton) for text in self.predicates),
            slices=self.slices,
            seed=self.seed,
        )


def verification_options(function: Function) -> Function:
    """Give a verb the options by which properties are chosen and decided; it receives a
    `Wanted` as `wanted`."""

    @wraps(function)
    def call(*args: Any, **rest: Any) -> Any:
        wanted = Wanted(**{field.name: rest.pop(field.name) for field in fields(Wanted)})
        return function(*args, wanted=wanted, **rest)

    for option in reversed(_OPTIONS):
        call = option(call)
    return call  # type: ignore[return-value]


def _predicate(text: str, automaton: Automaton) -> Expression:
    """A condition over the variables of the model."""
    from workbench.models.condition_check import misfit
    from workbench.models.expressions.text import parse_expression
    from workbench.models.expressions.traversal import free_variables

    condition = parse_expression(text, file="--predicate")
    known = {v.name for v in automaton.variables} | {p.name for p in automaton.parameters}
    if unknown := sorted(free_variables(condition) - known):
        raise click.UsageError(
            f"--predicate {text[:80]!r}: the model has no variable {unknown[0]!r}; "
            f"it has {', '.join(sorted(known)[:12])}"
        )
    if why := misfit(condition, automaton):
        raise click.UsageError(f"--predicate {text[:80]!r}: {why}")
    return condition

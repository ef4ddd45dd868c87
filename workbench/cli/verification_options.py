"""The options by which properties are decided, alike for every verb that decides some."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workbench.cli.arguments import property_option
from workbench.cli.limits import time_limit_option
from workbench.cli.option_types import positive_time

if TYPE_CHECKING:
    from workbench.api.model import Model

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
        "--never-blocks",
        is_flag=True,
        help="Decide whether runs can always go on; other properties only if they are named.",
    ),
    click.option(
        "--method",
        type=click.Choice(METHODS),
        default="auto",
        show_default=True,
        help="How to decide; auto tries what suits the model (all but exact: polynomial flows).",
    ),
    time_limit_option(300.0),
    click.option(
        "--jobs",
        type=click.IntRange(1, 256),
        metavar="N",
        help="Processes that work at once; they change how long it takes, not what is found."
        "  [default: as many as there are processors]",
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
    click.option(
        "--refine/--no-refine",
        default=True,
        help="Whether predicate abstraction may learn predicates beyond those that are given"
        " (--method abstraction).",
    ),
    click.option(
        "--details",
        is_flag=True,
        help="Of what is undecided also say what every method came to, and how long it took.",
    ),
    click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True),
)


@dataclass(frozen=True)
class Wanted:
    """Which properties to decide, and how, as written on the command line."""

    names: tuple[str, ...]
    never_blocks: bool
    method: str
    time_limit: float
    horizon: Fraction | None
    step: Fraction | None
    predicates: tuple[str, ...]
    slices: Fraction | None
    refine: bool
    seed: int
    jobs: int | None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Wanted:
        """What the options of a verb, among others, say of it."""
        return cls(**{field.name: options[field.name] for field in fields(cls)})

    def claims(self, model: Model) -> tuple[str, ...]:
        """The names of the properties of a model that are to be decided."""
        return model.claims(*self.names, *(["never blocks"] if self.never_blocks else []))

    @property
    def settings(self) -> dict[str, Any]:
        """What `Model.verify` and `Model.report` are given besides."""
        asked = ("names", "never_blocks")
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in asked}


def verification_options(function: Function) -> Function:
    """Give a verb of several models (`models_argument`) the options by which properties are
    chosen and decided: `Wanted.of` the options of each model."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function

"""What the verbs have in common: naming a model, its parameters, and the output options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workbench.console import Console
from workbench.option_types import refuse_overwriting

if TYPE_CHECKING:
    from workbench.models.model import Model

Function = TypeVar("Function", bound=Callable[..., Any])

_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>\d{1,60}(\.\d{0,60})?|\.\d{1,60})"
    r"([eE](?P<exponent>[+-]?\d{1,3}))?(/(?P<divisor>\d{1,60}))?"
)
_NAME = re.compile(r"[A-Za-z_]\w*(\[\d+\])?(\.[A-Za-z_]\w*(\[\d+\])?)*", re.ASCII)


@dataclass(frozen=True)
class Chosen:
    """A model as named on the command line: a file or library name, which agent of it is
    the whole system, and values for its parameters."""

    reference: str
    agent: str | None = None
    parameters: Mapping[str, Fraction] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The model as the user wrote it."""
        return self.reference if self.agent is None else f"{self.reference}:{self.agent}"

    def load(self) -> Model:
        """The model itself; raises ModelError."""
        from workbench.models.load import load
        from workbench.models.source import Diagnostic, ModelError

        try:
            return load(self.reference, agent=self.agent, parameters=self.parameters)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            message = f"cannot read {self.reference!r}: {reason}"
            raise ModelError(Diagnostic("unreadable-file", message)) from error


def split_reference(text: str) -> tuple[str, str | None]:
    """`MODEL` or `MODEL:Agent`; an existing file may have a colon in its name."""
    head, separator, tail = text.rpartition(":")
    if not separator or not head or not tail.isidentifier():
        return text, None
    try:
        return (text, None) if Path(text).exists() else (head, tail)
    except (OSError, ValueError):
        return head, tail


def exact_number(text: str) -> Fraction:
    """A decimal or a ratio as an exact rational: `0.1` is 1/10, `-3/8` is -3/8.

    Raises ValueError; sizes are bounded so that no short text means a huge number.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a number like 2, 0.5, 1e-3 or 3/8")
    value = Fraction(match["digits"]) * Fraction(10) ** int(match["exponent"] or 0)
    divisor = int(match["divisor"] or 1)
    if divisor == 0:
        raise ValueError(f"{text!r} divides by zero")
    return (-value if match["sign"] == "-" else value) / divisor


def _read_parameters(
    context: click.Context, option: click.Parameter, given: tuple[str, ...]
) -> dict[str, Fraction]:
    values: dict[str, Fraction] = {}
    for item in given:
        name, separator, number = item.partition("=")
        name = name.strip()
        if not separator or not _NAME.fullmatch(name):
            raise click.BadParameter(f"{item[:200]!r} should read name=value, e.g. amin=-5")
        if name in values:
            raise click.BadParameter(f"{name!r} is given twice")
        try:
            values[name] = exact_number(number[:200])
        except ValueError as error:
            raise click.BadParameter(f"{name}: {error}") from error
    return values


parameter_option = click.option(
    "--param",
    "-P",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_read_parameters,
    help="Give a parameter or constant of the model a value; may be repeated.",
)


def model_argument(function: Function) -> Function:
    """Give a verb its MODEL argument and `--param`; it receives a `Chosen` as `chosen`."""

    @wraps(function)
    def call(*args: Any, model: str, param: dict[str, Fraction], **rest: Any) -> Any:
        reference, agent = split_reference(model)
        refuse_overwriting(Path(reference), rest)
        return function(*args, chosen=Chosen(reference, agent, param), **rest)

    argument = click.argument("model", metavar="MODEL[:AGENT]")
    return argument(parameter_option(call))  # type: ignore[return-value]


def output_options(function: Function) -> Function:
    """Give a verb `--json`, `--quiet` and `--debug`, which set up the console."""

    def option(field_name: str, *names: str, says: str) -> Callable[[Function], Function]:
        def remember(context: click.Context, option: click.Parameter, value: bool) -> None:
            console = context.find_object(Console)
            if console is not None and value:
                setattr(console, field_name, True)

        return click.option(
            *names, is_flag=True, expose_value=False, callback=remember, is_eager=True, help=says
        )

    for decorate in (
        option("debug", "--debug", says="Show the details of an internal error."),
        option("quiet", "--quiet", "-q", says="No notes, no warnings: the result only."),
        option("as_json", "--json", says="Print the result as one JSON object."),
    ):
        function = decorate(function)
    return function

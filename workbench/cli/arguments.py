"""What the verbs have in common: naming a model, its parameters, and the output options."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workbench.api.asked import FORMULA, RequestError
from workbench.api.numbers import read_number
from workbench.cli.console import Console
from workbench.cli.limits import memory_option
from workbench.cli.option_types import refuse_overwriting
from workbench.models.processes import limit_memory
from workbench.models.source import ModelError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from workbench.api.model import Model

Function = TypeVar("Function", bound=Callable[..., Any])

MODELS = (".charon", ".xml", ".json")
"""Files that hold a model."""

_NAME = re.compile(r"[A-Za-z_]\w*(\[\d+\])?(\.[A-Za-z_]\w*(\[\d+\])?)*", re.ASCII)


@dataclass(frozen=True)
class Chosen:
    """A model as named on the command line: a file or library name, which agent of it is
    the whole system, values for its parameters, and a Python file with the functions that it
    calls."""

    reference: str
    agent: str | None = None
    parameters: Mapping[str, Fraction] = field(default_factory=dict)
    extern: Path | None = None

    @property
    def label(self) -> str:
        """The model as the user wrote it."""
        return self.reference if self.agent is None else f"{self.reference}:{self.agent}"

    def open(self) -> Model:
        """The model itself; raises ModelError. What functions from outside print is no result
        of the command, and goes to standard error."""
        from workbench.api.loading import from_file, opened

        if self.extern is not None:
            click.get_current_context().with_resource(redirect_stdout(sys.stderr))
        return opened(from_file(self.reference), self.agent, self.extern, self.parameters)


def split_reference(text: str) -> tuple[str, str | None]:
    """`MODEL` or `MODEL:Agent`; an existing file may have a colon in its name."""
    head, separator, tail = text.rpartition(":")
    if not separator or not head or not tail.isidentifier():
        return text, None
    try:
        return (text, None) if Path(text).exists() else (head, tail)
    except (OSError, ValueError):
        return head, tail


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
            values[name] = read_number(number[:200])
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


extern_option = click.option(
    "--extern",
    type=click.Path(path_type=Path),
    metavar="FILE.py",
    help="Run this Python file, and let the model call its functions.",
)


property_option = click.option(
    "--property",
    "-p",
    "names",
    multiple=True,
    metavar="NAME",
    help="Which property; may be repeated. All, if left out.",
)


def complete_model(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What a shell offers for a model: the library, and files. That files are wanted is said
    first, for bash then forgets what it has heard; and bash looks for them only where it hears
    nothing else, so beside names of the library it is told those of model files here."""
    from click.shell_completion import CompletionItem

    from workbench.api.texts import library
    from workbench.cli.commands import VARIABLE

    names = [entry.name for entry in library() if entry.name.startswith(incomplete)]
    if names and os.environ.get(VARIABLE, "").startswith("bash"):
        names += [f.name for f in Path().iterdir() if f.suffix in MODELS or f.is_dir()]
    items = (CompletionItem(name) for name in names if name.startswith(incomplete))
    return [CompletionItem(incomplete, type="file"), *items]


@contextmanager
def asking() -> Iterator[None]:
    """What the facade cannot be asked, a mistake in a formula included, is a mistake of usage: of
    the option that has the name of the argument."""
    try:
        yield
    except RequestError as error:
        option = spoken(error.argument)
        raise click.UsageError(f"{option}: {error.message}" if option else error.message) from error
    except ModelError as error:
        if FORMULA not in error.sources:
            raise
        first = error.diagnostics[0]
        _, *below = first.render(error.sources[FORMULA]).split("\n")
        raise click.UsageError("\n".join([f"--formula: {first.message}", *below])) from None


def spoken(argument: str) -> str:
    """An argument of the facade as the command line has it."""
    for parameter in click.get_current_context().command.params:
        if parameter.name == argument and isinstance(parameter, click.Option):
            return next(name for name in parameter.opts if name.startswith("--"))
    return argument


def model_argument(function: Function) -> Function:
    """Give a verb its MODEL argument, `--param`, `--extern` and `--memory`; it receives a `Chosen`
    as `chosen`."""

    @wraps(function)
    def call(
        *args: Any,
        model: str,
        param: dict[str, Fraction],
        extern: Path | None,
        memory: float,
        **rest: Any,
    ) -> Any:
        limit_memory(memory)
        reference, agent = split_reference(model)
        refuse_overwriting(Path(reference), rest)
        with asking():
            return function(*args, chosen=Chosen(reference, agent, param, extern), **rest)

    argument = click.argument("model", metavar="MODEL[:AGENT]", shell_complete=complete_model)
    return argument(parameter_option(extern_option(memory_option(call))))  # type: ignore[return-value]


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

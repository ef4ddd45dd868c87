"""The project file `workbench.toml`: which models there are, and how they are decided.

    [verify]                      # for all models: options of `workbench verify`
    time-limit = 60

    [report]                      # options of `workbench report`
    output = "reports"

    [[model]]
    path = "tank.charon"          # a file beside this one, MODEL:AGENT, or a library name
    parameters = { inflow = 2 }   # and every option of `workbench verify`
    expect = "verified"

Keys are the long names of options, and what they mean is what the options mean: tables are turned
into arguments and read by the verb itself. What stands on the command line goes before the entry
of a model, and that before the table for all.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from workbench.api.numbers import number_text
from workbench.cli.arguments import (
    Chosen,
    complete_model,
    extern_option,
    parameter_option,
    split_reference,
)
from workbench.cli.limits import memory_option
from workbench.cli.option_types import refuse_overwriting
from workbench.models.processes import limit_memory

if TYPE_CHECKING:
    from workbench.api.model import Model

Function = TypeVar("Function", bound=Callable[..., Any])

FILE_NAME = "workbench.toml"
OUTCOMES = ("verified", "falsified", "unknown")
PLURALS = {"properties": "property", "parameters": "param", "predicates": "predicate"}
"""Keys that are called otherwise than their options."""

_SECTIONS = ("verify", "report", "model")
_OWN_KEYS = ("path", "expect")


@dataclass(frozen=True)
class Entry:
    """A model of a project: what it is, its options, and the outcome that is expected, for all
    its properties or by name."""

    chosen: Chosen
    options: Mapping[str, Any]
    expected: Mapping[str, str] | str | None = None
    place: str = ""
    """Where the entry stands in the project file, for messages."""

    @property
    def label(self) -> str:
        """The model as the user wrote it; of a project with its parameters, by which the same
        model may be there several times."""
        given = self.chosen.parameters.items()
        values = ", ".join(f"{name}={number_text(value)}" for name, value in given)
        is_told = self.expected is not None and values
        return f"{self.chosen.label} ({values})" if is_told else self.chosen.label

    def expects(self, claim: str) -> str | None:
        """The outcome that is expected of a property; None for models that are named on the
        command line."""
        if self.expected is None or isinstance(self.expected, str):
            return self.expected
        return self.expected.get(claim, "verified")

    def open(self) -> Model:
        """The model itself. Raises ModelError, and `click.UsageError` where an outcome is expected
        of a property that it does not have."""
        model = self.chosen.open()
        if isinstance(self.expected, Mapping):
            try:
                model.claims(*self.expected)
            except ValueError as error:
                raise click.UsageError(f"{self.place}: expect: {error}") from error
        return model


@dataclass(frozen=True)
class Project:
    """A project file that was read."""

    path: Path
    text: str = field(repr=False)
    tables: Mapping[str, Any] = field(repr=False)

    @property
    def folder(self) -> Path:
        """What paths in the file are relative to."""
        return self.path.parent

    @cached_property
    def models(self) -> tuple[Mapping[str, Any], ...]:
        """The entries of models, as they are written."""
        return tuple(self.tables.get("model", ()))

    def files(self) -> Iterator[Path]:
        """The project file and the models that are files."""
        yield self.path
        for table in self.models:
            reference, _ = split_reference(self._reference(table))
            yield Path(reference)

    def entries(self, context: click.Context) -> tuple[Entry, ...]:
        """The models with the options that a command has for each. Raises `click.UsageError`
        where a table does not suit its verb."""
        shared = self.options(context)
        found = []
        for number, table in enumerate(self.models, start=1):
            place = self._place(f"model {number}", "[[model]]", number)
            own = {key: value for key, value in table.items() if key not in _OWN_KEYS}
            options = _joined(shared, _read(_command("verify"), own, place, context, self.folder))
            options["param"] = options["param"] | context.params["param"]
            reference, agent = split_reference(self._reference(table))
            chosen = Chosen(reference, agent, options["param"], options.get("extern"))
            found.append(Entry(chosen, options, _expected(table, place), place))
        return tuple(found)

    def options(self, context: click.Context) -> dict[str, Any]:
        """The options of a command, with those that tables give for all models."""
        found = {"param": {}} | context.params
        for verb in ("verify", "report"):
            if verb == "verify" or context.command.name == verb:
                place = self._place(f"[{verb}]", f"[{verb}]")
                table = self.tables.get(verb, {})
                given = _read(_command(verb), table, place, context, self.folder)
                found = _joined(found, given)
        return found

    def _reference(self, table: Mapping[str, Any]) -> str:
        """The model as the command line would name it: a file as seen from here."""
        written = str(table["path"])
        reference, agent = split_reference(written)
        beside = self.folder / reference
        if not beside.exists():
            return written
        path = os.path.relpath(beside)
        return path if agent is None else f"{path}:{agent}"

    def _place(self, what: str, header: str, number: int = 1) -> str:
        """Where a table is, for messages."""
        lines = [
            i for i, line in enumerate(self.text.splitlines(), 1) if line.strip().startswith(header)
        ]
        line = lines[number - 1] if number <= len(lines) else 1
        return f"{self.path}:{line}: {what}"


def models_argument(function: Function) -> Function:
    """Give a verb its MODEL arguments, `--param`, `--extern` and `--memory`; without a model it is
    about the project. It receives `entries`, and the other options as `options`, by name."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        context = click.get_current_context()
        models, param, extern = (options.pop(name) for name in ("models", "param", "extern"))
        if models:
            named = (Chosen(*split_reference(text), param, extern) for text in models)
            entries = tuple(Entry(one, context.params) for one in named)
        else:
            project = project_here(context.command.name or "")
            entries = project.entries(context)
            options |= {n: v for n, v in project.options(context).items() if n in options}
        for entry in entries:
            refuse_overwriting(Path(entry.chosen.reference), options)
        limit_memory(max(entry.options["memory"] for entry in entries))
        return function(*args, entries=entries, options=options)

    argument = click.argument(
        "models", nargs=-1, metavar="[MODEL[:AGENT]]...", shell_complete=complete_model
    )
    return argument(parameter_option(extern_option(memory_option(call))))  # type: ignore[return-value]


def find_project(start: Path | None = None) -> Project | None:
    """The project that a folder belongs to: the nearest file, here or above."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / FILE_NAME).is_file():
            return read_project(Path(os.path.relpath(folder / FILE_NAME)))
    return None


def project_here(what: str) -> Project:
    """The project of this folder, for a verb that was given no model."""
    found = find_project()
    if found is None:
        raise click.UsageError(
            f"name a model to {what}, or write a {FILE_NAME} (`workbench new NAME` makes one)"
        )
    if not found.models:
        raise click.UsageError(f"{found.path}: there is no [[model]]: add one with path = ...")
    return found


def read_project(path: Path) -> Project:
    """Raises `click.UsageError` with the place of what is wrong."""
    try:
        text = path.read_text("utf-8")
        tables = tomllib.loads(text, parse_float=str)
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"cannot read {str(path)!r}: {error}") from error
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
        where = f":{place[1]}:{place[2]}" if place else ""
        message = str(error)[: place.start()] if place else str(error)
        raise click.UsageError(f"{path}{where}: {message}") from error
    for key in tables:
        if key not in _SECTIONS:
            raise click.UsageError(f"{path}: {_unknown(key, _SECTIONS)}")
    for name in ("verify", "report"):
        if not isinstance(tables.get(name, {}), dict):
            raise click.UsageError(f"{path}: {name} is a table: [{name}]")
    models = tables.get("model", [])
    if not isinstance(models, list) or not all(isinstance(m, dict) for m in models):
        raise click.UsageError(f"{path}: each model is a table: [[model]]")
    for number, model in enumerate(models, start=1):
        if not isinstance(model.get("path"), str):
            raise click.UsageError(f'{path}: model {number} has no path: path = "FILE.charon"')
    return Project(path, text, tables)


def _joined(options: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Options of which later ones count, and values of parameters from both."""
    return {**options, **more, "param": options["param"] | more.get("param", {})}


def _command(verb: str) -> click.Command:
    """The verb that a table belongs to."""
    command: click.Command = import_module(f"workbench.verbs.{verb}").command
    return command


def _options_of(command: click.Command) -> dict[str, click.Parameter]:
    """Options by their long names."""
    return {
        name.removeprefix("--"): param
        for param in command.params
        for name in param.opts
        if name.startswith("--")
    }


def _read(
    command: click.Command,
    table: Mapping[str, Any],
    place: str,
    context: click.Context,
    folder: Path,
) -> dict[str, Any]:
    """The options that a table gives, without those that the command line gives."""
    known = _options_of(command)
    arguments: list[str] = []
    for key, value in table.items():
        option = known.get(PLURALS.get(key, key))
        if option is None:
            raise click.UsageError(f"{place}: {_unknown(key, [*known, *PLURALS])}")
        if option.name == "extern":
            raise click.UsageError(f"{place}: code to run is named on the command line: --extern")
        arguments += _arguments(option, PLURALS.get(key, key), value, place, folder)
    try:
        parsed = command.make_context(command.name, arguments, parent=context.parent)
    except click.ClickException as error:
        raise click.UsageError(f"{place}: {error.format_message()}") from error
    return {
        name: value
        for name, value in parsed.params.items()
        if parsed.get_parameter_source(name) is ParameterSource.COMMANDLINE
        and (name == "param" or not _is_typed(context, name))
    }


def _is_typed(context: click.Context, name: str) -> bool:
    """Whether an option stands on the command line."""
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _arguments(
    option: click.Parameter, name: str, value: Any, place: str, folder: Path
) -> Iterator[str]:
    """A key and its value as arguments."""
    if isinstance(option, click.Option) and option.is_flag:
        if not isinstance(value, bool):
            raise click.UsageError(f"{place}: {name} is true or false")
        if value:
            yield f"--{name}"
        return
    if isinstance(value, Mapping):
        value = [f"{key}={item}" for key, item in value.items()]
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, (bool, list, dict)):
            raise click.UsageError(f"{place}: {name} = {item!r} is not a text or a number")
        is_path = isinstance(option.type, click.Path)
        yield f"--{name}={folder / str(item) if is_path else item}"


def _expected(table: Mapping[str, Any], place: str) -> Mapping[str, str] | str:
    value = table.get("expect", "verified")
    for outcome in value.values() if isinstance(value, dict) else [value]:
        if outcome not in OUTCOMES:
            raise click.UsageError(f"{place}: expect: {outcome!r} is none of {', '.join(OUTCOMES)}")
    return value  # type: ignore[no-any-return]


def _unknown(key: str, known: Sequence[str]) -> str:
    near = get_close_matches(key, known, n=1)
    advice = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"
    return f"there is no {key[:40]!r} here{advice}"

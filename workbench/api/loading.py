"""Models from anywhere: files, library names, texts, open files, and models made in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from workbench.api.asked import by_name, number
from workbench.api.externs import ExternSource, chosen
from workbench.api.numbers import Number
from workbench.models.source import Diagnostic, ModelError

if TYPE_CHECKING:
    from workbench.api.model import Model
    from workbench.models.model import Model as Loaded
    from workbench.simulate.stepping.externs import Externs


@runtime_checkable
class Readable(Protocol):
    """An open file."""

    def read(self) -> str | bytes:
        """The content."""


@runtime_checkable
class Written(Protocol):
    """A model made in Python (`workbench.build`)."""

    def charon(self) -> str:
        """The model as a text."""

    def externs(self) -> Externs:
        """The functions that it calls."""

    def placed(self, found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        """What was found in the text, at its place in Python."""

    def failure(self, error: ModelError) -> ModelError:
        """What is wrong with the text, at its place in Python."""


Source: TypeAlias = str | Path | Readable | Written
"""A path, the name of a library model, a text, an open file, or a model made in Python."""


def load(
    source: Source,
    /,
    *,
    agent: str | None = None,
    externs: ExternSource | None = None,
    parameters: Mapping[str, Number] | None = None,
    **more: Number,
) -> Model:
    """The model of a path (`.charon`; `.xml` with its `.cfg` beside it; `.json`), of a library
    name, of a text (it has more than one line, or braces), of an open file, or one that was made
    with `workbench.build`.

    Further arguments give constants and parameters of the model values, exactly: `load("platoon",
    amin=-5)`; `parameters` takes names that Python does not. `agent` takes one agent of a model as
    the whole. `externs` are the functions that the model calls: by name, or a Python file, which
    is run. Everything wrong with a model is a `ModelError`.
    """
    given_values = {**by_name("parameters", parameters or {}), **more}
    values = {name: number(name, value) for name, value in given_values.items()}
    if agent is not None and not isinstance(agent, str):
        raise TypeError(f"an agent is named by a text, not {agent!r:.40}")
    if isinstance(source, type):
        raise _no_source(source)
    given = source.externs() if externs is None and isinstance(source, Written) else externs
    return opened(_origin(source), agent, given, values)


Origin: TypeAlias = "Callable[[str | None, Mapping[str, Fraction]], Loaded]"
"""How a model is loaded, with one of its agents and values of parameters, again and again; it
travels between processes with the model."""


def opened(
    origin: Origin,
    agent: str | None,
    externs: ExternSource | None,
    parameters: Mapping[str, Fraction],
) -> Model:
    """The model of an origin, with the functions that it calls."""
    from workbench.api.model import Model

    loaded = origin(agent, parameters)
    return Model(loaded, parameters, chosen(externs, loaded.externals), origin, agent)


def _origin(source: Source) -> Origin:
    """How the model of a source is loaded, as often as parameters are chosen."""
    if isinstance(source, Path) or (isinstance(source, str) and not _is_text(source)):
        return from_file(source)
    if isinstance(source, str):
        return partial(_load_text, source, "<text>")
    if isinstance(source, Readable):
        return partial(_load_text, source.read(), str(getattr(source, "name", "<file>")))
    if isinstance(source, Written):
        name = f"<{getattr(source, 'name', 'python')}>"
        return partial(_load_written, source, source.charon(), name)
    raise _no_source(source)


def _no_source(source: object) -> TypeError:
    known = "a path, a name, a text, an open file or an agent made with workbench.build"
    return TypeError(f"a model is {known}, not {source!r:.80}")


def from_file(reference: str | Path) -> Origin:
    """How the model of a path or of a library name is loaded."""
    return partial(_load_file, reference)


def _load_text(
    text: str | bytes, name: str, agent: str | None, values: Mapping[str, Fraction]
) -> Loaded:
    from workbench.models.load import load_text

    return load_text(text, name, agent=agent, parameters=values)


def _load_written(
    source: Written, text: str, name: str, agent: str | None, values: Mapping[str, Fraction]
) -> Loaded:
    try:
        model = _load_text(text, name, agent, values)
    except ModelError as error:
        raise source.failure(error) from None
    return replace(model, warnings=source.placed(model.warnings))


def _load_file(reference: str | Path, agent: str | None, values: Mapping[str, Fraction]) -> Loaded:
    from workbench.models.load import load as load_file

    try:
        return load_file(reference, agent=agent, parameters=values)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"cannot read {str(reference)!r}: {reason}"
        raise ModelError(Diagnostic("unreadable-file", message)) from error


def from_spaceex(xml: Path, config: Path) -> Origin:
    """How a SpaceEx model is loaded with the configuration of another file than the one beside
    it."""
    return partial(_load_spaceex, xml, config)


def _load_spaceex(
    xml: Path, config: Path, agent: str | None, values: Mapping[str, Fraction]
) -> Loaded:
    from workbench.models.interchange.spaceex_import import import_spaceex
    from workbench.models.model import Model as Loaded

    try:
        data, text = xml.read_bytes(), config.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot read {getattr(error, 'filename', None) or str(config)!r}: {reason}"
        raise ModelError(Diagnostic("unreadable-file", message)) from error
    found = import_spaceex(data, text, str(xml), str(config))
    name, sources = found.automaton.name, {str(config): text}
    return Loaded(name, found.automaton, None, found.warnings, sources)


def _is_text(source: str) -> bool:
    return "\n" in source or "{" in source or source.lstrip().startswith("<")

"""Loading a model by reference: a file, a file and one of its agents, or a library name."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from workbench.models.automaton import Automaton
from workbench.models.model import Model
from workbench.models.source import Diagnostic, ModelError

SUFFIXES = (".charon", ".xml", ".json")

MAX_BYTES = 64_000_000
"""The largest SpaceEx or JSON file that is read; their readers set limits of their own."""

_NOTHING: Mapping[str, Fraction] = MappingProxyType({})


def load(
    reference: str | Path,
    *,
    agent: str | None = None,
    parameters: Mapping[str, Fraction] = _NOTHING,
) -> Model:
    """The model that a reference names.

    A reference is a path (`.charon`; `.xml` with its `.cfg` beside it; `.json`), a path and
    an agent (`cars.charon:Front`), or the name of a library model. `agent` and `parameters`
    choose an agent of a `.charon` file and override its constants. Everything wrong with
    the reference or the model is a `ModelError`.
    """
    path, named = _located(reference)
    agent = agent if agent is not None else named
    with _uncollected():
        return _load(path, agent, parameters)


def load_text(
    text: str | bytes,
    name: str = "<text>",
    *,
    agent: str | None = None,
    parameters: Mapping[str, Fraction] = _NOTHING,
    texts: Mapping[Path, str] | None = None,
) -> Model:
    """The model that a text describes: CHARON, SpaceEx XML (which begins with `<`) or JSON (with
    `{`). `name` is the file that messages tell; what a CHARON text imports is looked for beside
    it, or in `texts` where that is not saved. Everything wrong with the text is a `ModelError`."""
    from workbench.models.language.checked import checked_model
    from workbench.models.language.project import read_project
    from workbench.models.language.reading import decode_source

    data = text.encode("utf-8", errors="surrogatepass") if isinstance(text, str) else text
    path = Path(name)
    with _uncollected():
        if (first := data.lstrip()[:1]) in (b"<", b"{"):
            _refuse_choices(path, agent, parameters)
            return _spaceex(data, None, path) if first == b"<" else _json(data, path)
        title = path.stem.strip("<>") or "model"
        project = read_project(path, decode_source(data, name), texts)
        return checked_model(project, title, agent=agent, parameters=parameters)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without garbage collection: it looks through the growing model again and again, in which
    there are no cycles to find."""
    wanted = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if wanted:
            gc.enable()


def _load(path: Path, agent: str | None, parameters: Mapping[str, Fraction]) -> Model:
    if path.suffix == ".charon":
        return _load_charon(path, agent, parameters)
    _refuse_choices(path, agent, parameters)
    return _load_spaceex(path) if path.suffix == ".xml" else _load_json(path)


def _refuse_choices(path: Path, agent: str | None, parameters: Mapping[str, Fraction]) -> None:
    if agent is not None or parameters:
        what = f"the agent `{agent}`" if agent is not None else "parameters"
        raise ModelError(
            Diagnostic(
                "not-applicable",
                f"`{path}` is no .charon file: {what} cannot be chosen in it",
                hint="import it first: `workbench import model.xml -o model.charon`",
            )
        )


def _located(reference: str | Path) -> tuple[Path, str | None]:
    """The file behind a reference, and the agent after a colon, if any."""
    text = str(reference)
    if not text.strip() or "\0" in text:
        raise ModelError(
            Diagnostic("file-not-found", "no model was named", hint="give a file or a library name")
        )
    path = Path(text)
    if path.suffix in SUFFIXES:
        return path, None
    base, colon, agent = text.rpartition(":")
    if colon and (Path(base).suffix in SUFFIXES or _library(base) is not None):
        return _library(base) or Path(base), agent
    found = _library(text)
    if found is not None:
        return found, None
    raise ModelError(_not_a_model(text, path))


def _library(name: str) -> Path | None:
    from workbench.models.catalogue import find

    entry = find(name)
    return entry.path if entry is not None else None


def _not_a_model(text: str, path: Path) -> Diagnostic:
    from workbench.models.catalogue import entries
    from workbench.models.language.findings import closest

    names = [entry.name for entry in entries()]
    near = closest(text, names)
    hint = f"did you mean the library model `{near}`?" if near is not None else None
    if path.is_dir():
        return Diagnostic(
            "unreadable-file", f"`{text}` is a folder", hint=hint or "name a file in it"
        )
    if path.exists():
        return Diagnostic(
            "unknown-format",
            f"`{text}` is not a known kind of model file",
            hint=f"models are {', '.join(SUFFIXES)} files",
        )
    beside = next((s for s in SUFFIXES if path.with_name(path.name + s).is_file()), None)
    if beside is not None:
        hint = f"did you mean `{text}{beside}`?"
    return Diagnostic(
        "file-not-found",
        f"there is no file and no library model `{text}`",
        hint=hint or "`workbench models` lists the library",
    )


def _load_charon(path: Path, agent: str | None, parameters: Mapping[str, Fraction]) -> Model:
    from workbench.models.language.checked import checked_model
    from workbench.models.language.project import read_project

    name = path.stem if agent is None else f"{path.stem}:{agent}"
    return checked_model(read_project(path), name, agent=agent, parameters=parameters)


def _load_spaceex(path: Path) -> Model:
    from workbench.models.language.project import read_bytes, read_text

    data = read_bytes(path, str(path), MAX_BYTES)
    beside = path.with_suffix(".cfg")
    config = read_text(beside, str(beside)) if beside.is_file() else None
    return _spaceex(data, config, path)


def _spaceex(data: bytes, config: str | None, path: Path) -> Model:
    from workbench.models.interchange.spaceex_import import import_spaceex

    beside = path.with_suffix(".cfg")
    sources = {str(path): data.decode("utf-8", errors="replace")}
    if config is not None:
        sources[str(beside)] = config
    found = import_spaceex(data, config, str(path), str(beside))
    warnings = (*found.warnings, *_start_warnings(found.automaton, sources))
    return Model(path.stem, found.automaton, None, warnings, sources)


def _load_json(path: Path) -> Model:
    from workbench.models.language.project import read_bytes

    return _json(read_bytes(path, str(path), MAX_BYTES), path)


def _json(data: bytes, path: Path) -> Model:
    from workbench.models.interchange.json_model import from_json

    automaton = from_json(data, str(path))
    sources = {str(path): data.decode("utf-8", errors="replace")}
    warnings = _start_warnings(automaton, sources)
    return Model(automaton.name or path.stem, automaton, None, warnings, sources)


def _start_warnings(automaton: Automaton, sources: dict[str, str]) -> tuple[Diagnostic, ...]:
    """What is strange about the initial set of a model that others wrote; an empty one is an
    error, for then every property would hold."""
    from workbench.models.language.coverage import FlatCheck
    from workbench.models.language.findings import DiagnosticLog

    findings = DiagnosticLog()
    FlatCheck(automaton, findings).check_start()
    findings.raise_errors(sources)
    return findings.warnings

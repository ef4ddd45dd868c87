"""Functions from outside, from a Python file that the user names.

Naming the file is consent to run it. A model never names one: what it writes after `from` is a
note for its reader.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from workbench.models.outside import PASSING
from workbench.models.source import Diagnostic, ModelError, Span
from workbench.simulate.stepping.externs import Externs

ExternSource: TypeAlias = Externs | ModuleType | str | Path
"""Functions by name, a module that has them, or a Python file to run."""


def functions_of(source: ExternSource | None) -> dict[str, object]:
    """What the source has to offer, by name; raises ModelError where a file fails."""
    if source is None:
        return {}
    if isinstance(source, Mapping):
        return dict(source)
    module = source if isinstance(source, ModuleType) else _run(Path(source))
    return {n: v for n, v in vars(module).items() if callable(v) and not n.startswith("_")}


def chosen(source: ExternSource | None, declared: Mapping[str, str]) -> Externs:
    """The functions that a model declares, among those of the source. A source must have all of
    them; a mapping, nothing else. Raises ModelError."""
    from workbench.models.language.findings import closest

    offered = functions_of(source)
    if source is None:
        return {}
    for name in declared:
        if name not in offered:
            near = closest(name, list(offered))
            hint = f"did you mean it by `{near}`?" if near else "define a function of that name"
            raise ModelError(
                Diagnostic(
                    "missing-extern", f"the model calls `{name}`, which was not given", None, hint
                )
            )
        if not callable(offered[name]):
            message = f"`{name}` was given as {offered[name]!r}, which cannot be called"
            raise ModelError(Diagnostic("bad-extern", message))
    if isinstance(source, Mapping) and (unknown := sorted(offered.keys() - declared.keys())):
        known = ", ".join(f"`{n}`" for n in declared) or "none"
        raise ModelError(
            Diagnostic(
                "unknown-extern",
                f"the model declares no function `{unknown[0]}`",
                None,
                f"`extern` declarations of the model: {known}",
            )
        )
    return {name: offered[name] for name in declared}  # type: ignore[misc]


def _run(path: Path) -> ModuleType:
    """The module of a file, run now. As in a script, files beside it can be imported."""
    import sys
    from importlib.util import module_from_spec, spec_from_file_location

    file = path.resolve()
    spec = spec_from_file_location(f"workbench_extern_{path.stem}", file)
    if not path.is_file() or spec is None or spec.loader is None:
        message = f"there is no Python file `{path}`"
        raise ModelError(
            Diagnostic("file-not-found", message, None, "name a file that ends in .py")
        )
    module = sys.modules[spec.name] = module_from_spec(spec)
    try:
        with _beside(file.parent):
            spec.loader.exec_module(module)
    except PASSING:
        raise
    except BaseException as error:
        del sys.modules[spec.name]
        message = f"running `{path}` failed: {type(error).__name__}: {error}".removesuffix(": ")
        raise ModelError(
            Diagnostic("bad-extern", message, _place(path, file, error)),
            sources={str(path): path.read_text(encoding="utf-8", errors="replace")},
        ) from error
    return module


@contextmanager
def _beside(folder: Path) -> Iterator[None]:
    """Within it, files of the folder are found first, as in a script. Later, for imports inside
    functions, they are found last: they cannot stand in for what the workbench itself imports."""
    import sys

    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        if str(folder) not in sys.path:
            sys.path.append(str(folder))


def _place(path: Path, file: Path, error: BaseException) -> Span | None:
    """The last line of the file that took part in the error."""
    if isinstance(error, SyntaxError) and error.filename == str(file) and error.lineno:
        return Span(str(path), error.lineno, error.offset or 1, error.lineno, 10_000)
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(file) and frame.lineno is not None
    ]
    return Span(str(path), lines[-1], 1, lines[-1], 10_000) if lines else None

"""Reading a model's files: the one that was named and those it imports.

Imports stay inside the project: the folder of the first file and below, symbolic links
resolved. A file imported twice is read once; files that import each other in a circle are
refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PureWindowsPath
from typing import TypeAlias

from workbench.models.language.findings import DiagnosticLog, closest
from workbench.models.language.parse import parse_leniently
from workbench.models.language.reading import decode_source
from workbench.models.language.syntax import ImportDeclaration, SourceFile
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError, Span

MAX_FILES = 200
MAX_BYTES = 5_000_000
"""The size of one file, and of all files of a model together."""


Imports: TypeAlias = dict[Path, dict[Path, Span]]
"""For each file those that it imports, and where."""


@record
class ModelFiles:
    """The parsed files of a model, the named one first, and their texts by display name."""

    files: tuple[SourceFile, ...]
    sources: dict[str, str]


def read_project(
    path: Path, text: str | None = None, texts: Mapping[Path, str] | None = None
) -> ModelFiles:
    """Parse a file and everything it imports; `ModelError` with all that is wrong.

    `text`, where given, is taken instead of the file's, and `texts` instead of those of the files
    that are imported: an editor's unsaved changes.
    """
    unsaved = {file.resolve(): given for file, given in (texts or {}).items()}
    findings = DiagnosticLog()
    sources: dict[str, str] = {}
    files: list[SourceFile] = []
    root = path.resolve().parent
    queue: deque[tuple[Path, str]] = deque([(path, str(path))])
    seen = {path.resolve()}
    imports: Imports = {}
    while queue:
        current, name = queue.popleft()
        try:
            if len(seen) > MAX_FILES:
                raise ModelError(
                    Diagnostic("too-many-files", f"the model has more than {MAX_FILES} files")
                )
            if current is path and text is not None:
                sources[name] = text
            elif current is not path and (known := unsaved.get(current)) is not None:
                sources[name] = known
            else:
                left = MAX_BYTES - sum(map(len, sources.values()))
                sources[name] = read_text(current, name, left)
            parsed = parse_leniently(sources[name], name)
        except ModelError as problem:
            findings.extend(problem.diagnostics)
            continue
        findings.extend(parsed.diagnostics)
        files.append(parsed.source)
        for declaration in parsed.source.definitions:
            if not isinstance(declaration, ImportDeclaration):
                continue
            found = _imported(declaration, current, root, unsaved, findings)
            if found is None:
                continue
            imports.setdefault(current.resolve(), {}).setdefault(found, declaration.span)
            if found not in seen:
                seen.add(found)
                queue.append((found, _display_name(found, path, root)))
    _refuse_circles(imports, findings)
    findings.raise_errors(sources)
    return ModelFiles(tuple(files), sources)


def _refuse_circles(imports: Imports, findings: DiagnosticLog) -> None:
    """An error at the import that closes a circle, if there is one."""
    for file, imported in imports.items():
        if file in imported:
            findings.error("cyclic-import", f"`{file.name}` imports itself", imported[file])
            return
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as problem:
        circle = list(reversed(problem.args[1]))
        span = imports[circle[-2]][circle[-1]]
        way = " -> ".join(file.name for file in circle)
        findings.error(
            "cyclic-import",
            f"the files import each other in a circle: {way}",
            span,
            "move what they share into a file that both import",
        )


def read_text(path: Path, name: str, most: int = MAX_BYTES) -> str:
    """The text of a file; every reason why there is none is a diagnostic."""
    return decode_source(read_bytes(path, name, most), name)


def read_bytes(path: Path, name: str, most: int = MAX_BYTES) -> bytes:
    """The content of a regular file of limited size."""
    try:
        if path.is_dir():
            raise ModelError(_unreadable(name, "it is a folder", "name a file in it"))
        if path.exists() and not path.is_file():
            raise ModelError(_unreadable(name, "it is not a regular file", None))
        with path.open("rb") as stream:
            data = stream.read(max(most, 0) + 1)
    except FileNotFoundError:
        raise ModelError(
            Diagnostic("file-not-found", f"there is no file `{name}`", None, _similar_file(path))
        ) from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "its name is not valid"
        raise ModelError(_unreadable(name, str(reason).lower(), None)) from None
    if len(data) > most:
        raise ModelError(
            Diagnostic("file-too-large", f"`{name}` is too large: {most} bytes are read at most")
        )
    return data


def _unreadable(name: str, reason: str, hint: str | None) -> Diagnostic:
    return Diagnostic("unreadable-file", f"cannot read `{name}`: {reason}", None, hint)


def _similar_file(path: Path) -> str | None:
    """A hint at a file whose name is nearly the one given."""
    try:
        folder = path.parent
        names = sorted(p.name for p in folder.iterdir() if p.is_file()) if folder.is_dir() else []
    except OSError:
        return None
    near = closest(path.name, names)
    return f"did you mean `{path.parent / near}`?" if near is not None else None


def _imported(
    declaration: ImportDeclaration,
    importer: Path,
    root: Path,
    unsaved: Collection[Path],
    findings: DiagnosticLog,
) -> Path | None:
    """The file of an import, if it lies in the project and is there or at least in `unsaved`."""
    written, span = declaration.path, declaration.span
    if not written.strip() or any(ord(c) < 32 for c in written):
        findings.error("bad-import", "an import needs the name of a file", span)
        return None
    windows = PureWindowsPath(written)
    if Path(written).is_absolute() or windows.drive or windows.root or "\\" in written:
        findings.error(
            "import-outside",
            f"`{written}` is not a relative path",
            span,
            'write the path relative to this file, with `/`: `import "parts/motor.charon";`',
        )
        return None
    try:
        found = (importer.resolve().parent / written).resolve()
    except (OSError, RuntimeError, ValueError):
        findings.error("bad-import", f"`{written}` is not the name of a file", span)
        return None
    if not found.is_relative_to(root):
        findings.error(
            "import-outside",
            f"`{written}` lies outside the model's folder",
            span,
            "a model may only import files from its own folder and below; copy the file there",
        )
        return None
    return found if found in unsaved else _existing(found, written, span, findings)


def _existing(found: Path, written: str, span: Span, findings: DiagnosticLog) -> Path | None:
    if found.suffix != ".charon":
        findings.error(
            "bad-import", f"`{written}` is no .charon file", span, "only .charon files are imported"
        )
        return None
    if not found.is_file():
        findings.error(
            "file-not-found", f"there is no file `{written}`", span, _similar_file(found)
        )
        return None
    return found


def _display_name(found: Path, first: Path, root: Path) -> str:
    """The imported file's name as the user would write it from where the first one is."""
    return str(first.parent / found.relative_to(root))

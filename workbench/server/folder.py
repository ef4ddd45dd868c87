"""A project folder: which files of it may be seen and changed, and what they hold now.

Paths come from outside and are confined: relative, with `/`, without hidden parts, and inside
the folder also after all links are followed. Every content has a stamp; whoever writes says which
content the change is based on, so that nobody's work is overwritten.
"""

from __future__ import annotations

import itertools
import os
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from workbench.api.saving import save

OWN = ".workbench"
"""The folder in a project that holds what the workbench keeps for itself."""

RESULTS = "results"
EVIDENCE_FOLDER = f"{OWN}/{RESULTS}"
"""Where results and their evidence are kept."""

MAX_BYTES = 5_000_000
"""The largest file that is read or written as a text; models are no larger."""

MAX_FILES = 5000
"""So many files of a folder are listed."""

MAX_DEPTH = 12

KINDS = {
    ".charon": "model",
    ".xml": "model",
    ".html": "report",
    ".csv": "trace",
    ".toml": "project",
}
WRITABLE = (".charon", ".xml", ".cfg", ".json", ".toml", ".md", ".txt", ".csv")
"""Files that are written as texts."""

_WINDOWS_NAMES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_EVIDENCE = re.compile(r"[0-9a-f]+\.(certificate|trace)\.json")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')


class FolderError(Exception):
    """What was asked of the folder cannot be done: a sentence, and the status that says so."""

    def __init__(self, message: str, status: int = 400, hint: str = ""):
        super().__init__(message)
        self.message, self.status, self.hint = message, status, hint


class OutsideError(FolderError):
    """A path that leads to where nobody may look."""

    def __init__(self, message: str):
        super().__init__(message, 403)


class ConflictError(FolderError):
    """The file is not what the change is based on: there is other `content`, or none."""

    def __init__(self, message: str, content: Content | None = None, hint: str = ""):
        super().__init__(message, 409, hint)
        self.content = content


@dataclass(frozen=True)
class Content:
    """A text, and the stamp by which it is known."""

    text: str
    stamp: str


@dataclass(frozen=True)
class Entry:
    """A file of the folder, as far as a list of files tells."""

    path: str
    size: int
    modified_ns: int

    @property
    def data(self) -> dict[str, Any]:
        """The file as plain data."""
        return {
            "path": self.path,
            "kind": kind_of(self.path),
            "size": self.size,
            "modified": self.modified_ns / 1e9,
        }


def kind_of(path: str) -> str:
    """What sort of file a name tells."""
    if path.endswith(".certificate.json"):
        return "certificate"
    if path.endswith((".trace.json", ".run.json")):
        return "trace"
    return KINDS.get(Path(path).suffix, "other")


def stamp_of(data: bytes) -> str:
    """The stamp of a content."""
    return sha256(data).hexdigest()[:20]


class Folder:
    """The files of one folder."""

    def __init__(self, root: Path):
        self.root = root.resolve()
        self._stamps: dict[str, tuple[tuple[int, int], str]] = {}
        self._writing = threading.Lock()

    # Where

    def locate(self, path: str) -> Path:
        """The file that a path from outside means. Raises `OutsideError`."""
        _check_path(path)
        try:
            found = (self.root / path).resolve()
        except (OSError, RuntimeError, ValueError):
            raise OutsideError(f"{path!r} is no path of a file in the project") from None
        if not found.is_relative_to(self.root):
            raise OutsideError(f"{path!r} is a link that leads out of the project")
        if any(part.startswith(".") for part in found.relative_to(self.root).parts):
            raise OutsideError(f"{path!r} is a link that leads to hidden files")
        return found

    def writable(self, path: str) -> Path:
        """The file of a path, if it is one that is written as a text."""
        found = self.locate(path)
        if not path.endswith(WRITABLE):
            raise FolderError(
                f"{path!r} is not written here", hint=f"names end in {', '.join(WRITABLE)}"
            )
        return found

    def vacant(self, home: str, name: str, ending: str) -> str:
        """The path of a file that is not there yet, in a folder of the project."""
        for number in itertools.count(1):
            path = f"{home}/{name}-{number}{ending}"
            if not os.path.lexists(self.locate(path)):
                return path
        raise AssertionError("numbers do not end")

    def shown(self, path: str) -> Path:
        """A file that may be looked at: of the project, or evidence that is kept."""
        home, _, name = path.rpartition("/")
        if home == EVIDENCE_FOLDER and _EVIDENCE.fullmatch(name):
            return self.own(RESULTS, name)
        return self.locate(path)

    def own(self, *parts: str) -> Path:
        """A file of what the workbench keeps; its folders are made."""
        home = self.root / OWN
        if home.is_symlink():
            raise OutsideError(f"{OWN} is a link: remove it")
        if not home.exists():
            home.mkdir(mode=0o700)
            save(home / ".gitignore", "*\n")
        found = home.joinpath(*parts)
        found.parent.mkdir(parents=True, exist_ok=True)
        return found

    # What

    def entries(self) -> list[Entry]:
        """The files, by path; hidden ones, links that lead elsewhere, and names that no path from
        outside may have are left out."""
        return sorted(self._walk(self.root, "", 0), key=lambda entry: entry.path)[:MAX_FILES]

    def _walk(self, folder: Path, prefix: str, depth: int) -> Iterator[Entry]:
        try:
            found = sorted(os.scandir(folder), key=lambda one: one.name)
        except OSError:
            return
        left = MAX_FILES
        for one in found:
            if one.name == "__pycache__" or left <= 0:
                continue
            path = prefix + one.name
            try:
                _check_path(path)
                if one.is_dir(follow_symlinks=False):
                    if depth + 2 < MAX_DEPTH:
                        inside = list(self._walk(folder / one.name, path + "/", depth + 1))
                        left -= len(inside)
                        yield from inside
                elif one.is_file() and (not one.is_symlink() or self._is_inside(path)):
                    status, left = one.stat(), left - 1
                    yield Entry(path, status.st_size, status.st_mtime_ns)
            except (OSError, OutsideError):
                continue

    def _is_inside(self, path: str) -> bool:
        try:
            self.locate(path)
        except OutsideError:
            return False
        return True

    def stamp(self, entry: Entry) -> str:
        """The stamp of a listed file; of a very large one it is made of size and time."""
        state = (entry.size, entry.modified_ns)
        known = self._stamps.get(entry.path)
        if known is not None and known[0] == state:
            return known[1]
        if entry.size > MAX_BYTES:
            stamp = stamp_of(repr(state).encode())
        else:
            try:
                stamp = stamp_of(self.locate(entry.path).read_bytes())
            except OSError:
                stamp = ""
        self._stamps[entry.path] = (state, stamp)
        return stamp

    def read(self, path: str) -> Content:
        """The text of a file. Raises `FolderError`."""
        data = self.read_bytes(path, MAX_BYTES)
        try:
            return Content(data.decode("utf-8"), stamp_of(data))
        except UnicodeDecodeError:
            raise FolderError(f"{path!r} is not a text in UTF-8", 415) from None

    def read_bytes(self, path: str, most: int) -> bytes:
        """The content of a file of limited size."""
        found = self.shown(path)
        try:
            if not found.is_file() or found.is_symlink():
                raise FolderError(f"there is no file {path!r}", 404)
            if found.stat().st_size > most:
                raise FolderError(f"{path!r} is larger than {most} bytes", 413)
            return found.read_bytes()
        except OSError as error:
            raise FolderError(f"cannot read {path!r}: {error.strerror}", 403) from None

    # Changes

    def write(self, path: str, text: str, stamp: str) -> str:
        """Put a text in the place of the content with that stamp; the new stamp."""
        target = self.writable(path)
        with self._writing:
            now = self.read(path) if target.is_file() else None
            if now is None:
                raise ConflictError(f"{path!r} is not there any more")
            if now.stamp != stamp and now.text != text:
                raise ConflictError(f"{path!r} was changed meanwhile", now)
            return self._save(path, target, text)

    def create(self, path: str, text: str, beside: Mapping[str, str] = MappingProxyType({})) -> str:
        """Make a file; the stamp of its content. With it come the files `beside` it that it
        imports, as far as they are not there already; none is made where one has another text."""
        target = self.writable(path)
        home = path.rpartition("/")[0]
        others = {f"{home}/{name}" if home else name: text for name, text in beside.items()}
        with self._writing:
            if os.path.lexists(self.root / path):
                raise ConflictError(f"{path!r} exists")
            missing = {other: text for other, text in others.items() if self._lacks(other, text)}
            if path in others:
                raise ConflictError(f"{path!r} is what it imports", hint="choose another name")
            for other, imported in missing.items():
                self._save(other, self.writable(other), imported)
            return self._save(path, target, text)

    def _lacks(self, path: str, text: str) -> bool:
        """Whether a file is to be made; that another one has its name is a conflict."""
        if not os.path.lexists(self.root / path):
            return True
        if self.read(path).text == text:
            return False
        told = f"it imports {path!r}, and there is another file of that name"
        raise ConflictError(told, hint="choose a name in a folder of its own: `folder/name`")

    def _save(self, path: str, target: Path, text: str) -> str:
        data = _encoded(text)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            save(target, data)
        except OSError as error:
            raise FolderError(f"cannot write {path!r}: {error.strerror or error}", 403) from None
        return stamp_of(data)

    def rename(self, old: str, new: str) -> str:
        """Give a file another name; the stamp of its content."""
        source, target = self.locate(old), self.writable(new)
        with self._writing:
            if os.path.lexists(self.root / new):
                raise ConflictError(f"{new!r} exists")
            content = self.read_bytes(old, 64 * MAX_BYTES)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                os.rename(source, target)
            except OSError as error:
                raise FolderError(f"cannot rename {old!r}: {error.strerror}", 403) from None
        return stamp_of(content)

    def delete(self, path: str) -> None:
        """Take a file away; its content stays in the workbench's own folder."""
        source = self.locate(path)
        with self._writing:
            data = self.read_bytes(path, 64 * MAX_BYTES)
            kept = self.own("deleted", f"{source.name}.{stamp_of(data)}")
            try:
                os.replace(source, kept)
            except OSError as error:
                raise FolderError(f"cannot delete {path!r}: {error.strerror}", 403) from None


def _check_path(path: str) -> None:
    """Whether a path could be one of the project, by its names. Raises `OutsideError`."""
    parts = path.split("/")
    if not path or len(path) > 1000 or len(parts) > MAX_DEPTH or not path.isprintable():
        raise OutsideError("that is no path of a file in the project")
    for part in parts:
        if part in ("", ".", "..") or part.startswith("."):
            raise OutsideError(f"{path!r} leads out of the project or to hidden files")
        if _FORBIDDEN.search(part) or part.endswith((" ", ".")) or len(part.encode()) > 200:
            raise OutsideError(f"{part!r} is no name that every system can have")
        if _WINDOWS_NAMES.fullmatch(part):
            raise OutsideError(f"{part!r} is a device on some systems")


def _encoded(text: str) -> bytes:
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise FolderError("the text has characters that are none") from None
    if len(data) > MAX_BYTES:
        raise FolderError(f"a text has at most {MAX_BYTES} bytes", 413)
    return data

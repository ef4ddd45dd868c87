"""The documents of a session: those that are open in the editor as they are there, all others as
they are on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types
from pygls import uris

from workbench import Document, ModelError
from workbench.api.texts import read_source
from workbench.language_server.positions import Positions, changed, with_plain_lines

SUFFIX = ".charon"
MAX_LISTED = 2_000
"""How many files of the folders are looked at."""


@dataclass
class Open:
    """A file that is open in the editor: how the editor calls it, its version, its text to the
    letter, and what is known of that."""

    uri: str
    version: int
    text: str
    document: Document


class Documents:
    """Documents by name: the path of a file, or what else the editor calls it."""

    def __init__(self) -> None:
        self.positions = Positions()
        self.folders: list[Path] = []
        self.open: dict[str, Open] = {}
        self._on_disk: dict[str, tuple[tuple[int, int], Document]] = {}

    # The editor's side

    def opened(self, item: types.TextDocumentItem) -> Open:
        """The editor has opened a file."""
        name = name_of(item.uri)
        document = Document(name, with_plain_lines(item.text), self.find)
        self.open[name] = Open(item.uri, item.version, item.text, document)
        self._others_changed(name)
        return self.open[name]

    def changed(self, params: types.DidChangeTextDocumentParams) -> Open | None:
        """The editor has changed a file; None for one that is not open."""
        known = self.open.get(name_of(params.text_document.uri))
        if known is None:
            return None
        known.text = changed(known.text, params.content_changes, self.positions)
        known.version = params.text_document.version
        known.document = known.document.edited(with_plain_lines(known.text))
        self._others_changed(known.document.name)
        return known

    def closed(self, uri: str) -> None:
        """The editor has closed a file."""
        self.open.pop(name_of(uri), None)
        self._others_changed(name_of(uri))

    def _others_changed(self, name: str) -> None:
        """Look at open files together with what they import by now."""
        for other in self.open.values():
            if other.document.name != name and other.document.imports:
                other.document = other.document.refreshed()

    # Asking

    def at(self, uri: str) -> Document | None:
        """The document that the editor calls so."""
        return self.find(name_of(uri))

    def find(self, name: str) -> Document | None:
        """The document of a file, None where there is none."""
        known = self.open.get(name)
        if known is not None:
            return known.document
        path = Path(name)
        try:
            state = path.stat()
            stamp = (state.st_mtime_ns, state.st_size)
            kept = self._on_disk.get(name)
            if kept is not None and kept[0] == stamp:
                return kept[1]
            document = Document(name, with_plain_lines(read_source(path)), self.find)
        except (OSError, ValueError, ModelError):
            return None
        self._on_disk[name] = stamp, document
        return document

    def all(self) -> Iterator[Document]:
        """The documents that are open, and those of the folders."""
        names = dict.fromkeys(self.open)
        for folder in self.folders:
            names |= dict.fromkeys(_files(folder))
        for name in names:
            found = self.find(name)
            if found is not None:
                yield found

    def importers(self, document: Document) -> list[Document]:
        """The documents that import something, and so perhaps this one."""
        others = (d for d in self.all() if d.name != document.name and d.imports)
        return [d.refreshed() for d in others]

    def uri(self, name: str) -> str:
        """How the editor calls a file."""
        known = self.open.get(name)
        return known.uri if known is not None else uris.from_fs_path(name) or name

    def lines(self, name: str) -> list[str]:
        """The lines of a file."""
        found = self.find(name)
        return found.lines if found is not None else [""]


def name_of(uri: str) -> str:
    """The name of a file that the editor calls so: its path, if it has one."""
    return (uris.to_fs_path(uri) if uri.startswith("file:") else None) or uri


def _files(folder: Path) -> Iterator[str]:
    """The models below a folder, without those in hidden folders."""
    seen = 0
    queue = [folder]
    while queue and seen < MAX_LISTED:
        current = queue.pop()
        try:
            entries = sorted(current.iterdir())
        except OSError:
            continue
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_dir():
                queue.append(entry)
            elif entry.suffix == SUFFIX:
                seen += 1
                yield str(entry)

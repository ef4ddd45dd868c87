"""An editor in small: opens texts in a folder and asks the server about marked places."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from lsprotocol import types
from pytest_lsp import LanguageClient

from workbench.models.language.editor.places import place_at

PATIENCE = 300
"""Seconds after which a test gives up waiting: only for what would never come."""

_numbers = count(1)


@dataclass
class Editor:
    """A client with a folder, in which every text has a folder of its own."""

    client: LanguageClient
    folder: Path

    def open(self, text: str, name: str = "main.charon") -> Text:
        """Open a text; a `|` in it marks a place and is left out."""
        path = self.folder / f"t{next(_numbers)}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return self.open_at(path, text)

    def open_at(self, path: Path, text: str) -> Text:
        """Open a text as the file of that path."""
        offset = text.index("|") if text.count("|") == 1 else -1
        if offset >= 0:
            text = text[:offset] + text[offset + 1 :]
        opened = Text(self, path, text, max(offset, 0))
        item = types.TextDocumentItem(opened.uri, "charon", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return opened


@dataclass
class Text:
    """An open text and its marked place."""

    editor: Editor
    path: Path
    text: str
    offset: int
    version: int = 1

    @property
    def uri(self) -> str:
        return self.path.as_uri()

    @property
    def document(self) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri)

    @property
    def position(self) -> types.Position:
        line, column = place_at(self.text, self.offset)
        return types.Position(line - 1, column - 1)

    def at(self, words: str) -> types.Position:
        """The position of `|` in words that the text has once."""
        plain = words.replace("|", "")
        assert self.text.count(plain) == 1, words
        line, column = place_at(self.text, self.text.index(plain) + words.index("|"))
        return types.Position(line - 1, column - 1)

    def change(self, before: str, after: str) -> None:
        """Replace some words that the text has once, as an editor tells it."""
        assert self.text.count(before) == 1, before
        first = self.text.index(before)
        region = types.Range(self._position(first), self._position(first + len(before)))
        self.text = self.text.replace(before, after)
        self.tell(types.TextDocumentContentChangePartial(region, after))

    def _position(self, offset: int) -> types.Position:
        line, column = place_at(self.text, offset)
        return types.Position(line - 1, column - 1)

    def tell(self, *changes: types.TextDocumentContentChangeEvent) -> None:
        """Tell the server about changes."""
        self.version += 1
        identifier = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.editor.client.text_document_did_change(
            types.DidChangeTextDocumentParams(identifier, list(changes))
        )

    async def diagnostics(
        self, wanted: Callable[[list[types.Diagnostic]], bool] = lambda found: True
    ) -> list[types.Diagnostic]:
        """What the server says is wrong, as soon as it is as wanted."""
        for _ in range(PATIENCE * 20):
            found = self.editor.client.diagnostics.get(self.uri)
            if found is not None and wanted(list(found)):
                return list(found)
            await asyncio.sleep(0.05)
        raise AssertionError(f"never came; last: {self.editor.client.diagnostics.get(self.uri)}")

    async def codes(self, *codes: str) -> list[types.Diagnostic]:
        """The diagnostics, as soon as they are these."""
        return await self.diagnostics(
            lambda found: sorted(str(d.code) for d in found) == sorted(codes)
        )


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """A text of plain letters after edits."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for edit in sorted(
        edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True
    ):
        first = starts[edit.range.start.line] + edit.range.start.character
        last = starts[edit.range.end.line] + edit.range.end.character
        text = text[:first] + edit.new_text + text[last:]
    return text

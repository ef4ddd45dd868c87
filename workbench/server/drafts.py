"""Drafts: what was typed and not saved yet, kept for when the server or a page dies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from workbench.api.saving import save
from workbench.server.folder import MAX_BYTES, Folder, FolderError

FOLDER = "drafts"
MAX_DRAFTS = 200


class Drafts:
    """The drafts of a project, one for each file."""

    def __init__(self, folder: Folder):
        self._folder = folder

    def keep(self, path: str, text: str, stamp: str) -> None:
        """Keep what is typed in the place of a file's content with that stamp."""
        self._folder.writable(path)
        if len(text.encode("utf-8", errors="replace")) > MAX_BYTES:
            raise FolderError(f"a draft has at most {MAX_BYTES} bytes", 413)
        place = self._place(path)
        if not place.exists() and sum(1 for _ in place.parent.iterdir()) >= MAX_DRAFTS:
            raise FolderError(f"there are {MAX_DRAFTS} drafts; save or drop some", 429)
        save(place, json.dumps({"path": path, "text": text, "stamp": stamp}))

    def drop(self, path: str) -> None:
        """Forget the draft of a file: it was saved, or is not wanted."""
        self._place(path).unlink(missing_ok=True)

    def text(self, path: str) -> str | None:
        """What is typed for a file; None if that is what it holds."""
        found = self._read(self._place(path))
        return None if found is None else str(found["text"])

    def all(self) -> list[dict[str, Any]]:
        """Every draft with its path and the stamp of what it is based on."""
        return sorted(self._all(), key=lambda draft: str(draft["path"]))

    def _all(self) -> Iterator[dict[str, Any]]:
        for place in self._place("any").parent.glob("*.json"):
            found = self._read(place)
            if found is not None:
                yield found

    def _place(self, path: str) -> Path:
        return self._folder.own(FOLDER, sha256(path.encode()).hexdigest()[:24] + ".json")

    @staticmethod
    def _read(place: Path) -> dict[str, Any] | None:
        """A draft; None where there is none, or it is damaged."""
        try:
            found = json.loads(place.read_text("utf-8"))
            return {"path": found["path"], "text": str(found["text"]), "stamp": found["stamp"]}
        except (OSError, ValueError, KeyError, TypeError):
            return None

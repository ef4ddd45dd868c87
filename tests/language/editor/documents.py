"""Documents for tests: texts with a mark `|` at the place that is asked about, and small folders."""

from __future__ import annotations

from workbench import Document
from workbench.models.language.editor.places import Place, place_at


def marked(text: str, files: dict[str, str] | None = None) -> tuple[Document, Place]:
    """The document of a text without its mark, and the place of the mark."""
    offset = text.index("|")
    whole = text[:offset] + text[offset + 1 :]
    return document(whole, files), place_at(whole, offset)


def document(text: str, files: dict[str, str] | None = None, name: str = "main.charon") -> Document:
    """A document that imports files from a dictionary."""

    def other(wanted: str) -> Document | None:
        found = (files or {}).get(wanted)
        return None if found is None else Document(wanted, found, other)

    return Document(name, text, other)

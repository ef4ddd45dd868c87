"""What comes with the workbench, the files of a model, and one layout for every model text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from workbench.api.asked import one_text, texts

if TYPE_CHECKING:
    from workbench.models.catalogue import Entry as Entry
    from workbench.models.language.editor.highlighting import Highlighting

_IMPORT = re.compile(r'^\s*import\s+"([^"\n]+)"', re.MULTILINE)
_NONE: Mapping[Path, str] = MappingProxyType({})


def library(*words: str) -> tuple[Entry, ...]:
    """The models that come with the workbench, or those that mention all of some words: each
    with its name for `load`, a title, its source, and the verdicts that are expected."""
    from workbench.models.catalogue import entries

    wanted = texts("words", words)
    return tuple(entry for entry in entries() if _mentions(entry, wanted))


def _mentions(entry: Entry, words: tuple[str, ...]) -> bool:
    text = f"{entry.name} {entry.title} {entry.source}".lower()
    return all(word.lower() in text for word in words)


def formatted(text: str, name: str = "<text>") -> str:
    """A CHARON text laid out as `workbench fmt` does, comments kept; raises ModelError for what
    is not in the language. `name` is the file that messages tell."""
    from workbench.models.language.format import format_source

    return format_source(one_text("text", text), name)


def with_imports(files: Iterable[Path], texts: Mapping[Path, str] = _NONE) -> Iterator[Path]:
    """Files of models, what lies beside them (`.cfg` of `.xml`) and what they import, each once;
    whether a file is there is not looked at. `texts` are what some files are taken to hold."""
    pending, seen = list(files), set[Path]()
    while pending:
        path = pending.pop(0)
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        yield path
        if path.suffix == ".xml":
            pending.append(path.with_suffix(".cfg"))
        elif path.suffix == ".charon":
            text = texts[path] if path in texts else _text_of(path)
            pending += [path.parent / name for name in _IMPORT.findall(text)]


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace") if path.is_file() else ""
    except OSError:
        return ""


def words_of_the_language() -> Highlighting:
    """The words and signs of the language by what they are, and patterns of the rest."""
    from workbench.models.language.editor.highlighting import highlighting

    return highlighting()


def templates() -> dict[str, str]:
    """The blocks of the language with gaps to fill in (`${1:x}`), by the word they begin with."""
    from workbench.models.language.editor.completion import DEFINITIONS, TEMPLATES

    return {text.partition(" ")[0]: text for text in (TEMPLATES | DEFINITIONS).values()}


def read_source(path: Path) -> str:
    """The text of a model file; raises ModelError where there is none."""
    from workbench.models.language.project import read_text

    return read_text(path, str(path))

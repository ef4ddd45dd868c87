"""A text together with the files that it imports: what its names mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from workbench.models.language import syntax
from workbench.models.language.editor.names import (
    PART,
    VALUE,
    Declaration,
    Mention,
    Symbol,
)
from workbench.models.language.editor.places import Place, holds, moved
from workbench.models.language.editor.text import Placed, Text
from workbench.models.language.project import MAX_FILES
from workbench.models.record import record
from workbench.models.source import Span

Reader: TypeAlias = Callable[[str], Text | None]
"""The text of a file by its name, None where there is none."""


@record
class Found:
    """A declaration, and the file and piece that it is in."""

    declaration: Declaration
    text: Text
    placed: Placed

    @property
    def span(self) -> Span:
        """The place of the name in its file."""
        return moved(self.declaration.span, self.placed.above, self.text.name)

    @property
    def whole(self) -> Span:
        """The place of what introduces the name."""
        return moved(self.declaration.whole, self.placed.above, self.text.name)


@record
class Use:
    """A mention, and the file and piece that it is in."""

    mention: Mention
    text: Text
    placed: Placed

    @property
    def span(self) -> Span:
        """The place of the name in its file."""
        return moved(self.mention.span, self.placed.above, self.text.name)


@record
class Project:
    """A text first, then what it imports, directly or through others."""

    texts: tuple[Text, ...]

    @property
    def text(self) -> Text:
        """The text that is asked about."""
        return self.texts[0]

    @cached_property
    def declarations(self) -> dict[Symbol, list[Found]]:
        """Where every name is introduced that is known beyond one statement."""
        found: dict[Symbol, list[Found]] = {}
        for text in self.texts:
            for placed, names in text.names():
                for declaration in names.declarations:
                    known = found.setdefault(declaration.symbol, [])
                    known.append(Found(declaration, text, placed))
        return found

    @cached_property
    def members(self) -> dict[str, list[Found]]:
        """What each definition introduces, by `mode Track`; under the empty name, the files."""
        found: dict[str, list[Found]] = {}
        for symbol, known in self.declarations.items():
            found.setdefault(symbol.owner, []).extend(known)
        return found

    def find(self, symbol: Symbol) -> Found | None:
        """Where a name is introduced, the first place if there are several."""
        return next(iter(self.declarations.get(symbol, ())), None)

    def symbol(self, mention: Mention) -> Symbol | None:
        """What a mention stands for; None where that is not known."""
        if mention.symbol is not None:
            return mention.symbol
        owner = mention.owner
        for link in mention.chain:
            part = self.find(Symbol(PART, owner, link))
            if part is None or not isinstance(part.declaration.node, syntax.InstanceDeclaration):
                return None
            instance = part.declaration.node
            owner = f"{instance.keyword} {instance.definition.name}"
        own = Symbol(mention.space, owner, mention.name)
        if own in self.declarations:
            return own
        if mention.space == VALUE and not mention.chain:
            outer = Symbol(VALUE, "", mention.name)
            return outer if outer in self.declarations else None
        return None

    def use_at(self, place: Place) -> Use | None:
        """The name at a place of the text, or that ends there."""
        placed = self.text.at(place)
        if placed is None:
            return None
        inside = placed.inside(place)
        found = None
        for mention in placed.names.mentions:
            if holds(mention.span, inside):
                found = mention
        return Use(found, self.text, placed) if found is not None else None

    def uses(self, symbol: Symbol) -> Iterator[Use]:
        """Everywhere that a name is mentioned in these files."""
        for text in self.texts:
            for placed, names in text.names():
                for mention in names.mentions:
                    if mention.name == symbol.name and self.symbol(mention) == symbol:
                        yield Use(mention, text, placed)


def project(text: Text, reader: Reader) -> Project:
    """A text with all that it imports, as far as that can be read."""
    found = {text.name: text}
    queue = [text]
    for current in queue:
        for name, _ in imports(current):
            if name not in found and len(found) < MAX_FILES:
                read = reader(name)
                if read is not None:
                    found[name] = read
                    queue.append(read)
    return Project(tuple(found.values()))


def imports(text: Text) -> Iterator[tuple[str, Span]]:
    """The files that a text imports, by name, and where it says so."""
    for placed in text.placed:
        for definition in placed.piece.definitions:
            if isinstance(definition, syntax.ImportDeclaration):
                name = imported(text.name, definition.path)
                yield name, moved(definition.span, placed.above, text.name)


def imported(importer: str, written: str) -> str:
    """The name of an imported file, beside the one that imports it."""
    return _normal(Path(importer).parent / written)


def _normal(path: Path) -> str:
    """A path without `.` and `..` as far as names tell."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts and parts[-1] not in ("..", "/"):
            parts.pop()
        else:
            parts.append(part)
    return str(Path(*parts)) if parts else "."

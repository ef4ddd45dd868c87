"""The changes of an edit as they are gathered, and the edits of texts that they come to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

from workbench.models.language import syntax
from workbench.models.language.drawing.changes import (
    Added,
    Change,
    added,
    as_edits,
    in_one_line,
    is_on_one_line,
    item_region,
    removed,
    within_item,
)
from workbench.models.language.drawing.sources import Definition, Region, Sources, SourceText
from workbench.models.source import Edit

Item: TypeAlias = syntax.AgentItem | syntax.ModeItem

_ORDER: tuple[tuple[type, ...], ...] = (
    (syntax.Points,),
    (syntax.VariableDeclaration,),
    (syntax.InitBlock, syntax.Flows, syntax.Algebra, syntax.InvariantBlock),
    (syntax.InstanceDeclaration,),
    (syntax.TransitionBlock, syntax.InteractionBlock),
    (syntax.Hide, syntax.Assume, syntax.Predicates, syntax.ClaimBlock),
)
"""The sorts of items in the order in which new ones are written."""


class Worksheet:
    """What an edit changes, by file and definition."""

    def __init__(self, sources: Sources):
        self.sources = sources
        self._definitions: dict[int, Definition] = {}
        self._added: dict[int, list[tuple[int, Added]]] = defaultdict(list)
        self._within: dict[tuple[int, Region], list[Change]] = defaultdict(list)
        self._removed: dict[int, list[Region]] = defaultdict(list)
        self._loose: dict[str, list[Change]] = defaultdict(list)

    def text(self, definition: Definition) -> SourceText:
        """The text that a definition is in."""
        return self.sources.text(definition)

    def add(self, definition: Definition, sort: type, item: str) -> None:
        """A new item behind the last of its sort, or of those that are written before it."""
        self._definitions[id(definition)] = definition
        rank = _rank(sort)
        same = [i for i in definition.items if _rank(type(i)) == rank]
        earlier = [i for i in definition.items if _rank(type(i)) < rank]
        before = same or earlier
        region = self.region(definition, before[-1]) if before else None
        self._added[id(definition)].append((rank, (region, item)))

    def region(self, definition: Definition, item: Item) -> Region:
        """Where an item stands, with its semicolon."""
        text = self.text(definition)
        return item_region(text, text.region(item.span))

    def change(self, definition: Definition, item: Item, region: Region, fresh: str) -> None:
        """Something within an item."""
        self._definitions[id(definition)] = definition
        whole = self.region(definition, item)
        self._within[id(definition), whole].append(Change(*region, fresh))

    def remove(self, definition: Definition, item: Item) -> None:
        """An item less."""
        self._definitions[id(definition)] = definition
        self._removed[id(definition)].append(self.region(definition, item))

    def loose(self, file: str, changes: Sequence[Change]) -> None:
        """Changes outside of definitions, or of whole ones."""
        self._loose[file].extend(changes)

    def edits(self) -> tuple[Edit, ...]:
        """All changes as edits, file by file in the order of the text."""
        changes = {file: list(found) for file, found in self._loose.items()}
        for known, definition in self._definitions.items():
            text = self.text(definition)
            changes.setdefault(text.file, []).extend(self._inside(known, definition, text))
        return tuple(
            edit
            for file, found in changes.items()
            for edit in as_edits(self.sources.file(file), found)
        )

    def _inside(self, known: int, definition: Definition, text: SourceText) -> list[Change]:
        found = removed(text, definition, self._removed[known])
        within = {r: c for (home, r), c in self._within.items() if home == known}
        items = [item for _, item in sorted(self._added[known], key=lambda found: found[0])]
        if is_on_one_line(text, definition):
            loose = [change for changes in within.values() for change in changes]
            return in_one_line(text, definition, items, [*found, *loose])
        for region, changes in within.items():
            found += within_item(text, definition, region, changes)
        if items:
            found += added(text, definition, items)
        return found


def _rank(sort: type) -> int:
    return next(rank for rank, sorts in enumerate(_ORDER) if sort in sorts)

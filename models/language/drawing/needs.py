"""What a text mentions is declared where it is missing: a submode that is to speak of a variable
of the mode or agent around it must share it, and so must every mode between the two; and what it
is to change, they must not only read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench.models.agents.hierarchy import Access
from workbench.models.language import syntax
from workbench.models.language.drawing.changes import listed_away
from workbench.models.language.drawing.diagram import entry_end
from workbench.models.language.drawing.sources import (
    Definition,
    Region,
    Sources,
    SourceText,
    keyword,
)
from workbench.models.language.drawing.worksheet import Worksheet
from workbench.models.language.lexical import END, NAME, tokens


def mentioned(texts: Iterable[str]) -> set[str]:
    """The names in texts that may be those of variables."""
    found = set()
    for text in texts:
        words = [t for t in tokens(text) if t.kind != END]
        for i, word in enumerate(words):
            after = words[i + 1].text if i + 1 < len(words) else ""
            before = words[i - 1].text if i else ""
            if word.kind == NAME and before != "." and after not in ("(", "."):
                found.add(word.text)
    return found


def assigned(texts: Iterable[str]) -> set[str]:
    """The variables that flows, equations or assignments determine."""
    found = set()
    for text in texts:
        words = [t for t in tokens(text) if t.kind != END]
        if len(words) > 2 and words[0].text == "d" and words[1].text == "(":
            words = words[2:]
        if words and words[0].kind == NAME and words[0].text not in ("let", "where"):
            found.add(words[0].text)
    return found


def declare_mentioned(
    sheet: Worksheet, way: Sequence[Definition], read: set[str], written: set[str]
) -> None:
    """Declare the names in the last definition of a way, as far as some definition around it
    has such a variable; where modes on the way only read what is written now, they write it."""
    sources = sheet.sources
    wanted: dict[int, list[tuple[str, str]]] = {}
    reading: dict[int, set[str]] = {}
    for name in sorted(read | written):
        lacking, only_read = _to_change(sources, way, name, name in written)
        for level in lacking:
            home = _home(way, name)
            assert home is not None
            words = "write" if name in written else "read"
            wanted.setdefault(level, []).append((f"{words} {_sort(home)}", name))
        for level in only_read:
            reading.setdefault(level, set()).add(name)
    for level, names in reading.items():
        wanted.setdefault(level, []).extend(_no_longer_read(sheet, way[level], names))
    for level, found in wanted.items():
        for sort in dict.fromkeys(sort for sort, _ in found):
            said = ", ".join(name for one, name in found if one == sort)
            sheet.add(way[level], syntax.VariableDeclaration, f"{sort} {said};")


def _sort(item: syntax.VariableDeclaration) -> str:
    return f"{item.kind} {type_text(item.type)}" if item.kind is not None else type_text(item.type)


def _no_longer_read(
    sheet: Worksheet, definition: Definition, names: set[str]
) -> Iterator[tuple[str, str]]:
    """Let a definition write some variables that it reads: a declaration of these alone says so
    itself; where it has others too, they leave it, to be declared anew."""
    text = sheet.text(definition)
    for item in definition.items:
        if not isinstance(item, syntax.VariableDeclaration) or item.access is not Access.READ:
            continue
        places = {i for i, one in enumerate(item.names) if one.name.name in names}
        if len(places) == len(item.names):
            word = text.tokens(text.region(item.span))[0]
            sheet.change(definition, item, (word.start, word.end), "write")
            continue
        regions = declared_regions(text, item)
        for start, end in (regions[place] for place in sorted(places)):
            yield f"write {_sort(item)}", text.text[start:end]
        for region in listed_away(regions, places):
            sheet.change(definition, item, region, "")


def type_text(name: syntax.TypeName) -> str:
    """A type as written."""
    return f"enum {{ {', '.join(name.values)} }}" if name.name == "enum" else name.name


def _to_change(
    sources: Sources, way: Sequence[Definition], name: str, writes: bool
) -> tuple[list[int], list[int]]:
    """The levels of a way that lack a variable which one further out has, and the modes that only
    read one that is to be written. None are where nothing further out lets it be written."""
    lacking: list[int] = []
    reading: list[int] = []
    for level in range(len(way) - 1, -1, -1):
        is_agent = keyword(way[level]) == "agent"
        declared = variable(way[level], name)
        if declared is None:
            if is_agent or _knows(sources, way[level], name):
                break
            lacking.append(level)
            continue
        item, one = declared
        if one.extent is not None:
            break
        if not writes or item.access.writes:
            return lacking, reading
        if is_agent:
            break
        reading.append(level)
    return [], []


def _home(way: Sequence[Definition], name: str) -> syntax.VariableDeclaration | None:
    for definition in reversed(way):
        declared = variable(definition, name)
        if declared is not None:
            return declared[0]
    return None


def variable(
    definition: Definition, name: str
) -> tuple[syntax.VariableDeclaration, syntax.DeclaredName] | None:
    """The declaration of a variable of a definition."""
    for item in definition.items:
        if isinstance(item, syntax.VariableDeclaration):
            for declared in item.names:
                if declared.name.name == name:
                    return item, declared
    return None


def _knows(sources: Sources, definition: Definition, name: str) -> bool:
    """Whether a name means something in a definition, or everywhere."""
    return (
        variable(definition, name) is not None
        or any(p.name.name == name for p in definition.parameters)
        or name in sources.global_names
    )


def declared_regions(text: SourceText, item: syntax.VariableDeclaration) -> list[Region]:
    """The names of a declaration, each with its range and first value."""
    end = text.region(item.span)[1]
    starts = [text.region(declared.name.span)[0] for declared in item.names]
    return [(start, entry_end(text, (start, end))) for start in starts]


def shared_names(definition: Definition) -> list[str]:
    """The variables that a definition shares with what is around it."""
    return [
        declared.name.name
        for item in definition.items
        if isinstance(item, syntax.VariableDeclaration) and item.access is not Access.PRIVATE
        for declared in item.names
    ]

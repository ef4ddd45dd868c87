"""What a text mentions is declared where it is missing: a submode that is to speak of a variable
of the mode or agent around it must share it, and so must every mode between the two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.models.agents.hierarchy import Access
from workbench.models.language import syntax
from workbench.models.language.drawing.sources import Definition, Sources, keyword
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
    has such a variable."""
    sources = sheet.sources
    wanted: dict[int, list[tuple[str, str]]] = {}
    for name in sorted(read | written):
        for level in _missing(sources, way, name, name in written):
            home = _home(way, name)
            assert home is not None
            words = "write" if name in written else "read"
            kind = f"{home.kind} " if home.kind is not None else ""
            wanted.setdefault(level, []).append((f"{words} {kind}{type_text(home.type)}", name))
    for level, found in wanted.items():
        for sort in dict.fromkeys(sort for sort, _ in found):
            names = ", ".join(name for said, name in found if said == sort)
            sheet.add(way[level], syntax.VariableDeclaration, f"{sort} {names};")


def type_text(name: syntax.TypeName) -> str:
    """A type as written."""
    return f"enum {{ {', '.join(name.values)} }}" if name.name == "enum" else name.name


def _missing(sources: Sources, way: Sequence[Definition], name: str, writes: bool) -> list[int]:
    """The levels of a way that lack a variable which one further out has."""
    if _knows(sources, way[-1], name):
        return []
    for level in range(len(way) - 2, -1, -1):
        declared = variable(way[level], name)
        if declared is not None:
            item, one = declared
            if one.extent is not None or (writes and not item.access.writes):
                return []
            return list(range(level + 1, len(way)))
        if keyword(way[level]) == "agent" or _knows(sources, way[level], name):
            return []
    return []


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


def shared_names(definition: Definition) -> list[str]:
    """The variables that a definition shares with what is around it."""
    return [
        declared.name.name
        for item in definition.items
        if isinstance(item, syntax.VariableDeclaration) and item.access is not Access.PRIVATE
        for declared in item.names
    ]

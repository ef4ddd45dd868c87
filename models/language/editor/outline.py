"""The definitions of a text with their parts, for a tree view, and the lines that can be folded."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.models.language import syntax
from workbench.models.language.editor.names import AGENT, MODE
from workbench.models.language.editor.pieces import Piece
from workbench.models.language.editor.places import moved
from workbench.models.language.editor.text import Text
from workbench.models.record import record
from workbench.models.source import Span


@record
class OutlineItem:
    """A definition or a part of one: what it is called, what sort of thing it is, a few words more,
    where it stands, and where its name does."""

    name: str
    sort: str
    detail: str
    span: Span
    name_span: Span
    children: tuple[OutlineItem, ...] = ()


def outline(text: Text) -> tuple[OutlineItem, ...]:
    """The definitions of a text with their variables, parts, transitions and claims."""
    found: list[OutlineItem] = []
    for placed in text.placed:
        items = placed.piece.known_with(_items, (placed.above, text.name))
        if placed.piece.cut.inside and found and items:  # a definition that began further up
            found[-1] = _longer(found[-1], items[0])
            items = items[1:]
        found.extend(items)
    return tuple(found)


def _longer(first: OutlineItem, rest: OutlineItem) -> OutlineItem:
    a, b = first.span, rest.span
    span = Span(a.file, a.line, a.column, b.end_line, b.end_column)
    children = (*first.children, *rest.children)
    return OutlineItem(first.name, first.sort, first.detail, span, first.name_span, children)


def _moved(item: OutlineItem, lines: int, file: str) -> OutlineItem:
    return OutlineItem(
        item.name,
        item.sort,
        item.detail,
        moved(item.span, lines, file),
        moved(item.name_span, lines, file),
        tuple(_moved(child, lines, file) for child in item.children),
    )


def _items(piece: Piece, where: tuple[int, str]) -> tuple[OutlineItem, ...]:
    """The definitions of a piece, below some lines of a file."""
    return tuple(_moved(item, *where) for d in piece.definitions for item in _definition(d))


def _definition(d: syntax.TopLevel) -> Iterator[OutlineItem]:
    match d:
        case syntax.AgentDefinition() | syntax.ModeDefinition():
            sort = AGENT if isinstance(d, syntax.AgentDefinition) else MODE
            detail = f"({', '.join(p.name.name for p in d.parameters)})"
            children = tuple(child for item in d.items for child in _part(item))
            yield OutlineItem(d.name.name, sort, detail, d.span, d.name.span, children)
        case syntax.ConstantDeclaration():
            yield OutlineItem(d.name.name, "constant", d.type.name, d.span, d.name.span)
        case syntax.TableDeclaration():
            detail = f"({', '.join(a.name for a in d.arguments)})"
            yield OutlineItem(d.name.name, "table", detail, d.span, d.name.span)
        case syntax.ExternDeclaration():
            detail = f"({', '.join(t.name for t in d.arguments)})"
            yield OutlineItem(d.name.name, "function", detail, d.span, d.name.span)
        case syntax.SystemDeclaration():
            yield OutlineItem(f"system {d.agent.name}", "system", "", d.span, d.agent.span)


def _part(item: syntax.AgentItem | syntax.ModeItem) -> Iterator[OutlineItem]:
    match item:
        case syntax.InstanceDeclaration():
            sort = f"{item.keyword} instance"
            detail = item.definition.name
            yield OutlineItem(item.name.name, sort, detail, item.span, item.name.span)
        case syntax.VariableDeclaration():
            for declared in item.names:
                name = declared.name
                detail = f"{item.access} {item.type.name}"
                yield OutlineItem(name.name, "variable", detail, item.span, name.span)
        case syntax.Points():
            sort = "entry" if item.is_entry else "exit"
            for name in item.names:
                yield OutlineItem(name.name, sort, "", item.span, name.span)
        case syntax.TransitionBlock():
            ways = f"{', '.join(map(_point, item.sources))} to {_point(item.target)}"
            name_text, detail = (item.label, ways) if item.label else (ways, "")
            yield OutlineItem(name_text, "transition", detail, item.span, item.target.span)
        case syntax.ClaimBlock():
            word = "forbid" if item.kind == "forbidden" else "assert"
            name_text = item.name or word
            yield OutlineItem(name_text, "claim", word, item.span, _first_word(item.span, word))
        case syntax.InteractionBlock():
            yield OutlineItem(item.name.name, "interaction", "", item.span, item.name.span)


def _first_word(span: Span, word: str) -> Span:
    return Span(span.file, span.line, span.column, span.line, span.column + len(word))


def _point(reference: syntax.PointReference) -> str:
    return f"{reference.first}.{reference.second}" if reference.second else reference.first


@record
class Fold:
    """Lines that can be folded away behind the first of them; `comment` says what they are."""

    first: int
    last: int
    is_comment: bool


def folds(text: Text) -> tuple[Fold, ...]:
    """Blocks in braces and comments over several lines, in the order of the text."""
    found: list[Fold] = []
    for placed in text.placed:
        above = placed.above
        found.extend(
            Fold(fold.first + above, fold.last + above, fold.is_comment)
            for fold in placed.piece.known(_folds)
        )
    found.extend(_long_definitions(text))
    return tuple(sorted(found, key=lambda f: (f.first, f.last)))


def _folds(piece: Piece) -> tuple[Fold, ...]:
    found: list[Fold] = []
    open_braces: list[int] = []
    for token in piece.tokens:
        if token.text == "{":
            open_braces.append(token.line)
        elif token.text == "}" and open_braces:
            first = open_braces.pop()
            if token.line > first + 1:
                found.append(Fold(first, token.line - 1, False))
    found.extend(_comments(piece))
    return tuple(found)


def _comments(piece: Piece) -> Iterator[Fold]:
    """Long comments, and comments in lines that follow each other."""
    alone = {t.line for t in piece.tokens}
    first = last = 0
    for comment in piece.reading.comments:
        end = comment.line + comment.text.count("\n")
        if end > comment.line:
            yield Fold(comment.line, end, True)
        elif comment.line not in alone and comment.line == last + 1 and last:
            last = comment.line
            continue
        if last > first:
            yield Fold(first, last, True)
        first = last = 0 if comment.line in alone or end > comment.line else comment.line
    if last > first:
        yield Fold(first, last, True)


def _long_definitions(text: Text) -> Iterator[Fold]:
    """Definitions that are read in several pieces."""
    head: int | None = None
    for placed in text.placed:
        cut = placed.piece.cut
        if cut.goes_on and not cut.inside:
            braces = [t.line for t in placed.piece.tokens if t.text == "{"]
            head = braces[0] + placed.above if braces else None
        elif cut.inside and not cut.goes_on and head is not None:
            ends = [t.line for t in placed.piece.tokens if t.text == "}"]
            if ends and ends[-1] + placed.above > head + 1:
                yield Fold(head, ends[-1] + placed.above - 1, False)
            head = None

"""What an editor asks about a text while it is being written: pure functions.

All of them work on broken texts as far as these can be understood. Positions are offsets
into the text; `offset_at` makes one of a line and a column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.models.automaton import TIME
from workbench.models.expressions.dialect import FUNCTIONS
from workbench.models.language import syntax
from workbench.models.language.expected import OPERATORS, acceptable, spelling
from workbench.models.language.grammar import grammar
from workbench.models.language.lexical import NAME
from workbench.models.language.parse import open_states, parse_leniently
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError, Span


@record
class Suggestion:
    """Something that can be written at a place: the text to insert, how to show it, and
    its kind (`keyword`, `sign`, `template`, or the kind of a name)."""

    text: str
    label: str
    kind: str


@record
class ScopeName:
    """A name that can be used at a place: what it is, and where it was introduced."""

    name: str
    kind: str
    detail: str
    span: Span | None


@record
class OutlineItem:
    """A definition or a part of one, for a tree view."""

    name: str
    kind: str
    span: Span
    name_span: Span
    children: tuple[OutlineItem, ...] = ()


_TEMPLATES = {
    "DIFF": "diff { d(x) == 0; }",
    "ALGE": "alge { x == 0; }",
    "INV": "inv { x >= 0 }",
    "TRANS": "trans from a to b when true do { }",
    "INIT": "init { x = 0; }",
    "ASSERT": 'assert "name" { x >= 0 }',
    "FORBID": 'forbid "name" { x < 0 }',
    "INTERACTION": "interaction name between a, b in group when true do { }",
    "SYSTEM": "system Name() until 10;",
    "CONST": "const real k = 1;",
    "TABLE": "table f(real x) linear { 0: 0, 1: 1 }",
}
_DEFINITIONS = {"AGENT": "agent Name() {\n}", "MODE": "mode Name() {\n}"}
_INSTANCES = {"AGENT": "agent name = Name();", "MODE": "mode name = Name();"}


def offset_at(text: str, line: int, column: int) -> int:
    """The offset of a line and a column, both counted from 1, within the text."""
    start = 0
    for _ in range(line - 1):
        found = text.find("\n", start)
        if found < 0:
            return len(text)
        start = found + 1
    end = text.find("\n", start)
    return min(start + column - 1, len(text) if end < 0 else end)


def diagnostics(text: str, file: str) -> tuple[Diagnostic, ...]:
    """Everything wrong with the syntax of a text."""
    try:
        return parse_leniently(text, file).diagnostics
    except ModelError as error:
        return error.diagnostics


def expected_at(text: str, offset: int) -> tuple[Suggestion, ...]:
    """What can be written at a place; a word that ends there is being typed and may be
    continued, so only what begins with it is suggested."""
    typed = re.search(r"[A-Za-z_0-9]*\Z", text[:offset])
    word = typed.group() if typed else ""
    before = text[: offset - len(word)]
    try:
        kinds = acceptable(grammar(), open_states(before))
    except ModelError:
        return ()
    found = [*_names(text, before, offset, kinds), *_fixed(kinds)]
    return tuple(s for s in dict.fromkeys(found) if s.text.startswith(word))


def _fixed(kinds: frozenset[str]) -> Iterator[Suggestion]:
    """Keywords, their templates and signs."""
    spelled = spelling()
    outside = "IMPORT" in kinds
    templates = _TEMPLATES | (_DEFINITIONS if outside else _INSTANCES)
    signs = kinds - OPERATORS if kinds >= OPERATORS else kinds
    for kind in sorted(signs, key=lambda k: (not spelled.get(k, "").isalpha(), k)):
        text = spelled.get(kind)
        if text is None:
            continue
        if text.isalpha():
            yield Suggestion(text, text, "keyword")
            if kind in templates and kinds & {"RBRACE", "IMPORT"}:
                yield Suggestion(templates[kind], templates[kind].split("\n")[0], "template")
        else:
            yield Suggestion(text, text, "sign")


def _names(text: str, before: str, offset: int, kinds: frozenset[str]) -> Iterator[Suggestion]:
    """The names that fit where a name can stand."""
    if NAME not in kinds:
        return
    wanted = _wanted(before, kinds)
    for name in names_in_scope(text, offset):
        if name.kind in wanted:
            call = name.kind in ("function", "table", "extern", "agent", "mode")
            label = f"{name.name}: {name.detail}" if name.detail else name.name
            yield Suggestion(f"{name.name}(" if call else name.name, label, name.kind)


_VALUES = frozenset({"variable", "parameter", "constant", "function", "table", "extern"})


def _wanted(before: str, kinds: frozenset[str]) -> frozenset[str]:
    """The kinds of names that make sense behind a text."""
    if "NUMBER" in kinds:
        return _VALUES
    instance = re.search(r"\b(agent|mode)\s+\w+(?:\s*\[[^\]]*\])?\s*=\s*\Z", before[-400:])
    if instance:
        return frozenset({instance.group(1)})
    if re.search(r"\bsystem\s+\Z", before[-400:]):
        return frozenset({"agent"})
    if "DEFAULT" in kinds:
        return frozenset({"submode", "point"})
    if re.search(r"\b(agent|mode|real|int|bool|analog|discrete)\s+\Z", before[-400:]):
        return frozenset()  # a new name is being given
    return frozenset({"variable"})


def names_in_scope(text: str, offset: int) -> tuple[ScopeName, ...]:
    """The names that can be used at a place, the nearest first."""
    try:
        definitions = parse_leniently(text, "").source.definitions
    except ModelError:
        return ()
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1
    found: list[ScopeName] = []
    for definition in definitions:
        if isinstance(definition, syntax.AgentDefinition | syntax.ModeDefinition):
            span = definition.span
            starts = (span.line, span.column) <= (line, column)
            if starts and (line, column) <= (span.end_line, span.end_column):
                found.extend(_inside(definition))
    found.extend(name for d in definitions for name in _outside(d))
    found.append(ScopeName(TIME, "variable", "real", None))
    found.extend(ScopeName(f, "function", "", None) for f in sorted(FUNCTIONS))
    return tuple(
        {n.name: n for n in reversed(found)}[n] for n in dict.fromkeys(f.name for f in found)
    )


def _inside(definition: syntax.AgentDefinition | syntax.ModeDefinition) -> Iterator[ScopeName]:
    for parameter in definition.parameters:
        name = parameter.name
        yield ScopeName(name.name, "parameter", parameter.type.name, name.span)
    for item in definition.items:
        if isinstance(item, syntax.VariableDeclaration):
            for declared in item.names:
                detail = f"{item.access} {item.type.name}"
                yield ScopeName(declared.name.name, "variable", detail, declared.name.span)
        elif isinstance(item, syntax.Instance):
            kind = "submode" if item.keyword == "mode" else "subagent"
            yield ScopeName(item.name.name, kind, item.definition.name, item.name.span)
        elif isinstance(item, syntax.Points):
            for point in item.names:
                detail = "entry" if item.is_entry else "exit"
                yield ScopeName(point.name, "point", detail, point.span)


def _outside(definition: syntax.TopLevel) -> Iterator[ScopeName]:
    match definition:
        case syntax.AgentDefinition() | syntax.ModeDefinition():
            kind = "agent" if isinstance(definition, syntax.AgentDefinition) else "mode"
            detail = ", ".join(f"{p.type.name} {p.name.name}" for p in definition.parameters)
            yield ScopeName(definition.name.name, kind, f"({detail})", definition.name.span)
        case syntax.ConstantDeclaration():
            name = definition.name
            yield ScopeName(name.name, "constant", definition.type.name, name.span)
        case syntax.TableDeclaration():
            detail = f"({', '.join(a.name for a in definition.arguments)})"
            yield ScopeName(definition.name.name, "table", detail, definition.name.span)
        case syntax.ExternDeclaration():
            detail = f"({', '.join(t.name for t in definition.arguments)})"
            yield ScopeName(definition.name.name, "extern", detail, definition.name.span)


def outline(text: str, file: str) -> tuple[OutlineItem, ...]:
    """The definitions of a text with their variables, instances and claims."""
    try:
        definitions = parse_leniently(text, file).source.definitions
    except ModelError:
        return ()
    found: list[OutlineItem] = []
    for d in definitions:
        if isinstance(d, syntax.AgentDefinition | syntax.ModeDefinition):
            kind = "agent" if isinstance(d, syntax.AgentDefinition) else "mode"
            children = tuple(c for item in d.items for c in _children(item))
            found.append(OutlineItem(d.name.name, kind, d.span, d.name.span, children))
        else:
            found.extend(OutlineItem(n.name, n.kind, d.span, n.span or d.span) for n in _outside(d))
    return tuple(found)


def _children(item: syntax.AgentItem | syntax.ModeItem) -> Iterator[OutlineItem]:
    match item:
        case syntax.Instance():
            kind = f"{item.keyword} instance"
            yield OutlineItem(
                f"{item.name.name} = {item.definition.name}", kind, item.span, item.name.span
            )
        case syntax.VariableDeclaration():
            for declared in item.names:
                name = declared.name
                yield OutlineItem(name.name, "variable", item.span, name.span)
        case syntax.TransitionBlock():
            ways = ", ".join(map(_point, item.sources))
            name_text = f"{ways} to {_point(item.target)}"
            yield OutlineItem(name_text, "transition", item.span, item.target.span)
        case syntax.ClaimBlock():
            yield OutlineItem(item.name or str(item.kind), str(item.kind), item.span, item.span)
        case syntax.InteractionBlock():
            yield OutlineItem(item.name.name, "interaction", item.span, item.name.span)


def _point(reference: syntax.PointReference) -> str:
    return f"{reference.first}.{reference.second}" if reference.second else reference.first

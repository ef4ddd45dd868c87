"""What there is to know about the name at a place, and about the arguments of a call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from workbench.models.automaton import TIME
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.traversal import conjuncts, free_variables
from workbench.models.language import syntax
from workbench.models.language.editor.names import VALUE, Symbol
from workbench.models.language.editor.places import Place, offset_at
from workbench.models.language.editor.project import Found, Project
from workbench.models.language.editor.sharing import Part, parts, shares, variable
from workbench.models.language.editor.words import (
    declared_as,
    functions,
    parameter_text,
    value_text,
)
from workbench.models.language.lexical import NAME, Token
from workbench.models.record import record
from workbench.models.source import Span

MOST_WRITERS = 12
"""How many writers of a variable are told."""
_WRITES = {
    "diff": "its rate is given in `diff`",
    "alge": "its value is given in `alge`",
    "do": "it is set when a transition is taken",
    "init": "its first value is given in `init`",
}


@record
class Writer:
    """What gives a variable its values: in words, and where."""

    words: str
    span: Span


@record
class Hover:
    """What is known of a name: where it stands, how it is declared, what its author says about it
    in a comment, what else is to be said, where it is declared, and who writes it."""

    span: Span
    code: str
    comment: str = ""
    notes: tuple[str, ...] = ()
    declared: Span | None = None
    writers: tuple[Writer, ...] = ()


def hover(project: Project, place: Place) -> Hover | None:
    """What is known of the name at a place."""
    use = project.use_at(place)
    if use is None:
        return None
    symbol = project.symbol(use.mention)
    if symbol is None:
        known = functions().get(use.mention.name)
        if use.mention.name == TIME:
            known = f"{TIME}: the time since the start"
        code, _, about = known.partition(": ") if known else ("", "", "")
        return Hover(use.span, code, about) if known else None
    found = next((f for f in project.declarations[symbol] if _is_at(f, use.span)), None)
    found = found or project.find(symbol)
    if found is None:
        return None
    writers: tuple[Writer, ...] = ()
    notes: tuple[str, ...] = ()
    if isinstance(found.declaration.node, tuple):
        writers = tuple(islice(_writers(project, symbol), MOST_WRITERS))
        notes = tuple(_ranges(project, symbol))
    code = declared_as(found.declaration)
    return Hover(use.span, code, comment(found), notes, found.span, writers)


def _is_at(found: Found, span: Span) -> bool:
    return found.span == span


# What the author says


def comment(found: Found) -> str:
    """The comment on a declaration: at the end of its line, or what the comment above it says. A
    parameter is looked for by its name and a colon: `// gap: m, at standstill; speed: m/s`."""
    lines, node = found.text.lines, found.declaration.node
    beside = _beside(found)
    if beside and not isinstance(node, syntax.AgentDefinition | syntax.ModeDefinition):
        return beside
    above = _above(lines, found.whole.line)
    if isinstance(node, syntax.FormalParameter):
        name = re.escape(found.declaration.symbol.name)
        said = re.search(rf"(?:^|[;,.(]\s*|\s){name}:\s*([^;]+)", " ".join(_head(found)))
        return said[1].strip().rstrip(".") if said else ""
    return (
        "\n".join(above) if not isinstance(node, syntax.InstanceDeclaration | syntax.Points) else ""
    )


def _head(found: Found) -> list[str]:
    """The comment above the definition that a parameter belongs to."""
    for span, owner in found.placed.names.owners:
        if owner == found.declaration.symbol.owner:
            return _above(found.text.lines, span.line + found.placed.above)
    return []


def _beside(found: Found) -> str:
    """The comment behind a declaration, on the line where it ends."""
    end = found.declaration.whole
    for said in found.placed.piece.reading.comments:
        if said.line == end.end_line and said.column >= end.end_column:
            return _plain(said)
    return ""


def _plain(said: Token) -> str:
    if said.text.startswith("//"):
        return said.text.lstrip("/!").strip()
    return said.text[2:-2].strip()


def _above(lines: list[str], line: int) -> list[str]:
    """The lines of `//` directly above a line, without what is for the library (`//!`)."""
    found: list[str] = []
    at = line - 2
    while at >= 0 and lines[at].lstrip().startswith("//") and len(found) < 40:
        if not lines[at].lstrip().startswith("//!"):
            found.append(lines[at].strip().lstrip("/").strip())
        at -= 1
    return found[::-1]


# Who writes


def _writers(project: Project, symbol: Symbol) -> Iterator[Writer]:
    """What gives a variable its values: equations and actions of its definition, its parts that
    write it, and the surroundings of what only reads it."""
    for use in project.uses(symbol):
        if use.mention.writes:
            yield Writer(_WRITES[use.mention.writes], use.span)
    around: list[Writer] = []
    for part in parts(project):
        if part.around == symbol.owner:
            yield from _part_writers(project, part, symbol.name)
        elif part.inside == symbol.owner and _reads(project, symbol):
            outer = _outer_name(project, part, symbol.name)
            if outer is not None:
                words = f"it comes from `{outer}` of `{part.around}`"
                around.append(Writer(words, _place(part)))
    yield from {w.words: w for w in around}.values()


def _reads(project: Project, symbol: Symbol) -> bool:
    declared = variable(project, symbol.owner, symbol.name)
    return declared is not None and str(declared.access) == "read"


def _part_writers(project: Project, part: Part, name: str) -> Iterator[Writer]:
    """A part that writes the variable, under its own name for it."""
    own = [left.name for left, right in part.instance.renaming if _named(right) == name]
    if shares(project, part, name):
        own.append(name)
    for inner in own:
        declared = variable(project, part.inside, inner)
        if declared is not None and declared.access.writes:
            called = f" as `{inner}`" if inner != name else ""
            words = f"`{part.instance.name.name}` ({part.inside}) writes it{called}"
            yield Writer(words, _place(part))


def _outer_name(project: Project, part: Part, name: str) -> str | None:
    for left, right in part.instance.renaming:
        if left.name == name:
            return value_text(right)
    return name if shares(project, part, name) else None


def _named(place: object) -> str:
    """The variable or array that stands right of `:=`."""
    name = getattr(place, "value", None)
    return str(name[0][0]) if isinstance(name, tuple) else str(name)


def _place(part: Part) -> Span:
    return part.found.span


# What values it has


def _ranges(project: Project, symbol: Symbol) -> Iterator[str]:
    """The first values and the invariants that say where a variable is."""
    for placed, names in project.text.names():
        del names
        for definition in placed.piece.definitions:
            if not isinstance(definition, syntax.AgentDefinition | syntax.ModeDefinition):
                continue
            word = "agent" if isinstance(definition, syntax.AgentDefinition) else "mode"
            if f"{word} {definition.name.name}" == symbol.owner:
                yield from _first_values(definition, symbol.name)
                yield from _invariants(definition, symbol.name)


def _first_values(
    definition: syntax.AgentDefinition | syntax.ModeDefinition, name: str
) -> Iterator[str]:
    for item in definition.items:
        if isinstance(item, syntax.InitBlock):
            for setting in item.settings:
                if _named(setting.target) == name:
                    is_range = isinstance(setting.value, syntax.WrittenInterval)
                    sign = "in" if is_range else "="
                    yield f"first `{value_text(setting.target)} {sign} {value_text(setting.value)}`"


def _invariants(
    definition: syntax.AgentDefinition | syntax.ModeDefinition, name: str
) -> Iterator[str]:
    for item in definition.items:
        if isinstance(item, syntax.InvariantBlock):
            for condition in item.conditions:
                for part in conjuncts(condition):
                    if name in free_variables(part):
                        yield f"time passes only while `{to_text(part)}`"


# Calls


@record
class Signature:
    """What is called at a place: how it is written, its parameters, which of them is being given,
    and the comment on each."""

    code: str
    comment: str
    parameters: tuple[str, ...]
    comments: tuple[str, ...]
    active: int


def signature(project: Project, place: Place) -> Signature | None:
    """The agent, mode or function whose arguments are being written at a place."""
    placed = project.text.at(place)
    if placed is None:
        return None
    inside = placed.inside(place)
    if offset_at(placed.piece.text, inside) == 0:
        return None
    call = _open_call([t for t in placed.piece.tokens if (t.line, t.column) < inside])
    if call is None:
        return None
    before, name, active = call
    if before in ("agent", "mode"):
        return None  # a definition is being written
    for symbol in (Symbol("agent", "", name), Symbol("mode", "", name), Symbol(VALUE, "", name)):
        found = project.find(symbol)
        if found is not None and (known := _signature(project, found, active)) is not None:
            return known
    shown = functions().get(name)
    if shown is None:
        return None
    code, _, about = shown.partition(": ")
    arguments = tuple(code[len(name) + 1 : -1].split(", "))
    return Signature(code, about, arguments, ("",) * len(arguments), active)


def _open_call(tokens: list[Token]) -> tuple[str, str, int] | None:
    """The innermost open parenthesis behind a name: the word before the name, the name, and how
    many commas follow."""
    depth, commas = 0, 0
    for i in range(len(tokens) - 1, max(-1, len(tokens) - 2000), -1):
        text = tokens[i].text
        if text in (")", "]"):
            depth += 1
        elif text in ("(", "[") and depth:
            depth -= 1
        elif text == "(":
            if i and tokens[i - 1].kind == NAME:
                return tokens[i - 2].text if i > 1 else "", tokens[i - 1].text, commas
            commas = 0
        elif text == "[":
            commas = 0
        elif text in ("{", "}", ";"):
            return None
        elif text == "," and not depth:
            commas += 1
    return None


def _signature(project: Project, found: Found, active: int) -> Signature | None:
    node = found.declaration.node
    code = declared_as(found.declaration)
    match node:
        case syntax.AgentDefinition() | syntax.ModeDefinition():
            owner = f"{found.declaration.sort} {node.name.name}"
            said = []
            for parameter in node.parameters:
                introduced = project.find(Symbol(VALUE, owner, parameter.name.name))
                said.append(comment(introduced) if introduced else "")
            shown = tuple(map(parameter_text, node.parameters))
            return Signature(code, comment(found), shown, tuple(said), active)
        case syntax.TableDeclaration():
            shown = tuple(f"real {a.name}" for a in node.arguments)
            return Signature(code, comment(found), shown, ("",) * len(shown), active)
        case syntax.ExternDeclaration():
            shown = tuple(t.name for t in node.arguments)
            return Signature(code, comment(found), shown, ("",) * len(shown), active)
    return None

"""The names of a piece of text: where they are introduced and where they are used.

What a use means may be said in another piece or file; `meaning.py` looks it up.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TypeAlias

from workbench.models.language import syntax
from workbench.models.language.editor.pieces import Piece
from workbench.models.language.editor.places import Place, holds, starts
from workbench.models.language.lexical import Token
from workbench.models.record import record
from workbench.models.source import Span

AGENT, MODE, VALUE, PART, LOCAL = "agent", "mode", "value", "part", "local"
"""The name spaces: definitions of agents and of modes; values (variables, parameters, constants,
functions, members of enumerations); parts (instances, entries, exits); names within a statement."""


@record
class Symbol:
    """What a name stands for: its name space, the definition it belongs to (`mode Track`; empty
    for the file), and the name."""

    space: str
    owner: str
    name: str


Node: TypeAlias = (
    syntax.TopLevel
    | syntax.FormalParameter
    | tuple[syntax.VariableDeclaration, syntax.DeclaredName]
    | syntax.InstanceDeclaration
    | syntax.Points
    | syntax.InteractionBlock
    | syntax.IndexRange
    | syntax.LetStatement
    | None
)


@record
class Declaration:
    """Where a name is introduced: what sort of thing it is, in a word; the place of the name, and
    the whole of what introduces it."""

    symbol: Symbol
    sort: str
    span: Span
    whole: Span
    node: Node = None


@record
class Mention:
    """A name at a place, to be looked up in a name space of a definition. `chain` are the parts to
    be entered first (`follower` for `acc` in `follower.acc`); `symbol` is the meaning where that is
    known here. `writes` says what gives it a value there: `diff`, `alge`, `do` or `init`;
    `introduces` that the name is declared there."""

    span: Span
    space: str
    owner: str
    name: str
    chain: tuple[str, ...] = ()
    symbol: Symbol | None = None
    writes: str = ""
    introduces: bool = False


@record
class Names:
    """The names of a piece, in the order of the text, and its agents and modes with where they
    stand."""

    declarations: tuple[Declaration, ...]
    mentions: tuple[Mention, ...]
    owners: tuple[tuple[Span, str], ...]

    @cached_property
    def fingerprint(self) -> int:
        """A number that is another one where something else is declared."""
        return hash(tuple((d.symbol, d.sort, _leads_to(d.node)) for d in self.declarations))


def _leads_to(node: Node) -> str:
    """The definition of an instance."""
    return (
        f"{node.keyword} {node.definition.name}"
        if isinstance(node, syntax.InstanceDeclaration)
        else ""
    )


@record
class _Local:
    """A name that is known in one statement; `chain` leads to the agent that it stands for."""

    declaration: Declaration
    scope: Span
    group: str = ""


def names_of(piece: Piece) -> Names:
    """The names of a piece."""
    collected = _Collector(piece)
    return Names(tuple(collected.declarations), tuple(collected.mentions), tuple(collected.owners))


class _Collector:
    """One walk over a piece."""

    def __init__(self, piece: Piece):
        self.piece = piece
        self.declarations: list[Declaration] = []
        self.mentions: list[Mention] = []
        self.locals: list[_Local] = []
        self.locals_by_name: dict[str, list[_Local]] = {}
        self.writes: dict[Place, str] = {}
        self.owners: list[tuple[Span, str]] = []
        for definition in piece.definitions:
            self.definition(definition)
        self.uses()
        self.declarations.sort(key=lambda d: starts(d.span))
        self.mentions.sort(key=lambda m: starts(m.span))

    # What is introduced

    def declare(
        self, space: str, owner: str, name: syntax.Identifier, sort: str, whole: Span, node: Node
    ) -> Declaration:
        made = Declaration(Symbol(space, owner, name.name), sort, name.span, whole, node)
        if 1 <= name.span.line <= self.piece.lines + 1:  # else a head that was put before the piece
            self.declarations.append(made)
            self.mentions.append(
                Mention(name.span, space, owner, name.name, (), made.symbol, "", True)
            )
        return made

    def definition(self, d: syntax.TopLevel) -> None:
        match d:
            case syntax.AgentDefinition() | syntax.ModeDefinition():
                keyword = AGENT if isinstance(d, syntax.AgentDefinition) else MODE
                owner = f"{keyword} {d.name.name}"
                self.owners.append((d.span, owner))
                self.declare(keyword, "", d.name, keyword, d.span, d)
                for parameter in d.parameters:
                    whole = _joined(parameter.type.span, parameter.name.span)
                    self.declare(VALUE, owner, parameter.name, "parameter", whole, parameter)
                for item in d.items:
                    self.item(item, owner)
            case syntax.ConstantDeclaration():
                self.declare(VALUE, "", d.name, "constant", d.span, d)
            case syntax.TableDeclaration():
                self.declare(VALUE, "", d.name, "table", d.span, d)
            case syntax.ExternDeclaration():
                self.declare(VALUE, "", d.name, "function", d.span, d)
            case syntax.SystemDeclaration():
                self.mention(d.agent, AGENT, "")

    def item(self, item: syntax.AgentItem | syntax.ModeItem, owner: str) -> None:
        match item:
            case syntax.VariableDeclaration():
                for declared in item.names:
                    self.declare(
                        VALUE, owner, declared.name, "variable", item.span, (item, declared)
                    )
            case syntax.InstanceDeclaration():
                self.instance(item, owner)
            case syntax.Points():
                sort = "entry" if item.is_entry else "exit"
                for point in item.names:
                    self.declare(PART, owner, point, sort, item.span, item)
            case syntax.InteractionBlock():
                self.interaction(item, owner)
            case syntax.TransitionBlock():
                for reference in (*item.sources, item.target):
                    self.point(reference, owner)
                self.actions(item.actions, item.span)
            case syntax.Flows() | syntax.Algebra():
                word = "diff" if isinstance(item, syntax.Flows) else "alge"
                for relation in item.relations:
                    self.mention(relation.variable, VALUE, owner, writes=word)
            case syntax.InitBlock():
                for setting in item.settings:
                    if setting.target.span is not None:
                        self.writes[starts(setting.target.span)] = "init"
            case syntax.Hide():
                for name in item.names:
                    self.mention(name, VALUE, owner)

    def instance(self, item: syntax.InstanceDeclaration, owner: str) -> None:
        self.declare(PART, owner, item.name, f"{item.keyword} instance", item.span, item)
        self.mention(item.definition, item.keyword, "")
        inner = f"{item.keyword} {item.definition.name}"
        for own, _ in item.renaming:
            self.mention(own, VALUE, inner)
        over = item.replicated
        if over is not None and over.index is not None:
            self.local(_index_name(over), "index", item.span, over)

    def interaction(self, item: syntax.InteractionBlock, owner: str) -> None:
        self.declare(PART, owner, item.name, "interaction", item.span, item)
        pairs = ((item.first, item.first_group), (item.second, item.second_group))
        for name, group in pairs:
            self.local(name, "partner", item.span, item, group.name)
        for group in {starts(group.span): group for _, group in pairs}.values():
            self.mention(group, PART, owner)
        self.actions(item.actions, item.span)

    def actions(
        self, actions: tuple[syntax.SettingStatement | syntax.LetStatement, ...], scope: Span
    ) -> None:
        for action in actions:
            if isinstance(action, syntax.LetStatement):
                self.local(action.name, "let", scope, action)
            elif action.target.span is not None:
                self.writes[starts(action.target.span)] = "do"

    def local(
        self, name: syntax.Identifier, sort: str, scope: Span, node: Node, group: str = ""
    ) -> None:
        place = f"{name.span.line}:{name.span.column}"
        made = self.declare(LOCAL, place, name, sort, scope, node)
        self.locals.append(_Local(made, scope, group))

    # What is used

    def mention(self, name: syntax.Identifier, space: str, owner: str, writes: str = "") -> None:
        self.mentions.append(Mention(name.span, space, owner, name.name, (), None, writes))

    def point(self, point: syntax.PointReference, owner: str) -> None:
        span = point.span
        if point.first in ("init", "default") and point.second is None:
            return
        first = Span(span.file, span.line, span.column, span.line, span.column + len(point.first))
        self.mentions.append(Mention(first, PART, owner, point.first))
        if point.second is not None and point.second != "default":
            column = span.end_column - len(point.second)
            last = Span(span.file, span.end_line, column, span.end_line, span.end_column)
            self.mentions.append(Mention(last, PART, owner, point.second, (point.first,)))

    def uses(self) -> None:
        """Names in expressions, in the order of the text so that those within a statement are
        found by walking along."""
        piece = self.piece
        for over, scope in piece.noted.indices:
            self.local(_index_name(over), "index", scope, over)
        self.locals.sort(key=lambda known: starts(known.scope))
        for known in self.locals:
            self.locals_by_name.setdefault(known.declaration.symbol.name, []).append(known)
        for place in piece.noted.places:
            self.chain(place)
        for token in piece.noted.calls:
            span = token.span("")
            self.mentions.append(Mention(span, VALUE, self.owner(span), token.text))
        for value in piece.noted.members:
            self.declare(VALUE, "", value, "value", value.span, None)

    def chain(self, place: tuple[Token, ...]) -> None:
        first = place[0]
        span = first.span("")
        owner = self.owner(span)
        writes = self.writes.get(starts(span), "")
        known = self.known(first.text, starts(span))
        alone = len(place) == 1
        space = VALUE if alone else PART
        symbol = known.declaration.symbol if known else None
        own = writes if alone else ""
        self.mentions.append(Mention(span, space, owner, first.text, (), symbol, own))
        chain: tuple[str, ...] = ((known.group or "?") if known else first.text,)
        for i, token in enumerate(place[1:], 2):
            is_last = i == len(place)
            self.mentions.append(
                Mention(
                    token.span(""),
                    VALUE if is_last else PART,
                    owner,
                    token.text,
                    chain,
                    None,
                    writes if is_last else "",
                )
            )
            chain = (*chain, token.text)

    def known(self, name: str, place: Place) -> _Local | None:
        """The innermost name within a statement that reaches a place."""
        found = None
        for known in self.locals_by_name.get(name, ()):
            if starts(known.scope) > place:
                break
            if holds(known.scope, place):
                found = known
        return found

    def owner(self, span: Span) -> str:
        """The definition that a place is in."""
        i = bisect_right(self.owners, starts(span), key=lambda known: starts(known[0])) - 1
        if i >= 0 and holds(self.owners[i][0], starts(span)):
            return self.owners[i][1]
        return self.piece.owner


def _index_name(over: syntax.IndexRange) -> syntax.Identifier:
    name, span = over.index or "", over.span
    return syntax.Identifier(
        name, Span(span.file, span.line, span.column, span.line, span.column + len(name))
    )


def _joined(first: Span, last: Span) -> Span:
    return Span(first.file, first.line, first.column, last.end_line, last.end_column)

"""From reduced grammar rules to the nodes of the syntax tree.

The parser calls the method named after each rule (or its alias in `grammar.lark`) with the
values of the rule's symbols: tokens, and what other methods have made. What is wrong but
does not stop the parser is reported here, at its place.
"""

# ruff: noqa: D102 -- the methods are the rules of the grammar and are described there

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.models.agents.hierarchy import Access
from workbench.models.automaton import NEVER_BLOCKS, EventKind, Kind, PropertyKind
from workbench.models.expressions.expression import TRUE, Expression
from workbench.models.expressions.table import Interpolation
from workbench.models.language import syntax
from workbench.models.language.build_expressions import Arguments, ExpressionBuilder
from workbench.models.language.lexical import Token

_ACCESS = {
    "read": Access.READ,
    "input": Access.READ,
    "write": Access.WRITE,
    "output": Access.WRITE,
    "readwrite": Access.READ_WRITE,
    "private": Access.PRIVATE,
    "local": Access.PRIVATE,
}


class Builder(ExpressionBuilder):
    """The maker of syntax nodes for one file."""

    # Files

    def start(self, c: Sequence[Any]) -> tuple[syntax.TopLevel, ...]:
        return tuple(x for x in c if x is not None)

    def nothing(self, c: list[Any]) -> None:
        return None

    def first(self, c: list[Any]) -> Any:
        return c[0]

    def import_declaration(self, c: list[Any]) -> syntax.ImportDeclaration:
        return syntax.ImportDeclaration(_unquoted(c[1]), self._span(c[0]))

    def constant_declaration(self, c: list[Any]) -> syntax.ConstantDeclaration:
        return syntax.ConstantDeclaration(c[1], self._identifier(c[2]), c[4], self._span(c[0]))

    def extern_declaration(self, c: list[Any]) -> syntax.ExternDeclaration:
        types = c[4] if type(c[4]) is tuple else ()
        return syntax.ExternDeclaration(
            c[1], self._identifier(c[2]), types, c[-2], self._span(c[0])
        )

    def origin(self, c: list[Any]) -> str | None:
        return _unquoted(c[1]) if c else None

    def types(self, c: list[Any]) -> tuple[syntax.TypeName, ...]:
        return tuple(c[::2])

    def table_declaration(self, c: list[Any]) -> syntax.TableDeclaration:
        axis, rows = self._rows(c[7])
        return syntax.TableDeclaration(
            self._identifier(c[1]), c[3], c[5], axis, rows, self._span(c[0])
        )

    def _rows(self, cells: list[tuple[Expression | None, Expression, bool]]) -> Any:
        """Cells in rows: a cell with a key begins a new row, one with a bare colon the axis."""
        axis: list[Expression] = []
        rows: list[tuple[Expression, list[Expression]]] = []
        current: list[Expression] | None = None
        for key, value, begins in cells:
            if begins and key is None:
                if axis or rows:
                    self.report(
                        "table-axis",
                        "the row without a number before `:` must come first, once",
                        value.span,
                    )
                current = axis
            elif key is not None:
                current = []
                rows.append((key, current))
            if current is None:
                self.report(
                    "table-row",
                    "a row of a table begins with its coordinate and `:`",
                    value.span,
                    "write each row as `coordinate: value`, e.g. `{ 0: 1, 2: 5 }`",
                )
                current = []
            current.append(value)
        return tuple(axis), tuple((key, tuple(values)) for key, values in rows)

    def table_arguments(self, c: list[Any]) -> tuple[syntax.Identifier, ...]:
        return tuple(c[::2])

    def table_argument(self, c: list[Any]) -> syntax.Identifier:
        return self._identifier(c[1])

    def interpolation(self, c: list[Any]) -> Interpolation:
        return Interpolation(c[0].text)

    def cells(self, c: list[Any]) -> list[Any]:
        return c[::2]

    def cell(self, c: list[Any]) -> tuple[Expression | None, Expression, bool]:
        return None, c[0], False

    def keyed_cell(self, c: list[Any]) -> tuple[Expression | None, Expression, bool]:
        return c[0], c[2], True

    def axis_cell(self, c: list[Any]) -> tuple[Expression | None, Expression, bool]:
        return None, c[1], True

    def system_declaration(self, c: list[Any]) -> syntax.SystemDeclaration:
        arguments = c[2].values if type(c[2]) is Arguments else ()
        return syntax.SystemDeclaration(self._identifier(c[1]), arguments, c[-2], self._span(c[0]))

    def horizon(self, c: list[Any]) -> Expression | None:
        return c[1] if c else None

    # Agents and modes

    def agent_definition(self, c: list[Any]) -> syntax.AgentDefinition:
        items = [x for x in c[4:-1] if x is not None]
        instances = [x for x in items if type(x) is syntax.InstanceDeclaration]
        tops = tuple(x for x in instances if x.keyword == "mode")
        agents = tuple(x for x in instances if x.keyword == "agent")
        return syntax.AgentDefinition(
            self._identifier(c[1]), c[2], tuple(items), agents, tops, self._span(c[0])
        )

    def mode_definition(self, c: list[Any]) -> syntax.ModeDefinition:
        items = tuple(x for x in c[4:-1] if x is not None)
        return syntax.ModeDefinition(self._identifier(c[1]), c[2], items, self._span(c[0]))

    def parameters(self, c: list[Any]) -> tuple[syntax.FormalParameter, ...]:
        return tuple(c[1:-1:2])

    def parameter(self, c: list[Any]) -> syntax.FormalParameter:
        default = c[3] if len(c) > 2 else None
        return syntax.FormalParameter(c[0], self._identifier(c[1]), default)

    def variables(self, c: list[Any]) -> syntax.VariableDeclaration:
        kind = c[1] if len(c) == 5 else None
        return syntax.VariableDeclaration(_ACCESS[c[0].text], kind, c[-3], c[-2], self._span(c[0]))

    def access(self, c: list[Any]) -> Token:
        token: Token = c[0]
        return token

    def kind(self, c: list[Any]) -> Kind:
        return Kind(c[0].text)

    def type(self, c: list[Any]) -> syntax.TypeName:
        values = tuple(n.name for n in c[2]) if len(c) > 1 else ()
        return syntax.TypeName(c[0].text, values, self._span(c[0]))

    def declared_names(self, c: list[Any]) -> tuple[syntax.DeclaredName, ...]:
        return tuple(c[::2])

    def declared_name(self, c: list[Any]) -> syntax.DeclaredName:
        return syntax.DeclaredName(self._identifier(c[0]), c[1], c[2])

    def extent(self, c: list[Any]) -> syntax.IndexRange | None:
        return syntax.IndexRange(None, c[1], c[3], self._span(c[0])) if c else None

    def first_value(self, c: list[Any]) -> Expression | syntax.WrittenInterval | None:
        return c[1] if c else None

    def names(self, c: list[Any]) -> tuple[syntax.Identifier, ...]:
        return tuple(c[::2])

    def identifier(self, c: list[Any]) -> syntax.Identifier:
        return self._identifier(c[0])

    def interval(self, c: list[Any]) -> syntax.WrittenInterval:
        return syntax.WrittenInterval(c[1], c[3], self._span(c[0]))

    def init_block(self, c: list[Any]) -> syntax.InitBlock:
        items = _statements(c[2:-1])
        return syntax.InitBlock(
            tuple(x for x in items if type(x) is syntax.SettingStatement),
            tuple(x for x in items if type(x) is Expression),
            self._span(c[0]),
        )

    def setting(self, c: list[Any]) -> syntax.SettingStatement:
        return syntax.SettingStatement(c[0], c[2], self._span(c[0]))

    def condition(self, c: list[Any]) -> Expression:
        value: Expression = c[1]
        return value

    def let(self, c: list[Any]) -> syntax.LetStatement:
        return syntax.LetStatement(self._identifier(c[1]), c[3], self._span(c[0]))

    def agent_instance(self, c: list[Any]) -> syntax.InstanceDeclaration:
        return syntax.InstanceDeclaration(
            "agent",
            self._identifier(c[1]),
            c[2],
            self._identifier(c[4]),
            c[5].values,
            c[6],
            self._span(c[0]),
        )

    def mode_instance(self, c: list[Any]) -> syntax.InstanceDeclaration:
        return syntax.InstanceDeclaration(
            "mode",
            self._identifier(c[1]),
            None,
            self._identifier(c[3]),
            c[4].values,
            c[5],
            self._span(c[0]),
        )

    def replication(self, c: list[Any]) -> syntax.IndexRange | None:
        return c[1] if c else None

    def index_range(self, c: list[Any]) -> syntax.IndexRange:
        return syntax.IndexRange(c[0].text, c[2], c[4], self._span(c[0]))

    def renaming(self, c: list[Any]) -> tuple[tuple[syntax.Identifier, Expression], ...]:
        pairs: list[tuple[syntax.Identifier, Expression]] = []
        for k in range(0, len(c), 5):
            own, given = c[k + 1], c[k + 3]
            if len(own) != len(given):
                self.report(
                    "renaming-length",
                    f"{len(own)} names left of `:=` but {len(given)} right of it",
                    self._span(c[k]),
                    "the lists are matched in order: `[ a, b := c, d ]` renames a to c and b to d",
                )
            pairs.extend(zip(own, given, strict=False))
        return tuple(pairs)

    def places(self, c: list[Any]) -> tuple[Expression, ...]:
        return tuple(c[::2])

    def hide(self, c: list[Any]) -> syntax.Hide:
        return syntax.Hide(c[1], self._span(c[0]))

    def claim(self, c: list[Any]) -> syntax.ClaimBlock:
        named = c[1].kind == "STRING"
        kind = PropertyKind.ASSERTION if c[0].text == "assert" else PropertyKind.FORBIDDEN
        name = _unquoted(c[1]) if named else None
        return syntax.ClaimBlock(kind, name, c[3 if named else 2], self._span(c[0]), c[-1])

    def rescue(self, c: list[Any]) -> tuple[syntax.DynamicsLine, ...]:
        return tuple(_statements(c[2:-1]))

    def progress_claim(self, c: list[Any]) -> syntax.ClaimBlock:
        named = c[1].kind == "STRING"
        first = c[3 if named else 2]
        if c[0].text != "assert" or first.text != "never":
            self.report(
                "unknown-claim",
                "runs may be claimed to go on, and to nothing else",
                self._span(first),
                'write `assert "name" { never blocks }`',
            )
        name = _unquoted(c[1]) if named else NEVER_BLOCKS
        return syntax.ClaimBlock(PropertyKind.PROGRESS, name, TRUE, self._span(c[0]))

    def claim_kind(self, c: list[Any]) -> Token:
        token: Token = c[0]
        return token

    def assume(self, c: list[Any]) -> syntax.Assume:
        return syntax.Assume(c[2], self._span(c[0]))

    def predicates(self, c: list[Any]) -> syntax.Predicates:
        return syntax.Predicates(c[1], self._span(c[0]))

    def conditions(self, c: list[Any]) -> tuple[Expression, ...]:
        return tuple(_statements(c[1:-1]))

    def interaction(self, c: list[Any]) -> syntax.InteractionBlock:
        urgent, event, start = self._qualified(c[0], c[1])
        first, first_group, second, second_group = c[4]
        return syntax.InteractionBlock(
            self._identifier(c[2]),
            first,
            first_group,
            second,
            second_group,
            c[6],
            c[7],
            urgent,
            event,
            self._span(start),
        )

    def pair(self, c: list[Any]) -> tuple[syntax.Identifier, ...]:
        first, second = c[0], c[-3]
        groups = (c[2] if len(c) == 7 else c[-1]), c[-1]
        return tuple(map(self._identifier, (first, groups[0], second, groups[1])))

    def qualifiers(self, c: list[Any]) -> list[Token]:
        return c

    def qualifier(self, c: list[Any]) -> Token:
        token: Token = c[0]
        return token

    def _qualified(
        self, words: list[Token], keyword: Token
    ) -> tuple[bool, EventKind | None, Token]:
        """What stands before `trans` or `interaction`: urgency and the kind of event."""
        urgent, event = False, None
        for word in words:
            if word.text == "urgent":
                urgent = True
            elif event not in (None, EventKind(word.text)):
                self.report(
                    "two-event-kinds",
                    f"both `{event}` and `{word.text}`",
                    word.span(self.file),
                    "an event is `unilateral`, `bilateral`, `crossing` or `sliding`; keep one",
                )
            else:
                event = EventKind(word.text)
        return urgent, event, words[0] if words else keyword

    def points(self, c: list[Any]) -> syntax.Points:
        return syntax.Points(c[0].text == "entry", c[1], self._span(c[0]))

    def transition(self, c: list[Any]) -> syntax.TransitionBlock:
        urgent, event, start = self._qualified(c[0], c[1])
        return syntax.TransitionBlock(
            c[2], c[4], c[6], c[7], c[8], urgent, event, self._span(start)
        )

    def label(self, c: list[Any]) -> str | None:
        return c[0].text[1:] if c else None

    def guard(self, c: list[Any]) -> Expression | None:
        return c[1] if c else None

    def actions(self, c: list[Any]) -> tuple[syntax.SettingStatement | syntax.LetStatement, ...]:
        return tuple(_statements(c[2:-1]))

    def control_points(self, c: list[Any]) -> tuple[syntax.PointReference, ...]:
        return tuple(c[::2])

    def control_point(self, c: list[Any]) -> syntax.PointReference:
        second = c[2].text if len(c) == 3 else None
        return syntax.PointReference(c[0].text, second, self._span(c[0]))

    def flows(self, c: list[Any]) -> syntax.Flows:
        return syntax.Flows(tuple(_statements(c[2:-1])), self._span(c[0]))

    def flow(self, c: list[Any]) -> syntax.DynamicsLine:
        return syntax.DynamicsLine(self._identifier(c[2]), c[4].text, c[5], self._span(c[0]))

    def algebra(self, c: list[Any]) -> syntax.Algebra:
        return syntax.Algebra(tuple(_statements(c[2:-1])), self._span(c[0]))

    def equation(self, c: list[Any]) -> syntax.DynamicsLine:
        return syntax.DynamicsLine(self._identifier(c[0]), c[1].text, c[2], self._span(c[0]))

    def invariant(self, c: list[Any]) -> syntax.InvariantBlock:
        return syntax.InvariantBlock(c[1], self._span(c[0]))


def _unquoted(token: Token) -> str:
    return token.text[1:-1]


def _statements(c: list[Any]) -> list[Any]:
    """The statements of a block, without the semicolons."""
    return [x for x in c if type(x) is not Token]

"""The syntax tree of a `.charon` file: what the author wrote, with its place.

Expressions are `models.expressions.expression.Expression` with names as written; indexed and dotted
names are `SELECT` nodes, `forall` and `sum` are quantifier nodes. Elaboration resolves all
of them. Every node carries its span; `name_span` is the place of the name alone.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from workbench.models.agents.hierarchy import Access
from workbench.models.automaton import EventKind, Kind, PropertyKind
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.table import Interpolation
from workbench.models.record import record
from workbench.models.source import Span


@record
class TypeName:
    """`real`, `int`, `bool`, or `enum { a, b }`."""

    name: str
    values: tuple[str, ...]
    span: Span


@record
class WrittenInterval:
    """`[low, high]`."""

    low: Expression
    high: Expression
    span: Span


@record
class IndexRange:
    """`i in low .. high`, as in `agent car[i in 1..n] = Car();`, or, for an array of
    variables, `low .. high` with no index name."""

    index: str | None
    low: Expression
    high: Expression
    span: Span


@record
class Identifier:
    """A name at a place."""

    name: str
    span: Span


# Declarations


@record
class FormalParameter:
    """`real k1` or `real k1 = 2` in the head of an agent or mode."""

    type: TypeName
    name: Identifier
    default: Expression | None


@record
class DeclaredName:
    """One name of a variable declaration, with its first value and array range, if any."""

    name: Identifier
    extent: IndexRange | None
    initial: Expression | WrittenInterval | None


@record
class VariableDeclaration:
    """`write analog real x = 1, y;`; `kind` is None where it is left out."""

    access: Access
    kind: Kind | None
    type: TypeName
    names: tuple[DeclaredName, ...]
    span: Span


@record
class ConstantDeclaration:
    """`const real k = 2;`, or `const real k in [1, 2];` for an uncertain constant."""

    type: TypeName
    name: Identifier
    value: Expression | WrittenInterval
    span: Span


@record
class ExternDeclaration:
    """`extern real f(real, real) from "where.it.lives";`: the text after `from` is a note
    for the reader and is never imported."""

    type: TypeName
    name: Identifier
    arguments: tuple[TypeName, ...]
    origin: str | None
    span: Span


@record
class TableDeclaration:
    """`table f(real x) linear { 0: 1, 2: 5 }`; with two arguments, a first row `: y1, y2`
    gives the second axis and every further row `x: v1, v2` its values.

    `axis` is that first row, empty for one argument.
    """

    name: Identifier
    arguments: tuple[Identifier, ...]
    interpolation: Interpolation
    axis: tuple[Expression, ...]
    rows: tuple[tuple[Expression, tuple[Expression, ...]], ...]
    span: Span


@record
class ImportDeclaration:
    """`import "other.charon";`"""

    path: str
    span: Span


@record
class SystemDeclaration:
    """`system Highway(-5, 3) until 20;`: which agent is the whole model, and, optionally,
    the horizon of its claims."""

    agent: Identifier
    arguments: tuple[Expression, ...]
    horizon: Expression | None
    span: Span


# Items of agents and modes


@record
class SettingStatement:
    """`x = e` or `x in [l, u]`, in `init` and in actions; `target` is a VARIABLE or SELECT."""

    target: Expression
    value: Expression | WrittenInterval
    span: Span


@record
class LetStatement:
    """`let name = e` in an action: a name for a value computed at that point."""

    name: Identifier
    value: Expression
    span: Span


@record
class InitBlock:
    """`init { x in [0, 1]; y = 2; where x + y <= 2; }`"""

    settings: tuple[SettingStatement, ...]
    conditions: tuple[Expression, ...]
    span: Span


@record
class InstanceDeclaration:
    """`agent f = Front(-5) [ vel := velFirst ];` or `mode m = Track(1);`, by its `keyword`;
    `replicated` for `agent car[i in 1..n] = ...`. Left names of the renaming are the
    instance's own."""

    keyword: str
    name: Identifier
    replicated: IndexRange | None
    definition: Identifier
    arguments: tuple[Expression, ...]
    renaming: tuple[tuple[Identifier, Expression], ...]
    span: Span


@record
class Hide:
    """`hide x, y;`"""

    names: tuple[Identifier, ...]
    span: Span


@record
class ClaimBlock:
    """`assert "name" { p }`, `forbid "name" { p }` or `assert "name" { never blocks }`;
    `rescue { d(x) == e; }` behind it says what might still have helped."""

    kind: PropertyKind
    name: str | None
    condition: Expression
    span: Span
    rescue: tuple[DynamicsLine, ...] = ()


@record
class Assume:
    """`assume { p }`: what the environment guarantees about the inputs."""

    condition: Expression
    span: Span


@record
class Predicates:
    """`predicate { dist >= 10; dist >= 20 }`: hints for predicate abstraction."""

    conditions: tuple[Expression, ...]
    span: Span


@record
class InteractionBlock:
    """`interaction bump between a, b in car when g do { ... }`: an event for every unordered
    pair of the replicated agents `car`; or `between a in car, b in wall` for every pair of
    one of each."""

    name: Identifier
    first: Identifier
    first_group: Identifier
    second: Identifier
    second_group: Identifier
    guard: Expression
    actions: tuple[SettingStatement | LetStatement, ...]
    urgent: bool
    event: EventKind | None
    span: Span


@record
class PointReference:
    """A control point as written: `default`, `init`, `a`, `a.b`, `a.default`."""

    first: str
    second: str | None
    span: Span


@record
class Points:
    """`entry a, b;` or `exit c;`"""

    is_entry: bool
    names: tuple[Identifier, ...]
    span: Span


@record
class TransitionBlock:
    """`urgent crossing trans #label from a, b to c when g do { ... }`"""

    label: str | None
    sources: tuple[PointReference, ...]
    target: PointReference
    guard: Expression | None
    actions: tuple[SettingStatement | LetStatement, ...]
    urgent: bool
    event: EventKind | None
    span: Span


@record
class DynamicsLine:
    """One line of `diff` or `alge`: `operator` is `==`, `<=`, `>=` or `in`."""

    variable: Identifier
    operator: str
    value: Expression | WrittenInterval
    span: Span


@record
class Flows:
    """`diff { d(x) == e; d(y) in [l, u]; }`"""

    relations: tuple[DynamicsLine, ...]
    span: Span


@record
class Algebra:
    """`alge { y == e; }`"""

    relations: tuple[DynamicsLine, ...]
    span: Span


@record
class InvariantBlock:
    """`inv { p; q }`"""

    conditions: tuple[Expression, ...]
    span: Span


AgentItem: TypeAlias = (
    VariableDeclaration
    | InitBlock
    | InstanceDeclaration
    | Hide
    | ClaimBlock
    | Assume
    | Predicates
    | InteractionBlock
)
ModeItem: TypeAlias = (
    VariableDeclaration
    | InstanceDeclaration
    | Points
    | TransitionBlock
    | Flows
    | Algebra
    | InvariantBlock
    | ClaimBlock
)


@record
class AgentDefinition:
    """`agent Name(parameters) { items }`; `agents` are its sub-agents, `tops` its
    `mode top = ...` items (exactly one in an atomic agent, none in a composed one)."""

    name: Identifier
    parameters: tuple[FormalParameter, ...]
    items: tuple[AgentItem, ...]
    agents: tuple[InstanceDeclaration, ...]
    tops: tuple[InstanceDeclaration, ...]
    span: Span


@record
class ModeDefinition:
    """`mode Name(parameters) { items }`"""

    name: Identifier
    parameters: tuple[FormalParameter, ...]
    items: tuple[ModeItem, ...]
    span: Span


TopLevel: TypeAlias = (
    AgentDefinition
    | ModeDefinition
    | ConstantDeclaration
    | ExternDeclaration
    | TableDeclaration
    | ImportDeclaration
    | SystemDeclaration
)


@record
class SourceFile:
    """A parsed file, its definitions in source order."""

    name: str
    definitions: tuple[TopLevel, ...]
    comments: tuple[Span, ...] = field(default=())

"""What a name means at a place in the text.

A scope maps plain names to bindings and knows its surroundings: the index of a `forall`
inside an agent inside the file. Array variables are bound element by element (`vel[2]`),
their extent is remembered for messages. The file's scope also holds the functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from workbench.models.agents.hierarchy import AgentInstance, Declaration
from workbench.models.automaton import TIME, ValueType
from workbench.models.enumeration import plain_members
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.table import Table
from workbench.models.language.findings import DiagnosticLog
from workbench.models.language.syntax import ExternDeclaration
from workbench.models.record import record
from workbench.models.source import Span


@plain_members
class NameRole(StrEnum):
    """What sort of thing a name stands for, as messages call it."""

    CONSTANT = "constant"
    UNCERTAIN = "uncertain constant"
    PARAMETER = "parameter"
    INDEX = "index"
    VARIABLE = "variable"
    LET = "name of a value"
    TIME = "time"


CONSTANT_ROLES = frozenset(
    {NameRole.CONSTANT, NameRole.UNCERTAIN, NameRole.PARAMETER, NameRole.INDEX}
)


@record
class Binding:
    """The meaning of a name: what replaces it, its type, and where it was introduced."""

    expression: Expression
    type: ValueType | None
    role: NameRole
    span: Span | None = None
    declaration: Declaration | None = None


@dataclass(slots=True)
class Scope:
    """Names introduced at one level, looked up outwards."""

    parent: Scope | None = None
    names: dict[str, Binding] = field(default_factory=dict)
    arrays: dict[str, tuple[int, int]] = field(default_factory=dict)
    functions: dict[str, ExternDeclaration | Table] = field(default_factory=dict)
    symbols: set[str] = field(default_factory=set)
    instances: dict[str, AgentInstance] = field(default_factory=dict)
    groups: dict[str, tuple[int, int]] = field(default_factory=dict)
    aliases: dict[str, AgentInstance] = field(default_factory=dict)
    unmeasured: set[str] = field(default_factory=set)
    """Arrays and groups whose range could not be computed; their elements are not judged."""

    def outwards(self) -> Iterator[Scope]:
        """This scope and those around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def find(self, name: str) -> Binding | None:
        """The innermost binding of a name."""
        for scope in self.outwards():
            binding = scope.names.get(name)
            if binding is not None:
                return binding
        return None

    def extent(self, name: str) -> tuple[int, int] | None:
        """The index range of an array variable."""
        for scope in self.outwards():
            if name in scope.arrays:
                return scope.arrays[name]
            if name in scope.names:
                return None
        return None

    def function(self, name: str) -> ExternDeclaration | Table | None:
        """The external function or table of that name."""
        for scope in self.outwards():
            if name in scope.functions:
                return scope.functions[name]
        return None

    def is_symbol(self, name: str) -> bool:
        """Whether some enumeration of the model has this value."""
        return any(name in scope.symbols for scope in self.outwards())

    def instance(self, name: str) -> AgentInstance | None:
        """The sub-agent of that name (with its index, if replicated)."""
        for scope in self.outwards():
            if name in scope.aliases:
                return scope.aliases[name]
            if name in scope.instances:
                return scope.instances[name]
        return None

    def is_alias(self, name: str) -> bool:
        """Whether the name stands for either partner of an interaction."""
        return any(name in scope.aliases for scope in self.outwards())

    def is_unmeasured(self, name: str) -> bool:
        """Whether it is unknown which elements an array or a group has."""
        return any(name in scope.unmeasured for scope in self.outwards())

    def group(self, name: str) -> tuple[int, int] | None:
        """The index range of replicated sub-agents."""
        return next((s.groups[name] for s in self.outwards() if name in s.groups), None)

    def visible(self) -> Iterator[str]:
        """Every name that could have been meant."""
        for scope in self.outwards():
            yield from (name for name in scope.names if "[" not in name)
            yield from scope.arrays
            yield from scope.symbols
            yield from scope.aliases

    def bind(self, findings: DiagnosticLog, name: str, binding: Binding) -> bool:
        """Introduce a name at this level; twice at one level is an error."""
        if name == TIME:
            findings.error(
                "reserved-name",
                "`time` always means the time since the start; it cannot be declared",
                binding.span,
                "choose another name; for a clock of your own write `d(clock) == 1`",
            )
            return False
        known = self.names.get(name)
        if known is not None or name in self.arrays:
            first = f" (first at line {known.span.line})" if known and known.span else ""
            findings.error("duplicate-name", f"`{name}` is declared twice{first}", binding.span)
            return False
        self.names[name] = binding
        return True

"""What elaboration carries along: definitions, the file's scope, and what is already made.

An instance depends only on its definition and the values of its parameters, so equal
instances are made once and shared; `sizes` counts them as if they were not, because
flattening will not share them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from workbench.models.agents.hierarchy import Agent, Mode
from workbench.models.expressions.expression import Expression, constant
from workbench.models.language.definitions import Definitions
from workbench.models.language.findings import DiagnosticLog, did_you_mean
from workbench.models.language.resolve import Resolver, value_type
from workbench.models.language.scope import Binding, NameRole, Scope
from workbench.models.language.syntax import (
    AgentDefinition,
    FormalParameter,
    Identifier,
    ModeDefinition,
)
from workbench.models.source import Span

MAX_DEPTH = 64
"""How deep agents and modes may be nested in each other."""

MAX_INSTANCES = 10_000
"""How many agents and modes a model may consist of, each instance counted."""

ModeKey: TypeAlias = tuple[str, tuple[Expression, ...] | None, tuple[tuple[str, str], ...], bool]
AgentKey: TypeAlias = tuple[str, tuple[Expression, ...] | None]
Trail: TypeAlias = tuple[str, ...]
"""The definitions being instantiated, outermost first."""


@dataclass(slots=True)
class Context:
    """The state of one elaboration."""

    definitions: Definitions
    scope: Scope
    resolver: Resolver
    modes: dict[ModeKey, Mode] = field(default_factory=dict)
    agents: dict[AgentKey, Agent] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    misnamed: set[tuple[Span, str]] = field(default_factory=set)
    """Variables of parts, by the place of the part, whose renaming was reported as wrong."""
    too_large: bool = False

    @property
    def findings(self) -> DiagnosticLog:
        """Where mistakes are collected."""
        return self.resolver.findings

    def size(self, part: Agent | Mode) -> int:
        """How many instances the part consists of, itself included."""
        return self.sizes.get(id(part), 1)

    def record_size(self, part: Agent | Mode, inner: Sequence[Agent | Mode], span: Span) -> None:
        """Count a part that has just been made."""
        self.sizes[id(part)] = total = 1 + sum(self.size(p) for p in inner)
        self.limit_size(part.definition, total, span)

    def limit_size(self, name: str, total: int, span: Span) -> None:
        """Refuse too large a model, once."""
        if total > MAX_INSTANCES and not self.too_large:
            self.too_large = True
            self.findings.error(
                "too-many-instances",
                f"`{name}` consists of more than {MAX_INSTANCES} agents and modes",
                span,
                "use fewer copies",
            )

    def may_enter(self, name: str, trail: Trail, span: Span | None) -> bool:
        """Whether a definition can be instantiated here; recursion is reported."""
        if name in trail:
            cycle = " -> ".join([*trail[trail.index(name) :], name])
            self.findings.error(
                "recursive-instantiation",
                f"`{name}` contains itself: {cycle}",
                span,
                "instances are made once and for all; break the cycle",
            )
            return False
        if len(trail) >= MAX_DEPTH:
            self.too_large = True
            self.findings.error(
                "too-deep", f"agents and modes are nested more than {MAX_DEPTH} deep", span
            )
            return False
        return True

    def agent_definition(self, name: Identifier) -> AgentDefinition | None:
        """The agent of that name, or an error with the closest one."""
        found = self.definitions.agents.get(name.name)
        if found is None:
            self._unknown(name, "agent", self.definitions.agents, self.definitions.modes)
        return found

    def mode_definition(self, name: Identifier) -> ModeDefinition | None:
        """The mode of that name, or an error with the closest one."""
        found = self.definitions.modes.get(name.name)
        if found is None:
            self._unknown(name, "mode", self.definitions.modes, self.definitions.agents)
        return found

    def _unknown(
        self, name: Identifier, word: str, known: Iterable[str], others: Container[str]
    ) -> None:
        if name.name in others:
            other = "mode" if word == "agent" else "agent"
            hint: str | None = f"`{name.name}` is {'an' if other == 'agent' else 'a'} {other}"
        else:
            hint = did_you_mean(name.name, known) or f"define it: `{word} {name.name}() {{ ... }}`"
        self.findings.error(f"unknown-{word}", f"there is no {word} `{name.name}`", name.span, hint)


def argument_values(
    context: Context,
    definition: AgentDefinition | ModeDefinition,
    arguments: Sequence[Expression],
    scope: Scope,
    span: Span | None,
    overrides: Mapping[str, Expression] = MappingProxyType({}),
) -> tuple[Expression, ...] | None:
    """The value of every parameter: overridden, as given, or by default; misfits are
    reported."""
    parameters = definition.parameters
    required = max(
        (
            n
            for n, p in enumerate(parameters, 1)
            if p.default is None and p.name.name not in overrides
        ),
        default=0,
    )
    if not required <= len(arguments) <= len(parameters):
        wanted = (
            str(required) if required == len(parameters) else f"{required} to {len(parameters)}"
        )
        names = ", ".join(f"{p.type.name} {p.name.name}" for p in parameters)
        context.findings.error(
            "argument-count",
            f"`{definition.name.name}` takes {wanted} argument{'' if wanted == '1' else 's'},"
            f" not {len(arguments)}",
            span,
            f"it is declared as `{definition.name.name}({names})`",
        )
        return None
    values: list[Expression] = []
    inner = Scope(context.scope)
    for number, parameter in enumerate(parameters):
        given = arguments[number] if number < len(arguments) else parameter.default
        given = overrides.get(parameter.name.name, given)
        assert given is not None
        where = scope if number < len(arguments) else inner
        what = f"the parameter `{parameter.name.name}` of `{definition.name.name}`"
        value = context.resolver.constant_of(given, where, value_type(parameter.type), what)
        if value is None:
            return None
        value = value.at(None)
        values.append(value)
        inner.names[parameter.name.name] = _parameter(parameter, value)
    return tuple(values)


def definition_scope(
    context: Context,
    definition: AgentDefinition | ModeDefinition,
    values: tuple[Expression, ...] | None,
) -> Scope:
    """The scope inside a definition, its parameters bound."""
    scope = Scope(context.scope)
    for number, parameter in enumerate(definition.parameters):
        value = values[number] if values is not None else None
        scope.bind(context.findings, parameter.name.name, _parameter(parameter, value))
    return scope


def _parameter(parameter: FormalParameter, value: Expression | None) -> Binding:
    kind = value_type(parameter.type) if value is not None else None
    return Binding(
        value if value is not None else constant(0), kind, NameRole.PARAMETER, parameter.name.span
    )

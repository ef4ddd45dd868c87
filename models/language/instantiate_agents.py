"""Agents with their parameters replaced by values and their copies made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from workbench.models.agents.families import Unrolled
from workbench.models.agents.hierarchy import Access, Agent, AgentInstance, Declaration, Mode
from workbench.models.expressions.expression import Expression, conjunction, variable
from workbench.models.language.claims import claims, condition
from workbench.models.language.context import Context, Trail, argument_values, definition_scope
from workbench.models.language.declarations import declare
from workbench.models.language.findings import did_you_mean
from workbench.models.language.initial_values import assumed_bounds, with_initial_values
from workbench.models.language.instantiate_modes import mode_instance
from workbench.models.language.interfaces import InnerPart, check_interfaces
from workbench.models.language.renaming import instance_renaming
from workbench.models.language.replicate import copies, interactions
from workbench.models.language.scope import Binding, NameRole, Scope
from workbench.models.language.syntax import (
    AgentDefinition,
    AgentItem,
    Assume,
    ClaimBlock,
    Hide,
    InitBlock,
    InstanceDeclaration,
    InteractionBlock,
    Predicates,
    VariableDeclaration,
)

Item = TypeVar("Item", bound=AgentItem)


def instantiate_agent(
    context: Context,
    definition: AgentDefinition,
    values: tuple[Expression, ...] | None,
    trail: Trail = (),
) -> Agent:
    """The agent with these parameter values; None for the values marks a use that is
    already known to be wrong, elaborated only to find further mistakes."""
    name = definition.name.name
    key = (name, values)
    if key in context.agents:
        return context.agents[key]
    context.used.add(f"agent {name}")
    trail = (*trail, name)
    scope = definition_scope(context, definition, values)
    variables = declare(context, _items(definition, VariableDeclaration), scope, {}, in_mode=False)
    parts = _parts(context, definition, scope, trail)
    variables = _hidden(context, definition, variables, parts, scope)
    shared = [
        InnerPart.of(f"the agent `{p.name}`", p.agent.variables, p.renaming, p.span) for p in parts
    ]
    check_interfaces(context, shared, variables, scope)
    top = _top(context, definition, scope, trail, variables)
    _check_shape(context, definition)
    variables, bounds = assumed_bounds(variables)
    variables, initial = with_initial_values(
        context, _items(definition, InitBlock), variables, scope
    )
    agent = Agent(
        name,
        tuple(variables),
        initial,
        top,
        parts,
        Unrolled(
            event
            for block in _items(definition, InteractionBlock)
            for event in interactions(context, block, scope)
        ),
        claims(context, _items(definition, ClaimBlock), scope),
        conjunction(bounds, *_assumptions(context, definition, scope)),
        tuple(_predicates(context, definition, scope)),
        (),
        definition.name.span,
    )
    inner: list[Agent | Mode] = [p.agent for p in parts]
    context.record_size(agent, [*inner, top] if top else inner, definition.name.span)
    context.agents[key] = agent
    return agent


def _items(definition: AgentDefinition, kind: type[Item]) -> list[Item]:
    return [item for item in definition.items if isinstance(item, kind)]


def _parts(
    context: Context, definition: AgentDefinition, scope: Scope, trail: Trail
) -> tuple[AgentInstance, ...]:
    """The sub-agents, replicated ones copy by copy."""
    found: list[AgentInstance] = []
    names: set[str] = set()
    total = 1
    for instance in definition.agents:
        if instance.name.name in names:
            context.findings.error(
                "duplicate-name",
                f"there are two agents `{instance.name.name}` here",
                instance.name.span,
            )
            continue
        names.add(instance.name.name)
        for name, inner in copies(context, instance, scope):
            part = _part(context, instance, name, inner, trail)
            if part is None:
                break
            found.append(part)
            scope.instances[name] = part
            total += context.size(part.agent)
            context.limit_size(definition.name.name, total, instance.span)
            if context.too_large:
                scope.unmeasured.add(instance.name.name)
                break
    return tuple(found)


def _part(
    context: Context, instance: InstanceDeclaration, name: str, scope: Scope, trail: Trail
) -> AgentInstance | None:
    definition = context.agent_definition(instance.definition)
    if definition is None:
        return None
    if not context.may_enter(definition.name.name, trail, instance.definition.span):
        return None
    values = argument_values(context, definition, instance.arguments, scope, instance.span)
    agent = instantiate_agent(context, definition, values, trail)
    what = f"the agent `{definition.name.name}`"
    renaming = instance_renaming(context, instance, agent.variables, what, scope)
    return AgentInstance(name, agent, renaming, instance.span)


def _hidden(
    context: Context,
    definition: AgentDefinition,
    variables: list[Declaration],
    parts: Sequence[AgentInstance],
    scope: Scope,
) -> list[Declaration]:
    """Hiding makes a variable private; one that only the parts mention is declared so."""
    found = {v.name: v for v in variables}
    for block in _items(definition, Hide):
        for hidden in block.names:
            elements = [n for n in found if n.partition("[")[0] == hidden.name]
            shared = None if elements else _shared(parts, hidden.name)
            if shared is not None:
                found[hidden.name] = replace(shared, name=hidden.name, initial=None)
                elements = [hidden.name]
            elif not elements and not scope.is_unmeasured(hidden.name):
                context.findings.error(
                    "unknown-name",
                    f"there is no variable `{hidden.name}` to hide",
                    hidden.span,
                    did_you_mean(hidden.name, found),
                )
            for name in elements:
                private = replace(found[name], access=Access.PRIVATE)
                found[name] = private
                scope.names[name] = Binding(
                    variable(name), private.type, NameRole.VARIABLE, hidden.span, private
                )
    return list(found.values())


def _shared(parts: Sequence[AgentInstance], name: str) -> Declaration | None:
    """How a sub-agent that writes it, or else one that reads it, declares a variable."""
    candidates = [
        declared
        for part in parts
        for declared in part.agent.variables
        if declared.access is not Access.PRIVATE
        and dict(part.renaming).get(declared.name, declared.name) == name
    ]
    writers = [c for c in candidates if c.access.writes]
    return next(iter((*writers, *candidates)), None)


def _top(
    context: Context,
    definition: AgentDefinition,
    scope: Scope,
    trail: Trail,
    variables: Sequence[Declaration],
) -> Mode | None:
    """The top-level mode of an atomic agent."""
    if not definition.tops:
        return None
    instance = definition.tops[0]
    made = mode_instance(context, instance, scope, trail, is_top=True)
    if made is None:
        return None
    mode, _ = made
    part = InnerPart.of(f"the mode `{mode.definition}`", mode.variables, (), instance.span)
    check_interfaces(context, [part], variables, scope)
    return mode


def _check_shape(context: Context, definition: AgentDefinition) -> None:
    name = definition.name.name
    if len(definition.tops) > 1:
        context.findings.error(
            "two-top-modes",
            f"`{name}` has {len(definition.tops)} top-level modes; an agent has one",
            definition.tops[1].span,
            "make them submodes of one mode, or put them in agents of their own",
        )
    if definition.tops and definition.agents:
        context.findings.error(
            "mixed-agent",
            f"`{name}` has both a top-level mode and sub-agents",
            definition.tops[0].span,
            "put the mode into an agent of its own and make that a sub-agent",
        )
    if not definition.tops and not definition.agents:
        context.findings.error(
            "no-behaviour",
            f"`{name}` has no behaviour",
            definition.name.span,
            "give it a mode: `mode top = SomeMode();`, or sub-agents: `agent a = SomeAgent();`",
        )


def _assumptions(context: Context, definition: AgentDefinition, scope: Scope) -> list[Expression]:
    found = []
    for block in _items(definition, Assume):
        value = condition(context, block.condition, scope, "what `assume` says")
        if value is not None:
            found.append(value)
    return found


def _predicates(context: Context, definition: AgentDefinition, scope: Scope) -> list[Expression]:
    found = []
    for block in _items(definition, Predicates):
        for written in block.conditions:
            value = condition(context, written, scope, "a predicate")
            if value is not None:
                found.append(value)
    return found

"""Modes with their parameters replaced by values.

A mode sees its parameters, its own variables and the constants of the model, nothing else;
so an instance is determined by the definition, the values, and (for a top-level mode, which
has no instance around it) the renaming, and is made once for all its uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from workbench.models.agents.hierarchy import Mode, ModeInstance, Transition
from workbench.models.automaton import EventKind
from workbench.models.expressions.expression import TRUE, Expression, conjunction
from workbench.models.language.actions import actions, algebra, flows
from workbench.models.language.claims import claims, condition
from workbench.models.language.context import Context, Trail, argument_values, definition_scope
from workbench.models.language.declarations import declare
from workbench.models.language.interfaces import InnerPart, check_interfaces
from workbench.models.language.points import PointTable
from workbench.models.language.renaming import Renaming, instance_renaming
from workbench.models.language.scope import Scope
from workbench.models.language.syntax import (
    Algebra,
    ClaimBlock,
    DynamicsLine,
    Flows,
    InstanceDeclaration,
    InvariantBlock,
    ModeDefinition,
    ModeItem,
    Points,
    TransitionBlock,
    VariableDeclaration,
)

Item = TypeVar("Item", bound=ModeItem)


def instantiate_mode(
    context: Context,
    definition: ModeDefinition,
    values: tuple[Expression, ...] | None,
    trail: Trail,
    *,
    is_top: bool,
    renaming: Renaming = (),
) -> Mode:
    """The mode with these parameter values; None for the values marks a use that is already
    known to be wrong, elaborated only to find further mistakes."""
    name = definition.name.name
    key = (name, values, renaming, is_top)
    if key in context.modes:
        return context.modes[key]
    scope = definition_scope(context, definition, values)
    declared = _items(definition, VariableDeclaration)
    variables = declare(context, declared, scope, dict(renaming), in_mode=True)
    submodes = _submodes(context, definition, scope, (*trail, name))
    inner = [
        InnerPart.of(f"the submode `{s.name}`", s.mode.variables, s.renaming, s.span)
        for s in submodes
    ]
    check_interfaces(context, inner, variables, scope)
    table = _point_table(context, definition, submodes, is_top)
    invariant = [
        value
        for block in _items(definition, InvariantBlock)
        for written in block.conditions
        if (value := condition(context, written, scope, "an invariant")) is not None
    ]
    mode = Mode(
        name,
        tuple(variables),
        submodes,
        table.entries,
        table.exits,
        _transitions(context, definition, scope, table),
        flows(context, _relations(definition, Flows), scope),
        algebra(context, _relations(definition, Algebra), scope),
        conjunction(*invariant) if invariant else TRUE,
        claims(context, _items(definition, ClaimBlock), scope, of_mode=True),
        definition.name.span,
    )
    context.record_size(mode, [s.mode for s in submodes], definition.name.span)
    context.modes[key] = mode
    return mode


def mode_instance(
    context: Context, instance: InstanceDeclaration, scope: Scope, trail: Trail, *, is_top: bool
) -> tuple[Mode, Renaming] | None:
    """The mode of `mode m = M(...) [ ... ];` and its renaming."""
    definition = context.mode_definition(instance.definition)
    if definition is None:
        return None
    name = definition.name.name
    if not context.may_enter(name, trail, instance.definition.span):
        return None
    context.used.add(f"mode {name}")
    values = argument_values(context, definition, instance.arguments, scope, instance.span)
    plain = instantiate_mode(context, definition, values, trail, is_top=is_top)
    renaming = instance_renaming(context, instance, plain.variables, f"the mode `{name}`", scope)
    if not is_top or not renaming:
        return plain, renaming
    return instantiate_mode(
        context, definition, values, trail, is_top=True, renaming=renaming
    ), renaming


def _items(definition: ModeDefinition, kind: type[Item]) -> list[Item]:
    return [item for item in definition.items if isinstance(item, kind)]


def _relations(definition: ModeDefinition, kind: type[Flows] | type[Algebra]) -> list[DynamicsLine]:
    return [
        relation
        for item in definition.items
        if isinstance(item, kind)
        for relation in item.relations
    ]


def _submodes(
    context: Context, definition: ModeDefinition, scope: Scope, trail: Trail
) -> tuple[ModeInstance, ...]:
    found: list[ModeInstance] = []
    for instance in _items(definition, InstanceDeclaration):
        if any(instance.name.name == other.name for other in found):
            context.findings.error(
                "duplicate-name",
                f"there are two submodes `{instance.name.name}`",
                instance.name.span,
            )
            continue
        made = mode_instance(context, instance, scope, trail, is_top=False)
        if made is not None:
            mode, renaming = made
            found.append(ModeInstance(instance.name.name, mode, renaming, instance.span))
    return tuple(found)


def _point_table(
    context: Context,
    definition: ModeDefinition,
    submodes: Sequence[ModeInstance],
    is_top: bool,
) -> PointTable:
    """The names of control points; each stands for one thing only."""
    known: dict[str, Mode | None] = {
        i.name.name: None for i in _items(definition, InstanceDeclaration)
    }
    known.update((s.name, s.mode) for s in submodes)
    entries: list[str] = []
    exits: list[str] = []
    for block in _items(definition, Points):
        for name in block.names:
            if name.name in (*known, *entries, *exits):
                context.findings.error(
                    "duplicate-name",
                    f"`{name.name}` already names a submode, entry or exit of this mode",
                    name.span,
                )
            else:
                (entries if block.is_entry else exits).append(name.name)
    return PointTable(definition.name.name, tuple(entries), tuple(exits), known, is_top)


def _transitions(
    context: Context, definition: ModeDefinition, scope: Scope, table: PointTable
) -> tuple[Transition, ...]:
    found: list[Transition] = []
    for block in _items(definition, TransitionBlock):
        sources = [table.source(point, context.findings) for point in block.sources]
        target = table.target(block.target, context.findings)
        guard: Expression | None = TRUE
        if block.guard is not None:
            guard = condition(context, block.guard, scope, "a guard")
        changes = actions(context, block.actions, scope)
        for source in sources:
            if source is None or target is None or guard is None:
                continue
            found.append(
                Transition(
                    source,
                    target,
                    guard,
                    changes,
                    block.label,
                    block.urgent,
                    block.event or EventKind.UNILATERAL,
                    block.span,
                )
            )
    return tuple(found)

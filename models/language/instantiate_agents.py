"""Agents with their parameters replaced by values and their copies made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from workbench.models.agents.families import MAX_PAIRS, Family, Partner, Unrolled
from workbench.models.agents.hierarchy import (
    Access,
    Agent,
    AgentInstance,
    Declaration,
    Interaction,
    Mode,
)
from workbench.models.automaton import EventKind, Range
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    compare,
    conjunction,
    equal,
    negation,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import free_variables
from workbench.models.language.actions import actions, assigned
from workbench.models.language.claims import claims, condition
from workbench.models.language.context import Context, Trail, argument_values, definition_scope
from workbench.models.language.declarations import declare, index_range, value_range
from workbench.models.language.findings import did_you_mean
from workbench.models.language.instantiate_modes import mode_instance
from workbench.models.language.interfaces import InnerPart, check_interfaces
from workbench.models.language.members import find_member
from workbench.models.language.renaming import instance_renaming
from workbench.models.language.scope import Binding, NameRole, Scope
from workbench.models.language.syntax import (
    AgentDefinition,
    AgentItem,
    Assume,
    ClaimBlock,
    Hide,
    Identifier,
    InitBlock,
    InstanceDeclaration,
    InteractionBlock,
    Predicates,
    SettingStatement,
    VariableDeclaration,
    WrittenInterval,
)
from workbench.models.language.unrolling import indexed

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


# `init` blocks: where the variables of an agent start.


def with_initial_values(
    context: Context, blocks: Iterable[InitBlock], variables: list[Declaration], scope: Scope
) -> tuple[list[Declaration], Expression]:
    """The declarations with their ranges of first values, and whatever else the blocks say
    as a condition on the first values."""
    found = {v.name: v for v in variables}
    conditions: list[Expression] = []
    set_at: dict[str, SettingStatement] = {}
    for block in blocks:
        for setting in block.settings:
            declaration = assigned(context, setting.target, scope)
            if declaration is None:
                continue
            name = declaration.name
            what = f"the first value of `{name}`"
            chosen = value_range(context, setting.value, declaration.type, scope, what)
            if chosen is None:
                continue
            if name in set_at or (name in found and declaration.initial is not None):
                _twice(context, setting, set_at.get(name), declaration)
            set_at[name] = setting
            if name in found and _is_plain(chosen):
                found[name] = replace(found[name], initial=chosen)
            else:
                conditions.append(within(name, chosen))
        for written in block.conditions:
            value = condition(context, written, scope, "a condition of `where`")
            if value is not None:
                conditions.append(value)
    return list(found.values()), conjunction(*conditions)


def assumed_bounds(variables: list[Declaration]) -> tuple[list[Declaration], Expression]:
    """`read real u in [l, u]` bounds an input at all times, not only at the start."""
    kept: list[Declaration] = []
    bounds: list[Expression] = []
    for declaration in variables:
        if declaration.access is Access.READ and declaration.initial is not None:
            bounds.append(within(declaration.name, declaration.initial))
            declaration = replace(declaration, initial=None)
        kept.append(declaration)
    return kept, conjunction(*bounds)


def within(name: str, chosen: Range) -> Expression:
    """The proposition that a variable lies in a range."""
    value = variable(name)
    if chosen.exact is not None:
        if chosen.exact.op is Op.BOOLEAN:
            return value if chosen.exact.value else negation(value)
        return equal(value, chosen.exact)
    low = TRUE if chosen.low is None else compare(Op.GREATER_EQUAL, value, chosen.low)
    high = TRUE if chosen.high is None else compare(Op.LESS_EQUAL, value, chosen.high)
    return conjunction(low, high)


def _is_plain(chosen: Range) -> bool:
    literals = (Op.CONSTANT, Op.BOOLEAN, Op.SYMBOL)
    return all(bound is not None and bound.op in literals for bound in (chosen.low, chosen.high))


def _twice(
    context: Context,
    setting: SettingStatement,
    first: SettingStatement | None,
    declaration: Declaration,
) -> None:
    place = first.span if first is not None else declaration.span
    where = f" (first at line {place.line})" if place is not None else ""
    context.findings.error(
        "duplicate-initial",
        f"the first value of `{declaration.name}` is given twice{where}",
        setting.span,
        f"give one {'interval' if isinstance(setting.value, WrittenInterval) else 'value'};"
        " further conditions go after `where`",
    )


# Many alike: replicated sub-agents, and interactions declared once for all their pairs.


def copies(
    context: Context, instance: InstanceDeclaration, scope: Scope
) -> Iterator[tuple[str, Scope]]:
    """The name of every copy of an instance and the scope for its arguments: the instance
    itself, or `car[1]`, `car[2]`, ... with the index bound."""
    name = instance.name.name
    if instance.replicated is None:
        yield name, scope
        return
    extent = index_range(context, instance.replicated, scope, f"the agents `{name}`")
    low, high = extent if extent is not None else (0, -1)
    scope.groups[name] = (low, high)
    if extent is None:
        scope.unmeasured.add(name)
    elif low > high:
        context.findings.warn(
            "empty-replication",
            f"there are no agents `{name}`: the range {low}..{high} is empty",
            instance.replicated.span,
        )
    index = instance.replicated.index or ""
    for number in range(low, high + 1):
        yield f"{name}[{number}]", indexed(scope, index, number)


def interactions(
    context: Context, block: InteractionBlock, scope: Scope
) -> Iterator[Interaction | Family[Interaction]]:
    """The events of all pairs: of unordered pairs within one group, of all pairs of two.

    The text is resolved once, with the first copies standing in; each pair puts its own
    variables in their place. Pairs that share variables are listed one by one.
    """
    first = _members(context, block.first_group, scope)
    second = _members(context, block.second_group, scope)
    if not first or not second or not _is_sensible(context, block, first, second):
        return
    partners = {block.first.name: scope.instances[first[0]]}
    partners[block.second.name] = scope.instances[second[-1]]
    inner = Scope(scope, aliases=partners)
    guard = condition(context, block.guard, inner, "the condition of an interaction")
    changes = actions(context, block.actions, inner)
    if guard is None or context.findings.has_errors:
        return
    template = Interaction(
        block.name.name,
        (block.first.name, block.second.name),
        guard,
        changes,
        block.urgent,
        block.event or EventKind.UNILATERAL,
        block.span,
    )
    inside = [_inside(template, name) for name in template.participants]
    same = block.first_group.name == block.second_group.name
    sides: list[tuple[Partner, ...]] = []
    for names, paths in ((first, inside[0]), (second, inside[1])):
        # Within one group everybody may be either partner.
        wanted = sorted({*inside[0], *inside[1]}) if same else paths
        found = [_partner(scope.instances[name], wanted) for name in names]
        if None in found:
            context.findings.error(
                "unknown-name",
                f"`{names[found.index(None)]}` does not have the same variables as the others",
                block.span,
            )
            return
        sides.append(tuple(p for p in found if p is not None))
        if same:
            inside = [wanted, wanted]
    one, other = template.participants
    slots = (tuple(f"{one}.{p}" for p in inside[0]), tuple(f"{other}.{p}" for p in inside[1]))
    family = Family(template, slots, sides[0], None if same else sides[1])
    if family.is_proper:
        yield family
    else:
        yield from family


def _is_sensible(
    context: Context, block: InteractionBlock, first: list[str], second: list[str]
) -> bool:
    name = block.name.name
    same = block.first_group.name == block.second_group.name
    if block.first.name == block.second.name:
        context.findings.error(
            "duplicate-name",
            f"the two partners of `{name}` are both called `{block.first.name}`",
            block.second.span,
            "write `between a, b in ...`",
        )
        return False
    total = len(first) * (len(first) - 1) // 2 if same else len(first) * len(second)
    if total > MAX_PAIRS:
        context.findings.error(
            "too-many-instances",
            f"`{name}` concerns {total} pairs (the limit is {MAX_PAIRS})",
            block.name.span,
        )
        return False
    if total == 0:
        context.findings.warn(
            "empty-interaction",
            f"`{name}` never happens: there are not two agents for it",
            block.name.span,
        )
    return True


def _inside(template: Interaction, partner: str) -> list[str]:
    """The variables of a partner that an interaction mentions, as paths inside it."""
    parts = [template.guard]
    names = set()
    for action in template.actions:
        names.add(action.variable)
        parts += [b for b in (action.range.low, action.range.high) if b is not None]
    names |= free_variables(*parts)
    prefix = f"{partner}."
    return sorted(n.removeprefix(prefix) for n in names if n.startswith(prefix))


def _partner(instance: AgentInstance, paths: list[str]) -> Partner | None:
    """An instance with its variables at these paths; None if it lacks one."""
    found = [find_member(instance, tuple(path.split("."))) for path in paths]
    if None in found:
        return None
    return Partner(instance.name, tuple(d.name for d in found if d is not None))


def _members(context: Context, group: Identifier, scope: Scope) -> list[str] | None:
    if scope.is_unmeasured(group.name):
        return None
    extent = scope.group(group.name)
    if extent is not None:
        names = [f"{group.name}[{number}]" for number in range(extent[0], extent[1] + 1)]
        return [name for name in names if name in scope.instances]
    if group.name in scope.instances:
        return [group.name]
    known = [*scope.groups, *(name for name in scope.instances if "[" not in name)]
    context.findings.error(
        "unknown-name",
        f"there are no agents `{group.name}` here",
        group.span,
        did_you_mean(group.name, known),
    )
    return None

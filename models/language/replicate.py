"""Many alike: replicated sub-agents, and interactions declared once for all their pairs."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.models.agents.families import MAX_PAIRS, Family, Partner
from workbench.models.agents.hierarchy import AgentInstance, Interaction
from workbench.models.automaton import EventKind
from workbench.models.expressions.traversal import free_variables
from workbench.models.language.actions import actions
from workbench.models.language.claims import condition
from workbench.models.language.context import Context
from workbench.models.language.declarations import index_range
from workbench.models.language.findings import did_you_mean
from workbench.models.language.members import find_member
from workbench.models.language.scope import Scope
from workbench.models.language.syntax import Identifier, InstanceDeclaration, InteractionBlock
from workbench.models.language.unrolling import indexed


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

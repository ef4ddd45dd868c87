"""Many alike: replicated sub-agents, and interactions declared once for all their pairs."""

from __future__ import annotations

from collections.abc import Iterator

from models.automaton import EventKind
from models.hierarchy import Interaction
from models.language.actions import actions
from models.language.claims import condition
from models.language.context import Context
from models.language.declarations import index_range
from models.language.findings import did_you_mean
from models.language.scope import Scope
from models.language.syntax import Identifier, Instance, InteractionBlock

MAX_PAIRS = 50_000
"""How many pairs one interaction may be unrolled to."""


def copies(context: Context, instance: Instance, scope: Scope) -> Iterator[tuple[str, Scope]]:
    """The name of every copy of an instance and the scope for its arguments: the instance
    itself, or `car[1]`, `car[2]`, ... with the index bound."""
    name = instance.name.name
    if instance.replicated is None:
        yield name, scope
        return
    extent = index_range(context, instance.replicated, scope, f"the agents `{name}`")
    low, high = extent if extent is not None else (0, -1)
    scope.groups[name] = (low, high)
    if extent is not None and low > high:
        context.findings.warn(
            "empty-replication",
            f"there are no agents `{name}`: the range {low}..{high} is empty",
            instance.replicated.span,
        )
    index = instance.replicated.index or ""
    for number in range(low, high + 1):
        yield f"{name}[{number}]", context.resolver.indexed(scope, index, number)


def interactions(context: Context, block: InteractionBlock, scope: Scope) -> Iterator[Interaction]:
    """One interaction for every pair: unordered pairs within one group, all pairs of two."""
    first = _members(context, block.first_group, scope)
    second = _members(context, block.second_group, scope)
    if first is None or second is None:
        return
    same = block.first_group.name == block.second_group.name
    if same and len(first) < 2:
        context.findings.warn(
            "empty-interaction",
            f"`{block.name.name}` never happens: there are fewer than two `{first[0]}`"
            if first
            else f"`{block.name.name}` never happens: its group is empty",
            block.name.span,
        )
    total = len(first) * (len(first) - 1) // 2 if same else len(first) * len(second)
    if total > MAX_PAIRS:
        context.findings.error(
            "too-many-instances",
            f"`{block.name.name}` concerns {total} pairs (the limit is {MAX_PAIRS})",
            block.name.span,
        )
        return
    if block.first.name == block.second.name:
        context.findings.error(
            "duplicate-name",
            f"the two partners of `{block.name.name}` are both called `{block.first.name}`",
            block.second.span,
            "write `between a, b in ...`",
        )
        return
    for number, one in enumerate(first):
        for other in first[number + 1 :] if same else second:
            made = _interaction(context, block, one, other, scope)
            if made is None:
                return
            yield made


def _interaction(
    context: Context, block: InteractionBlock, one: str, other: str, scope: Scope
) -> Interaction | None:
    inner = Scope(scope, aliases={block.first.name: one, block.second.name: other})
    guard = condition(context, block.guard, inner, "the condition of an interaction")
    changes = actions(context, block.actions, inner)
    if guard is None:
        return None
    return Interaction(
        block.name.name,
        (one, other),
        guard,
        changes,
        block.urgent,
        block.event or EventKind.UNILATERAL,
        block.span,
    )


def _members(context: Context, group: Identifier, scope: Scope) -> list[str] | None:
    extent = scope.group(group.name)
    if extent is not None:
        return [f"{group.name}[{number}]" for number in range(extent[0], extent[1] + 1)]
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

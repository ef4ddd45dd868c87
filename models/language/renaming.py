"""Renamings in brackets: `[ vel, front := vel[i], vel[i-1] ]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from workbench.models.agents.hierarchy import Access, Declaration
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import Op
from workbench.models.language.context import Context
from workbench.models.language.findings import did_you_mean, listed
from workbench.models.language.scope import Binding, NameRole, Scope
from workbench.models.language.syntax import Identifier, InstanceDeclaration

Renaming: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs of a part's own name and the name around it."""


def instance_renaming(
    context: Context,
    instance: InstanceDeclaration,
    variables: Sequence[Declaration],
    what: str,
    scope: Scope,
) -> Renaming:
    """The renaming of an instance: left the part's own shared variables, right variables of
    the surroundings; whole arrays are matched element by element."""
    own = {v.name: v for v in variables}
    arrays = {v.name.partition("[")[0] for v in variables if v.name.endswith("]")}
    found: dict[str, str] = {}
    for left, right in instance.renaming:
        pairs = _pairs(context, left, right, own, arrays, what, scope)
        if not pairs:
            context.misnamed.add((instance.span, left.name))
        for inner, outer in pairs:
            if inner in found:
                context.findings.error("duplicate-name", f"`{inner}` is renamed twice", left.span)
            found[inner] = outer
    for declared in variables:
        if declared.access is not Access.PRIVATE and declared.name not in found:
            around = scope.names.get(declared.name)
            if around is not None and around.declaration is not None:
                found[declared.name] = around.declaration.name
    return tuple((inner, outer) for inner, outer in found.items() if inner != outer)


def _pairs(
    context: Context,
    left: Identifier,
    right: Expression,
    own: dict[str, Declaration],
    arrays: set[str],
    what: str,
    scope: Scope,
) -> list[tuple[str, str]]:
    if left.name in arrays:
        return _array_pairs(context, left, right, own, scope)
    declared = own.get(left.name)
    if declared is None:
        shared = [v.name for v in own.values() if v.access is not Access.PRIVATE]
        context.findings.error(
            "unknown-name",
            f"{what} has no variable `{left.name}` to rename",
            left.span,
            did_you_mean(left.name, shared)
            or (f"it shares {listed(shared)}" if shared else "it shares no variables")
            + "; its own names stand left of `:=`",
        )
        return []
    if declared.access is Access.PRIVATE:
        context.findings.error(
            "private-variable",
            f"`{left.name}` is private in {what}; only shared variables can be renamed",
            left.span,
            "declare it `write` or `read` there",
        )
        return []
    expression, kind = context.resolver.resolve(right, scope)
    if kind is None:
        return []
    binding: Binding | Declaration | None = None
    if right.op is Op.VARIABLE:
        binding = scope.find(right.name)
    elif right.op is Op.SELECT:
        indices = [context.resolver.resolve(index, scope) for index in right.args]
        binding = context.resolver.selected(right, indices, scope)
    if not isinstance(binding, Binding) or binding.role is not NameRole.VARIABLE:
        context.findings.error(
            "not-a-variable",
            "right of `:=` stands a variable of the surrounding agent or mode",
            right.span,
            "pass constants as arguments; share another part's variable by declaring it here"
            " and renaming both to it",
        )
        return []
    return [(left.name, expression.name)]


def _array_pairs(
    context: Context,
    left: Identifier,
    right: Expression,
    own: dict[str, Declaration],
    scope: Scope,
) -> list[tuple[str, str]]:
    """`[ v := vel ]` for two arrays of the same range."""
    inner = [name for name in own if name.partition("[")[0] == left.name]
    extent = scope.extent(right.name) if right.op is Op.VARIABLE else None
    if extent is None:
        context.findings.error(
            "not-a-variable", f"`{left.name}` is an array; rename it to an array", right.span
        )
        return []
    written = {name: f"{right.name}{name[len(left.name) :]}" for name in inner}
    missing = [outer for outer in written.values() if scope.find(outer) is None]
    if missing:
        context.findings.error(
            "index-out-of-range",
            f"`{right.name}` goes from {extent[0]} to {extent[1]}, so `{missing[0]}` is missing",
            right.span,
            "declare both arrays with the same range",
        )
        return []
    found = {name: scope.find(outer) for name, outer in written.items()}
    return [(n, b.declaration.name) for n, b in found.items() if b and b.declaration]

"""Variable declarations, single and arrays, and intervals of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.models.agents.hierarchy import Access, Declaration
from workbench.models.automaton import REAL, Kind, Range, ValueType
from workbench.models.expressions.expression import Expression, variable
from workbench.models.language.context import Context
from workbench.models.language.resolve import value_type
from workbench.models.language.scope import Binding, NameRole, Scope
from workbench.models.language.syntax import (
    DeclaredName,
    IndexRange,
    VariableDeclaration,
    WrittenInterval,
)
from workbench.models.language.typecheck import require
from workbench.models.source import Span

MAX_ELEMENTS = 10_000
"""How many elements an array, or a group of replicated agents, may have."""


def index_range(
    context: Context, extent: IndexRange, scope: Scope, what: str
) -> tuple[int, int] | None:
    """The first and last index of an array or a replication."""
    low = context.resolver.integer(extent.low, scope, f"the first index of {what}")
    high = context.resolver.integer(extent.high, scope, f"the last index of {what}")
    if low is None or high is None:
        return None
    if high - low + 1 > MAX_ELEMENTS:
        context.findings.error(
            "too-many-instances",
            f"{what} has {high - low + 1} elements (the limit is {MAX_ELEMENTS})",
            extent.span,
        )
        return None
    return low, high


def declare(
    context: Context,
    blocks: Iterable[VariableDeclaration],
    scope: Scope,
    renaming: Mapping[str, str],
    *,
    in_mode: bool,
) -> list[Declaration]:
    """The variables of an agent or mode, bound in its scope under their names as written
    and declared under those of the renaming."""
    found: list[Declaration] = []
    for block in blocks:
        for declared in block.names:
            found.extend(_declare_one(context, block, declared, scope, renaming))
            if in_mode and declared.initial is not None:
                _check_belongs_here(context, block.access, declared)
    return found


def _declare_one(
    context: Context,
    block: VariableDeclaration,
    declared: DeclaredName,
    scope: Scope,
    renaming: Mapping[str, str],
) -> list[Declaration]:
    name, span = declared.name.name, declared.name.span
    kind = value_type(block.type)
    behaviour = block.kind or (Kind.ANALOG if kind == REAL else Kind.DISCRETE)
    outer = context.scope.find(name)
    if outer is not None and outer.role is NameRole.UNCERTAIN:
        context.findings.error(
            "duplicate-name",
            f"`{name}` is already an uncertain constant of the model",
            span,
            "rename the variable",
        )
        return []
    names = [name]
    if declared.extent is not None:
        extent = index_range(context, declared.extent, scope, f"the array `{name}`")
        low, high = extent if extent is not None else (0, -1)
        if extent is None:
            scope.unmeasured.add(name)
        names = [f"{name}[{number}]" for number in range(low, high + 1)]
        if name in scope.arrays or name in scope.names:
            context.findings.error("duplicate-name", f"`{name}` is declared twice", span)
            return []
        scope.arrays[name] = (low, high)
    initial = first_value(context, declared, kind, scope)
    found: list[Declaration] = []
    for element in names:
        outer_name = renaming.get(element, element)
        declaration = Declaration(outer_name, kind, behaviour, block.access, initial, span)
        binding = Binding(variable(outer_name), kind, NameRole.VARIABLE, span, declaration)
        if element != name:
            scope.names[element] = binding
        elif not scope.bind(context.findings, element, binding):
            continue
        found.append(declaration)
    return found


def _check_belongs_here(context: Context, access: Access, declared: DeclaredName) -> None:
    """Refuse a first value in a mode for a variable that is not the mode's own."""
    if access is Access.PRIVATE:
        return
    hint = (
        "give it in the agent, where it is declared or in `init { ... }`; a variable that is "
        "`private` to the mode may have one here"
    )
    context.findings.error(
        "misplaced-first-value",
        f"`{declared.name.name}` belongs to the agent, so a mode cannot give it its first value",
        declared.name.span,
        hint if access.writes else "say in the agent what is known of it: `assume { ... }`",
    )


def first_value(
    context: Context, declared: DeclaredName, kind: ValueType, scope: Scope
) -> Range | None:
    """The range of `= e` or `in [l, u]` after a declared name."""
    value = declared.initial
    if value is None:
        return None
    what = f"the first value of `{declared.name.name}`"
    if isinstance(value, WrittenInterval):
        bounds = [
            context.resolver.constant_of(bound, scope, kind, what)
            for bound in (value.low, value.high)
        ]
        if bounds[0] is None or bounds[1] is None:
            return None
        return checked_range(context, bounds[0], bounds[1], kind, value.span)
    single = context.resolver.constant_of(value, scope, kind, what)
    return Range.exactly(single) if single is not None else None


def checked_range(
    context: Context, low: Expression, high: Expression, kind: ValueType, span: Span
) -> Range | None:
    """The range between two bounds, refused where it is plainly empty."""
    if not kind.is_numeric:
        context.findings.error("type-mismatch", "only numbers can lie in an interval", span)
        return None
    if low.is_constant and high.is_constant and low.constant > high.constant:
        context.findings.error(
            "empty-interval",
            f"this interval is empty: {low.constant} is above {high.constant}",
            span,
            "swap the bounds",
        )
        return None
    return Range(low, high)


def value_range(
    context: Context,
    value: Expression | WrittenInterval,
    kind: ValueType,
    scope: Scope,
    what: str,
) -> Range | None:
    """The range of a value or an interval over the variables in scope."""
    resolver = context.resolver
    if not isinstance(value, WrittenInterval):
        expression, given = resolver.resolve(value, scope)
        if given is None or not require(context.findings, given, kind, value.span, what):
            return None
        return Range.exactly(expression)
    bounds: list[Expression] = []
    for bound in (value.low, value.high):
        expression, given = resolver.resolve(bound, scope)
        place = bound.span or value.span
        if given is None or not require(context.findings, given, kind, place, what):
            return None
        bounds.append(expression)
    return checked_range(context, bounds[0], bounds[1], kind, value.span)

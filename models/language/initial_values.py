"""`init` blocks: where the variables of an agent start."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.models.agents.hierarchy import Access, Declaration
from workbench.models.automaton import Range
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
from workbench.models.language.actions import assigned
from workbench.models.language.claims import condition
from workbench.models.language.context import Context
from workbench.models.language.declarations import value_range
from workbench.models.language.scope import Scope
from workbench.models.language.syntax import InitBlock, SettingStatement, WrittenInterval


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

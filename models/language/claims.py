"""Assertions and forbidden sets: each gets a name that its author can recognise."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.models.agents.hierarchy import Claim
from workbench.models.automaton import BOOL, NEVER_BLOCKS, Constraint, PropertyKind
from workbench.models.expressions.expression import Expression
from workbench.models.language.actions import flows
from workbench.models.language.context import Context
from workbench.models.language.scope import Scope
from workbench.models.language.syntax import ClaimBlock
from workbench.models.language.typecheck import require

MAX_NAME = 60
"""The longest name made from a condition's text."""


def claims(
    context: Context, blocks: Iterable[ClaimBlock], scope: Scope, *, of_mode: bool = False
) -> tuple[Claim, ...]:
    """The claims of an agent or mode; one without a name is called by its condition."""
    found: list[Claim] = []
    names: dict[str, ClaimBlock] = {}
    for block in blocks:
        if refused := _about_progress(block, of_mode):
            context.findings.error("progress-claim", refused[0], block.span, refused[1])
            continue
        value = condition(context, block.condition, scope, f"what `{_word(block)}` says")
        if value is None:
            continue
        name = block.name if block.name else readable(value)
        if block.name and name in names and names[name].name:
            context.findings.error(
                "duplicate-name",
                f'"{name}" is claimed twice (first at line {names[name].span.line})',
                block.span,
                "give the two properties different names",
            )
        count, unique = 2, name
        while unique in names:
            unique = f"{name} ({count})"
            count += 1
        names[unique] = block
        rescue = _rescue(context, block, scope)
        found.append(Claim(unique, value, block.kind, block.span, rescue))
    return tuple(found)


def _about_progress(block: ClaimBlock, of_mode: bool) -> tuple[str, str] | None:
    """What is wrong with a claim that runs go on, or that is called like one, and a hint."""
    if block.kind is not PropertyKind.PROGRESS:
        if block.name != NEVER_BLOCKS:
            return None
        said = f'only the property that runs go on is called "{NEVER_BLOCKS}"'
        return said, "choose another name"
    if not of_mode:
        return None
    return "that runs go on is claimed of the whole model", "move the property to an agent"


def _rescue(context: Context, block: ClaimBlock, scope: Scope) -> tuple[Constraint, ...]:
    """The derivatives that might still have helped against a violation: one value each."""
    for relation in block.rescue:
        if relation.operator != "==":
            context.findings.error(
                "rescue-range",
                f"a rescue says what `d({relation.variable.name})` is, not a range of it",
                relation.span,
                "write `==` and the best value",
            )
            return ()
    return flows(context, block.rescue, scope)


def _word(block: ClaimBlock) -> str:
    return "forbid" if block.kind == "forbidden" else "assert"


def readable(value: Expression) -> str:
    """The text of a condition, shortened to serve as a name."""
    text = str(value)
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 3] + "..."


def condition(context: Context, written: Expression, scope: Scope, what: str) -> Expression | None:
    """A resolved expression that must be a truth value."""
    value, kind = context.resolver.resolve(written, scope)
    if kind is None or not require(context.findings, kind, BOOL, written.span, what):
        return None
    return value

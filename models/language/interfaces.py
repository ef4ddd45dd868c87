"""What a part shares with its surroundings must be declared there, and fit.

Every global variable of a submode or sub-agent is declared in the mode or agent around it,
with the same type; what the part writes, the surroundings may write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from models.automaton import Kind
from models.hierarchy import Access, Declaration
from models.language.context import Context
from models.language.findings import did_you_mean
from models.source import Span


def check_interface(
    context: Context,
    inner: Sequence[Declaration],
    outer: Mapping[str, Declaration],
    renaming: Sequence[tuple[str, str]],
    what: str,
    span: Span | None,
) -> None:
    """Report every shared variable of a part that its surroundings lack or contradict."""
    names = dict(renaming)
    for declaration in inner:
        name = names.get(declaration.name, declaration.name)
        around = outer.get(name)
        if around is None:
            _missing(context, declaration, name, outer, what, span)
        elif around.type != declaration.type:
            context.findings.error(
                "type-mismatch",
                f"{what} shares `{name}` as {declaration.type}, but here it is {around.type}",
                span,
                "declare it with the same type in both",
            )
        elif declaration.access.writes and around.access is Access.READ:
            context.findings.error(
                "read-only",
                f"{what} writes `{name}`, which is declared `read` here",
                span,
                f"declare `{name}` as `write` or `private` here",
            )
        elif declaration.access.writes and around.kind is not declaration.kind:
            context.findings.error(
                "kind-mismatch",
                f"{what} writes `{name}` as {declaration.kind}, but here it is {around.kind}",
                span,
                f"declare it `{Kind.ANALOG}` or `{Kind.DISCRETE}` in both",
            )


def _missing(
    context: Context,
    declaration: Declaration,
    name: str,
    outer: Mapping[str, Declaration],
    what: str,
    span: Span | None,
) -> None:
    access = "private" if declaration.access.writes else "read"
    hint = f"declare it: `{access} {declaration.kind} {declaration.type} {name};`"
    near = did_you_mean(name, outer)
    if near is not None:
        hint += f", or rename it in brackets to the one you mean ({near[13:-1]})"
    context.findings.error(
        "undeclared-variable", f"{what} shares `{name}`, which is not declared here", span, hint
    )

"""What a part shares with its surroundings must be declared there, and fit.

Every global variable of a submode or sub-agent is declared in the mode or agent around it,
with the same type; what the part writes, the surroundings may write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.models.agents.hierarchy import Access, Declaration
from workbench.models.automaton import Kind
from workbench.models.expressions.expression import variable
from workbench.models.language.context import Context
from workbench.models.language.findings import closest
from workbench.models.language.renaming import Renaming
from workbench.models.language.scope import Binding, NameRole, Scope
from workbench.models.record import record
from workbench.models.source import Span


@record
class InnerPart:
    """A submode or sub-agent as its surroundings see it; `label` is how messages call it."""

    label: str
    shared: tuple[Declaration, ...]
    renaming: Renaming
    span: Span | None

    @classmethod
    def of(
        cls, label: str, variables: Sequence[Declaration], renaming: Renaming, span: Span | None
    ) -> InnerPart:
        """The part with its shared variables."""
        shared = tuple(v for v in variables if v.access is not Access.PRIVATE)
        return cls(label, shared, renaming, span)

    def outer_names(self) -> Iterator[tuple[str, Declaration]]:
        """Every shared variable with its name in the surroundings."""
        names = dict(self.renaming)
        for declaration in self.shared:
            yield names.get(declaration.name, declaration.name), declaration


def check_interfaces(
    context: Context, parts: Sequence[InnerPart], variables: Sequence[Declaration], scope: Scope
) -> None:
    """Report every shared variable of the parts that the surroundings lack or contradict.

    A variable that is missing is reported once, and then taken as known.
    """
    if scope.unmeasured:
        return
    outer = {v.name: v for v in variables}
    written = {n for part in parts for n, d in part.outer_names() if d.access.writes}
    missing: set[str] = set()
    for part in parts:
        for name, declaration in part.outer_names():
            around = outer.get(name)
            if around is not None:
                _compare(context, part, name, declaration, around)
            elif name not in missing:
                missing.add(name)
                if (part.span, name.partition("[")[0]) in context.misnamed:
                    continue
                access = "private" if name in written else "read"
                _missing(context, part, name, declaration, access, outer)
    for name in missing:
        scope.names.setdefault(name, Binding(variable(name), None, NameRole.VARIABLE))


def _compare(
    context: Context, part: InnerPart, name: str, declaration: Declaration, around: Declaration
) -> None:
    if around.type != declaration.type:
        context.findings.error(
            "type-mismatch",
            f"{part.label} shares `{name}` as {declaration.type}, but here it is {around.type}",
            part.span,
            "declare it with the same type in both",
        )
    elif declaration.access.writes and around.access is Access.READ:
        context.findings.error(
            "read-only",
            f"{part.label} writes `{name}`, which is declared `read` here",
            part.span,
            f"declare `{name}` as `write` or `private` here",
        )
    elif declaration.access.writes and around.kind is not declaration.kind:
        context.findings.error(
            "kind-mismatch",
            f"{part.label} writes `{name}` as {declaration.kind}, but here it is {around.kind}",
            part.span,
            f"declare it `{Kind.ANALOG}` or `{Kind.DISCRETE}` in both",
        )


def _missing(
    context: Context,
    part: InnerPart,
    name: str,
    declaration: Declaration,
    access: str,
    outer: Mapping[str, Declaration],
) -> None:
    hint = f"declare it: `{access} {declaration.kind} {declaration.type} {name};`"
    near = closest(name, outer)
    if near is not None:
        hint += (
            f", or rename it in brackets to the one you mean: `[ {declaration.name} := {near} ]`"
        )
    context.findings.error(
        "undeclared-variable",
        f"{part.label} shares `{name}`, which is not declared here",
        part.span,
        hint,
    )

"""Modes with their parameters replaced by values.

A mode sees its parameters, its own variables and the constants of the model, nothing else;
so an instance is determined by the definition, the values, and (for a top-level mode, which
has no instance around it) the renaming, and is made once for all its uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from workbench.models.agents.hierarchy import (
    DEFAULT_ENTRY,
    DEFAULT_EXIT,
    INIT,
    ControlPoint,
    Mode,
    ModeInstance,
    Transition,
)
from workbench.models.automaton import EventKind
from workbench.models.expressions.expression import TRUE, Expression, conjunction
from workbench.models.language.actions import actions, algebra, flows
from workbench.models.language.claims import claims, condition
from workbench.models.language.context import Context, Trail, argument_values, definition_scope
from workbench.models.language.declarations import declare
from workbench.models.language.findings import DiagnosticLog, did_you_mean, listed
from workbench.models.language.interfaces import InnerPart, check_interfaces
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
    PointReference,
    Points,
    TransitionBlock,
    VariableDeclaration,
)
from workbench.models.record import record
from workbench.models.source import Span

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


# Control points as written, resolved to points of the mode or of its submodes.
#
# A name alone is a submode (its default exit as a source, its default entry as a target) or
# an entry or exit point of the mode itself. `default` is the mode's own default entry; in a
# composed top-level mode it is the point where the agent starts, the same as `init`.


@record
class PointTable:
    """The control points that a mode's transitions can name."""

    mode: str
    entries: tuple[str, ...]
    exits: tuple[str, ...]
    submodes: dict[str, Mode | None]
    is_top: bool

    def source(self, point: PointReference, findings: DiagnosticLog) -> ControlPoint | None:
        """Where a transition starts."""
        name = point.first
        if point.second is not None:
            return self._of_submode(point, findings, is_source=True)
        if name == "init":
            return ControlPoint(None, INIT if self.is_top else DEFAULT_ENTRY)
        if name == "default":
            starts = self.is_top and bool(self.submodes)
            return ControlPoint(None, INIT if starts else DEFAULT_ENTRY)
        if name in self.submodes:
            return ControlPoint(name, DEFAULT_EXIT)
        if name in self.entries:
            return ControlPoint(None, name)
        if name in self.exits:
            findings.error(
                "wrong-point",
                f"`{name}` is an exit of this mode: transitions lead to it, not from it",
                point.span,
                "turn the transition round, or use an entry",
            )
            return None
        self._unknown(name, point.span, findings)
        return None

    def target(self, point: PointReference, findings: DiagnosticLog) -> ControlPoint | None:
        """Where a transition leads."""
        name = point.first
        if point.second is not None:
            return self._of_submode(point, findings, is_source=False)
        if name == "default" and not self.submodes:
            return ControlPoint(None, DEFAULT_EXIT)
        if name in ("default", "init"):
            findings.error(
                "wrong-point",
                f"a transition cannot lead to `{name}`",
                point.span,
                "name the submode to enter"
                + (f" ({listed(self.submodes)})" if self.submodes else ""),
            )
            return None
        if name in self.submodes:
            return ControlPoint(name, DEFAULT_ENTRY)
        if name in self.exits:
            return ControlPoint(None, name)
        if name in self.entries:
            findings.error(
                "wrong-point",
                f"`{name}` is an entry of this mode: transitions start there, they do not"
                " lead to it",
                point.span,
                "name a submode or an exit as the target",
            )
            return None
        self._unknown(name, point.span, findings)
        return None

    def _of_submode(
        self, point: PointReference, findings: DiagnosticLog, *, is_source: bool
    ) -> ControlPoint | None:
        name, inner = point.first, point.second
        assert inner is not None
        if name not in self.submodes:
            self._unknown(name, point.span, findings)
            return None
        if inner == "default":
            return ControlPoint(name, DEFAULT_EXIT if is_source else DEFAULT_ENTRY)
        mode = self.submodes[name]
        if mode is None:
            return None
        wanted, others = (mode.exits, mode.entries) if is_source else (mode.entries, mode.exits)
        if inner in wanted:
            return ControlPoint(name, inner)
        word = "exit" if is_source else "entry"
        other = "entry" if is_source else "exit"
        if inner in others:
            findings.error(
                "wrong-point",
                f"`{inner}` is an {other} of `{name}`: a transition"
                f" {'leaves by an exit' if is_source else 'enters by an entry'}",
                point.span,
                f"the {word} points of `{name}` are {listed(wanted)}"
                if wanted
                else f"declare one in `{mode.definition}`: `{word} name;`",
            )
        else:
            hint = did_you_mean(inner, wanted) or (
                f"declare it in `{mode.definition}`: `{word} {inner};`"
            )
            findings.error("unknown-point", f"`{name}` has no {word} `{inner}`", point.span, hint)
        return None

    def _unknown(self, name: str, span: Span, findings: DiagnosticLog) -> None:
        known = [*self.submodes, *self.entries, *self.exits]
        hint = did_you_mean(name, known) or (
            f"this mode has {listed(known)}" if known else f"add a submode: `mode {name} = ...;`"
        )
        findings.error(
            "unknown-point",
            f"`{name}` is no submode, entry or exit of `{self.mode}`",
            span,
            hint,
        )

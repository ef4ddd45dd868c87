"""What a model contains but never uses: submodes nobody enters, variables nobody mentions."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.models.agents.hierarchy import DEFAULT_ENTRY, INIT, Access, Agent, Mode
from workbench.models.expressions.expression import FALSE, Expression
from workbench.models.expressions.traversal import free_variables
from workbench.models.language.findings import DiagnosticLog, listed


def check_entrances(mode: Mode, findings: DiagnosticLog, *, is_top: bool) -> None:
    """Report a composed mode that cannot be started, and submodes that are never entered."""
    if not mode.submodes:
        return
    used = [t for t in mode.transitions if t.guard != FALSE]
    starts = [t for t in used if t.source.submode is None]
    if is_top and not any(t.source.point in (INIT, DEFAULT_ENTRY) for t in starts):
        findings.error(
            "no-start",
            f"`{mode.definition}` does not say which submode is active first",
            mode.span,
            f"add `trans from init to {mode.submodes[0].name};`",
        )
        return
    entered = {t.target.submode for t in starts if t.target.submode is not None}
    frontier = list(entered)
    leads: dict[str, set[str]] = {}
    for transition in used:
        source, target = transition.source.submode, transition.target.submode
        if source is not None and target is not None:
            leads.setdefault(source, set()).add(target)
    while frontier:
        for target in leads.get(frontier.pop(), ()):
            if target not in entered:
                entered.add(target)
                frontier.append(target)
    for sub in mode.submodes:
        if sub.name not in entered:
            findings.warn(
                "unreachable-mode",
                f"no transition ever leads to `{sub.name}`",
                sub.span,
                f"add one: `trans from ... to {sub.name} when ...;`",
            )
    _check_default_entries(mode, findings)


def _check_default_entries(mode: Mode, findings: DiagnosticLog) -> None:
    """A submode entered by default must know where to start, unless it resumes."""
    targets = [t.target for t in mode.transitions]
    for sub in mode.submodes:
        if not sub.mode.submodes:
            continue
        by_default = [t for t in mode.transitions if t.target.submode == sub.name]
        by_default = [t for t in by_default if t.target.point == DEFAULT_ENTRY]
        by_name = [p for p in targets if p.submode == sub.name and p.point != DEFAULT_ENTRY]
        starts = any(
            t.source.submode is None and t.source.point == DEFAULT_ENTRY
            for t in sub.mode.transitions
        )
        if by_default and not by_name and not starts:
            hint = f"add `trans from default to ...` to `{sub.mode.definition}`"
            if sub.mode.entries:
                hint += f", or enter it by {listed(f'{sub.name}.{e}' for e in sub.mode.entries)}"
            findings.error(
                "no-start",
                f"`{sub.name}` is entered by default, but `{sub.mode.definition}` does not say"
                " which of its submodes is active first",
                by_default[0].span,
                hint,
            )


def check_unused_mode(mode: Mode, findings: DiagnosticLog) -> None:
    """Report private variables of a mode that nothing mentions."""
    private = [v for v in mode.variables if v.access is Access.PRIVATE and "[" not in v.name]
    if not private:
        return
    mentioned = _mentioned(mode)
    for declared in private:
        if declared.name not in mentioned:
            findings.warn(
                "unused-variable", f"`{declared.name}` is declared but never used", declared.span
            )


def check_unused_agent(agent: Agent, findings: DiagnosticLog) -> None:
    """Report private variables of an atomic agent that nothing mentions."""
    assert agent.top is not None
    mentioned = {v.name for v in agent.top.variables if v.access is not Access.PRIVATE}
    for declared in agent.variables:
        if declared.access is Access.PRIVATE and declared.name not in mentioned:
            findings.warn(
                "unused-variable", f"`{declared.name}` is declared but never used", declared.span
            )


def _mentioned(mode: Mode) -> frozenset[str]:
    found = set(free_variables(*_expressions(mode)))
    found.update(c.variable for c in (*mode.flows, *mode.algebraic))
    found.update(a.variable for t in mode.transitions for a in t.actions)
    for sub in mode.submodes:
        names = dict(sub.renaming)
        for declared in sub.mode.variables:
            if declared.access is not Access.PRIVATE:
                found.add(names.get(declared.name, declared.name))
    return frozenset(found)


def _expressions(mode: Mode) -> Iterator[Expression]:
    yield mode.invariant
    yield from (claim.condition for claim in mode.claims)
    constraints = [*mode.flows, *mode.algebraic]
    for transition in mode.transitions:
        yield transition.guard
        constraints += transition.actions
    for constraint in constraints:
        for bound in (constraint.range.low, constraint.range.high):
            if bound is not None:
                yield bound

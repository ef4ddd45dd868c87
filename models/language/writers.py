"""One writer per variable among parallel agents.

Discrete variables that every writer declares `readwrite` may have several: agents take
discrete steps one at a time, so each assignment is well defined.
"""

from __future__ import annotations

from workbench.models.agents.families import Family, parts_of
from workbench.models.agents.hierarchy import Access, Agent, AgentInstance, Declaration
from workbench.models.automaton import Kind
from workbench.models.language.findings import DiagnosticLog


def check_writers(agent: Agent, findings: DiagnosticLog) -> None:
    """Report variables of a composed agent that several parts write, or none."""
    writers: dict[str, list[tuple[AgentInstance, Declaration]]] = {}
    connected: set[str] = set()
    for part in agent.agents:
        names = dict(part.renaming)
        for declared in part.agent.variables:
            if declared.access is Access.PRIVATE:
                continue
            name = names.get(declared.name, declared.name)
            connected.add(name)
            if declared.access.writes:
                writers.setdefault(name, []).append((part, declared))
    for name, found in writers.items():
        shared = all(d.access is Access.READ_WRITE and d.kind is Kind.DISCRETE for _, d in found)
        if len(found) > 1 and not shared:
            _two_writers(name, found, findings)
    set_by_events = _set_by_events(agent)
    for declared in agent.variables:
        if not declared.access.writes or declared.name in writers:
            continue
        if declared.name in set_by_events:
            continue
        if declared.name not in connected and declared.access is Access.PRIVATE:
            findings.warn(
                "unused-variable", f"`{declared.name}` is declared but never used", declared.span
            )
        elif declared.kind is Kind.ANALOG:
            findings.warn(
                "no-writer",
                f"no part of `{agent.definition}` writes `{declared.name}`: it may change"
                " arbitrarily",
                declared.span,
                "declare it `write` in the agent that determines it, or rename an agent's"
                " variable to it",
            )


def _set_by_events(agent: Agent) -> set[str]:
    """The variables that interactions assign."""
    found: set[str] = set()
    for part in parts_of(agent.interactions):
        if not isinstance(part, Family):
            found |= {a.variable for a in part.actions}
            continue
        assigned = {a.variable for a in part.pattern.actions}
        for slots, partners in zip(
            part.slots, (part.first, part.second or part.first), strict=True
        ):
            places = [i for i, slot in enumerate(slots) if slot in assigned]
            found |= {partner.variables[i] for partner in partners for i in places}
        found |= assigned.difference(*part.slots)
    return found


def _two_writers(
    name: str, found: list[tuple[AgentInstance, Declaration]], findings: DiagnosticLog
) -> None:
    (one, _), (other, declared) = found[0], found[1]
    hint = f"rename one of them: `agent {other.name} = ... [ {declared.name} := another ];`"
    if all(d.kind is Kind.DISCRETE for _, d in found):
        hint = "declare it `readwrite` in all of them if they are meant to share it"
    line = f" (line {one.span.line})" if one.span else ""
    findings.error(
        "two-writers",
        f"both `{one.name}`{line} and `{other.name}` write `{name}`; a variable has one writer",
        other.span,
        hint,
    )

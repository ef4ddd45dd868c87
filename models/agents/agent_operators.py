"""CHARON's operators on agents: parallel composition, hiding and renaming.

`compose(a, b)` is A || B: the agents run side by side and share variables of equal names.
`hide(a, names)` is A \\ {names}: the named variables become private. `rename(a, {x: y})` is
A[x := y]. (Proc. IEEE 91(1), 2003, section III-A.)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from workbench.models.agents.hierarchy import Access, Agent, AgentInstance, Declaration
from workbench.models.source import Diagnostic, ModelError


def compose(*agents: Agent) -> Agent:
    """The agents in parallel, sharing global variables by name; private ones stay apart.

    Instances are named by definition, with a number where a definition occurs again.
    """
    assert agents, "a composition has parts"
    shared: dict[str, Declaration] = {}
    instances: list[AgentInstance] = []
    used: set[str] = set()
    for agent in agents:
        for declared in agent.variables:
            if declared.access is not Access.PRIVATE:
                shared[declared.name] = _together(shared.get(declared.name), declared)
        name, count = agent.definition, 1
        while name in used:
            count += 1
            name = f"{agent.definition}{count}"
        used.add(name)
        instances.append(AgentInstance(name, agent))
    parameters = {p.name: p for agent in agents for p in agent.parameters}
    return Agent(
        "_".join(agent.definition for agent in agents),
        tuple(shared.values()),
        agents=tuple(instances),
        parameters=tuple(parameters.values()),
    )


def hide(agent: Agent, names: Collection[str]) -> Agent:
    """The agent with these variables private. Only what the agent writes can be hidden."""
    visible = {d.name: d for d in agent.variables if d.access is not Access.PRIVATE}
    for name in names:
        if name not in visible or not visible[name].access.writes:
            known = sorted(n for n, d in visible.items() if d.access.writes)
            raise ModelError(
                Diagnostic(
                    "cannot-hide",
                    f"{agent.definition} writes no variable {name} that could be hidden",
                    agent.span,
                    f"it writes {', '.join(known) or 'nothing'}",
                )
            )
    hidden = frozenset(names)
    return replace(
        agent,
        variables=tuple(
            replace(d, access=Access.PRIVATE) if d.name in hidden else d for d in agent.variables
        ),
    )


def rename(agent: Agent, names: Mapping[str, str]) -> Agent:
    """The agent with global variables renamed (own name to new name), all at once.

    The result has the agent as its only part. Two variables must not get the same name.
    """
    visible = [d for d in agent.variables if d.access is not Access.PRIVATE]
    unknown = sorted(names.keys() - {d.name for d in visible})
    if unknown:
        raise ModelError(
            Diagnostic(
                "unknown-name",
                f"{agent.definition} has no global variable {', '.join(unknown)} to rename",
                agent.span,
                f"its global variables are {', '.join(d.name for d in visible) or 'none'}",
            )
        )
    found: dict[str, Declaration] = {}
    for declared in visible:
        name = names.get(declared.name, declared.name)
        if name in found:
            raise ModelError(
                Diagnostic(
                    "renaming-clash",
                    f"renaming makes two variables of {agent.definition} one: {name}",
                    agent.span,
                    "rename to a name that is not in use",
                )
            )
        found[name] = replace(declared, name=name, initial=None)
    renaming = tuple((own, new) for own, new in names.items() if own != new)
    return Agent(
        agent.definition,
        tuple(found.values()),
        agents=(AgentInstance(agent.definition, agent, renaming),),
        parameters=agent.parameters,
    )


def _together(known: Declaration | None, new: Declaration) -> Declaration:
    """One declaration for a variable that several parts use; first values stay with them."""
    if known is None:
        return replace(new, initial=None)
    if known.type != new.type or known.kind != new.kind:
        raise ModelError(
            Diagnostic(
                "two-types",
                f"{new.name} is {known.kind} {known.type} in one agent and {new.kind} "
                f"{new.type} in another",
                new.span or known.span,
                "give the variable one type, or rename it in one of the agents",
            )
        )
    if known.access is new.access:
        both = Access.READ_WRITE if known.access.writes else known.access
    elif {known.access, new.access} == {Access.READ, Access.WRITE}:
        both = Access.WRITE
    else:
        both = Access.READ_WRITE
    return replace(known, access=both)

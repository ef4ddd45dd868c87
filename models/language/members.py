"""Variables of sub-agents by path: `car[3].x`, `follower.controller.e`.

The name that results is the variable's name in the agent where the path starts: a private
variable keeps its path, one shared with the surroundings goes by its name out there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.models.agents.hierarchy import Access, AgentInstance, Declaration, Mode, renamed


def find_member(instance: AgentInstance, path: tuple[str, ...]) -> Declaration | None:
    """The variable at `path` inside an instance, under its name out here."""
    chain, rest = _descend(instance, path)
    found = _declared(chain[-1], rest)
    if found is None:
        return None
    name = ".".join(rest)
    for level in reversed(chain):
        own = next((v for v in level.agent.variables if v.name == name), None)
        if own is not None and own.access is not Access.PRIVATE:
            name = renamed(level.renaming, name)
        else:
            name = f"{level.name}.{name}"
    return replace(found, name=name)


def member_names(instance: AgentInstance, path: tuple[str, ...]) -> tuple[str, ...]:
    """The names that exist at the place where a path fails."""
    chain, _ = _descend(instance, path)
    return tuple(_names(chain[-1]))


def _descend(
    instance: AgentInstance, path: tuple[str, ...]
) -> tuple[list[AgentInstance], tuple[str, ...]]:
    """Follow the path through sub-agents as far as it goes."""
    chain = [instance]
    while len(path) > 1:
        inner = next((a for a in chain[-1].agent.agents if a.name == path[0]), None)
        if inner is None:
            break
        chain.append(inner)
        path = path[1:]
    return chain, path


def _declared(instance: AgentInstance, path: tuple[str, ...]) -> Declaration | None:
    """A variable of the agent itself, or a private one of its modes."""
    if len(path) == 1:
        for declaration in instance.agent.variables:
            if declaration.name == path[0]:
                return declaration
    mode: Mode | None = instance.agent.top
    for name in path[:-1]:
        inner = next((s for s in mode.submodes if s.name == name), None) if mode else None
        mode = inner.mode if inner else None
    if mode is None:
        return None
    return next(
        (v for v in mode.variables if v.name == path[-1] and v.access is Access.PRIVATE), None
    )


def _names(instance: AgentInstance) -> Iterator[str]:
    yield from (v.name for v in instance.agent.variables)
    yield from (a.name for a in instance.agent.agents)
    if instance.agent.top is not None:
        yield from (v.name for v in instance.agent.top.variables if v.access is Access.PRIVATE)

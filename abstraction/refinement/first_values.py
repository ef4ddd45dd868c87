"""Whether the start of a part can be compared without the others.

What an agent asks of first values (`init`), and what the first transitions of its parts read,
are values before the first transitions; a simulation of a part alone relates the states after
them. The two are the same for a variable that no first transition assigns and that no equation
defines where control first rests. Everything else that others ask for ties the start of the
part to theirs: there the wholes have to be compared.
"""

from __future__ import annotations

from workbench.models.agents.atomic_agent import reads
from workbench.models.agents.flatten import flatten
from workbench.models.agents.hierarchy import Access, Agent, AgentInstance, renamed
from workbench.models.expressions.traversal import free_variables


def starts_alone(whole: Agent, own: AgentInstance, other: AgentInstance) -> bool:
    """Whether nothing outside a part, in one system and in the other, asks for first values of
    variables that the part sets when it starts. The two wholes differ in their parts alone."""
    touched = _set_at_the_start(own) | _set_at_the_start(other)
    if not touched:
        return True
    siblings = (part for part in whole.agents if part.name != own.name)
    return not touched & _asked_for(whole).union(*map(_read_at_the_start, siblings))


def _asked_for(agent: Agent) -> frozenset[str]:
    """The variables about whose first values an agent itself says something."""
    found = set(free_variables(agent.initial))
    for declared in agent.variables:
        if declared.initial is not None:
            given = declared.initial
            found |= free_variables(*(b for b in (given.low, given.high) if b is not None))
            found.add(declared.name)
    return frozenset(found)


def _set_at_the_start(part: AgentInstance) -> frozenset[str]:
    """What the part shows, in the names of the whole, and has set when time begins: by first
    transitions, or by equations."""
    found: set[str] = set()
    for component in flatten(part.agent, part.name).components:
        for start in component.initial:
            found |= {r.variable for r in start.resets}
            found |= {c.variable for c in component.location(start.location).algebraic}
    return _outside(part, found)


def _read_at_the_start(part: AgentInstance) -> frozenset[str]:
    """What the first transitions and the `init` of a part read, in the names of the whole."""
    found: set[str] = set()
    for component in flatten(part.agent, part.name).components:
        for start in component.initial:
            found |= reads(start)
    return _outside(part, found)


def _outside(part: AgentInstance, names: set[str]) -> frozenset[str]:
    shown = (d.name for d in part.agent.variables if d.access is not Access.PRIVATE)
    return frozenset(renamed(part.renaming, name) for name in shown if name in names)

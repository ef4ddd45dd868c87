"""What a system shows to the outside: the first obligation.

For agents these are their variables that are not private, with direction and type. A closed
agent, which has none, shows those that it declares itself, and not those of its parts and modes;
an automaton without a hierarchy shows all its variables. Of these, the ones that both systems
show are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.abstraction.refinement.outcome import Failure
from workbench.models.agents.hierarchy import Access, Agent
from workbench.models.automaton import Automaton, names_of
from workbench.models.model import Model
from workbench.models.source import Span


@dataclass(frozen=True)
class Shown:
    """A name on the outside: what it is, and where it is declared."""

    what: str
    span: Span | None = None


def globals_of(agent: Agent | None) -> dict[str, Shown]:
    """The variables of an agent that others see."""
    if agent is None:
        return {}
    return {
        d.name: Shown(f"{d.access} {d.kind} {d.type}", d.span)
        for d in agent.variables
        if d.access is not Access.PRIVATE
    }


@dataclass(frozen=True)
class Compared:
    """The names that both systems show, and where their interfaces differ."""

    observed: tuple[str, ...]
    failures: tuple[Failure, ...]


def compare_interfaces(
    detailed: Automaton,
    abstract: Automaton,
    detailed_agent: Agent | None,
    abstract_agent: Agent | None,
    chosen: tuple[str, ...] = (),
) -> Compared:
    """Which names are compared; `chosen` overrides what the agents declare."""
    if chosen:
        return Compared(chosen, tuple(_unknown(detailed, abstract, chosen)))
    own, other = globals_of(detailed_agent), globals_of(abstract_agent)
    if not own and not other:
        names = _of_closed(detailed, detailed_agent)
        shared = tuple(n for n in _of_closed(abstract, abstract_agent) if n in names)
        if not shared:
            why = "the two systems have no variable in common"
            return Compared((), (Failure("interface", "interface", why),))
        return Compared(shared, ())
    failures = [
        Failure(
            "interface",
            f"global variable {name}",
            _difference(name, own, other),
            {},
            own[name].span if name in own else None,
            other[name].span if name in other else None,
        )
        for name in dict.fromkeys((*own, *other))
        if name not in own or name not in other or own[name].what != other[name].what
    ]
    used = set(names_of(abstract))
    return Compared(tuple(n for n in own if n in other and n in used), tuple(failures))


def _of_closed(automaton: Automaton, agent: Agent | None) -> tuple[str, ...]:
    """What a closed system shows."""
    names = names_of(automaton)
    if agent is None:
        return names
    declared = {d.name for d in agent.variables}
    return tuple(n for n in names if n in declared)


def different_functions(detailed: Model, abstract: Model) -> tuple[Failure, ...]:
    """External functions that have one name in both models but come from different places."""
    own, other = detailed.externals, abstract.externals
    return tuple(
        Failure(
            "interface",
            f"external function {name}",
            f"it is {own[name] or 'unknown'} in the detailed system, "
            f"{other[name] or 'unknown'} in the abstract one",
        )
        for name in sorted(own.keys() & other.keys())
        if own[name] != other[name]
    )


def _difference(name: str, own: Mapping[str, Shown], other: Mapping[str, Shown]) -> str:
    if name not in other:
        return f"only the detailed system has {name} ({own[name].what})"
    if name not in own:
        return f"only the abstract system has {name} ({other[name].what})"
    return f"{own[name].what} in the detailed system, {other[name].what} in the abstract one"


def _unknown(detailed: Automaton, abstract: Automaton, chosen: tuple[str, ...]) -> list[Failure]:
    found = []
    for name in chosen:
        for side, automaton in (("detailed", detailed), ("abstract", abstract)):
            if name not in names_of(automaton):
                why = f"the {side} system has no variable {name}"
                found.append(Failure("interface", f"observed variable {name}", why))
    return found

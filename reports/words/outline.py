"""A model as a tree of lines: agents, their modes, variables and claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from workbench.models.agents.hierarchy import (
    Access,
    Agent,
    AgentInstance,
    Claim,
    Mode,
    ModeInstance,
)
from workbench.models.automaton import Automaton, HybridAutomaton, Property, PropertyKind
from workbench.models.expressions.expression import TRUE, conjunction
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.traversal import conjuncts
from workbench.reports.words import wording

ALIKE_SHOWN = 1
"""How many of a group of replicated agents are written out."""

CONDITIONS_SHOWN = 3
"""How many of the conditions of a long claim are written out."""

STARTS_SHOWN = 8
"""How many initial sets of a flat model are listed."""


@dataclass
class Branch:
    """A line and what belongs under it."""

    text: str
    children: list[Branch] = field(default_factory=list)


def as_data(root: Branch) -> dict[str, Any]:
    """The tree as nested objects, made without recursion."""
    top: dict[str, Any] = {"text": root.text, "children": []}
    pending = [(root, top)]
    while pending:
        branch, data = pending.pop()
        for child in branch.children:
            data["children"].append({"text": child.text, "children": []})
            pending.append((child, data["children"][-1]))
    return top


def render(root: Branch) -> Iterator[str]:
    """The lines of a tree, with the usual rules drawn in front of them."""
    stack = [(root, "", "")]
    while stack:
        branch, first, rest = stack.pop()
        yield first + branch.text
        for index, child in reversed(list(enumerate(branch.children))):
            last = index == len(branch.children) - 1
            stack.append(
                (child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))
            )


def agent_outline(agent: Agent, *, everything: bool = False) -> Branch:
    """The tree of an agent; replicated agents are shown once unless `everything`."""
    root = Branch(f"agent {agent.definition}")
    pending: list[tuple[Agent, Branch]] = [(agent, root)]
    while pending:
        current, branch = pending.pop()
        branch.children += map(Branch, wording.grouped_declarations(current.variables))
        branch.children += [Branch(wording.bounded("const", p)) for p in current.parameters]
        branch.children += [Branch(f"init where {c}") for c in wording.conditions(current.initial)]
        branch.children += [Branch(f"assume {c}") for c in wording.conditions(current.assumption)]
        if current.top is not None:
            branch.children.append(mode_outline(f"mode {current.top.definition}", current.top))
        for group in _alike(current.agents):
            shown = group if everything else group[:ALIKE_SHOWN]
            for instance in shown:
                child = Branch(_instance_text("agent", instance, instance.agent.definition))
                branch.children.append(child)
                pending.append((instance.agent, child))
            if len(group) > len(shown):
                rest = group[len(shown) :]
                branch.children.append(Branch(_more([i.name for i in rest])))
        count = len(current.interactions)
        listed = current.interactions if everything or count <= 3 else current.interactions[:1]
        branch.children += [Branch(wording.interaction(i)) for i in listed]
        if len(listed) < count:
            branch.children.append(Branch(f"and {count - 1} more interactions"))
        branch.children += [Branch(_claim(c, everything)) for c in current.claims]
        if current.predicates:
            hints = "; ".join(map(str, current.predicates))
            branch.children.append(Branch(f"predicate {hints}"))
    return root


def mode_outline(title: str, mode: Mode) -> Branch:
    """The tree of a mode."""
    root = Branch(title)
    pending = [(mode, root)]
    while pending:
        current, branch = pending.pop()
        branch.children += map(
            Branch,
            wording.grouped_declarations(
                v for v in current.variables if v.access is Access.PRIVATE
            ),
        )
        for word, points in (("entry", current.entries), ("exit", current.exits)):
            if points:
                branch.children.append(Branch(f"{word} {', '.join(points)}"))
        branch.children += [Branch(wording.flow(f)) for f in current.flows]
        branch.children += [Branch(wording.equation(a)) for a in current.algebraic]
        branch.children += [Branch(f"inv {c}") for c in wording.conditions(current.invariant)]
        branch.children += [Branch(wording.claim(c)) for c in current.claims]
        for instance in current.submodes:
            child = Branch(_instance_text("mode", instance, instance.mode.definition))
            branch.children.append(child)
            pending.append((instance.mode, child))
        branch.children += [Branch(wording.transition(t)) for t in current.transitions]
    return root


def automaton_outline(automaton: Automaton) -> Branch:
    """The tree of a flat model: its components, each with its locations and edges."""
    root = Branch(f"automaton {automaton.name}")
    for component in automaton.components:
        branch = root
        if len(automaton.components) > 1:
            branch = Branch(f"component {component.name}")
            root.children.append(branch)
        branch.children += _component(component)
    starts = list(islice(automaton.initial_sets(), STARTS_SHOWN + 1))
    root.children += [Branch(wording.start(start)) for start in starts[:STARTS_SHOWN]]
    if len(starts) > STARTS_SHOWN:
        root.children.append(Branch("and further initial sets"))
    root.children += [Branch(property_text(claimed)) for claimed in automaton.properties]
    return root


def property_text(claimed: Property) -> str:
    """A property on one line, with the locations it is about."""
    if claimed.kind is PropertyKind.PROGRESS:
        return f'assert "{claimed.name}": never blocks'
    word = "assert" if claimed.kind is PropertyKind.ASSERTION else "forbid"
    where = "" if claimed.where == TRUE else f" while {to_text(claimed.where)}"
    return f'{word} "{claimed.name}": {to_text(claimed.condition)}{where}'


def _claim(claim: Claim, everything: bool) -> str:
    """A claim; of many conditions, such as those of all pairs, only the first few."""
    parts = conjuncts(claim.condition)
    if everything or len(parts) <= 2 * CONDITIONS_SHOWN:
        return wording.claim(claim)
    first = replace(claim, condition=conjunction(*parts[:CONDITIONS_SHOWN]))
    return f"{wording.claim(first)} && ... ({len(parts) - CONDITIONS_SHOWN} more conditions)"


def _alike(instances: Sequence[AgentInstance]) -> list[list[AgentInstance]]:
    """Neighbours that stem from one replicated declaration, together."""
    groups: list[list[AgentInstance]] = []
    for instance in instances:
        family = instance.name.partition("[")[0]
        if groups and "[" in instance.name and groups[-1][0].name.startswith(f"{family}["):
            groups[-1].append(instance)
        else:
            groups.append([instance])
    return groups


def _more(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"agent {names[0]} likewise"
    return f"agents {names[0]} to {names[-1]} likewise ({len(names)} more)"


def _instance_text(word: str, instance: AgentInstance | ModeInstance, definition: str) -> str:
    changed = [(own, outer) for own, outer in instance.renaming if own != outer]
    if not changed:
        return f"{word} {instance.name} = {definition}"
    own, outer = zip(*changed, strict=True)
    return f"{word} {instance.name} = {definition} [{', '.join(own)} := {', '.join(outer)}]"


def _component(component: HybridAutomaton) -> list[Branch]:
    lines = [
        *map(Branch, wording.grouped_variables(component)),
        *(Branch(wording.bounded("input", i)) for i in component.inputs),
        *(Branch(wording.bounded("const", p)) for p in component.parameters),
    ]
    for location in component.locations:
        branch = Branch(f"location {location.name}")
        branch.children += map(Branch, wording.inside(location))
        branch.children += [Branch(wording.edge(e)) for e in component.edges_from(location.name)]
        lines.append(branch)
    return lines

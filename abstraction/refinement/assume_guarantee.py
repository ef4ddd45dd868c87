"""A part that refines its abstraction only in the surroundings that its siblings give it.

For C1 || C2 against A1 || A2: the flow, jumps and urgency of C1 may use what the invariants of
A2 say about the variables that A2 shows, and the other way round. Sound because what is used is
never what is being shown: initial states and invariants of each part are proved from that part
alone, so the invariants of the abstractions hold at every moment of every run of C1 || C2; and
without algebraic loops each part's derivatives and jumps depend on values only. Reachable sets
are not used here, since they would rest on the siblings' flows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.abstraction.refinement.decomposition import AgentPair
from workbench.abstraction.refinement.flat import Settings, own_places, refine
from workbench.abstraction.refinement.interface import compare_interfaces
from workbench.abstraction.refinement.outcome import Refines
from workbench.abstraction.refinement.surroundings import among_others
from workbench.models.agents.composition import Product
from workbench.models.agents.flatten import flatten, placed_agents
from workbench.models.agents.hierarchy import Agent
from workbench.models.automaton import Automaton, HybridAutomaton, names_of
from workbench.models.dynamics import eliminate_algebraic
from workbench.models.expressions.expression import Expression, conjunction, disjunction, variable
from workbench.models.expressions.ranges import value_in
from workbench.models.expressions.traversal import conjuncts, free_variables, substitute
from workbench.models.source import ModelError


@dataclass(frozen=True)
class Helped:
    """A part that may rely on its siblings' invariants: they are its assumption."""

    automaton: Automaton
    abstract: Automaton
    observed: tuple[str, ...]
    places: Mapping[str, str]


def guaranteed(part: AgentPair, abstract_root: Agent, settings: Settings) -> Refines | None:
    """The part's refinement under its siblings' invariants, or None if it does not follow."""
    helped = helped_part(part, abstract_root, settings)
    if helped is None:
        return None
    given = replace(settings, reach=False, places=helped.places)
    found = refine(helped.automaton, helped.abstract, helped.observed, given)
    outcome = among_others(found, part.detailed)
    return outcome if isinstance(outcome, Refines) else None


def helped_part(part: AgentPair, abstract_root: Agent, settings: Settings) -> Helped | None:
    """The part with what it may rely on; None if a side condition fails."""
    try:
        everything = flatten(abstract_root, "abstract")
        plain = eliminate_algebraic(everything)
        for start in plain.initial_sets():
            plain.location(start.location)
        own, other = flatten(part.detailed, part.path), flatten(part.abstract, part.path)
    except ModelError:
        return None  # an algebraic loop, among others
    names = next((p.names for p in placed_agents(abstract_root) if p.path == part.path), None)
    if not isinstance(own, HybridAutomaton | Product) or names is None:
        return None
    compared = compare_interfaces(own, other, part.detailed, part.abstract)
    places = None if compared.failures else own_places(own, other, compared.observed, settings)
    if places is None:
        return None
    outer = {flat: name for name, flat in names.items() if name in names_of(own)}
    known = _sibling_invariants(everything.components, part.path, outer)
    helped = replace(own, assumption=conjunction(own.assumption, known))
    return Helped(helped, other, compared.observed, places)


def _sibling_invariants(
    components: tuple[HybridAutomaton, ...], path: str, outer: Mapping[str, str]
) -> Expression:
    """What the part can see of the siblings' invariants, wherever they are, in its own names;
    what mentions anything else is left out."""
    renaming = {flat: variable(name) for flat, name in outer.items()}
    found = []
    for component in components:
        if component.name == path or component.name.startswith(f"{path}."):
            continue
        places = []
        for x in component.locations:
            equations = (value_in(c.variable, c.range) for c in x.algebraic)
            parts = conjuncts(conjunction(x.invariant, *equations))
            visible = [p for p in parts if free_variables(p) <= outer.keys()]
            places.append(substitute(conjunction(*visible), renaming))
        found.append(disjunction(*places))
    return conjunction(*found)

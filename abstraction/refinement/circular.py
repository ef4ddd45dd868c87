"""Parts that keep their promises only because the others keep theirs.

For C1 || C2 against A1 || A2 the premises are C1 || A2 refines A1 and A1 || C2 refines A2: each
part may rely on all that the other's abstraction says, flows included. By themselves they prove
nothing: two parts may break their promises at the same moment, each with the other as its
excuse. So they are only used to find sets. Each premise is proved with reachable states P1 of
C1 || A2 and P2 of A1 || C2; their intersection, carried over to C1 || C2 by the location maps and
witnesses of the premises, is then proved to be inductive for C1 || C2 itself, initial states,
flows and jumps at once, and the refinement of the whole is proved inside it. What the trusted
checker accepts is that last proof; nothing is assumed in order to be shown.

Refused (None) where an algebraic equation closes a loop through the inputs of the parts, where
interactions tie them together, or where a location stands for different abstract ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.abstraction.refinement.decomposition import assumes, behave_alike
from workbench.abstraction.refinement.flat import MAX_LOCATIONS, Settings, refine
from workbench.abstraction.refinement.outcome import Refines, Rule, Step
from workbench.models.agents.composition import explicit
from workbench.models.agents.flatten import flatten
from workbench.models.agents.hierarchy import Access, Agent, AgentInstance, renamed
from workbench.models.automaton import Automaton, names_of
from workbench.models.checker.covers import Region
from workbench.models.dynamics import eliminate_algebraic
from workbench.models.expressions.expression import TRUE
from workbench.models.linear import Form
from workbench.models.source import ModelError

Place = frozenset[tuple[str, str]]
"""Where components are: pairs of a component and its location."""


@dataclass(frozen=True)
class _Premise:
    """C_i among the abstractions of the others, against A_i alone."""

    part: str
    detailed: Automaton
    abstract: Automaton
    outcome: Refines

    def stands_for(self) -> dict[Place, Place] | None:
        """The abstract place of the part for each of its detailed places; None if it depends
        on where the others are."""
        found: dict[Place, Place] = {}
        for here, there in self.outcome.certificate.places.items():
            own = _within(self.part, self.detailed.occupied(here))
            other = frozenset(self.abstract.occupied(there).items())
            if found.setdefault(own, other) != other:
                return None
        return found

    def cells(self) -> dict[Place, tuple[Form, ...]] | None:
        """The reachable states by place, each one polyhedron; None if they are more."""
        proof = self.outcome.certificate.reach
        found: dict[Place, tuple[Form, ...]] = {}
        for location in explicit(self.detailed, MAX_LOCATIONS).locations:
            place = frozenset(self.detailed.occupied(location.name).items())
            if proof is None:
                found[place] = ()
                continue
            regions = [r for r in proof.regions if r.location == location.name]
            if len(regions) > 1 or any(len(r.cells) != 1 for r in regions):
                return None
            if regions:
                found[place] = tuple(row.form for row in regions[0].rows(0))
        return found


@dataclass(frozen=True)
class Circle:
    """The premises as steps of a proof, and the set that is to be proved for the whole."""

    steps: tuple[Step, ...]
    regions: tuple[Region, ...]


def circle(own: Agent, other: Agent, whole: Automaton, settings: Settings) -> Circle | None:
    """The premises, proved, and the joint set they suggest; None if the rule does not apply."""
    pairs = _changed_pairs(own, other)
    if pairs is None or len(pairs) < 2:
        return None
    try:
        for part in (own, other):
            eliminate_algebraic(flatten(part, "whole")).initial_sets()
        premises = [_premise(own, other, a, b, settings) for a, b in pairs]
        if any(p is None for p in premises):
            return None
        proved = [p for p in premises if p is not None]
        regions = _joint(whole, proved)
    except ModelError:
        return None  # an algebraic loop, among others
    if regions is None:
        return None
    steps = tuple(
        Step(f"{p.part} among the others' abstractions", Rule.SIMULATION, (), p.outcome)
        for p in proved
    )
    return Circle(steps, regions)


def _changed_pairs(own: Agent, other: Agent) -> list[tuple[AgentInstance, AgentInstance]] | None:
    """The parts that differ; None if the two are not put together in the same way."""
    if own.interactions or other.interactions or assumes(own) or assumes(other):
        return None
    known = {i.name: i for i in other.agents}
    if not own.agents or {i.name for i in own.agents} != known.keys():
        return None
    if not behave_alike(replace(own, agents=()), replace(other, agents=())):
        return None
    if any(sorted(i.renaming) != sorted(known[i.name].renaming) for i in own.agents):
        return None
    pairs = [(i, known[i.name]) for i in own.agents]
    return [(a, b) for a, b in pairs if not behave_alike(a.agent, b.agent)]


def _premise(
    own: Agent, other: Agent, part: AgentInstance, simple: AgentInstance, settings: Settings
) -> _Premise | None:
    mixed = tuple(part if i.name == part.name else i for i in other.agents)
    detailed = flatten(replace(own, agents=mixed), f"{part.name} among abstractions")
    used = {
        renamed(simple.renaming, d.name)
        for d in simple.agent.variables
        if d.access is not Access.PRIVATE
    }
    variables = tuple(d for d in other.variables if d.name in used)
    alone = replace(other, variables=variables, agents=(simple,), initial=TRUE, claims=())
    abstract = flatten(alone, part.name)
    shown = set(names_of(detailed))
    observed = tuple(n for n in names_of(abstract) if n in used and n in shown)
    given = replace(settings, refute=False, places={}, witness={}, regions=())
    outcome = refine(detailed, abstract, observed, given)
    if not isinstance(outcome, Refines):
        return None
    return _Premise(part.name, detailed, abstract, outcome)


def _joint(whole: Automaton, premises: list[_Premise]) -> tuple[Region, ...] | None:
    """The intersection of the premises' sets, location by location of the whole."""
    maps: dict[str, dict[Place, Place]] = {}
    for premise in premises:
        found = premise.stands_for()
        if found is None or premise.outcome.certificate.witness:
            return None
        maps[premise.part] = found
    sets = [premise.cells() for premise in premises]
    names = set(names_of(whole))
    regions = []
    for location in explicit(whole, MAX_LOCATIONS).locations:
        occupied = whole.occupied(location.name)
        forms: dict[str, Form] = {}
        reachable = True
        for premise, cells in zip(premises, sets, strict=True):
            if cells is None:
                return None
            place = _seen_by(premise.part, occupied, maps)
            if place is None or place not in cells:
                reachable = False
                break
            forms |= {str(f): f for f in cells[place] if f.coefficients.keys() <= names}
        if reachable:
            regions.append(Region(location.name, (), ((),), (tuple(forms.values()),)))
    return tuple(regions)


def _seen_by(
    part: str, occupied: Mapping[str, str], maps: Mapping[str, Mapping[Place, Place]]
) -> Place | None:
    """The place of a premise that a place of the whole corresponds to: the part where it is,
    the others where their abstractions are."""
    rest = dict(occupied)
    place: set[tuple[str, str]] = set()
    for name, stands_for in maps.items():
        own = _within(name, occupied)
        for component, _ in own:
            rest.pop(component)
        if name == part:
            place |= own
        elif own in stands_for:
            place |= stands_for[own]
        else:
            return None
    return frozenset(place | set(rest.items()))


def _within(part: str, occupied: Mapping[str, str]) -> Place:
    return frozenset(
        (component, local)
        for component, local in occupied.items()
        if component == part or component.startswith(f"{part}.")
    )

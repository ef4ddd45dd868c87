"""Proving a property for unbounded time by a template invariant found automatically."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from abstraction.directions import candidate_templates
from abstraction.pruning import pruned
from abstraction.template_invariant import TemplateSearch, find_invariant
from abstraction.template_system import TooManyLocationsError, template_system
from models.proof.certificate import PolyhedralProof
from models.proof.problem import LinearProblem
from reach.evidence import Unproved, prove


@dataclass(frozen=True)
class TemplateInvariant:
    """The method: templates are tried one after the other, with one polyhedron for all
    locations and with one for each."""

    search: TemplateSearch = field(default_factory=TemplateSearch)


@dataclass(frozen=True)
class Found:
    """An invariant with exact evidence, how many templates were tried, and the sizes of the
    template and of what is left of it."""

    proof: PolyhedralProof
    templates_tried: int
    directions: int
    half_spaces: int


@dataclass(frozen=True)
class NotFound:
    """No invariant: why, in a sentence."""

    reason: str
    templates_tried: int


def search_invariant(
    problem: LinearProblem,
    method: TemplateInvariant,
    stop: Callable[[], bool],
    progress: Callable[[str], None] = lambda text: None,
) -> Found | NotFound:
    """The first template invariant with exact evidence for all its obligations."""
    try:
        system = template_system(problem)
    except TooManyLocationsError as error:
        return NotFound(f"the model has {error}", 0)
    tried = 0
    unproved = ""
    choices = [True, False] if len(system.locations) > 1 else [True]
    if not all(switch.keeps_state for switch in system.switches):
        choices.reverse()
    for template in candidate_templates(system):
        for shared in choices:
            if stop():
                return NotFound(f"the time limit ended the search{unproved}", tried)
            tried += 1
            kind = "one polyhedron for all locations" if shared else "one for each location"
            progress(f"template {tried}: {len(template.rows)} directions, {kind}")
            search = TemplateSearch(**{**vars(method.search), "shared": shared})
            regions = find_invariant(system, template, search, stop)
            if regions is None:
                continue
            proof = prove(problem, regions)
            if isinstance(proof, Unproved):
                unproved = f"; the closest attempt lacked a proof of: {proof.obligation.title}"
                continue
            smaller = pruned(problem, proof)
            size = max((len(region.predicates) for region in smaller.regions), default=0)
            return Found(smaller, tried, len(template.rows), size)
    return NotFound(f"none of {tried} templates gave an inductive set{unproved}", tried)

"""Proving a property for unbounded time by a template invariant found automatically."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from abstraction.directions import (
    Template,
    chain_templates,
    fastest_rate,
    longer_templates,
    outline_templates,
)
from abstraction.pruning import pruned
from abstraction.sampled_runs import SampledRuns, sampled_runs
from abstraction.template_invariant import Missed, TemplateSearch, find_invariant
from abstraction.template_system import TemplateSystem, TooManyLocationsError, template_system
from models.proof.certificate import PolyhedralProof
from models.proof.problem import LinearProblem
from reach.evidence import Unproved, prove

PACE = 0.1
"""The step of sampled runs, in units of the fastest time constant."""


@dataclass(frozen=True)
class TemplateInvariant:
    """The method: templates are tried one after the other, with one polyhedron for all
    locations and with one for each."""

    search: TemplateSearch = field(default_factory=TemplateSearch)
    seed: int = 0


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
    generator = np.random.default_rng(method.seed)
    runs = sampled_runs(system, PACE / fastest_rate(system), generator)
    if runs is not None and (where := _seen_bad(system, runs)) is not None:
        return NotFound(f"a sampled run seems to break the property in {where}", 0)
    tried = 0
    closest = missed = ""
    for template, shared in _attempts(system, runs):
        if stop():
            return NotFound(f"the time limit ended the search{closest or missed}", tried)
        tried += 1
        kind = "one polyhedron for all locations" if shared else "one for each location"
        progress(f"template {tried}: {len(template.rows)} directions, {kind}")
        search = replace(method.search, shared=shared)
        regions = find_invariant(system, template, search, runs, stop)
        if isinstance(regions, Missed):
            missed = f"; of the last, with {len(template.rows)} directions, {regions.reason}"
            continue
        proof = prove(problem, regions)
        if isinstance(proof, Unproved):
            closest = f"; the closest attempt lacked a proof of: {proof.obligation.title}"
            continue
        smaller = pruned(problem, proof)
        size = max((len(region.predicates) for region in smaller.regions), default=0)
        return Found(smaller, tried, len(template.rows), size)
    return NotFound(f"none of {tried} templates gave an inductive set{closest or missed}", tried)


def _attempts(system: TemplateSystem, runs: SampledRuns | None) -> Iterator[tuple[Template, bool]]:
    """Every template, with one polyhedron for all locations (true) and with one for each;
    where switches change the state, the latter is more likely to help and comes first."""
    several = len(system.locations) > 1
    first = not several or all(switch.keeps_state for switch in system.switches)
    tried: set[tuple[tuple[Fraction, ...], ...]] = set()

    def fresh(templates: Iterator[Template]) -> Iterator[Template]:
        for template in templates:
            if template.rows and template.rows not in tried:
                tried.add(template.rows)
                yield template

    chains = list(fresh(chain_templates(system)))
    yield from ((template, first) for template in chains)
    if runs is not None:
        yield from ((t, not several) for t in fresh(outline_templates(system, runs)))
    if several:
        yield from ((template, not first) for template in chains)
    for template in fresh(longer_templates(system)):
        yield template, first
        if several:
            yield template, not first


def _seen_bad(system: TemplateSystem, runs: SampledRuns) -> str | None:
    """A location where sampled points lie clearly inside a bad set without further unknowns."""
    n = len(system.names)
    for location, bad in system.bad:
        points = runs.points([location])
        rows = np.any(bad.matrix[:, :n], axis=1)
        if points is None or np.any(bad.matrix[rows, n:-1]):
            continue
        reach = points @ bad.matrix[:, :n].T - bad.bound
        size = np.maximum(1.0, np.abs(bad.bound))
        if np.any(np.all(reach[:, rows] < -1e-6 * size[rows], axis=1)):
            return location
    return None

"""Proving a property for unbounded time by a template invariant found automatically."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from workbench.abstraction.templates.attempts import Attempt, attempts
from workbench.abstraction.templates.directions import fastest_rate
from workbench.abstraction.templates.invariant import (
    Missed,
    OutOfTime,
    TemplateSearch,
    find_invariant,
)
from workbench.abstraction.templates.pruning import pruned
from workbench.abstraction.templates.sampled_runs import SampledRuns, sampled_runs
from workbench.abstraction.templates.system import (
    TemplateSystem,
    TooManyLocationsError,
    template_system,
)
from workbench.abstraction.templates.turning_search import find_by_turning
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.lowering.problem import LinearProblem
from workbench.models.work import FLOATING, spend, spent
from workbench.reach.evidence import Unproved, prove

PACE = 0.1
"""The step of sampled runs, in units of the fastest time constant."""


@dataclass(frozen=True)
class TemplateInvariant:
    """The method: templates are tried one after the other, with one polyhedron for all
    locations and with one for each."""

    search: TemplateSearch = field(default_factory=TemplateSearch)
    seed: int = 0
    patience: float = 3_000.0
    """The work after which a template has to wait until all were tried."""


@dataclass(frozen=True)
class Found:
    """An invariant with exact evidence, how many templates were tried, the sizes of the
    template and of what is left of it, and the number of polyhedra."""

    proof: PolyhedralProof
    templates_tried: int
    directions: int
    half_spaces: int
    polyhedra: int


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
        return NotFound(
            f"a sampled run of the linear view seems to break the property in {where}", 0
        )
    return _Search(problem, method, stop, progress).over(attempts(system, runs))


class _Search:
    """One template after the other; those that were cut short are tried again at the end."""

    def __init__(
        self,
        problem: LinearProblem,
        method: TemplateInvariant,
        stop: Callable[[], bool],
        progress: Callable[[str], None],
    ):
        self.problem, self.method = problem, method
        self.stop, self.progress = stop, progress
        self.tried = 0
        self.closest = self.missed = ""

    def over(self, stream: Iterator[Attempt]) -> Found | NotFound:
        """The first attempt that succeeds."""
        postponed: list[Attempt] = []
        for attempt in stream:
            if self.stop():
                break
            self.tried += 1
            found = self._try(attempt, self.method.patience)
            if isinstance(found, Found):
                return found
            if isinstance(found, OutOfTime):
                postponed.append(attempt)
        for attempt in postponed:
            if self.stop():
                break
            found = self._try(attempt, float("inf"))
            if isinstance(found, Found):
                return found
        why = self.closest or self.missed
        if self.stop():
            return NotFound(f"its work was used up in the search{why}", self.tried)
        return NotFound(f"none of {self.tried} templates gave an inductive set{why}", self.tried)

    def _try(self, attempt: Attempt, patience: float) -> Found | Missed:
        template, system = attempt.template, attempt.system
        end = spent() + patience * attempt.patience
        self.progress(f"template {self.tried}: {attempt.title}")

        def stop() -> bool:
            return spent() > end or self.stop()

        proof: PolyhedralProof | Unproved | None = None
        for shared_room in (True, False):
            search = replace(self.method.search, shared=attempt.shared, shared_room=shared_room)
            find = find_by_turning if attempt.turned else find_invariant
            regions = find(system, template, search, attempt.runs, stop)
            if isinstance(regions, Missed):
                self.missed = f"; of the last, {attempt.title}, {regions.reason}"
                return regions
            proof = prove(self.problem, regions, self.stop)
            if isinstance(proof, PolyhedralProof):
                break
            self.closest = f"; the closest attempt lacked a proof of: {proof.obligation.title}"
        if not isinstance(proof, PolyhedralProof):
            return Missed("it lacked an exact proof")
        smaller = pruned(self.problem, proof, self.stop)
        size = max((len(region.predicates) for region in smaller.regions), default=0)
        counts = self.tried, len(template.rows), size, len(smaller.regions)
        return Found(smaller, *counts)


def _seen_bad(system: TemplateSystem, runs: SampledRuns) -> str | None:
    """A location where sampled points lie clearly inside a bad set without further unknowns."""
    n = len(system.names)
    for location, bad in system.bad:
        points = runs.points([location])
        rows = np.any(bad.matrix[:, :n], axis=1)
        if points is None or np.any(bad.matrix[rows, n:-1]):
            continue
        spend(FLOATING * points.size * len(bad.bound))
        reach = points @ bad.matrix[:, :n].T - bad.bound
        size = np.maximum(1.0, np.abs(bad.bound))
        if np.any(np.all(reach[:, rows] < -1e-6 * size[rows], axis=1)):
            return location
    return None

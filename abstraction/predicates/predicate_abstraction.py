"""Predicate abstraction: reachable cells of predicates, and the reached parts inside them.

First the abstract states reachable by whole cells are explored, with flow decided facet by
facet; if none of them is bad, the cells are an invariant for unbounded time as they are.
Otherwise the part of every abstract state that is really reached is sought (`part_search`):
predicates are learned from states that growing parts would have to take in although no run
seems to get there, and from bad states that they reach. Locations are first taken whole, then
divided by the predicates of the author and the model, then in halves where a convex part did
not do. What is found is proved exactly, in the form that the trusted checker takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from workbench.abstraction.predicates.cells import AbstractState, Cells, Effort
from workbench.abstraction.predicates.distance_to_bad import DistanceToBad
from workbench.abstraction.predicates.part_proof import proved_parts, rational_parts
from workbench.abstraction.predicates.part_search import Learned, PartOutcome, PartPlan, PartSearch
from workbench.abstraction.predicates.predicates import (
    Origin,
    Predicate,
    distinct,
    given_predicates,
    initial_predicates,
    mined_predicates,
)
from workbench.abstraction.predicates.refinement_history import PathStep, RefinementRound, in_path
from workbench.abstraction.predicates.search import AbstractGraph, explore
from workbench.abstraction.predicates.seen_states import margins, seen_bad
from workbench.abstraction.predicates.slices import CellSlicer
from workbench.abstraction.predicates.split_system import SplitSystem, split_system
from workbench.abstraction.predicates.tracked_slices import TrackedSearch
from workbench.abstraction.templates import simple_rationals
from workbench.abstraction.templates.directions import (
    SHORT,
    axes,
    bad_normals,
    chain_template,
    fastest_rate,
    model_normals,
    template,
)
from workbench.abstraction.templates.eigen_directions import eigen_directions
from workbench.abstraction.templates.hull_directions import outline_normals
from workbench.abstraction.templates.sampled_runs import SampledRuns, sampled_runs
from workbench.abstraction.templates.system import (
    Array,
    TemplateSystem,
    TooManyLocationsError,
    template_system,
)
from workbench.abstraction.transients.search import Found as FollowedProof
from workbench.abstraction.transients.search import search_transient
from workbench.models.checker.covers import Region
from workbench.models.counting import counted
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.expression import Expression
from workbench.models.linear import Form
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.evidence import prove
from workbench.reach.time_limit import OutOfTimeError

PACE = 0.1
PLANS = (PartPlan(2.0), PartPlan(0.2), PartPlan(0.05))
"""Growth of parts is first accepted, then questioned, then questioned in small matters too."""
MOST_PARTS = 120
"""Abstract states whose parts are sought together."""
OUTLINE_EDGES, OUTLINE_VARIABLES = 12, 4


@dataclass(frozen=True)
class PredicateAbstraction:
    """The method: the author's predicates beyond those in the model, whether to mine and to
    learn others, limits, and the length of slices if whole cells shall be followed by them."""

    given: tuple[Expression, ...] = ()
    mine: bool = True
    refine: bool = True
    states: int = 3000
    seed: int = 0
    slices: float | None = None


@dataclass(frozen=True)
class AbstractionResult:
    """The last abstract graph, its predicates, a proof or the reason why there is none, what
    every round saw and learned, seconds by phase, and how much was computed."""

    graph: AbstractGraph | None
    predicates: tuple[Predicate, ...]
    proof: PolyhedralProof | None
    reason: str = ""
    history: tuple[RefinementRound, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    effort: Effort = field(default_factory=Effort)
    states: int = 0
    expanded: int = 0

    @property
    def suspicion(self) -> tuple[PathStep, ...]:
        """The last abstract path to a bad state, if the last round found one."""
        return self.history[-1].path if self.history else ()

    @property
    def parts(self) -> dict[AbstractState, tuple[Form, ...]] | None:
        """What the proof says about every abstract state that it has: forms that are <= 0."""
        if self.proof is None or self.graph is None:
            return None
        divided = self.graph.cells.predicates
        if any(region.predicates != divided[region.location] for region in self.proof.regions):
            return None
        return {
            AbstractState(region.location, cell): region.part(number)
            for region in self.proof.regions
            for number, cell in enumerate(region.cells)
        }

    def count(self, origin: Origin) -> int:
        """How many predicates came from there."""
        return sum(predicate.origin is origin for predicate in self.predicates)


def abstract(
    problem: LinearProblem,
    method: PredicateAbstraction,
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[str], None] = lambda text: None,
) -> AbstractionResult:
    """Explore whole cells, look for reached parts, and prove."""
    begun = time.perf_counter()
    try:
        system = template_system(problem)
    except TooManyLocationsError as error:
        return AbstractionResult(None, (), None, f"the model has {error}")
    generator = np.random.default_rng(method.seed)
    runs = sampled_runs(system, PACE / fastest_rate(system), generator)
    given = [*given_predicates(problem, (*problem.automaton.predicates, *method.given))]
    mined = [*mined_predicates(problem, system.locations)] if method.mine else []
    if runs is None:
        return AbstractionResult(None, (*given, *mined), None, "there are no initial states")
    if method.refine:
        mined.extend(margins(system, runs))
        mined.extend(initial_predicates(problem) if method.mine else ())
    predicates = distinct([*given, *mined])
    search = _Search(problem, system, runs, predicates, stop, progress)
    search.seconds["sampling"] = time.perf_counter() - begun
    try:
        return _searched(search, method, given)
    except OutOfTimeError:
        return search.result(None, search.when_out_of_time())


def _searched(
    search: _Search, method: PredicateAbstraction, given: list[Predicate]
) -> AbstractionResult:
    """Whole cells, slices if they are wanted, then parts."""
    system, runs = search.system, search.runs
    found = search.whole_cells(method)
    if found is None and (where := seen_bad(system, runs)) is not None:
        path = in_path(search.history[0].path)
        return search.result(None, f"a sampled run seems to reach a bad state in {where} {path}")
    if found is None and method.slices is not None:
        found = search.tracked(method.slices)
    return found or search.parts(distinct(given))


@dataclass
class _Search:
    """What the steps share."""

    problem: LinearProblem
    system: TemplateSystem
    runs: SampledRuns
    predicates: tuple[Predicate, ...]
    stop: Callable[[], bool]
    progress: Callable[[str], None]
    history: list[RefinementRound] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    effort: Effort = field(default_factory=Effort)
    graph: AbstractGraph | None = None
    learned: list[Predicate] = field(default_factory=list)
    reason: str = ""
    states: int = 0
    expanded: int = 0

    def when_out_of_time(self) -> str:
        """Why there is no result, if the time was over in the middle of something."""
        if self.reason:
            return f"its work was used up in the search; before, {self.reason}"
        most = max(map(len, self._divided().values()), default=0)
        return (
            f"its work was used up in the search among cells of up to {counted(most, 'predicate')} "
            f"in each of {counted(len(self.system.locations), 'location')}"
        )

    def _divided(self) -> dict[str, list[Predicate]]:
        """The predicates of every location."""
        return {
            location: [p for p in self.predicates if p.location in (None, location)]
            for location in self.system.locations
        }

    def result(self, proof: PolyhedralProof | None, reason: str = "") -> AbstractionResult:
        return AbstractionResult(
            self.graph,
            (*self.predicates, *self.learned),
            proof,
            reason,
            tuple(self.history),
            self.seconds,
            self.effort,
            self.states,
            self.expanded,
        )

    # Whole cells

    def whole_cells(self, method: PredicateAbstraction) -> AbstractionResult | None:
        """The result if whole cells decide, or if nothing else shall be tried."""
        begun = time.perf_counter()
        self.progress(f"whole cells of {counted(len(self.predicates), 'predicate')}")
        cells = Cells(self.system, self.predicates, self.runs)
        slicer = None
        if method.slices is not None:
            slicer = CellSlicer(cells, method.slices, stop=self.stop)
        points = self.runs.points(self.system.locations)
        extents = None if points is None else np.ptp(points, axis=0)
        distance = DistanceToBad(cells, extents) if method.refine else None
        graph = explore(
            cells,
            method.states,
            self.stop,
            stop_at_bad=method.refine,
            slicer=slicer,
            distance=distance,
        )
        self.graph = graph
        self.expanded = graph.expanded
        self.effort += cells.effort + Effort(0 if distance is None else distance.programs)
        self.states = len(graph.found)
        path = () if graph.bad is None else graph.path_steps(graph.bad)
        self.history.append(RefinementRound(1, len(graph.found), path))
        self.seconds["cells"] = time.perf_counter() - begun
        if graph.complete and graph.bad is None:
            proof = prove(self.problem, _whole(graph))
            self.seconds["proof"] = time.perf_counter() - begun - self.seconds["cells"]
            if isinstance(proof, PolyhedralProof):
                return self.result(proof)
            self.reason = f"no exact proof of: {proof.obligation.title}"
            if slicer is not None and slicer.cut:
                self.reason += (
                    f" ({counted(len(slicer.cut), 'cell')} followed for a limited time only)"
                )
        elif graph.bad is not None:
            self.reason = f"whole cells reach a bad state {in_path(path)}"
        else:
            why = "the time limit" if self.stop() else "the limit of abstract states"
            self.reason = (
                f"{why} ended the search with {counted(len(graph.found), 'abstract state')}"
            )
        return None if method.refine else self.result(None, self.reason)

    # Slices of what is reached

    def tracked(self, length: float) -> AbstractionResult | None:
        """A result if slices of what is reached, cell by cell, miss the bad states, and
        polyhedra that move in stretches of that length prove it."""
        begun = time.perf_counter()
        self.progress(f"slices of {length:.3g} of what is reached")
        cells = Cells(self.system, self.predicates, self.runs)
        search = TrackedSearch(cells, CellSlicer(cells, length, stop=self.stop))
        graph = search.explore(MOST_PARTS, self.stop)
        self.effort += cells.effort + Effort(search.programs)
        self.expanded += graph.expanded
        path = () if graph.bad is None else graph.path_steps(graph.bad)
        self.history.append(RefinementRound(len(self.history) + 1, len(graph.found), path))
        self._spend("slices", time.perf_counter() - begun)
        if graph.bad is not None or not graph.complete:
            return None
        self.graph, self.states = graph, len(graph.found)
        begun = time.perf_counter()
        exact = Fraction(length).limit_denominator(10**12)
        found = search_transient(self.problem, self.stop, self.progress, exact)
        self._spend("proof", time.perf_counter() - begun)
        if isinstance(found, FollowedProof):
            return self.result(found.proof)
        self.reason = f"slices of what is reached miss the bad states, but {found.reason}"
        return None

    # Reached parts

    def parts(self, given: tuple[Predicate, ...]) -> AbstractionResult:
        """The first division of the locations whose reached parts are proved to be safe."""
        for number, (predicates, outlines) in enumerate(self._divisions(given)):
            if self.stop():
                break
            cells = Cells(self.system, predicates, self.runs)
            graph = explore(cells, MOST_PARTS, self.stop, stop_at_bad=False)
            self.effort += cells.effort
            if not graph.complete:
                continue
            self.progress(
                f"parts of {counted(len(graph.found), 'abstract state')}, division {number + 1}"
            )
            proof = self._parts_of(graph, outlines)
            if proof is not None:
                return self.result(proof)
        told = self.reason.startswith("the time limit ended")
        ended = "its work was used up in the search; at last " if self.stop() and not told else ""
        return self.result(None, f"{ended}{self.reason}")

    def _divisions(
        self, given: tuple[Predicate, ...]
    ) -> Iterator[tuple[tuple[Predicate, ...], bool]]:
        """Predicates to divide locations by, and whether outlines of runs give directions."""
        yield (), False
        yield (), True
        if given:
            yield given, False
        yield self.predicates, False
        for predicate in self._halves():
            yield (predicate,), True

    def _halves(self) -> Iterator[Predicate]:
        """Through the middle of the runs of each location, the widest extents first."""
        for location in self.system.locations:
            points = self.runs.points([location])
            if points is None:
                continue
            for j in np.argsort(-np.ptp(points, axis=0))[:OUTLINE_VARIABLES]:
                low, high = float(points[:, j].min()), float(points[:, j].max())
                if high - low > 1e-6:
                    form = Form(
                        {self.system.names[j]: Fraction(1)}, -simple_rationals.between(low, high)
                    )
                    yield Predicate(form, Origin.REFINED, location)

    def _parts_of(self, graph: AbstractGraph, outlines: bool) -> PolyhedralProof | None:
        split = split_system(graph)
        search = PartSearch(
            split.system,
            split.runs(graph, self.runs),
            self._directions(split, outlines),
            fastest_rate(self.system),
            self.stop,
        )
        for plan in PLANS:
            begun = time.perf_counter()
            outcome = search.search(plan)
            searched = time.perf_counter()
            self._spend("parts", searched - begun)
            self._note(graph, split, search, outcome)
            if not outcome.reason:
                regions = split.regions(graph, rational_parts(outcome.reached))
                proof = proved_parts(self.problem, regions, self.stop)
                self._spend("proof", time.perf_counter() - searched)
                if isinstance(proof, PolyhedralProof):
                    return proof
                self.reason = f"no exact proof of: {proof.obligation.title}"
            if self.stop():
                break
        return None

    def _directions(self, split: SplitSystem, outlines: bool) -> dict[str, Array]:
        """Axes, normals of the model and the property, predicates and eigenvectors; with
        outlines also chains from the property and outlines of the runs."""
        system = self.system
        common = [*axes(system), *bad_normals(system), *model_normals(system)]
        common += [_normal(system, p.form, s) for p in self.predicates for s in (1, -1)]
        common += eigen_directions(system)
        if outlines:
            common += list(chain_template(system, list(system.flows), SHORT).matrix)
        found: dict[str, Array] = {}
        for name, state in split.states.items():
            points = self.runs.points([state.location])
            own: list[Array] = []
            if outlines and points is not None and len(system.names) <= OUTLINE_VARIABLES:
                own = outline_normals(points, OUTLINE_EDGES)
            found[name] = template([*common, *own], 0.02 if own else 1e-3, 1.0).matrix
        return found

    def _note(
        self, graph: AbstractGraph, split: SplitSystem, search: PartSearch, outcome: PartOutcome
    ) -> None:
        """Write down what the search saw and learned."""
        for name, states, learned in search.rounds:
            predicates = tuple(self._predicate(split, cut) for cut in learned)
            path = graph.path_steps(split.states[name])
            number = len(self.history) + 1
            self.history.append(RefinementRound(number, states, path, predicates))
            self.learned.extend(predicates)
        search.rounds.clear()
        self.effort += Effort(search.programs)
        search.programs = 0
        self.graph = graph
        self.states = sum(not part.empty for part in outcome.reached.parts.values())
        path = () if outcome.bad is None else graph.path_steps(split.states[outcome.bad])
        self.history.append(RefinementRound(len(self.history) + 1, self.states, path))
        if outcome.bad is None and not self.stop():
            self.reason = outcome.reason
        if outcome.bad is not None:
            met = outcome.reached.bad()
            shown = (
                "" if met is None else f"; its last part reaches {_in_words(self.system, met[1])}"
            )
            known = path if path[-1].cell else (self.history[0].path or path)
            self.reason = (
                f"an abstract path could be neither realised nor excluded: {in_path(known)}{shown}"
            )

    def _predicate(self, split: SplitSystem, learned: Learned) -> Predicate:
        cut = learned.half_space
        form = Form(
            {
                v: Fraction(float(a)).limit_denominator(10**6)
                for v, a in zip(self.system.names, cut.normal, strict=True)
                if a
            },
            -Fraction(cut.level).limit_denominator(10**4),
        )
        return Predicate(form, Origin.REFINED, split.states[learned.location].location)

    def _spend(self, phase: str, seconds: float) -> None:
        self.seconds[phase] = self.seconds.get(phase, 0.0) + seconds


def _whole(graph: AbstractGraph) -> tuple[Region, ...]:
    return tuple(
        Region(location, graph.cells.predicates[location], tuple(cells))
        for location, cells in graph.regions().items()
    )


def _normal(system: TemplateSystem, form: Form, sign: int) -> Array:
    return np.array([sign * float(form.coefficients.get(v, 0)) for v in system.names])


def _in_words(system: TemplateSystem, state: Array) -> str:
    return ", ".join(f"{v} = {x:.4g}" for v, x in zip(system.names, state, strict=True))

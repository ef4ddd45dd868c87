"""Predicate abstraction with refinement: reachable cells of predicates as an invariant.

The abstract states reachable from the initial ones, with flow decided facet by facet, are a set
of cells that no behaviour leaves; if none of them is bad it is an invariant for unbounded time,
in just the form that the trusted checker takes. Where a bad cell is reached, a predicate is
learned from the path (`counterexample_analysis`) and the search starts again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from abstraction import simple_rationals
from abstraction.abstract_cells import AbstractState, Cells
from abstraction.abstract_search import AbstractGraph, explore
from abstraction.counterexample_analysis import first_unvisited, learned
from abstraction.directions import fastest_rate
from abstraction.predicates import (
    Origin,
    Predicate,
    distinct,
    given_predicates,
    mined_predicates,
    normalised,
)
from abstraction.refinement_history import PathStep, RefinementRound
from abstraction.sampled_runs import SampledRuns, sampled_runs
from abstraction.template_system import TemplateSystem, TooManyLocationsError, template_system
from models.expression import Expression
from models.proof.certificate import PolyhedralProof
from models.proof.linear import Form
from models.proof.polyhedral import Region
from models.proof.problem import LinearProblem
from reach.evidence import Unproved, prove

PACE = 0.1


@dataclass(frozen=True)
class PredicateAbstraction:
    """The method: the author's predicates beyond those in the model, whether to mine and to
    learn others, and limits."""

    given: tuple[Expression, ...] = ()
    mine: bool = True
    refine: bool = True
    rounds: int = 60
    states: int = 3000
    seed: int = 0


@dataclass(frozen=True)
class AbstractionResult:
    """The last abstract graph, its predicates, the number of refinements, a proof or the
    reason why there is none, and what every round saw and learned."""

    graph: AbstractGraph | None
    predicates: tuple[Predicate, ...]
    rounds: int
    programs: int
    proof: PolyhedralProof | None
    reason: str = ""
    history: tuple[RefinementRound, ...] = ()

    @property
    def suspicion(self) -> tuple[PathStep, ...]:
        """The last abstract path to a bad state, if the last round found one."""
        return self.history[-1].path if self.history else ()

    def count(self, origin: Origin) -> int:
        """How many predicates came from there."""
        return sum(predicate.origin is origin for predicate in self.predicates)


@dataclass
class _Progress:
    """What the rounds share."""

    system: TemplateSystem
    runs: SampledRuns
    predicates: tuple[Predicate, ...]
    rounds: int = 0
    programs: int = 0
    graph: AbstractGraph | None = field(default=None)
    history: list[RefinementRound] = field(default_factory=list)

    def result(self, proof: PolyhedralProof | None, reason: str = "") -> AbstractionResult:
        return AbstractionResult(
            self.graph,
            self.predicates,
            self.rounds,
            self.programs,
            proof,
            reason,
            tuple(self.history),
        )

    def note(self, graph: AbstractGraph, learned: tuple[Predicate, ...] = ()) -> None:
        """Write a round down."""
        path = () if graph.bad is None else graph.path_steps(graph.bad)
        self.history.append(RefinementRound(self.rounds + 1, len(graph.found), path, learned))


def abstract(
    problem: LinearProblem,
    method: PredicateAbstraction,
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[str], None] = lambda text: None,
) -> AbstractionResult:
    """Explore, refine, and prove."""
    try:
        system = template_system(problem)
    except TooManyLocationsError as error:
        return AbstractionResult(None, (), 0, 0, None, f"the model has {error}")
    generator = np.random.default_rng(method.seed)
    runs = sampled_runs(system, PACE / fastest_rate(system), generator)
    given = (*problem.automaton.predicates, *method.given)
    predicates = [*given_predicates(problem, given)]
    if method.mine:
        predicates.extend(mined_predicates(problem, system.locations))
    if runs is None:
        return AbstractionResult(None, tuple(predicates), 0, 0, None, "there are no initial states")
    if method.refine:
        predicates.extend(_margins(system, runs))
    state = _Progress(system, runs, distinct(predicates))
    for state.rounds in range(method.rounds):
        progress(f"round {state.rounds + 1}: {len(state.predicates)} predicates")
        before = None if state.graph is None else state.graph.cells
        cells = Cells(system, state.predicates, runs, before)
        graph = state.graph = explore(cells, method.states, stop)
        state.programs += cells.effort.programs
        if graph.bad is None:
            state.note(graph)
            if graph.complete:
                return _proved(problem, state, stop)
            return state.result(None, _unfinished(graph, stop()))
        known = len(state.predicates)
        reason = _refined(state, graph.bad, method, generator)
        state.note(graph, state.predicates[known:])
        if reason is not None:
            return state.result(None, reason)
        if stop():
            return state.result(None, f"the time limit ended the search; {_suspicion(graph)}")
    return state.result(None, f"no proof after {method.rounds} refinements")


def _margins(system: TemplateSystem, runs: SampledRuns) -> Iterator[Predicate]:
    """Half-way between each side of a bad set and the sampled states: a bad set is closed as
    a rule, and cells that only touch it would count as bad."""
    n = len(system.names)
    for location, bad in system.bad:
        points = runs.points([location])
        if points is None:
            continue
        for row, bound in zip(bad.matrix[:-1], bad.bound[:-1], strict=True):
            if np.any(row[n:-1]) or not np.any(row[:n]):
                continue
            nearest = float((points @ row[:n]).min())
            if nearest > bound + 1e-6:
                level = simple_rationals.between(float(bound), nearest)
                form = Form(
                    {
                        v: Fraction(a).limit_denominator(10**6)
                        for v, a in zip(system.names, row[:n], strict=True)
                        if a
                    },
                    -level,
                )
                scaled = normalised(form)
                if scaled is not None:
                    yield Predicate(scaled, Origin.MINED, location)


def _refined(
    state: _Progress,
    bad: AbstractState,
    method: PredicateAbstraction,
    generator: np.random.Generator,
) -> str | None:
    """Learn a predicate from the path to a bad cell; a reason if there is none to learn."""
    graph = state.graph
    assert graph is not None
    path = graph.path(bad)
    if not method.refine:
        return f"the abstraction reaches a bad state, {_suspicion(graph)}"
    suspect = first_unvisited(graph, path, state.runs)
    if suspect is None:
        return f"sampled runs follow the abstract path, which may be real: {_suspicion(graph)}"
    known = frozenset(
        str(p.form)
        for p in state.predicates
        if p.location is None or p.location == suspect.source.location
    )
    predicate = learned(graph, suspect, known, generator)
    if predicate is None:
        return f"nothing separates the abstract path from the runs: {_suspicion(graph)}"
    state.predicates = (*state.predicates, predicate)
    return None


def _proved(
    problem: LinearProblem, state: _Progress, stop: Callable[[], bool]
) -> AbstractionResult:
    """Exact evidence for the reached cells."""
    graph = state.graph
    assert graph is not None
    regions = tuple(
        Region(location, graph.cells.predicates[location], tuple(cells))
        for location, cells in graph.regions().items()
    )
    proof = prove(problem, regions)
    if isinstance(proof, Unproved):
        return state.result(None, f"no exact proof of: {proof.obligation.title}")
    return state.result(proof)


def _unfinished(graph: AbstractGraph, expired: bool) -> str:
    why = "the time limit" if expired else "the limit of abstract states"
    return f"{why} ended the search with {len(graph.found)} abstract states"


def _suspicion(graph: AbstractGraph) -> str:
    """The abstract path to the bad cell, in words."""
    if graph.bad is None:
        return f"{len(graph.found)} abstract states were reached"
    path = graph.path(graph.bad)
    places = [path[0].target.location]
    for step in path[1:]:
        if step.predicate is not None and step.source is not None:
            form = graph.cells.predicates[step.source.location][step.predicate]
            places.append(str(Predicate(form, Origin.MINED)).replace("<=", "="))
        else:
            places.append(step.target.location)
    return f"by the path {' -> '.join(places)}, which ends in {graph.in_words(graph.bad)}"

"""Exact reachability of rectangular systems as a strategy: timed automata, rates in ranges."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

from workbench.abstraction.strategies.certified import certify
from workbench.abstraction.strategies.exact_trace import recording_of, trace_of
from workbench.abstraction.strategies.strategy import Task
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import LinearProblem, linear_problem
from workbench.models.verdict import Confirmation, Effort, Falsified, Unknown, Verdict
from workbench.reach.rectangular.evidence import prove_nodes
from workbench.reach.rectangular.exact_replay import objection
from workbench.reach.rectangular.exploration import Explored, Node, explore_exactly, explore_hulls
from workbench.reach.rectangular.moves import Move, Place
from workbench.reach.rectangular.split import NotRectangularError
from workbench.reach.rectangular.system import Packing, RectangularSystem
from workbench.reach.rectangular.witness import Path, Run, run_along
from workbench.reach.sets.double_description import TooManyRaysError
from workbench.reach.time_limit import OutOfTimeError, time_limit

FEW_DIMENSIONS, MANY_DIMENSIONS = 3, 6
"""With few dimensions packs do not help; with many even bounds of single names may."""

ADVICE = "try another --method"


@dataclass(frozen=True)
class RectangularStrategy:
    """Explore all places with exact polyhedra: first one hull for each, then set by set.

    A bad state that a hull meets is looked for along the same path exactly; if it is there,
    the run is repeated in rationals by the meaning of the model.
    """

    name: str = "rectangular"

    def suits(self, task: Task) -> str | None:
        """Models in which every derivative is a number or a range of numbers."""
        parts = task.automaton.components
        bounds = [
            bound
            for part in parts
            for location in part.locations
            for flow in location.flows
            for bound in (flow.range.low, flow.range.high)
        ]
        if not all(bound is None or bound.is_constant for bound in bounds):
            return None
        if any(location.algebraic for part in parts for location in part.locations):
            return None
        return "all derivatives are constant or in constant ranges"

    def attempt(self, task: Task) -> Verdict:
        """Prove, refute, or say what is in the way."""
        with _few_collections(), time_limit(task.deadline, task.budget):
            return self._attempt(task)

    def _attempt(self, task: Task) -> Verdict:
        work = _Work(task)
        try:
            problem = linear_problem(task.automaton, task.claim)
            for stage, explore, system in _stages(problem):
                task.progress(f"exploring with {stage}")
                verdict = work.stage(self.name, stage, explore, system)
                if verdict is not None:
                    return verdict
                if task.expired:
                    work.reasons.append("the time limit was reached")
                    break
        except (NotRectangularError, TooManyCasesError) as error:
            work.reasons.append(str(error))
        return Unknown(task.claim.name, self.name, work.reason, ADVICE, work.effort)


@contextmanager
def _few_collections() -> Iterator[None]:
    """Sets and proofs are many small objects without circles: looking for circles among them
    again and again would take a third of the time."""
    before = gc.get_threshold()
    gc.set_threshold(1_000_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


Explore = Callable[[RectangularSystem, "_Work"], Explored]


def _stages(problem: LinearProblem) -> Iterator[tuple[str, Explore, RectangularSystem]]:
    whole = RectangularSystem(problem)
    size = len(whole.names)
    if size > FEW_DIMENSIONS:
        tried = [whole.packs]
        for packing in (Packing.LINKED, Packing.PAIRED):
            packed = RectangularSystem(problem, packing)
            largest = max(map(len, packed.packs))
            if packed.packs not in tried and (largest > 1 or size > MANY_DIMENSIONS):
                yield f"hulls in packs of {largest}", _hulls, packed
            tried.append(packed.packs)
    yield "hulls", _hulls, whole
    yield "exact sets", _exactly, whole


def _hulls(system: RectangularSystem, work: _Work) -> Explored:
    return explore_hulls(system, work.stop)


def _exactly(system: RectangularSystem, work: _Work) -> Explored:
    def is_real(node: Node, bad: int) -> bool:
        return work.run(system, node.path(), bad) is not None

    return explore_exactly(system, work.stop, is_real)


class _Work:
    """One attempt: what it took, and why stages did not decide."""

    def __init__(self, task: Task):
        self.task = task
        self.seconds: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        self.reasons: list[str] = []
        self.doubtful: list[str] = []
        self._runs: dict[Path, Run | None] = {}

    @property
    def effort(self) -> Effort:
        """Seconds and counts so far."""
        return Effort(dict(self.seconds), dict(self.counts))

    @property
    def reason(self) -> str:
        """Why nothing was decided; of violations that do not replay, the first."""
        found = list(self.reasons)
        if self.doubtful:
            more = len(self.doubtful) - 1
            found.insert(0, self.doubtful[0] + (f" (and {more} more like it)" if more else ""))
        return "; ".join(dict.fromkeys(found))

    def stop(self, count: int) -> bool:
        """Asked by searches: whether the time is over."""
        if count % 64 == 0:
            self.task.progress(f"{count} sets")
        return self.task.expired

    def stage(
        self, method: str, stage: str, explore: Explore, system: RectangularSystem
    ) -> Verdict | None:
        """The verdict of one stage, if it decides."""
        begun = time.perf_counter()
        try:
            explored = explore(system, self)
        except TooManyRaysError as error:
            self.reasons.append(f"with {stage}, {error}")
            return None
        except OutOfTimeError:
            return None
        finally:
            self._spent("search", begun)
        self.counts |= {"sets": len(explored.nodes), "steps": explored.steps}
        if explored.path is not None:
            return self._refuted(method, system, explored)
        if not explored.complete:
            self.reasons.append(f"the search with {stage} did not end")
            return None
        return self._proved(method, stage, system, explored)

    def _proved(
        self, method: str, stage: str, system: RectangularSystem, explored: Explored
    ) -> Verdict | None:
        begun = time.perf_counter()
        self.task.progress(f"evidence for {len(explored.nodes)} sets")
        try:
            proof = prove_nodes(system, explored.nodes, lambda: self.task.expired)
        except OutOfTimeError:
            proof = None
        self._spent("evidence", begun)
        if isinstance(proof, PolyhedralProof):
            begun = time.perf_counter()
            verdict = certify(self.task, method, proof, self.effort)
            if not isinstance(verdict, Unknown):
                return verdict
            self._spent("check", begun)
            self.reasons.append(verdict.reason)
        elif proof is None:
            self.reasons.append("its work was used up in the search for evidence")
        else:
            self.reasons.append(f"with {stage}, no evidence for: {proof.obligation.title}")
        return None

    def _refuted(
        self, method: str, system: RectangularSystem, explored: Explored
    ) -> Verdict | None:
        assert explored.path is not None
        begun = time.perf_counter()
        run = self.run(system, explored.path, explored.bad)
        self._spent("witness", begun)
        if run is None:
            return None
        automaton = system.problem.automaton
        claim = self.task.claim.name
        names = tuple(v.name for v in self.task.automaton.variables)
        how = f"repeated exactly, in rationals, by the meaning of the model: {run.told(automaton)}"
        confirmation = Confirmation(how, _beyond(system, run, explored.bad), rigorous=True)
        trace = trace_of(automaton, claim, run, names)
        recording = recording_of(self.task, trace)
        return Falsified(claim, method, trace, (confirmation,), self.effort, recording)

    def run(
        self, system: RectangularSystem, path: list[tuple[Place, Move | None]], bad: int
    ) -> Run | None:
        """An exact run along a path of places, checked by replay; None if there is none."""
        locations = tuple(place.location for place, _ in path)
        edges = tuple((move.edge, move.case) for _, move in path if move is not None)
        wanted = Path(locations, edges, bad)
        if wanted not in self._runs:
            self._runs[wanted] = self._checked(system, wanted)
        return self._runs[wanted]

    def _checked(self, system: RectangularSystem, path: Path) -> Run | None:
        problem = system.problem
        run = run_along(problem, path, self.task.horizon)
        if run is None:
            self.reasons.append("a bad state that sets meet is on no run along the same edges")
            return None
        why = objection(problem.automaton, problem.claim, run, self.task.horizon)
        if why is None:
            return run
        told = run.told(problem.automaton)
        self.doubtful.append(f"there may be a violation ({told}), but in its replay {why}")
        return None

    def _spent(self, phase: str, begun: float) -> None:
        self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - begun


def _beyond(system: RectangularSystem, run: Run, bad: int) -> float:
    """How deep in the bad set the run ends: the least slack of its comparisons."""
    last = run.stays[-1]
    state = last.after(last.duration)
    holding = system.problem.invariant(last.location)
    rows = system.problem.bad(last.location)[bad]  # those of the claim, then the invariant's
    values = [
        row.form.constant
        + sum((a * state[n] for n, a in row.form.coefficients.items()), Fraction(0))
        for row in rows[: len(rows) - len(holding[bad % len(holding)])]
        if row.form.coefficients.keys() <= state.keys()
    ]
    return float(-max(values, default=Fraction(0)))

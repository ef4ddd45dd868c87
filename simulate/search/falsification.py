"""Falsification: a search for a run that violates a claim.

Several searches, one for each shape of runs (horizon, number of control points, rule for
switching, initial set), share a budget: the one with the lowest robustness gets half of the
turns as long as it improves, the others take turns. Where runs are cut off, because they jump
more often or take more steps than are followed, a search that follows them further comes in
next. A violation is shrunk and confirmed before it counts (`simulate.search.counterexample`).
What is done next depends on counted work alone: for a given seed and budget the search is the
same on an idle and on a busy machine and with any number of workers, unless the clock cuts it, and
then the outcome says so.

It under-approximates: finding nothing proves nothing.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, product
from random import Random

from workbench.models.automaton import Automaton, Property
from workbench.models.interruption import CheckInterruptedError, given_up_at
from workbench.models.work import spent
from workbench.simulate.monitoring.stl import Formula
from workbench.simulate.policy import Switching
from workbench.simulate.recipe import Recipe
from workbench.simulate.search.counterexample import (
    GRACE,
    STEPS,
    Attempt,
    Counterexample,
    Rigorous,
    Suspect,
    counterexample,
    enclosed,
    enclosed_at_length,
    suspected,
)
from workbench.simulate.search.doubt import Doubt, in_words
from workbench.simulate.search.evaluation_pool import EvaluationPool
from workbench.simulate.search.objective import FAR, Course, Objective, Score
from workbench.simulate.search.search_space import SearchSpace, Shape, with_seed
from workbench.simulate.search.searcher import Searcher
from workbench.simulate.validated.allowance import Allowance

HORIZONS = (10.0, 50.0, 250.0)
"""How long runs are where neither the model nor the caller says."""

CONTROL_POINTS = (1, 4, 10)
SWITCHINGS = (Switching.EARLIEST, Switching.RANDOM, Switching.LATEST)
MAX_STARTS = 6
MAX_DECISIONS = 24
MAX_CONFIRMATIONS = 40
PATIENT_CONFIRMATIONS = 3
"""After so many runs that could not be confirmed, simpler forms of such runs and runs beside them
are not looked for."""

PATIENCE = 6
"""A search that has not improved for so many turns is no longer preferred."""

FIRST_TURNS = 2
"""So many turns a new search has first: the corners, and random points."""

BESIDE = (0.003, 0.02, 0.1)
"""How far beside a violating run that is doubtful others are tried, in shares of the ranges."""

SAME = 1e-9
"""Sums of the times of jumps that differ by this share of them are the same."""


@dataclass(frozen=True)
class Budget:
    """When to stop: after so many simulations, or so much work (`models.work`). At a moment
    (`time.monotonic`) the search is cut."""

    simulations: int = 2000
    deadline: float = math.inf
    work: float = math.inf


@dataclass(frozen=True)
class Options:
    """Choices of a search; `until` None tries several horizons, `seeds` are runs worth a try
    (those of abstract counterexamples, for example)."""

    seed: int = 0
    workers: int = 1
    until: float | None = None
    control_points: tuple[int, ...] = CONTROL_POINTS
    linear: bool = False
    rigorous: tuple[Rigorous, ...] = (enclosed,)
    seeds: tuple[Recipe, ...] = ()


@dataclass(frozen=True)
class Progress:
    """How far a search is; whether it is about to confirm that a run violates the claim."""

    simulations: int
    robustness: float
    shape: Shape | None
    confirming: bool = False

    @property
    def is_informative(self) -> bool:
        """Whether the best robustness says something: some run came near a violation."""
        return informative(self.robustness)


@dataclass(frozen=True)
class Outcome:
    """What a search found: a confirmed counterexample, or the closest run; if that violates the
    claim in simulation, it is the `suspect`. `doubts` are about runs that seemed to violate the
    claim, one for each run; `cut` runs were not followed to their
    end, and by no later search of their kind. The search is `exhausted` if it has nothing left to
    try, and `late` if the clock cut it."""

    found: Counterexample | None
    robustness: float
    closest: Recipe | None
    simulations: int
    seconds: float
    doubts: tuple[Doubt, ...] = ()
    interrupted: bool = False
    cut: int = 0
    exhausted: bool = False
    late: bool = False
    suspect: Suspect | None = None
    place: str = ""
    """When and where the closest run came closest, in words."""

    @property
    def suspicion(self) -> str | None:
        """That a run violates the claim in simulation, and why it does not count, in words."""
        if self.suspect is None:
            return None
        margin = self.suspect.margin
        by = f" by {-margin:.4g}" if math.isfinite(margin) else ""
        cut = "interrupted" if self.interrupted else "there was no time left for it"
        why = "; ".join(in_words(self.doubts) or [cut])
        return f"violated in simulation{by} at t = {self.suspect.time:.6g}, not confirmed: {why}"

    @property
    def shortened(self) -> list[str]:
        """That runs were not followed to their end, in words, if any were."""
        if not self.cut:
            return []
        were = "run was" if self.cut == 1 else "runs were"
        return [f"{self.cut} {were} not followed to the end: too many jumps or steps"]

    @property
    def unconfirmed(self) -> int:
        """How many runs seemed to violate the claim, and were not confirmed."""
        return len(self.doubts)


@dataclass
class _Arm:
    shape: Shape
    searcher: Searcher
    seed: int
    decisions_only: bool
    turns: int = 0
    idle: int = 0
    cut: int = 0
    followed_further: bool = False
    courses: list[Course] = field(default_factory=list)

    def tell(self, scores: list[Score]) -> None:
        """What the points of a turn cost."""
        before = self.searcher.cost
        self.searcher.tell([score.margin for score in scores])
        self.turns += 1
        self.idle = 0 if self.searcher.cost < before else self.idle + 1
        self.cut += sum(score.cut for score in scores)
        self.courses += (s.course for s in scores if not _known(self.courses, s.course))

    @property
    def over(self) -> bool:
        """Whether there is nothing left to try: decisions that make no difference are no choice."""
        return self.searcher.exhausted or (
            self.decisions_only and self.turns >= FIRST_TURNS and len(self.courses) < 2
        )


def _known(courses: list[Course], course: Course) -> bool:
    names, times = course
    return any(n == names and math.isclose(t, times, rel_tol=SAME) for n, t in courses[:2])


@dataclass
class _Search:
    """The state of one falsification."""

    objective: Objective
    options: Options
    allowance: Allowance
    arms: list[_Arm] = field(default_factory=list)
    simulations: int = 0
    best: float = math.inf
    best_recipe: Recipe | None = None
    doubts: list[Doubt] = field(default_factory=list)
    found: Counterexample | None = None
    suspect: Suspect | None = None
    further: deque[Shape] = field(default_factory=deque)
    exhausted: bool = False


def falsify(
    automaton: Automaton,
    claim: Property | Formula,
    budget: Budget | None = None,
    options: Options | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Outcome:
    """Search for a run that violates the claim."""
    budget, options = budget or Budget(), options or Options()
    begun = time.monotonic()
    interrupted = late = False
    place = ""
    end = spent() + budget.work
    with EvaluationPool(automaton, claim, options.workers) as pool:
        steps = math.inf if enclosed_at_length in options.rigorous else STEPS
        allowance = Allowance(steps, budget.deadline + GRACE)
        search = _Search(pool.objective, options, allowance)
        try:
            with given_up_at(budget.deadline + GRACE):
                _run(search, pool, replace(budget, work=end), progress)
                place = _place_of_closest(search)
        except KeyboardInterrupt:
            interrupted = True
        except CheckInterruptedError:
            late = True
    return Outcome(
        search.found,
        search.best if search.best < FAR else math.inf,
        search.best_recipe,
        search.simulations,
        time.monotonic() - begun,
        tuple(search.doubts),
        interrupted,
        sum(arm.cut for arm in search.arms if not arm.followed_further),
        search.exhausted,
        search.found is None and (late or time.monotonic() >= budget.deadline),
        search.suspect if search.found is None else None,
        place,
    )


def _place_of_closest(search: _Search) -> str:
    """When and where the closest run came closest to violating a property."""
    recipe, objective = search.best_recipe, search.objective
    if search.found is not None or recipe is None or not informative(search.best):
        return ""
    if not isinstance(objective.claim, Property):
        return ""
    trace = objective.run(recipe)
    if not trace.segments:
        return ""
    at = objective.closest(recipe, trace).time
    return f"at t = {at:.4g} in `{trace.segment_at(at).location}`"


def _run(
    search: _Search,
    pool: EvaluationPool,
    budget: Budget,
    progress: Callable[[Progress], None],
) -> None:
    """Search until a counterexample is found or the budget is used up; its work is a mark of the
    meter."""
    chooser = Random(f"{search.options.seed}/turns")
    fresh = shapes(search.objective, search.options)
    while search.simulations < budget.simulations and spent() < budget.work:
        if time.monotonic() >= budget.deadline or len(search.doubts) >= MAX_CONFIRMATIONS:
            return
        arm = _next_arm(search, fresh, chooser)
        if arm is None:
            search.exhausted = True
            return
        points = arm.searcher.ask()
        if not points:
            continue
        points = points[: budget.simulations - search.simulations]
        before = spent()
        scores = _evaluate(search, pool, arm, points, budget.deadline)
        work = (spent() - before) / max(len(scores), 1)
        if any(score.margin < 0.0 for score in scores):
            progress(Progress(search.simulations, search.best, arm.shape, confirming=True))
            _judge(search, arm, points, scores, budget.deadline)
        if len(scores) < len(arm.searcher.ask()):
            arm.cut += sum(score.cut for score in scores)
            return
        arm.tell(scores)
        _follow_further(search, arm, budget.work - spent(), work)
        progress(Progress(search.simulations, search.best, arm.shape))
        if search.found is not None:
            return


def _evaluate(
    search: _Search, pool: EvaluationPool, arm: _Arm, points: list[list[float]], deadline: float
) -> list[Score]:
    scores = pool.scores([(arm.shape, x, arm.seed) for x in points], deadline)
    search.simulations += len(scores)
    for x, score in zip(points, scores, strict=False):
        if score.margin < search.best:
            search.best = score.margin
            search.best_recipe = _recipe(search, arm, x, score)
    return scores


def _judge(
    search: _Search,
    arm: _Arm,
    points: list[list[float]],
    scores: list[Score],
    deadline: float,
) -> None:
    """Try to confirm the worst of some runs, which violates the claim."""
    worst = min(range(len(scores)), key=lambda i: scores[i].margin)
    hasty = len(search.doubts) >= PATIENT_CONFIRMATIONS
    attempt = Attempt(
        deadline,
        search.allowance,
        hasty,
        search.doubts.append,
        lambda: _beside(search, arm, points[worst]) if not hasty else (),
    )
    recipe = _recipe(search, arm, points[worst], scores[worst])
    if search.suspect is None or scores[worst].margin < search.suspect.margin:
        search.suspect = suspected(search.objective, recipe, scores[worst].margin)
    told = len(search.doubts)
    search.found = counterexample(search.objective, recipe, search.options.rigorous, attempt)
    if search.found is not None:
        del search.doubts[told:]


def _beside(search: _Search, arm: _Arm, x: list[float]) -> Iterator[Recipe]:
    """Violating runs near one: events that coincide by chance, as they do from equal starts, do
    not coincide there."""
    generator = Random(f"{search.options.seed}/beside/{search.simulations}")
    for share in BESIDE if x else ():
        moves = [share * generator.random() for _ in x]
        near = [v + move if v < 0.5 else v - move for v, move in zip(x, moves, strict=True)]
        score = search.objective.cost(arm.shape, near, arm.seed)
        if score.margin < 0.0:
            yield _recipe(search, arm, near, score)


def _recipe(search: _Search, arm: _Arm, x: list[float], score: Score) -> Recipe:
    """The run of a point, as far as it was followed."""
    recipe = with_seed(search.objective.space(arm.shape).recipe(x), arm.seed)
    return replace(recipe, until=score.end) if score.cut else recipe


def _follow_further(search: _Search, arm: _Arm, left: float, work: float) -> None:
    """Have runs that were cut off, and took so much work, followed further by a new search,
    unless that is more than is left."""
    further = arm.shape.further
    if not arm.cut or arm.followed_further or further is None:
        return
    if work * further.jumps / arm.shape.jumps < left:
        arm.followed_further = True
        search.further.append(further)


def _next_arm(search: _Search, fresh: Iterator[Shape], chooser: Random) -> _Arm | None:
    """New shapes come in one by one, each gets two turns first; then the best of the arms
    that still improve has every other turn."""
    ready = all(arm.turns >= FIRST_TURNS or arm.over for arm in search.arms)
    shape = None
    if ready:
        shape = search.further.popleft() if search.further else next(fresh, None)
    if shape is not None:
        space = search.objective.space(shape)
        index = len(search.arms)
        generator = Random(f"{search.options.seed}/{index}")
        searcher = Searcher(space.dimension, generator, _seeds(search, space))
        arm = _Arm(shape, searcher, generator.getrandbits(32), space.is_decisions_only)
        search.arms.append(arm)
        return arm
    alive = [arm for arm in search.arms if not arm.over]
    if not alive:
        return None
    improving = [arm for arm in alive if arm.idle < PATIENCE]
    if ready and improving and chooser.random() < 0.5:
        return min(improving, key=lambda arm: arm.searcher.cost)
    return min(alive, key=lambda arm: arm.turns)


def _seeds(search: _Search, space: SearchSpace) -> list[list[float]]:
    """Where a new search looks first: at the given runs, and at the best one so far."""
    given = [*search.options.seeds]
    if search.best_recipe is not None:
        given.append(search.best_recipe)
    return [x for recipe in given if (x := space.point(recipe)) is not None]


def shapes(objective: Objective, options: Options) -> Iterator[Shape]:
    """The shapes of runs worth searching, the plainest first: those that differ from the
    plainest in few of horizon, number of control points, switching and initial set."""
    prepared = objective.prepared()
    starts = len(list(islice(prepared.starts(), MAX_STARTS)))
    horizons = _horizons(objective.base, objective.claim, options.until)
    signals = bool(prepared.loose or prepared.inputs)
    pieces = options.control_points if signals else (1,)
    choices = (pieces, horizons, SWITCHINGS, range(starts))
    places = product(*(range(len(c)) for c in choices))
    for i, j, k, start in sorted(places, key=sum):
        linear = options.linear and bool(prepared.inputs)
        plain = Shape(horizons[j], pieces[i], SWITCHINGS[k], start, 0, linear)
        yield _with_decisions(objective, plain)


def _with_decisions(objective: Objective, shape: Shape) -> Shape:
    """The shape with as many decisions as a typical run takes."""
    space: SearchSpace = objective.space(shape)
    recipe = space.recipe([0.5] * space.dimension)
    trace = objective.run(recipe, max_jumps=shape.jumps)
    taken = min(len(trace.decisions), MAX_DECISIONS)
    # The one is the first dwell time, which decides nothing.
    return shape if taken <= 1 else replace(shape, decisions=taken)


def _horizons(
    automaton: Automaton, claim: Property | Formula, until: float | None
) -> tuple[float, ...]:
    limit = math.inf if automaton.horizon is None else float(automaton.horizon)
    if isinstance(claim, Formula) and math.isfinite(claim.horizon):
        return (claim.horizon if until is None else max(until, claim.horizon),)
    if until is not None:
        return (min(until, limit),)
    return (limit,) if math.isfinite(limit) else HORIZONS


def informative(robustness: float) -> bool:
    """Whether the best robustness says something: some run came near a violation."""
    return math.isfinite(robustness) and robustness < FAR

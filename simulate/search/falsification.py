"""Falsification: a search for a run that violates a claim.

Several searches, one for each shape of runs (horizon, number of control points, rule for
switching, initial set), share a budget: the one with the lowest robustness gets half of the
turns as long as it improves, the others take turns. Where runs are cut off, because they jump
more often or take more steps than are followed, a search that follows them further comes in
next. A violation is shrunk and confirmed before it counts (`simulate.search.counterexample`).
For a given seed and budget in simulations the search is the same every time, with any number of
workers.

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
from workbench.simulate.monitoring.stl import Formula
from workbench.simulate.policy import Switching
from workbench.simulate.recipe import Recipe
from workbench.simulate.search.counterexample import (
    GRACE,
    STEPS,
    Attempt,
    Counterexample,
    Rigorous,
    counterexample,
    enclosed,
    enclosed_at_length,
)
from workbench.simulate.search.doubt import Doubt
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
    """When to stop: after so many simulations, or at a moment (`time.monotonic`)."""

    simulations: int = 2000
    deadline: float = math.inf


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
    """How far a search is."""

    simulations: int
    robustness: float
    shape: Shape | None


@dataclass(frozen=True)
class Outcome:
    """What a search found: a confirmed counterexample, or the closest run. `doubts` are about
    runs that seemed to violate the claim, one for each run; `cut` runs were not followed to their
    end, and by no later search of their kind. The search is `exhausted` if it has nothing left to
    try."""

    found: Counterexample | None
    robustness: float
    closest: Recipe | None
    simulations: int
    seconds: float
    doubts: tuple[Doubt, ...] = ()
    interrupted: bool = False
    cut: int = 0
    exhausted: bool = False

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
    interrupted = False
    with EvaluationPool(automaton, claim, options.workers) as pool:
        steps = math.inf if enclosed_at_length in options.rigorous else STEPS
        allowance = Allowance(steps, budget.deadline + GRACE)
        search = _Search(pool.objective, options, allowance)
        try:
            _run(search, pool, budget, progress)
        except KeyboardInterrupt:
            interrupted = True
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
    )


def _run(
    search: _Search,
    pool: EvaluationPool,
    budget: Budget,
    progress: Callable[[Progress], None],
) -> None:
    chooser = Random(f"{search.options.seed}/turns")
    fresh = shapes(search.objective, search.options)
    while search.simulations < budget.simulations and time.monotonic() < budget.deadline:
        arm = _next_arm(search, fresh, chooser)
        if arm is None:
            search.exhausted = True
            return
        points = arm.searcher.ask()
        if not points:
            continue
        points = points[: budget.simulations - search.simulations]
        begun = time.monotonic()
        scores = _evaluate(search, pool, arm, points, budget.deadline)
        seconds = (time.monotonic() - begun) / len(scores)
        _judge(search, arm, points, scores, budget.deadline)
        if len(scores) < len(arm.searcher.ask()):
            arm.cut += sum(score.cut for score in scores)
            return
        arm.tell(scores)
        _follow_further(search, arm, seconds, budget.deadline)
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
    """Try to confirm the worst of some runs, if it violates the claim."""
    worst = min(range(len(scores)), key=lambda i: scores[i].margin)
    if not scores[worst].margin < 0.0 or len(search.doubts) >= MAX_CONFIRMATIONS:
        return
    hasty = len(search.doubts) >= PATIENT_CONFIRMATIONS
    attempt = Attempt(
        deadline,
        search.allowance,
        hasty,
        search.doubts.append,
        lambda: _beside(search, arm, points[worst]) if not hasty else (),
    )
    recipe = _recipe(search, arm, points[worst], scores[worst])
    search.found = counterexample(search.objective, recipe, search.options.rigorous, attempt)


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


def _follow_further(search: _Search, arm: _Arm, seconds: float, deadline: float) -> None:
    """Have runs that were cut off, and took so many seconds, followed further by a new search,
    unless there is no time for it."""
    further = arm.shape.further
    if not arm.cut or arm.followed_further or further is None:
        return
    expected = seconds * further.jumps / arm.shape.jumps
    if time.monotonic() + expected < deadline:
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

"""Refining flowpipes until they prove the property, directed by where they fail to.

Two remedies. *Shorter steps* make the rows of a stay tighter; in stays that begin a run only
those steps are made shorter that meet bad states. *Inherited rows* undo the loss at
jumps: an entry set that is a box forgets how variables depend on each other. Where a direction
d touches bad states on a step that ends after the time s, what counts is the entry set's
support in the direction exp(A's) d. So a row with (about) this normal is asked of the entry
set; the stay before it must then be bounded in that direction, pulled back through the reset,
at the time of the jump: and so on, backwards to the start. With such rows a chain of stays
with well-known jump times is bounded as tightly as if it were one stay.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from workbench.models.automaton import primed
from workbench.models.checker.adjoint import Stage
from workbench.models.checker.affine_flow import AffineFlow
from workbench.models.checker.flowpipe import FlowpipeProof, start_set
from workbench.models.linear import Form
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.affine.flowpipe import Exploration
from workbench.reach.affine.flowpipe_parts import (
    NO_PLAN,
    SHORTER,
    Explored,
    FlowpipeMethod,
    Lead,
    Mark,
    Normal,
    NotFound,
    Path,
    Plan,
    split_steps,
    stages_around,
)
from workbench.reach.affine.matrix_exponential import matrix_exponential
from workbench.reach.affine.moved_frames import rounded_normal
from workbench.reach.affine.step_choice import FIRST_LEVEL, Fineness, choose, matrix_of
from workbench.reach.affine.step_evidence import Key, key_of, opposite

Array = NDArray[np.float64]

NORMAL_BITS = 36
"""Bits of the entries of inherited rows, relative to the largest."""

ROUNDS = 5
"""Explorations with the same usual steps."""

ATTEMPTS = (
    (0, None), (0, 1), (2, None), (2, 4), (4, None), (2, 1), (4, 16), (4, 4), (6, None), (4, 1),
)  # fmt: skip
"""Levels, and how many steps share a successor (None: all), after the first level."""

UNCERTAIN = ((0, 4), (0, 16), (2, 16), (2, 64))
"""Levels and numbers of cells that are tried where parameters multiply variables."""

MAX_INHERITED = 600
"""Entry rows of one node."""


@dataclass(frozen=True)
class Found:
    """A proof, and how much work it took."""

    proof: FlowpipeProof
    attempts: int
    steps: int


@dataclass
class _Request:
    """A direction of a node, the ends of steps at which an entry row shall help it, and which
    (by number among the node's inherited rows)."""

    normal: Normal
    rows: dict[int, Normal]


def search_flowpipe(
    problem: LinearProblem,
    horizon: Fraction | None,
    method: FlowpipeMethod,
    expired: Callable[[], bool] = lambda: False,
    progress: Callable[[str], None] = lambda text: None,
    is_real: Callable[[Exploration], bool] = lambda tried: False,
) -> Found | NotFound:
    """A flowpipe that proves the property up to the horizon (for all time without one), or
    why the last attempt failed. Where one meets bad states `is_real` may say that runs do."""
    total = attempts = 0
    flows: dict[str, AffineFlow] = {}
    outcome = NotFound("the time limit was reached")
    failed: list[Exploration] = []

    def explored(how: FlowpipeMethod, plans: Mapping[Path, Plan], lenient: bool) -> Exploration:
        return Exploration(
            problem,
            horizon,
            how,
            plans,
            lenient=lenient,
            expired=expired,
            progress=progress,
            flows=flows,
        )

    for attempt in _attempts(method, flows, failed):
        plans: dict[Path, Plan] = {}
        framed = planned = False
        for number in range(ROUNDS):
            how = replace(attempt, moves_frames=framed and not planned)
            tried = explored(how, plans, lenient=not framed and not planned)
            found = tried.run()
            attempts, total = attempts + 1, total + tried.step_count
            if isinstance(found, FlowpipeProof):
                return Found(found, attempts, total)
            if planned:
                outcome = found if found.crossed else outcome
                break
            if framed:
                plans, planned = _plans(failed[-1], expired), True
            else:
                outcome = found
                if expired() or not any(e.unsafe for e in tried.nodes):
                    break
                outcome = _at_first_crossing(tried)
                failed[:] = [tried]
                if is_real(tried):
                    return replace(outcome, steps=total, attempts=attempts)
                if number >= 2 and any(flow.corners for flow in flows.values()):
                    break  # then smaller cells of parameters help more than shorter steps
                framed = not any(e.unsafe_at_first for e in tried.nodes)
                plans = {} if framed else _shorter(tried)
            if expired() or not (plans or framed) or (planned and not plans):
                break
        if expired() or not outcome.refinable:
            break
    return replace(outcome, steps=total, attempts=attempts)


def _shorter(tried: Exploration) -> dict[Path, Plan]:
    """Shorter steps where first stays meet bad states, besides what was planned already."""
    plans = dict(tried.plans)
    for explored in tried.nodes:
        if explored.unsafe_at_first:
            met = [explored.steps[number] for number in dict(explored.unsafe)]
            marks = tuple(Mark(s.begin, s.end, (s.end - s.begin) / SHORTER) for s in met)
            before = plans.get(explored.path, NO_PLAN)
            plans[explored.path] = replace(before, marks=(*before.marks, *marks))
    return plans


def _attempts(
    method: FlowpipeMethod, flows: Mapping[str, AffineFlow], tried: list[Exploration]
) -> Iterator[FlowpipeMethod]:
    """Ever shorter steps, and fewer of them taken together at jumps if the last attempt failed
    where many were; more and more cells of uncertain parameters, if the first attempt met any.
    `tried` are the explorations that met bad states."""
    yield replace(method, level=method.level + FIRST_LEVEL)
    if any(flow.corners for flow in flows.values()):
        for level, cells in UNCERTAIN:
            yield replace(method, level=method.level + level, cells=cells)
        return
    for level, cluster in ATTEMPTS:
        if cluster is None or (tried and _meets_after_shared_jumps(tried[-1])):
            yield replace(method, level=method.level + level, cluster=cluster)


def _meets_after_shared_jumps(tried: Exploration) -> bool:
    """Whether bad states are met after a jump whose entry set is shared by many moments."""
    unsafe = [e.path for e in tried.nodes if e.unsafe]
    for explored in tried.nodes:
        for lead in explored.leads:
            if lead.window[1] - lead.window[0] > explored.fineness.length:
                entered = tried.nodes[lead.target].path
                if any(path[: len(entered)] == entered for path in unsafe):
                    return True
    return False


def _at_first_crossing(plain: Exploration) -> NotFound:
    explored = next(e for e in plain.nodes if e.unsafe)
    step = explored.steps[explored.unsafe[0][0]]
    return NotFound(
        f"the flowpipe meets bad states in {explored.node.location}, between "
        f"{float(step.begin):.4g} and {float(step.end):.4g} after jump {len(explored.path) - 1}",
        (explored.node.location, step.begin, step.end),
        len(plain.nodes),
    )


def _plans(plain: Exploration, expired: Callable[[], bool]) -> dict[Path, Plan]:
    """What to ask of each node so that the crossings vanish; see the module's docstring."""
    plans: dict[Path, Plan] = {}
    wanted: dict[int, list[Normal]] = {}
    for number in reversed(range(len(plain.nodes))):
        explored = plain.nodes[number]
        if not explored.steps:
            continue  # the exploration stopped before it
        if expired():
            return {}
        planner = _Planner(plain, explored)
        requests: list[_Request] = []
        for request in chain(planner.own_requests(), planner.requests_of_jumps(wanted)):
            requests.append(request)
            if expired():
                return {}
        if not requests:
            continue
        rows: dict[Key, Normal] = {}
        helpers: dict[Key, dict[int, Key]] = {}
        if len(explored.path) > 1:  # at the start the box is what the model gives
            for request in requests:
                for k, normal in request.rows.items():
                    if len(rows) < MAX_INHERITED:
                        rows.setdefault(key_of(normal), normal)
                        helpers.setdefault(key_of(request.normal), {})[k] = key_of(normal)
        wanted[number] = list(rows.values())
        plans[explored.path] = Plan(
            tuple(rows.values()),
            tuple(request.normal for request in requests),
            helpers,
            planner.fineness(),
            planner.stages,
        )
    return plans


class _Planner:
    """Requests of one node, in terms of the steps that it shall have."""

    def __init__(self, plain: Exploration, explored: Explored):
        self._plain, self._explored = plain, explored
        self._flow = plain.demands.flow(explored.node.location)
        self._matrix = matrix_of(self._flow)
        self.stages = self._steps()
        node = replace(explored.node, stages=self.stages)
        self.ends = list(node.ends)
        self._transitions: dict[Fraction, Array] = {}

    def _steps(self) -> tuple[Stage, ...]:
        """The usual steps, with a short one of its own around every narrow jump window."""
        windows = [lead.window for lead in self._explored.leads]
        end = self._explored.steps[-1].end
        stages = stages_around(windows, self._explored.fineness.length, end)
        return split_steps(stages, self._explored.marks)

    def fineness(self) -> Fineness:
        """Like that of the first exploration, for stays of the length that is now known."""
        node = self._explored.node
        spans = start_set(self._flow, node).spans
        start = dict(zip(self._flow.names, spans, strict=True))
        return choose(self._flow, start, self.ends[-1], self._explored.fineness.length, FIRST_LEVEL)

    def own_requests(self) -> Iterator[_Request]:
        """Directions that touch bad states, to be helped at the ends of those steps."""
        directions = {key_of(d.normal): d.normal for d in self._explored.node.directions}
        touched: dict[Key, set[int]] = {}
        bad = self._plain.demands.conditions(self._explored.node.location).bad
        for number, case in self._explored.unsafe:
            step = self._explored.steps[number]
            for row in bad[case].rows:
                if row.form.coefficients:
                    key = opposite(key_of(row.form.coefficients))
                    if key in directions:
                        met = self._ends_between(step.begin, step.end)
                        touched.setdefault(key, set()).update(met)
        for key, ends in touched.items():
            normal = directions[key]
            yield _Request(normal, {k: self._moved(normal, self.ends[k]) for k in sorted(ends)})

    def requests_of_jumps(self, wanted: dict[int, list[Normal]]) -> Iterator[_Request]:
        """Directions from which rows of later entry sets follow, to be helped at the jump."""
        for lead in self._explored.leads:
            width = lead.window[1] - lead.window[0]
            if not lead.fresh or width > self._explored.fineness.length:
                continue  # a wide window would need a row for each of many moments
            ends = self._ends_between(*lead.window)
            for normal in wanted.get(lead.target, ()):
                pulled = self._pulled_back(lead, normal)
                if pulled is None:
                    continue
                if len(ends) == 2 and self.ends[ends[1]] - self.ends[ends[0]] < (
                    self._explored.fineness.length / 4
                ):
                    row = self._moved(pulled, sum(lead.window, Fraction(0)) / 2)
                    yield _Request(pulled, dict.fromkeys(ends, row))
                else:
                    yield _Request(pulled, {k: self._moved(pulled, self.ends[k]) for k in ends})

    def _pulled_back(self, lead: Lead, normal: Normal) -> Normal | None:
        goal = Form({primed(name): a for name, a in normal.items()})
        form, _ = lead.rows.with_primes(goal)
        known = set(self._flow.names)
        if not form.coefficients or not form.coefficients.keys() <= known:
            return None
        return dict(form.coefficients)

    def _ends_between(self, begin: Fraction, end: Fraction) -> list[int]:
        """The ends of all steps that meet an interval."""
        first = max(0, bisect_left(self.ends, begin) - 1)
        last = min(len(self.ends) - 1, bisect_right(self.ends, end))
        return list(range(first, last + 1))

    def _moved(self, normal: Normal, elapsed: Fraction) -> Normal:
        """exp(A's) d, rounded to few bits."""
        transition = self._transitions.get(elapsed)
        if transition is None:
            transition = matrix_exponential(self._matrix.T * float(elapsed))
            self._transitions[elapsed] = transition
        vector = transition @ np.array([float(normal.get(n, 0)) for n in self._flow.names])
        return rounded_normal(self._flow.names, vector, NORMAL_BITS)
